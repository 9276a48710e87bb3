#include "pipeline/tools/top/top_text.h"

#include "pipeline/telemetry/event.h"
#include "pipeline/telemetry/progress.h"
#include "pipeline/tools/measure/report.h"

#include <jansson.h>
#include <string.h>

enum {
    CHART_ROWS = 4,
    NARROW = 72, /* columns; in fewer, the table of workers is shorter */
    WORKERS_SHOWN = 20,
    FILES_SHOWN = 5,
    TROUBLES_SHOWN = 3
};

/* ---- values ---------------------------------------------------------------------------------- */

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static json_int_t whole(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

/* Returns the text at `key`, or "" if there is none. */
static const char *text(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value != NULL ? value : "";
}

static bool is_state(const json_t *worker, const char *state)
{
    return strcmp(text(worker, "state"), state) == 0;
}

/* How long ago a time of the report is; "-": it is no time. */
static const char *age(const json_t *report, const char *time, char buffer[ICS_EVENT_AGE])
{
    return ics_event_age_text(text(report, "time"), time, buffer);
}

/* ---- parts ----------------------------------------------------------------------------------- */

static size_t count_state(const json_t *workers, const char *state)
{
    size_t i, count = 0;
    json_t *worker;
    json_array_foreach(workers, i, worker)
    {
        count += is_state(worker, state);
    }
    return count;
}

/* What runs, in one line; a run that has ended is not shown as one that works. */
static void print_workers_line(const json_t *report, FILE *out)
{
    const json_t *workers = json_object_get(report, "workers");
    const size_t running = count_state(workers, "running"), paused = count_state(workers, "paused");
    fputs("workers   ", out);
    if (json_array_size(workers) == 0) {
        fputs("none in the journal\n", out);
        return;
    }
    if (running + paused == 0) {
        fputs("none is running: ", out);
    } else {
        fprintf(out, "%zu running, %zu paused, ", running, paused);
    }
    fprintf(out, "%zu stopped, %zu gone\n", count_state(workers, "stopped"),
            count_state(workers, "gone"));
}

static void print_numbers(const json_t *report, FILE *out)
{
    const json_t *counts = json_object_get(report, "counts");
    const json_t *latency = json_object_get(report, "latency");
    char a[32], b[32];
    fprintf(out,
            "files     %" JSON_INTEGER_FORMAT " done, %zu in work, %" JSON_INTEGER_FORMAT
            " skipped, %" JSON_INTEGER_FORMAT " quarantined, %" JSON_INTEGER_FORMAT " failed\n",
            whole(counts, "done"), json_array_size(json_object_get(report, "in_work")),
            whole(counts, "skipped"), whole(counts, "quarantined"), whole(counts, "failed"));
    fprintf(out, "photons   %s, %s hits\n", ics_progress_count_text(number(counts, "photons"), a),
            ics_progress_count_text(number(counts, "hits"), b));
    fprintf(out, "rate      %s/s in the last 10 min, %s/s in all\n",
            ics_progress_count_text(number(report, "photons_per_second_recent"), a),
            ics_progress_count_text(number(report, "photons_per_second"), b));
    if (whole(latency, "count") > 0) {
        char c[32], d[32];
        fprintf(out, "latency   half %s, 90 %% %s, 99 %% %s, all %s\n",
                ics_event_seconds_text(number(latency, "p50"), a),
                ics_event_seconds_text(number(latency, "p90"), b),
                ics_event_seconds_text(number(latency, "p99"), c),
                ics_event_seconds_text(number(latency, "max"), d));
    }
}

/* The photons of files that were done, over the last ten minutes; the newest on the right. */
static void print_chart(const json_t *report, int width, FILE *out)
{
    const json_t *recent = json_object_get(report, "recent");
    const json_t *photons = json_object_get(recent, "photons");
    const size_t count = json_array_size(photons), room = width > 3 ? (size_t)width - 3 : 0;
    const size_t first = count > room ? count - room : 0;
    double most = 0.0;
    char buffer[32];
    for (size_t i = first; i < count; ++i) {
        const double value = json_number_value(json_array_get(photons, i));
        most = value > most ? value : most;
    }
    if (most <= 0.0) {
        return;
    }
    fprintf(out, "\nphotons/s of files that were done, last 10 min, at most %s\n",
            ics_progress_count_text(most / number(recent, "seconds"), buffer));
    for (int row = CHART_ROWS - 1; row >= 0; --row) {
        fputs("  |", out);
        for (size_t i = first; i < count; ++i) {
            const double part =
                CHART_ROWS * json_number_value(json_array_get(photons, i)) / most - row;
            fputc(part >= 0.75 ? '#' : part > 0.25 || (row == 0 && part > 0.0) ? '.' : ' ', out);
        }
        fputc('\n', out);
    }
}

static void fill_worker(const json_t *report, const json_t *worker, bool narrow, ics_report *table)
{
    const json_t *counts = json_object_get(worker, "counts");
    char buffer[32], rate[32];
    double start = 0.0, last = 0.0;
    ics_report_cell(table, "%s", text(worker, "worker"));
    if (is_state(worker, "stopped")) {
        ics_report_cell(table, "stopped (%" JSON_INTEGER_FORMAT ")", whole(worker, "exit_status"));
    } else {
        ics_report_cell(table, "%s", text(worker, "state"));
    }
    ics_report_cell(table, "%" JSON_INTEGER_FORMAT, whole(counts, "done"));
    ics_report_cell(table, "%" JSON_INTEGER_FORMAT,
                    whole(counts, "quarantined") + whole(counts, "failed"));
    if (narrow) {
        return;
    }
    /* The counts are of all starts of the worker, so only one start gives a rate. */
    if (whole(worker, "starts") == 1 && ics_event_time_of_text(text(worker, "start"), &start) &&
        ics_event_time_of_text(text(worker, "last"), &last) && last > start) {
        ics_report_cell(table, "%s",
                        ics_progress_count_text(number(counts, "photons") / (last - start), rate));
    } else {
        ics_report_cell(table, "-");
    }
    ics_report_cell(table, "%s", age(report, text(worker, "heartbeat"), buffer));
    ics_report_cell(table, "%s %s ago", text(worker, "last_event"),
                    age(report, text(worker, "last"), buffer));
}

/* First the workers that run or pause, then the last of the others. */
static int print_workers(const json_t *report, int width, FILE *out, icestream_error *error)
{
    static const char *const headings[] = {"worker",    "state",     "done",      "bad",
                                           "photons/s", "heartbeat", "last event"};
    const json_t *workers = json_object_get(report, "workers");
    const size_t count = json_array_size(workers);
    const bool narrow = width < NARROW;
    size_t shown = 0;
    if (count == 0) {
        return ICESTREAM_OK;
    }
    ics_report *table =
        ics_report_create(headings, narrow ? 4 : sizeof headings / sizeof *headings);
    for (int ended = 0; ended < 2; ++ended) {
        for (size_t i = count; i-- > 0 && shown < WORKERS_SHOWN;) {
            const json_t *worker = json_array_get(workers, i);
            if (ended == !(is_state(worker, "running") || is_state(worker, "paused"))) {
                fill_worker(report, worker, narrow, table);
                shown++;
            }
        }
    }
    fputc('\n', out);
    int status = ics_report_print(table, false, 0, out, error);
    ics_report_destroy(table);
    if (shown < count) {
        fprintf(out, "... and %zu more\n", count - shown);
    }
    return status;
}

/* The share of a file that its checkpoint has; negative: it has none. */
static double checkpoint_share(const json_t *report, const char *file)
{
    size_t i;
    json_t *about;
    json_array_foreach(json_object_get(report, "checkpoints"), i, about)
    {
        if (strcmp(text(about, "file"), file) == 0 &&
            json_is_number(json_object_get(about, "share"))) {
            return number(about, "share");
        }
    }
    return -1.0;
}

static void print_in_work(const json_t *report, FILE *out)
{
    const json_t *files = json_object_get(report, "in_work");
    char buffer[32];
    size_t i;
    json_t *file;
    json_array_foreach(files, i, file)
    {
        if (i == FILES_SHOWN) {
            fprintf(out, "  ... and %zu more\n", json_array_size(files) - FILES_SHOWN);
            break;
        }
        const double share = checkpoint_share(report, text(file, "file"));
        fprintf(out, "%s  %s, %s, %s%s", i == 0 ? "\nin work:\n" : "", text(file, "file"),
                age(report, text(file, "since"), buffer), text(file, "worker"),
                json_is_true(json_object_get(file, "abandoned")) ? ", which is gone" : "");
        if (share >= 0.0) {
            fprintf(out, ", %.0f %% in a checkpoint", 100.0 * share);
        }
        fputc('\n', out);
    }
}

static void print_troubles(const json_t *report, FILE *out)
{
    char buffer[32];
    size_t i;
    json_t *trouble;
    json_array_foreach(json_object_get(report, "troubles"), i, trouble)
    {
        const char *reason = text(trouble, "reason");
        if (i == TROUBLES_SHOWN) {
            break;
        }
        fprintf(out, "%s  %s ago, %s: %s\n", i == 0 ? "\nlast problems:\n" : "",
                age(report, text(trouble, "time"), buffer), text(trouble, "event"),
                reason[0] != '\0' ? reason : text(trouble, "file"));
    }
}

int ics_top_text(const json_t *report, int width, FILE *out, icestream_error *error)
{
    fprintf(out, "%.19s UTC  %s\n", text(report, "time"), text(report, "folder"));
    print_workers_line(report, out);
    print_numbers(report, out);
    print_chart(report, width, out);
    int status = print_workers(report, width, out, error);
    print_in_work(report, out);
    print_troubles(report, out);
    return status;
}

/* ---- a terminal ------------------------------------------------------------------------------ */

/* The bytes of the first `width` characters of a line. A character that is wider than one column
 * still fits, because the terminal does not wrap lines. */
static size_t cut(const char *line, size_t length, int width)
{
    int characters = 0;
    for (size_t i = 0; i < length; ++i) {
        const bool begins = ((unsigned char)line[i] & 0xc0) != 0x80;
        if (begins && characters++ == width) {
            return i;
        }
    }
    return length;
}

void ics_top_draw(const char *text, int width, int height, FILE *out)
{
    static const char more[] = "... the terminal is too low for the rest";
    fputs("\033[H", out);
    for (int row = 0; row < height; ++row) {
        size_t length = strcspn(text, "\n");
        const char *rest = text + length + (text[length] == '\n');
        const bool is_last = row == height - 1 && *rest != '\0';
        const char *line = is_last ? more : text;
        length = cut(line, is_last ? strlen(more) : length, width);
        fprintf(out, "%s%.*s\033[K", row > 0 ? "\r\n" : "", (int)length, line);
        text = rest;
    }
    fputs("\033[J", out);
}
