#include "pipeline/tools/report/history.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for the history of the runs");
}

int ics_history_create(const ics_journal_summary *summary, ics_history **out,
                       icestream_error *error)
{
    ics_history *history = calloc(1, sizeof *history);
    *out = history;
    if (history == NULL) {
        return no_memory(error);
    }
    history->first = summary->first;
    history->last = summary->last;
    const double length = summary->last - summary->first;
    history->width = (length > 1e-3 ? length : 1e-3) / ICS_HISTORY_BINS;
    history->workers = json_object();
    ics_history_list *const lists[] = {&history->done, &history->quarantined, &history->troubles,
                                       &history->starts};
    bool failed = history->workers == NULL;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i) {
        lists[i]->items = json_array();
        failed = failed || lists[i]->items == NULL;
    }
    return failed ? no_memory(error) : ICESTREAM_OK;
}

void ics_history_destroy(ics_history *history)
{
    if (history == NULL) {
        return;
    }
    json_decref(history->done.items);
    json_decref(history->quarantined.items);
    json_decref(history->troubles.items);
    json_decref(history->starts.items);
    json_decref(history->last_start);
    json_decref(history->workers);
    free(history);
}

/* ---- bins ------------------------------------------------------------------------------------ */

static size_t bin_of(const ics_history *history, double time)
{
    const double at = (time - history->first) / history->width;
    if (!(at > 0.0)) {
        return 0;
    }
    return at < ICS_HISTORY_BINS ? (size_t)at : ICS_HISTORY_BINS - 1;
}

/* The part of [from, to] that is in a bin, 0 .. 1. */
static double share_of(const ics_history *history, size_t bin, double from, double to)
{
    const double low = history->first + (double)bin * history->width;
    const double high = low + history->width;
    const double begin = from > low ? from : low, end = to < high ? to : high;
    if (to - from < 1e-9) {
        return bin == bin_of(history, to) ? 1.0 : 0.0;
    }
    return end > begin ? (end - begin) / (to - from) : 0.0;
}

/* Adds an amount that grew evenly between two times. `offset`: of the member of a bin. */
static void spread(ics_history *history, size_t offset, double amount, double from, double to)
{
    if (!(amount > 0.0)) {
        return;
    }
    for (size_t i = bin_of(history, from); i <= bin_of(history, to); ++i) {
        double *sum = (double *)((char *)&history->bins[i] + offset);
        *sum += amount * share_of(history, i, from, to);
    }
}

/* ---- samples --------------------------------------------------------------------------------- */

/* What was known of a worker at its last line with sums: an object with the members of a line. */
static json_t *worker_of(ics_history *history, const char *name)
{
    json_t *worker = json_object_get(history->workers, name);
    if (worker == NULL) {
        worker = json_object();
        if (json_object_set_new(history->workers, name, worker) != 0) {
            return NULL;
        }
    }
    return worker;
}

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* How much a sum has grown since the last line of the worker. A sum that became smaller is that of
 * another run. */
static double growth(const json_t *before, const char *key, double now)
{
    const double then = number(before, key);
    return now >= then ? now - then : now;
}

static size_t device_index(ics_history *history, const char *name)
{
    size_t i = 0;
    while (i < ICS_HISTORY_DEVICES && history->devices[i][0] != '\0' &&
           strcmp(history->devices[i], name) != 0) {
        ++i;
    }
    if (i < ICS_HISTORY_DEVICES && history->devices[i][0] == '\0') {
        snprintf(history->devices[i], sizeof history->devices[i], "%.31s", name);
    }
    return i;
}

static void add_devices(ics_history *history, json_t *worker, const json_t *devices, double from,
                        double to)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)devices, name, value)
    {
        const size_t i = device_index(history, name);
        const double photons = json_number_value(value);
        if (i < ICS_HISTORY_DEVICES) {
            spread(history, offsetof(ics_history_bin, devices) + i * sizeof(double),
                   growth(json_object_get(worker, "devices"), name, photons), from, to);
        }
    }
}

static int remember(json_t *worker, const ics_journal_record *record, icestream_error *error)
{
    int failed = json_object_set_new(worker, "time", json_real(record->time));
    failed |=
        json_object_set_new(worker, "photons", json_real(ics_journal_number(record, "photons")));
    failed |= json_object_set_new(worker, "hits", json_real(ics_journal_number(record, "hits")));
    json_t *devices = json_object_get(record->fields, "devices");
    failed |= json_object_set_new(worker, "devices",
                                  json_is_object(devices) ? json_copy(devices) : json_object());
    return failed != 0 ? no_memory(error) : ICESTREAM_OK;
}

/* Adds the photons by height that the last sample of a run has. Levels of another version are left
 * out. */
