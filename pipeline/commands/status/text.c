#include "pipeline/commands/status/text.h"

#include "base/visible_text.h"
#include "pipeline/commands/measure/report.h"
#include "pipeline/production/checkpoint/about.h"
#include "pipeline/production/telemetry/event.h"
#include "pipeline/production/telemetry/progress.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

enum { WORKERS_SHOWN = 20, FILES_SHOWN = 5 };

static json_int_t whole(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* Returns the text at `key`, or "" if there is none. */
static const char *text(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value != NULL ? value : "";
}

/* Returns how long ago a time of the report is; "-": it is no time. */
static const char *age(const json_t *report, const char *time, char buffer[ICS_EVENT_AGE])
{
    return ics_event_age_text(text(report, "time"), time, buffer);
}

static void print_here(const json_t *report, FILE *out)
{
    const json_t *here = json_object_get(report, "here");
    ics_visible_printf(out, "%s\n", text(report, "folder"));
    fprintf(out,
            "here: %" JSON_INTEGER_FORMAT " hit files, %.1f MB; %" JSON_INTEGER_FORMAT
            " unfinished (.part)",
            whole(here, "hit_files"), 1e-6 * number(here, "hit_bytes"), whole(here, "parts"));
    if (whole(here, "commands") > 0) {
        fprintf(out,
                "; shipping or sink.command has not succeeded for %" JSON_INTEGER_FORMAT
                ", which are not done",
                whole(here, "commands"));
    }
    fputc('\n', out);
}

/* The number of files in work whose worker is gone. */
static size_t count_abandoned(const json_t *report)
{
    size_t i, count = 0;
    json_t *file;
    json_array_foreach(json_object_get(report, "in_work"), i, file)
    {
        count += json_is_true(json_object_get(file, "abandoned"));
    }
    return count;
}

static void print_counts(const json_t *report, FILE *out)
{
    const json_t *counts = json_object_get(report, "counts");
    char photons[32], hits[32], rate[32], recent[32];
    const size_t open = json_array_size(json_object_get(report, "in_work"));
    const size_t abandoned = count_abandoned(report);
    fprintf(out,
            "files: %" JSON_INTEGER_FORMAT " claimed, %" JSON_INTEGER_FORMAT
            " computed, %" JSON_INTEGER_FORMAT " skipped, %" JSON_INTEGER_FORMAT
            " quarantined, %" JSON_INTEGER_FORMAT " failed; %" JSON_INTEGER_FORMAT
            " retries; %zu in work",
            whole(counts, "claimed"), whole(counts, "done"), whole(counts, "skipped"),
            whole(counts, "quarantined"), whole(counts, "failed"), whole(counts, "retried"),
            open - abandoned);
    if (whole(counts, "refused") > 0) {
        fprintf(out, "; %" JSON_INTEGER_FORMAT " refused", whole(counts, "refused"));
    }
    if (abandoned > 0) {
        fprintf(out, ", %zu left by workers that are gone", abandoned);
    }
    fputc('\n', out);
    if (whole(counts, "fetched") + whole(counts, "shipped") > 0) {
        fprintf(out,
                "moved: %" JSON_INTEGER_FORMAT " step files fetched, %" JSON_INTEGER_FORMAT
                " hit files shipped\n",
                whole(counts, "fetched"), whole(counts, "shipped"));
    }
    fprintf(out, "photons: %s, %s hits; %s/s in all, %s/s in the last 10 min\n",
            ics_progress_count_text(number(counts, "photons"), photons),
            ics_progress_count_text(number(counts, "hits"), hits),
            ics_progress_count_text(number(report, "photons_per_second"), rate),
            ics_progress_count_text(number(report, "photons_per_second_recent"), recent));
    const json_t *latency = json_object_get(report, "latency");
    if (whole(latency, "count") > 0) {
        fprintf(out,
                "arrival to commit: half within %.3g s, 90 %% %.3g s, 99 %% %.3g s, all %.3g s\n",
                number(latency, "p50"), number(latency, "p90"), number(latency, "p99"),
                number(latency, "max"));
    }
}

/* Returns whether a worker is listed: all workers that run or pause, and the last WORKERS_SHOWN of
 * the list. */
static bool is_shown(const json_t *worker, size_t index, size_t count)
{
    const char *state = text(worker, "state");
    return strcmp(state, "running") == 0 || strcmp(state, "paused") == 0 ||
           index + WORKERS_SHOWN >= count;
}

static void fill_workers(const json_t *report, ics_report *table, size_t *hidden)
{
    const json_t *workers = json_object_get(report, "workers");
    size_t i, count = json_array_size(workers);
    json_t *worker;
    char buffer[32], lease[32];
    json_array_foreach(workers, i, worker)
    {
        const json_t *counts = json_object_get(worker, "counts");
        if (!is_shown(worker, i, count)) {
            ++*hidden;
            continue;
        }
        ics_report_cell(table, "%s", text(worker, "worker"));
        if (json_is_integer(json_object_get(worker, "exit_status"))) {
            ics_report_cell(table, "stopped (%" JSON_INTEGER_FORMAT ")",
                            whole(worker, "exit_status"));
        } else {
            ics_report_cell(table, "%s", text(worker, "state"));
        }
        ics_report_cell(table, "%s", age(report, text(worker, "start"), buffer));
        ics_report_cell(table, "%s", age(report, text(worker, "heartbeat"), lease));
        ics_report_cell(table, "%" JSON_INTEGER_FORMAT, whole(counts, "done"));
        ics_report_cell(table, "%" JSON_INTEGER_FORMAT, whole(counts, "quarantined"));
        ics_report_cell(table, "%s %s ago", text(worker, "last_event"),
                        age(report, text(worker, "last"), buffer));
    }
}

static int print_workers(const json_t *report, FILE *out, icestream_error *error)
{
    static const char *const headings[] = {"worker",   "state",       "started",   "heartbeat",
                                           "computed", "quarantined", "last event"};
    if (json_array_size(json_object_get(report, "workers")) == 0) {
        fputs("workers: none in the journal\n", out);
        return ICESTREAM_OK;
    }
    size_t hidden = 0;
    ics_report *table = ics_report_create(headings, sizeof headings / sizeof *headings);
    fill_workers(report, table, &hidden);
    fputs("workers:\n", out);
    int status = ics_report_print(table, false, 2, out, error);
    ics_report_destroy(table);
    if (hidden > 0) {
        fprintf(out, "  ... and %zu older ones that have ended\n", hidden);
    }
    return status;
}

static void print_in_work(const json_t *report, FILE *out)
{
    const json_t *files = json_object_get(report, "in_work");
    size_t i, count = json_array_size(files);
    json_t *file;
    char buffer[32];
    json_array_foreach(files, i, file)
    {
        if (i == FILES_SHOWN) {
            fprintf(out, "  ... and %zu more\n", count - FILES_SHOWN);
            break;
        }
        const bool abandoned = json_is_true(json_object_get(file, "abandoned"));
        fprintf(out, "%s  %s, %s, %s %s%s\n", i == 0 ? "claimed and not finished:\n" : "",
                text(file, "file"), text(file, "worker"), abandoned ? "claimed" : "for",
                age(report, text(file, "since"), buffer),
                abandoned ? " ago: nobody computes it, because this worker is gone" : "");
    }
}

static void print_checkpoints(const json_t *report, FILE *out)
{
    const json_t *checkpoints = json_object_get(report, "checkpoints");
    size_t i, count = json_array_size(checkpoints);
    json_t *about;
    char line[512], buffer[32];
    json_array_foreach(checkpoints, i, about)
    {
        if (i == FILES_SHOWN) {
            fprintf(out, "  ... and %zu more\n", count - FILES_SHOWN);
            break;
        }
        const char *file = text(about, "file");
        ics_checkpoint_about_text(about, line, sizeof line);
        fprintf(out, "%s  %s: %s; written %s ago\n",
                i == 0 ? "checkpoints, from which the next run continues:\n" : "",
                file[0] != '\0' ? file : text(about, "path"), line,
                age(report, text(about, "time"), buffer));
    }
}

static void print_spools(const json_t *report, FILE *out)
{
    size_t i, j;
    json_t *spool, *worker;
    char buffer[32];
    json_array_foreach(json_object_get(report, "spools"), i, spool)
    {
        ics_visible_printf(out,
                           "spool %s: %" JSON_INTEGER_FORMAT " done, %" JSON_INTEGER_FORMAT
                           " done and kept\n",
                           text(spool, "folder"), whole(spool, "done"), whole(spool, "kept"));
        json_array_foreach(json_object_get(spool, "workers"), j, worker)
        {
            bool lease = json_is_string(json_object_get(worker, "heartbeat"));
            ics_visible_printf(out, "  %s: %" JSON_INTEGER_FORMAT " claimed, %s%s%s\n",
                               text(worker, "worker"), whole(worker, "files"),
                               lease ? "heartbeat " : "no lease",
                               lease ? age(report, text(worker, "heartbeat"), buffer) : "",
                               !lease                                             ? ""
                               : json_is_true(json_object_get(worker, "expired")) ? " ago: expired"
                                                                                  : " ago");
        }
    }
}

static void print_quarantine(const json_t *report, FILE *out)
{
    const json_t *quarantine = json_object_get(report, "quarantine");
    json_int_t count = whole(quarantine, "count");
    size_t i;
    json_t *entry;
    char buffer[32];
    if (count == 0) {
        return;
    }
    fprintf(out, "quarantine: %" JSON_INTEGER_FORMAT " file%s\n", count, count == 1 ? "" : "s");
    json_array_foreach(json_object_get(quarantine, "newest"), i, entry)
    {
        ics_visible_printf(out, "  %s ago: %s\n", age(report, text(entry, "time"), buffer),
                           json_is_string(json_object_get(entry, "reason"))
                               ? text(entry, "reason")
                               : text(entry, "reason_file"));
    }
}

static void print_troubles(const json_t *report, FILE *out)
{
    size_t i;
    json_t *trouble;
    char buffer[32];
    json_array_foreach(json_object_get(report, "troubles"), i, trouble)
    {
        const char *file = text(trouble, "file"), *reason = text(trouble, "reason");
        bool named = file[0] == '\0' || strncmp(reason, file, strlen(file)) == 0;
        ics_visible_printf(out, "%s  %s ago, %s: %s%s%s\n", i == 0 ? "last problems:\n" : "",
                           age(report, text(trouble, "time"), buffer), text(trouble, "event"),
                           named ? "" : file, named || reason[0] == '\0' ? "" : ": ", reason);
    }
}

static void print_journal(const json_t *report, FILE *out)
{
    const json_t *journal = json_object_get(report, "journal");
    if (whole(journal, "files") == 0) {
        fputs("journal: none here\n", out);
    } else {
        fprintf(out,
                "journal: %" JSON_INTEGER_FORMAT " events; %" JSON_INTEGER_FORMAT
                " torn lines, %" JSON_INTEGER_FORMAT " unknown\n",
                whole(journal, "events"), whole(journal, "torn"), whole(journal, "unknown"));
    }
    size_t i;
    json_t *note;
    json_array_foreach(json_object_get(report, "notes"), i, note)
    {
        fprintf(out, "note: %s\n", json_string_value(note));
    }
}

int ics_status_print(const json_t *report, FILE *out, icestream_error *error)
{
    print_here(report, out);
    print_counts(report, out);
    int status = print_workers(report, out, error);
    print_in_work(report, out);
    print_checkpoints(report, out);
    print_spools(report, out);
    print_quarantine(report, out);
    print_troubles(report, out);
    print_journal(report, out);
    return status == ICESTREAM_OK ? ics_report_end("status", out, error) : status;
}
