#include "pipeline/production/telemetry/progress.h"

#include "base/clock.h"
#include "base/plural.h"
#include "base/visible_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

ics_progress ics_progress_begin(FILE *out)
{
    double now = ics_clock_seconds();
    return (ics_progress){.out = out,
                          .terminal = out != NULL && isatty(fileno(out)) == 1,
                          .start = now,
                          .looked = now};
}

uint32_t ics_progress_period(const ics_progress *progress)
{
    return progress->terminal ? 250 : 10000;
}

const char *ics_progress_count_text(double count, char buffer[32])
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

/* ---- figures --------------------------------------------------------------------------------- */

/* An exponentially weighted average, because batches finish irregularly. In the beginning it is the
 * average since the start. */
static double follow(ics_progress_rate *rate, uint64_t photons, double seconds)
{
    const double memory = 10.0; /* s */
    if (seconds > 0.0) {
        double fresh = 1.0 - exp(-seconds / memory);
        double now = photons > rate->photons ? (double)(photons - rate->photons) / seconds : 0.0;
        rate->rate += fresh * (now - rate->rate);
        rate->weight += fresh * (1.0 - rate->weight);
        rate->photons = photons;
    }
    return rate->weight > 0.0 ? rate->rate / rate->weight : 0.0;
}

void ics_progress_measure(ics_progress *progress, const ics_progress_state *state, double now,
                          ics_progress_figures *out)
{
    double elapsed = now - progress->start - progress->idle, since = now - progress->looked;
    *out = (ics_progress_figures){.share = -1.0, .seconds_left = -1.0};
    out->average = elapsed > 0.0 ? (double)state->photons / elapsed : 0.0;
    if (!state->waiting) {
        out->rate = follow(&progress->all, state->photons, since);
        for (size_t i = 0; i < state->device_count && i < ICS_PROGRESS_DEVICES; ++i) {
            out->devices[i] = follow(&progress->devices[i], state->devices[i].photons, since);
        }
    }
    progress->looked = now;
    if (state->photons_total > 0.0) {
        double done = (double)state->photons / state->photons_total;
        out->share = fmin(done, 1.0);
        if (out->average > 0.0 && done < 1.0) {
            out->seconds_left = (state->photons_total - (double)state->photons) / out->average;
        }
    }
}

/* ---- text ------------------------------------------------------------------------------------ */

/* Appends to a text of ICS_PROGRESS_TEXT bytes. Text that does not fit is left out. */
static void put(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(char *text, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, ICS_PROGRESS_TEXT - used, format, arguments);
    va_end(arguments);
}

static void put_devices(char *text, const ics_progress_state *state,
                        const ics_progress_figures *figures)
{
    char rate[32];
    for (size_t i = 0; i < state->device_count && i < ICS_PROGRESS_DEVICES; ++i) {
        const ics_progress_device *device = &state->devices[i];
        put(text, "%s%s %s", i == 0 ? " (" : ", ", device->name,
            device->alive ? ics_progress_count_text(figures->devices[i], rate) : "lost");
    }
    put(text, ")");
}

static void put_files(char *text, const ics_progress_state *state)
{
    if (state->files_total > 0) {
        put(text, ", %zu of %zu file%s", state->files, state->files_total,
            ics_plural_s(state->files_total));
    } else if (state->files_taken > 0) {
        put(text, ", %zu file%s in, %zu out", state->files_taken, ics_plural_s(state->files_taken),
            state->files);
    }
    if (state->files_quarantined > 0) {
        put(text, ", %zu quarantined", state->files_quarantined);
    }
    if (state->files_undelivered > 0) {
        put(text, ", sink.command failed for %zu", state->files_undelivered);
    }
}

void ics_progress_text(const ics_progress_state *state, const ics_progress_figures *figures,
                       char text[ICS_PROGRESS_TEXT])
{
    char photons[32], hits[32], rate[32];
    text[0] = '\0';
    if (state->paused != NULL) {
        put(text, "paused: %.200s; ", state->paused);
    }
    if (state->task != NULL) {
        put(text, "%s: ", state->task);
    }
    if (figures->share >= 0.0) {
        put(text, "%.1f %%, ", 100.0 * figures->share);
    }
    /* A run without an end shows its present rate, other runs show the average. */
    put(text, "%s photons", ics_progress_count_text((double)state->photons, photons));
    if (state->waiting) {
        put(text, ", waiting for steps");
    } else {
        put(text, " at %s/s",
            ics_progress_count_text(state->photons_total > 0.0 ? figures->average : figures->rate,
                                    rate));
    }
    if (state->device_count > 1 && !state->waiting) {
        put_devices(text, state, figures);
    }
    if (!state->without_hits) {
        put(text, ", %s hits", ics_progress_count_text((double)state->hits, hits));
    }
    put_files(text, state);
    if (state->queue_room > 0) {
        put(text, ", queue %u/%u", state->queue, state->queue_room);
    }
    if (state->stopping) {
        put(text, ", stopping");
    } else if (figures->seconds_left >= 0.0) {
        char remaining[64];
        remaining_text(figures->seconds_left, remaining, sizeof remaining);
        put(text, ", %s", remaining);
    }
}

/* A line that is wider than the terminal cannot be rewritten in place. */
static void fit_terminal(const ics_progress *progress, char *text)
{
    struct winsize window;
    if (progress->terminal && ioctl(fileno(progress->out), TIOCGWINSZ, &window) == 0 &&
        window.ws_col > 1 && strlen(text) >= window.ws_col) {
        text[window.ws_col - 1] = '\0';
    }
}

void ics_progress_update(ics_progress *progress, const ics_progress_state *state)
{
    if (progress->out == NULL) {
        return;
    }
    ics_progress_figures figures;
    char text[ICS_PROGRESS_TEXT];
    ics_progress_measure(progress, state, ics_clock_seconds(), &figures);
    ics_progress_text(state, &figures, text);
    char visible[ICS_PROGRESS_TEXT];
    ics_visible_text(text, false, visible, sizeof visible);
    fit_terminal(progress, visible);
    fprintf(progress->out, "%s%s%s", progress->terminal ? "\r\033[K" : "", visible,
            progress->terminal ? "" : "\n");
    fflush(progress->out);
    progress->shown = progress->terminal;
}

void ics_progress_end(ics_progress *progress)
{
    if (progress->shown) {
        fputs("\r\033[K", progress->out);
        fflush(progress->out);
        progress->shown = false;
    }
}

void ics_progress_line(ics_progress *progress, const char *format, ...)
{
    if (progress->out == NULL) {
        return;
    }
    ics_progress_end(progress);
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    const int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    ics_visible_print_line(progress->out, length >= 0 ? text : "");
    if (length >= 0) {
        free(text);
    }
    fflush(progress->out);
}
