#include "pipeline/telemetry/journal_summary.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BIN_SECONDS = ICS_JOURNAL_RECENT / ICS_JOURNAL_BINS };

static int no_memory(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for the summary of a journal");
}

int ics_journal_summary_create(ics_journal_summary **out, icestream_error *error)
{
    ics_journal_summary *summary = calloc(1, sizeof *summary);
    *out = summary;
    if (summary == NULL) {
        return no_memory(error);
    }
    summary->open = json_object();
    summary->worker_index = json_object();
    summary->spools = json_array();
    summary->quarantines = json_array();
    return ICESTREAM_OK;
}

void ics_journal_summary_destroy(ics_journal_summary *summary)
{
    if (summary == NULL) {
        return;
    }
    for (size_t i = 0; i < summary->worker_count; ++i) {
        free(summary->workers[i].name);
        free(summary->workers[i].host);
        free(summary->workers[i].last_file);
    }
    for (size_t i = 0; i < ICS_JOURNAL_TROUBLES; ++i) {
        free(summary->troubles[i].worker);
        free(summary->troubles[i].file);
        free(summary->troubles[i].reason);
    }
    free(summary->workers);
    json_decref(summary->open);
    json_decref(summary->worker_index);
    json_decref(summary->spools);
    json_decref(summary->quarantines);
    free(summary);
}

/* ---- one event ------------------------------------------------------------------------------- */

/* Replaces a text by a copy of `by`, which may be NULL. Returns false if out of memory. */
static bool replace(char **text, const char *by)
{
    char *copy = by != NULL ? strdup(by) : NULL;
    free(*text);
    *text = copy;
    return by == NULL || copy != NULL;
}

/* Finds or adds a worker. NULL: out of memory. */
static ics_journal_worker *find_worker(ics_journal_summary *summary, const char *name)
{
    const json_t *known = json_object_get(summary->worker_index, name);
    if (known != NULL) {
        return &summary->workers[json_integer_value(known)];
    }
    if (summary->worker_count == summary->worker_capacity) {
        size_t capacity = summary->worker_capacity > 0 ? 2 * summary->worker_capacity : 8;
        ics_journal_worker *grown = reallocarray(summary->workers, capacity, sizeof *grown);
        if (grown == NULL) {
            return NULL;
        }
        summary->workers = grown;
        summary->worker_capacity = capacity;
    }
    ics_journal_worker *worker = &summary->workers[summary->worker_count];
    *worker = (ics_journal_worker){.name = strdup(name)};
    if (worker->name == NULL ||
        json_object_set_new(summary->worker_index, name,
                            json_integer((json_int_t)summary->worker_count)) != 0) {
        free(worker->name);
        return NULL;
    }
    summary->worker_count++;
    return worker;
}

static void count_event(ics_journal_counts *counts, const ics_journal_record *record)
{
    const ics_event_kind kind = record->kind;
    counts->claimed += kind == ICS_EVENT_CLAIMED;
    counts->skipped += kind == ICS_EVENT_SKIPPED;
    counts->quarantined += kind == ICS_EVENT_QUARANTINED;
    counts->failed += kind == ICS_EVENT_FAILED;
    counts->retried += kind == ICS_EVENT_RETRIED;
    counts->command_failed += kind == ICS_EVENT_COMMAND_FAILED;
    counts->fetched += kind == ICS_EVENT_FETCHED;
    counts->shipped += kind == ICS_EVENT_SHIPPED;
    if (kind == ICS_EVENT_DONE) {
        counts->done++;
        counts->photons += ics_journal_whole(record, "photons");
        counts->hits += ics_journal_whole(record, "hits");
    }
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
    ics_journal_trouble *trouble =
        &summary->troubles[summary->trouble_count++ % ICS_JOURNAL_TROUBLES];
    trouble->time = record->time;
    trouble->kind = record->kind;
    return replace(&trouble->worker, record->worker) &&
           replace(&trouble->file, ics_journal_text(record, "file")) &&
           replace(&trouble->reason, ics_journal_text(record, "reason"));
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

static bool follow_worker(ics_journal_summary *summary, const ics_journal_record *record)
{
    ics_journal_worker *worker = find_worker(summary, record->worker);
    if (worker == NULL) {
        return false;
    }
    worker->last = record->time;
    worker->last_event = record->kind;
    bool good = replace(&worker->last_file, ics_journal_text(record, "file"));
    count_event(&worker->counts, record);
    switch (record->kind) {
    case ICS_EVENT_START:
        worker->starts++;
        worker->state = ICS_WORKER_RUNNING;
        worker->start = record->time;
        worker->pid = (long)ics_journal_whole(record, "pid");
        good &= replace(&worker->host, ics_journal_text(record, "host"));
        break;
    case ICS_EVENT_STOP:
        worker->state = ICS_WORKER_STOPPED;
        worker->exit_status = (int)ics_journal_whole(record, "exit_status");
        break;
    case ICS_EVENT_PAUSED:
        worker->state = ICS_WORKER_PAUSED;
        break;
    case ICS_EVENT_DEVICE_LOST:
        worker->devices_lost++;
        break;
    case ICS_EVENT_RESUMED:
    case ICS_EVENT_CLAIMED:
    case ICS_EVENT_DONE:
        worker->state = ICS_WORKER_RUNNING;
        break;
    default: /* other events, such as a retry, do not end a pause */
        break;
    }
    return good;
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
    count_event(&summary->counts, record);
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

const ics_journal_trouble *ics_journal_trouble_at(const ics_journal_summary *summary, size_t index)
{
    if (index >= ICS_JOURNAL_TROUBLES || index >= summary->trouble_count) {
        return NULL;
    }
    return &summary->troubles[(summary->trouble_count - 1 - index) % ICS_JOURNAL_TROUBLES];
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
    return seconds > 0.0 ? (double)summary->counts.photons / seconds : 0.0;
}
