#include "pipeline/telemetry/journal_summary.h"

#include "pipeline/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BIN_SECONDS = IS_JOURNAL_RECENT / IS_JOURNAL_BINS };

static int no_memory(is_error *error)
{
    return is_error_set(error, IS_E_MEMORY, "out of memory for the summary of a journal");
}

int is_journal_summary_create(is_journal_summary **out, is_error *error)
{
    is_journal_summary *summary = calloc(1, sizeof *summary);
    *out = summary;
    if (summary == NULL) {
        return no_memory(error);
    }
    summary->open = json_object();
    summary->worker_index = json_object();
    summary->spools = json_array();
    summary->quarantines = json_array();
    if (summary->open == NULL || summary->worker_index == NULL || summary->spools == NULL ||
        summary->quarantines == NULL) {
        is_journal_summary_destroy(summary);
        *out = NULL;
        return no_memory(error);
    }
    return IS_OK;
}

static void free_trouble(is_journal_trouble *trouble)
{
    free(trouble->worker);
    free(trouble->file);
    free(trouble->reason);
}

void is_journal_summary_destroy(is_journal_summary *summary)
{
    if (summary == NULL) {
        return;
    }
    for (size_t i = 0; i < summary->worker_count; ++i) {
        free(summary->workers[i].name);
        free(summary->workers[i].host);
        free(summary->workers[i].last_file);
    }
    for (size_t i = 0; i < IS_JOURNAL_TROUBLES; ++i) {
        free_trouble(&summary->troubles[i]);
    }
    free(summary->workers);
    json_decref(summary->open);
    json_decref(summary->worker_index);
    json_decref(summary->spools);
    json_decref(summary->quarantines);
    free(summary);
}

/* ---- one event ------------------------------------------------------------------------------- */

/* Replaces a text by a copy of another, which may be NULL. False: out of memory. */
static bool replace(char **text, const char *by)
{
    char *copy = by != NULL ? strdup(by) : NULL;
    free(*text);
    *text = copy;
    return by == NULL || copy != NULL;
}

/* NULL: out of memory. */
static is_journal_worker *find_worker(is_journal_summary *summary, const char *name)
{
    const json_t *known = json_object_get(summary->worker_index, name);
    if (known != NULL) {
        return &summary->workers[json_integer_value(known)];
    }
    if (summary->worker_count == summary->worker_capacity) {
        size_t capacity = summary->worker_capacity > 0 ? 2 * summary->worker_capacity : 8;
        is_journal_worker *grown = reallocarray(summary->workers, capacity, sizeof *grown);
        if (grown == NULL) {
            return NULL;
        }
        summary->workers = grown;
        summary->worker_capacity = capacity;
    }
    is_journal_worker *worker = &summary->workers[summary->worker_count];
    *worker = (is_journal_worker){.name = strdup(name)};
    if (worker->name == NULL ||
        json_object_set_new(summary->worker_index, name,
                            json_integer((json_int_t)summary->worker_count)) != 0) {
        free(worker->name);
        return NULL;
    }
    summary->worker_count++;
    return worker;
}

static void count_event(is_journal_counts *counts, const is_journal_record *record)
{
    switch (record->kind) {
    case IS_EVENT_CLAIMED:
        counts->claimed++;
        break;
    case IS_EVENT_SKIPPED:
        counts->skipped++;
        break;
    case IS_EVENT_QUARANTINED:
        counts->quarantined++;
        break;
    case IS_EVENT_FAILED:
        counts->failed++;
        break;
    case IS_EVENT_RETRIED:
        counts->retried++;
        break;
    case IS_EVENT_DONE:
        counts->done++;
        counts->photons += is_journal_whole(record, "photons");
        counts->hits += is_journal_whole(record, "hits");
        break;
    default:
        break;
    }
}

static void count_recent(is_journal_summary *summary, const is_journal_record *record)
{
    long long index = (long long)(record->time / BIN_SECONDS);
    size_t place = (size_t)((index % IS_JOURNAL_BINS + IS_JOURNAL_BINS) % IS_JOURNAL_BINS);
    if (summary->bins[place].index < index) {
        summary->bins[place].index = index;
        summary->bins[place].photons = 0;
    }
    if (summary->bins[place].index == index) {
        summary->bins[place].photons += is_journal_whole(record, "photons");
    }
}

/* Which files somebody works on. */
static bool follow_file(is_journal_summary *summary, const is_journal_record *record)
{
    const char *file = is_journal_text(record, "file");
    if (file == NULL) {
        return true;
    }
    if (record->kind == IS_EVENT_CLAIMED) {
        return json_object_set_new(
                   summary->open, file,
                   json_pack("{s:s, s:f}", "worker", record->worker, "time", record->time)) == 0;
    }
    if (record->kind == IS_EVENT_DONE || record->kind == IS_EVENT_SKIPPED ||
        record->kind == IS_EVENT_QUARANTINED || record->kind == IS_EVENT_FAILED) {
        json_object_del(summary->open, file); /* fails where its claim is not in the journal */
    }
    return true;
}

