#include "pipeline/production/telemetry/journal_summary.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BIN_SECONDS = ICS_JOURNAL_RECENT / ICS_JOURNAL_BINS };

static int no_memory(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for the summary of a journal");
}

/* Numbers of events, by the names of their kinds, and what is summed over them. */
static json_t *make_counts(void)
{
    static const char *const keys[] = {"claimed", "done",    "skipped", "quarantined",
                                       "refused", "failed",  "retried", "command_failed",
                                       "fetched", "shipped", "photons", "hits"};
    json_t *counts = json_object();
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) {
        json_object_set_new(counts, keys[i], json_integer(0));
    }
    return counts;
}

int ics_journal_summary_create(ics_journal_summary **out, icestream_error *error)
{
    ics_journal_summary *summary = calloc(1, sizeof *summary);
    *out = summary;
    if (summary == NULL) {
        return no_memory(error);
    }
    summary->counts = make_counts();
    summary->workers = json_object();
    summary->troubles = json_array();
    summary->open = json_object();
    summary->spools = json_array();
    summary->quarantines = json_array();
    return ICESTREAM_OK;
}

void ics_journal_summary_destroy(ics_journal_summary *summary)
{
    if (summary == NULL) {
        return;
    }
    json_decref(summary->counts);
    json_decref(summary->workers);
    json_decref(summary->troubles);
    json_decref(summary->open);
    json_decref(summary->spools);
    json_decref(summary->quarantines);
    free(summary);
}

/* ---- one event ------------------------------------------------------------------------------- */

static json_t *time_json(double time)
{
    char text[ICS_EVENT_TIME];
    return time > 0.0 ? json_string(ics_event_time_text(time, text)) : json_null();
}

static json_t *text_json(const ics_journal_record *record, const char *key)
{
    const char *text = ics_journal_text(record, key);
    return text != NULL ? json_string(text) : json_null();
}

/* Returns false if out of memory, also if there is no object for want of it. */
static bool set(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0;
}

/* Adds to a number; one that is not there is not counted. */
static void add_to(json_t *object, const char *key, uint64_t more)
{
    json_t *number = json_object_get(object, key);
    json_integer_set(number, json_integer_value(number) + (json_int_t)more);
}

static void count_event(json_t *counts, const ics_journal_record *record)
{
    add_to(counts, ics_event_name(record->kind), 1);
    if (record->kind == ICS_EVENT_DONE) {
        add_to(counts, "photons", ics_journal_whole(record, "photons"));
        add_to(counts, "hits", ics_journal_whole(record, "hits"));
    }
}

/* Finds or adds a worker. NULL: out of memory. */
static json_t *find_worker(ics_journal_summary *summary, const char *name)
{
    json_t *worker = json_object_get(summary->workers, name);
    if (worker == NULL) {
        worker = json_pack("{s:s, s:n, s:i, s:s, s:n, s:i, s:n, s:n, s:n, s:n, s:n, s:i, s:o}",
                           "worker", name, "host", "pid", 0, "state", "running", "exit_status",
                           "starts", 0, "start", "last", "last_event", "last_file", "heartbeat",
                           "devices_lost", 0, "counts", make_counts());
        worker = set(summary->workers, name, worker) ? worker : NULL;
    }
    return worker;
}

static void count_recent(ics_journal_summary *summary, const ics_journal_record *record)
{
    long long index = (long long)(record->time / BIN_SECONDS);
    size_t bin = (size_t)((index % ICS_JOURNAL_BINS + ICS_JOURNAL_BINS) % ICS_JOURNAL_BINS);
    if (summary->bins[bin].index < index) {
        summary->bins[bin].index = index;
        summary->bins[bin].photons = 0;
    }
    if (summary->bins[bin].index == index) {
        summary->bins[bin].photons += ics_journal_whole(record, "photons");
    }
}

/* A worker that stops, or starts again under its name, computes none of the files that it had. */
static void release_files(ics_journal_summary *summary, const char *worker)
{
    const char *file;
    void *next;
    json_t *about;
    json_object_foreach_safe(summary->open, next, file, about)
    {
        const char *owner = json_string_value(json_object_get(about, "worker"));
        if (owner != NULL && strcmp(owner, worker) == 0) {
            json_object_del(summary->open, file);
        }
    }
}

/* Keeps the list of files that are claimed and not finished. */
static bool follow_file(ics_journal_summary *summary, const ics_journal_record *record)
{
    const char *file = ics_journal_text(record, "file");
    if (record->kind == ICS_EVENT_START || record->kind == ICS_EVENT_STOP) {
        release_files(summary, record->worker);
    }
    if (file == NULL) {
        return true;
    }
    if (record->kind == ICS_EVENT_CLAIMED) {
        return json_object_set_new(
                   summary->open, file,
                   json_pack("{s:s, s:f}", "worker", record->worker, "time", record->time)) == 0;
    }
    if (ics_event_is(record->kind, ICS_EVENT_ENDING)) {
        /* Fails if the claim is not in the journal, which does no harm. */
        json_object_del(summary->open, file);
    }
    return true;
}

static bool keep_trouble(ics_journal_summary *summary, const ics_journal_record *record)
{
    if (!ics_event_is(record->kind, ICS_EVENT_TROUBLE) ||
        !ics_event_is(record->kind, ICS_EVENT_JOURNAL)) {
        return true;
    }
    json_t *trouble =
        json_pack("{s:o, s:s, s:s, s:o, s:o}", "time", time_json(record->time), "event",
                  ics_event_name(record->kind), "worker", record->worker, "file",
                  text_json(record, "file"), "reason", text_json(record, "reason"));
    json_array_remove(summary->troubles, ICS_JOURNAL_TROUBLES - 1); /* if there is one */
    return json_array_insert_new(summary->troubles, 0, trouble) == 0;
}

