#include "pipeline/host/progress.h"

#include <stdarg.h>
#include <time.h>
#include <unistd.h>

double is_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

is_progress is_progress_begin(FILE *out)
{
    return (is_progress){
        .out = out, .terminal = out != NULL && isatty(fileno(out)) == 1, .start = is_seconds()};
}

uint32_t is_progress_period(const is_progress *progress)
{
    return progress->terminal ? 250 : 10000;
}

const char *is_count_text(double count, char buffer[32])
{
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1e9, "billion"}, {1e6, "million"}};
    if (count >= 1e12) {
        snprintf(buffer, 32, "%.3g", count);
        return buffer;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; ++i) {
        if (count >= units[i].unit) {
            double value = count / units[i].unit;
            int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
            snprintf(buffer, 32, "%.*f %s", digits, value, units[i].name);
            return buffer;
        }
    }
    snprintf(buffer, 32, "%.0f", count);
    return buffer;
}

static void remaining_text(double seconds, char *buffer, size_t size)
{
    if (seconds < 90.0) {
        snprintf(buffer, size, "%.0f s left", seconds);
    } else if (seconds < 5400.0) {
        snprintf(buffer, size, "%.0f min left", seconds / 60.0);
    } else {
        snprintf(buffer, size, "%.1f h left", seconds / 3600.0);
    }
}

void is_progress_update(is_progress *progress, const is_progress_state *state)
{
    if (progress->out == NULL) {
        return;
    }
    double elapsed = is_seconds() - progress->start;
    double rate = elapsed > 0.0 ? (double)state->photons / elapsed : 0.0;
    char photons[32], hits[32], speed[32], share[64] = "", files[64] = "", remaining[64] = "";
    if (state->photons_total > 0.0) {
        double done = (double)state->photons / state->photons_total;
        snprintf(share, sizeof share, "%.1f %%, ", done < 1.0 ? 100.0 * done : 100.0);
        if (rate > 0.0 && done < 1.0) {
            remaining_text((state->photons_total - (double)state->photons) / rate, remaining,
                           sizeof remaining);
        }
    }
    if (state->files_total > 0) {
        snprintf(files, sizeof files, ", %zu of %zu files", state->files, state->files_total);
    }
    if (state->stopping) {
        snprintf(remaining, sizeof remaining, "stopping");
    }
    fprintf(progress->out, "%s%s%s photons at %s/s, %s hits%s%s%s%s",
            progress->terminal ? "\r\033[K" : "", share,
            is_count_text((double)state->photons, photons), is_count_text(rate, speed),
            is_count_text((double)state->hits, hits), files, remaining[0] != '\0' ? ", " : "",
            remaining, progress->terminal ? "" : "\n");
    fflush(progress->out);
    progress->shown = progress->terminal;
}

void is_progress_end(is_progress *progress)
{
    if (progress->shown) {
        fputs("\r\033[K", progress->out);
        fflush(progress->out);
        progress->shown = false;
    }
}

void is_progress_line(is_progress *progress, const char *format, ...)
{
    if (progress->out == NULL) {
        return;
    }
    is_progress_end(progress);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(progress->out, format, arguments);
    va_end(arguments);
    fputc('\n', progress->out);
    fflush(progress->out);
}