static bool keep_trouble(is_journal_summary *summary, const is_journal_record *record)
{
    if (record->kind != IS_EVENT_QUARANTINED && record->kind != IS_EVENT_FAILED &&
        record->kind != IS_EVENT_RETRIED && record->kind != IS_EVENT_PAUSED &&
        record->kind != IS_EVENT_DEVICE_LOST) {
        return true;
    }
    is_journal_trouble *trouble =
        &summary->troubles[summary->trouble_count++ % IS_JOURNAL_TROUBLES];
    trouble->time = record->time;
    trouble->kind = record->kind;
    return replace(&trouble->worker, record->worker) &&
           replace(&trouble->file, is_journal_text(record, "file")) &&
           replace(&trouble->reason, is_journal_text(record, "reason"));
}

/* Adds a path that a start named to a list, once. Relative ones begin where the run was started. */
static bool keep_folder(json_t *list, const is_journal_record *record, const char *key)
{
    const char *path = is_journal_text(record, key), *base = is_journal_text(record, "folder");
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

static bool follow_worker(is_journal_summary *summary, const is_journal_record *record)
{
    is_journal_worker *worker = find_worker(summary, record->worker);
    if (worker == NULL) {
        return false;
    }
    worker->last = record->time;
    worker->last_event = record->kind;
    bool good = replace(&worker->last_file, is_journal_text(record, "file"));
    count_event(&worker->counts, record);
    switch (record->kind) {
    case IS_EVENT_START:
        worker->starts++;
        worker->state = IS_WORKER_RUNNING;
        worker->start = record->time;
        worker->pid = (long)is_journal_whole(record, "pid");
        good &= replace(&worker->host, is_journal_text(record, "host"));
        break;
    case IS_EVENT_STOP:
        worker->state = IS_WORKER_STOPPED;
        worker->exit_status = (int)is_journal_whole(record, "exit_status");
        break;
    case IS_EVENT_PAUSED:
        worker->state = IS_WORKER_PAUSED;
        break;
    case IS_EVENT_DEVICE_LOST:
        worker->devices_lost++;
        break;
    case IS_EVENT_RESUMED:
    case IS_EVENT_CLAIMED:
    case IS_EVENT_DONE:
        worker->state = IS_WORKER_RUNNING;
        break;
    default: /* a pause goes on while writes are tried again */
        break;
    }
    return good;
}

static bool add(is_journal_summary *summary, const is_journal_record *record)
{
    if (summary->first == 0.0 || record->time < summary->first) {
        summary->first = record->time;
    }
    summary->last = fmax(summary->last, record->time);
    count_event(&summary->counts, record);
    bool good = follow_worker(summary, record) && follow_file(summary, record) &&
                keep_trouble(summary, record);
    if (record->kind == IS_EVENT_DONE) {
        count_recent(summary, record);
        is_latency_add(&summary->latency, is_journal_number(record, "seconds"));
    } else if (record->kind == IS_EVENT_START) {
        good = good && keep_folder(summary->spools, record, "spool") &&
               keep_folder(summary->quarantines, record, "quarantine");
    }
    return good;
}

/* ---- whole journals -------------------------------------------------------------------------- */

int is_journal_summary_read(is_journal_summary *summary, const char *path, is_error *error)
{
    is_journal_reader *reader = NULL;
    is_journal_record record;
    bool found = true;
    int status = is_journal_reader_create(path, &reader, error);
    while (status == IS_OK && found) {
        status = is_journal_reader_next(reader, &record, &found, error);
        if (status == IS_OK && found && !add(summary, &record)) {
            status = no_memory(error);
        }
    }
    if (reader != NULL) {
        is_journal_lines lines = is_journal_reader_lines(reader);
        summary->lines.events += lines.events;
        summary->lines.torn += lines.torn;
        summary->lines.unknown += lines.unknown;
    }
    is_journal_reader_destroy(reader);
    return status;
}

const is_journal_trouble *is_journal_trouble_at(const is_journal_summary *summary, size_t index)
{
    if (index >= IS_JOURNAL_TROUBLES || index >= summary->trouble_count) {
        return NULL;
    }
    return &summary->troubles[(summary->trouble_count - 1 - index) % IS_JOURNAL_TROUBLES];
}

double is_journal_recent_rate(const is_journal_summary *summary, double now)
{
    uint64_t photons = 0;
    long long newest = (long long)(now / BIN_SECONDS);
    for (size_t i = 0; i < IS_JOURNAL_BINS; ++i) {
        long long age = newest - summary->bins[i].index;
        photons += age >= 0 && age < IS_JOURNAL_BINS ? summary->bins[i].photons : 0;
    }
    /* The newest bin is not over yet. */
    double since = fmax(summary->first, (double)(newest - IS_JOURNAL_BINS + 1) * BIN_SECONDS);
    return now > since ? (double)photons / (now - since) : 0.0;
}

double is_journal_rate(const is_journal_summary *summary)
{
    double seconds = summary->last - summary->first;
    return seconds > 0.0 ? (double)summary->counts.photons / seconds : 0.0;
}