static void add_light(ics_history *history, const json_t *light)
{
    const json_t *photons = json_object_get(light, "photons");
    if (json_array_size(photons) != ICS_LIGHT_LEVELS ||
        json_integer_value(json_object_get(light, "low")) != ICS_LIGHT_LEVELS_LOW ||
        json_integer_value(json_object_get(light, "step")) != ICS_LIGHT_LEVELS_STEP) {
        return;
    }
    history->has_light = true;
    history->light.below += (uint64_t)json_integer_value(json_object_get(light, "below"));
    history->light.above += (uint64_t)json_integer_value(json_object_get(light, "above"));
    for (size_t i = 0; i < ICS_LIGHT_LEVELS; ++i) {
        history->light.photons[i] += (uint64_t)json_integer_value(json_array_get(photons, i));
    }
}

/* Adds what a line with sums says: `start` begins at 0, `sample` and `stop` have the sums. */
static int add_sums(ics_history *history, const ics_journal_record *record, icestream_error *error)
{
    json_t *worker = worker_of(history, record->worker);
    if (worker == NULL) {
        return no_memory(error);
    }
    if (record->kind == ICS_EVENT_START) {
        json_object_clear(worker);
        return remember(worker, record, error);
    }
    const bool known = json_object_get(worker, "time") != NULL;
    const double from = known ? number(worker, "time") : history->first;
    const double photons = ics_journal_number(record, "photons");
    spread(history, offsetof(ics_history_bin, photons), growth(worker, "photons", photons), from,
           record->time);
    spread(history, offsetof(ics_history_bin, hits),
           growth(worker, "hits", ics_journal_number(record, "hits")), from, record->time);
    if (record->kind == ICS_EVENT_SAMPLE) {
        ics_history_bin *bin = &history->bins[bin_of(history, record->time)];
        const json_t *queues = json_object_get(record->fields, "queues");
        const json_t *batches = json_object_get(queues, "batches");
        const json_t *units = json_object_get(queues, "units");
        const double queue = json_number_value(json_array_get(batches, 0));
        const double room = json_number_value(json_array_get(batches, 1));
        history->has_samples = true;
        bin->samples += 1;
        bin->queue += queue;
        bin->queue_max = queue > bin->queue_max ? queue : bin->queue_max;
        bin->open += json_number_value(json_array_get(units, 0));
        history->queue_room = room > history->queue_room ? room : history->queue_room;
        add_light(history, json_object_get(record->fields, "light"));
        add_devices(history, worker, json_object_get(record->fields, "devices"), from,
                    record->time);
    }
    return remember(worker, record, error);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static int add_to_list(ics_history_list *list, const ics_journal_record *record,
                       icestream_error *error)
{
    list->count += 1;
    if (json_array_size(list->items) == ICS_HISTORY_FILES) {
        json_array_remove(list->items, 0);
    }
    return json_array_append_new(list->items, json_deep_copy(record->fields)) == 0
               ? ICESTREAM_OK
               : no_memory(error);
}

static int add_done(ics_history *history, const ics_journal_record *record, icestream_error *error)
{
    ics_history_bin *bin = &history->bins[bin_of(history, record->time)];
    const double seconds = ics_journal_number(record, "seconds");
    bin->files += 1;
    bin->latency += seconds;
    bin->latency_max = seconds > bin->latency_max ? seconds : bin->latency_max;
    return add_to_list(&history->done, record, error);
}

static int add_start(ics_history *history, const ics_journal_record *record, icestream_error *error)
{
    json_decref(history->last_start);
    history->last_start = json_deep_copy(record->fields);
    if (history->last_start == NULL) {
        return no_memory(error);
    }
    ICS_TRY(add_to_list(&history->starts, record, error));
    return add_sums(history, record, error);
}

static int add_record(ics_history *history, const ics_journal_record *record,
                      icestream_error *error)
{
    switch (record->kind) {
    case ICS_EVENT_START:
        return add_start(history, record, error);
    case ICS_EVENT_SAMPLE:
    case ICS_EVENT_STOP:
        return add_sums(history, record, error);
    case ICS_EVENT_DONE:
        return add_done(history, record, error);
    case ICS_EVENT_QUARANTINED:
        return add_to_list(&history->quarantined, record, error);
    case ICS_EVENT_HITS_QUARANTINED:
    case ICS_EVENT_FAILED:
    case ICS_EVENT_COMMAND_FAILED:
    case ICS_EVENT_RETRIED:
    case ICS_EVENT_PAUSED:
    case ICS_EVENT_DEVICE_LOST:
    case ICS_EVENT_SIGNAL:
        return add_to_list(&history->troubles, record, error);
    default:
        return ICESTREAM_OK;
    }
}

int ics_history_read(ics_history *history, const char *path, icestream_error *error)
{
    ics_journal_reader *reader = NULL;
    ics_journal_record record;
    bool found = true;
    int status = ics_journal_reader_create(path, &reader, error);
    while (status == ICESTREAM_OK && found) {
        status = ics_journal_reader_next(reader, &record, &found, error);
        if (status == ICESTREAM_OK && found) {
            status = add_record(history, &record, error);
        }
    }
    ics_journal_reader_destroy(reader);
    return status;
}