/* Adds a path of an event `start` to a list, unless it is there. A relative path begins in the
 * folder where the run was started. */
static bool keep_folder(json_t *list, const ics_journal_record *record, const char *key)
{
    const char *path = ics_journal_text(record, key), *base = ics_journal_text(record, "folder");
    size_t i;
    json_t *known;
    if (path == NULL) {
        return true;
    }
    json_t *whole =
        path[0] == '/' || base == NULL ? json_string(path) : json_sprintf("%s/%s", base, path);
    json_array_foreach(list, i, known)
    {
        if (whole != NULL && json_equal(known, whole)) {
            json_decref(whole);
            return true;
        }
    }
    return json_array_append_new(list, whole) == 0;
}

static bool set_state(json_t *worker, const char *state, json_t *exit_status)
{
    return set(worker, "state", json_string(state)) && set(worker, "exit_status", exit_status);
}

static bool follow_worker(ics_journal_summary *summary, const ics_journal_record *record)
{
    json_t *worker = find_worker(summary, record->worker);
    if (!set(worker, "last", time_json(record->time)) ||
        !set(worker, "last_event", json_string(ics_event_name(record->kind))) ||
        !set(worker, "last_file", text_json(record, "file"))) {
        return false;
    }
    count_event(json_object_get(worker, "counts"), record);
    switch (record->kind) {
    case ICS_EVENT_START:
        add_to(worker, "starts", 1);
        return set_state(worker, "running", json_null()) &&
               set(worker, "start", time_json(record->time)) &&
               set(worker, "host", text_json(record, "host")) &&
               set(worker, "pid", json_integer((json_int_t)ics_journal_whole(record, "pid")));
    case ICS_EVENT_STOP:
        return set_state(worker, "stopped",
                         json_integer((json_int_t)ics_journal_whole(record, "exit_status")));
    case ICS_EVENT_PAUSED:
        return set_state(worker, "paused", json_null());
    case ICS_EVENT_DEVICE_LOST:
        add_to(worker, "devices_lost", 1);
        return true;
    case ICS_EVENT_RESUMED:
    case ICS_EVENT_CLAIMED:
    case ICS_EVENT_DONE:
        return set_state(worker, "running", json_null());
    default: /* other events, such as a retry, do not end a pause */
        return true;
    }
}

static bool add(ics_journal_summary *summary, const ics_journal_record *record)
{
    if (summary->first == 0.0 || record->time < summary->first) {
        summary->first = record->time;
    }
    summary->last = fmax(summary->last, record->time);
    if (record->kind == ICS_EVENT_SAMPLE) {
        return true; /* it says nothing of files, and `done` has its photons */
    }
    count_event(summary->counts, record);
    bool good = follow_worker(summary, record) && follow_file(summary, record) &&
                keep_trouble(summary, record);
    if (record->kind == ICS_EVENT_DONE) {
        count_recent(summary, record);
        ics_latency_add(&summary->latency, ics_journal_number(record, "seconds"));
    } else if (record->kind == ICS_EVENT_START) {
        good = good && keep_folder(summary->spools, record, "spool") &&
               keep_folder(summary->quarantines, record, "quarantine");
    }
    return good;
}

/* ---- whole journals -------------------------------------------------------------------------- */

int ics_journal_summary_read(ics_journal_summary *summary, const char *path, icestream_error *error)
{
    ICS_DESTROYS(ics_journal_reader_destroy) ics_journal_reader *reader = NULL;
    ics_journal_record record;
    bool found = false;
    ICS_TRY(ics_journal_reader_create(path, &reader, error));
    do {
        ICS_TRY(ics_journal_reader_next(reader, &record, &found, error));
        if (found && !add(summary, &record)) {
            return no_memory(error);
        }
    } while (found);
    const ics_journal_lines lines = ics_journal_reader_lines(reader);
    summary->lines.events += lines.events;
    summary->lines.torn += lines.torn;
    summary->lines.unknown += lines.unknown;
    return ICESTREAM_OK;
}

void ics_journal_recent_photons(const ics_journal_summary *summary, double now,
                                uint64_t photons[ICS_JOURNAL_BINS])
{
    const long long newest = (long long)(now / BIN_SECONDS);
    memset(photons, 0, ICS_JOURNAL_BINS * sizeof *photons);
    for (size_t i = 0; i < ICS_JOURNAL_BINS; ++i) {
        const long long age = newest - summary->bins[i].index;
        if (age >= 0 && age < ICS_JOURNAL_BINS) {
            photons[ICS_JOURNAL_BINS - 1 - age] = summary->bins[i].photons;
        }
    }
}

double ics_journal_recent_rate(const ics_journal_summary *summary, double now)
{
    uint64_t parts[ICS_JOURNAL_BINS], photons = 0;
    ics_journal_recent_photons(summary, now, parts);
    for (size_t i = 0; i < ICS_JOURNAL_BINS; ++i) {
        photons += parts[i];
    }
    const long long newest = (long long)(now / BIN_SECONDS);
    double since = fmax(summary->first, (double)(newest - ICS_JOURNAL_BINS + 1) * BIN_SECONDS);
    return now > since ? (double)photons / (now - since) : 0.0;
}

double ics_journal_rate(const ics_journal_summary *summary)
{
    double seconds = summary->last - summary->first;
    return seconds > 0.0 ? json_number_value(json_object_get(summary->counts, "photons")) / seconds
                         : 0.0;
}
