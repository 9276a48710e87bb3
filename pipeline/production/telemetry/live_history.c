#include "pipeline/production/telemetry/live_history.h"

#include "base/clock.h"
#include "base/json_text.h"
#include "base/new.h"

#include <stdlib.h>

/* ---- points ---------------------------------------------------------------------------------- */

void ics_live_history_begin(ics_live_history *history)
{
    *history = (ics_live_history){.progress = ics_progress_begin(NULL), .distance = 1};
}

static void thin_out(ics_live_history *history)
{
    for (size_t i = 0; 2 * i < history->count; ++i) {
        history->points[i] = history->points[2 * i];
    }
    history->count = (history->count + 1) / 2;
    history->distance *= 2;
}

/* The rates of more devices than ICS_PROGRESS_DEVICES are not measured. */
static void measure(ics_live_history *history, const ics_metrics *metrics, double now)
{
    ics_progress_device devices[ICS_PROGRESS_DEVICES];
    ics_progress_state state = {.photons = metrics->photons,
                                .photons_total = (double)metrics->photons_expected,
                                .devices = devices};
    for (size_t i = 0; i < metrics->device_count && i < ICS_PROGRESS_DEVICES; ++i) {
        devices[state.device_count++] = (ics_progress_device){
            .name = metrics->devices[i].id, .photons = metrics->devices[i].photons};
    }
    ics_progress_measure(&history->progress, &state, now, &history->figures);
}

void ics_live_history_add(ics_live_history *history, const ics_metrics *metrics, double now)
{
    measure(history, metrics, now);
    history->seconds = now - history->progress.start;
    if (history->snapshots++ % history->distance != 0) {
        return;
    }
    if (history->count == ICS_LIVE_POINTS) {
        thin_out(history);
    }
    history->points[history->count++] = (ics_live_point){
        .seconds = history->seconds, .photons = metrics->photons, .hits = metrics->hits};
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *whole(uint64_t value)
{
    return json_integer(value <= INT64_MAX ? (json_int_t)value : INT64_MAX);
}

static json_t *whole_or_null(uint64_t value)
{
    return value > 0 ? whole(value) : json_null();
}

static json_t *real_or_null(double value)
{
    return value >= 0.0 ? json_real(value) : json_null();
}

/* The points, and the last snapshot as one more. */
static json_t *points_json(const ics_live_history *history, const ics_metrics *metrics)
{
    json_t *list = json_array();
    for (size_t i = 0; i < history->count; ++i) {
        const ics_live_point *point = &history->points[i];
        json_array_append_new(list, json_pack("[f, o, o]", point->seconds, whole(point->photons),
                                              whole(point->hits)));
    }
    if (history->count > 0 && history->points[history->count - 1].seconds < history->seconds) {
        json_array_append_new(list, json_pack("[f, o, o]", history->seconds,
                                              whole(metrics->photons), whole(metrics->hits)));
    }
    return list;
}

static json_t *devices_json(const ics_live_history *history, const ics_metrics *metrics)
{
    json_t *list = json_array();
    for (size_t i = 0; i < metrics->device_count; ++i) {
        const ics_metrics_device *device = &metrics->devices[i];
        const double rate = i < ICS_PROGRESS_DEVICES ? history->figures.devices[i] : -1.0;
        json_array_append_new(
            list,
            json_pack("{s:o, s:o, s:o?, s:b, s:o, s:o, s:f}", "device", ics_json_text(device->id),
                      "name", ics_json_text(device->name), "schedule",
                      device->schedule[0] != '\0' ? ics_json_text(device->schedule) : NULL, "alive",
                      (int)device->alive, "photons", whole(device->photons), "photons_per_second",
                      real_or_null(rate), "seconds_busy", device->seconds_busy));
    }
    return list;
}

static json_t *queues_json(const ics_metrics *metrics)
{
    json_t *list = json_array();
    for (size_t i = 0; i < metrics->queue_count; ++i) {
        const ics_metrics_queue *queue = &metrics->queues[i];
        json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "queue",
                                              ics_json_text(queue->name), "entries",
                                              whole(queue->used), "limit", whole(queue->limit)));
    }
    return list;
}

/* The newest first. */
static json_t *warnings_json(const ics_metrics_warnings *warnings)
{
    json_t *list = json_array();
    for (uint64_t i = 0; i < ICS_METRICS_WARNINGS && i < warnings->total; ++i) {
        const uint64_t at = (warnings->total - 1 - i) % ICS_METRICS_WARNINGS;
        json_array_append_new(list, json_pack("{s:f, s:o}", "time", warnings->last[at].time, "text",
                                              ics_json_text(warnings->last[at].text)));
    }
    return json_pack("{s:o, s:o}", "total", whole(warnings->total), "last", list);
}

static json_t *files_json(const ics_metrics *metrics)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "expected",
                     whole_or_null(metrics->files_expected), "taken", whole(metrics->files_taken),
                     "waiting", whole(metrics->files_waiting), "claimed",
                     whole(metrics->files_claimed), "done", whole(metrics->files_done), "skipped",
                     whole(metrics->files_skipped), "quarantined",
                     whole(metrics->files_quarantined), "failed", whole(metrics->files_failed));
}

static json_t *account_json(const ics_metrics *metrics)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "created", whole(metrics->photons),
                     "absorbed", whole(metrics->absorbed), "detected", whole(metrics->detected),
                     "left", whole(metrics->left), "stopped", whole(metrics->stopped), "hits",
                     whole(metrics->hits), "bounces", whole(metrics->bounces));
}

static json_t *latency_json(const ics_metrics *metrics)
{
    const bool any = metrics->latency.count > 0;
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "count", whole(metrics->latency.count), "p50",
                     real_or_null(any ? metrics->latency.p50 : -1.0), "p90",
                     real_or_null(any ? metrics->latency.p90 : -1.0), "p99",
                     real_or_null(any ? metrics->latency.p99 : -1.0), "max",
                     real_or_null(any ? metrics->latency.max : -1.0));
}

static const char *state_name(const ics_metrics *metrics)
{
    if (metrics == NULL) {
        return "starting";
    }
    return metrics->ended      ? "ended"
           : metrics->stopping ? "stopping"
           : metrics->paused   ? "paused"
                               : "running";
}

/* What only a snapshot has. */
static json_t *snapshot_json(const ics_live_history *history, const ics_metrics *metrics)
{
    return json_pack(
        "{s:o?, s:f, s:f, s:o, s:o, s:o, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o, s:o}",
        "exit_status", metrics->ended ? json_integer(metrics->exit_status) : NULL, "start",
        metrics->start_time, "seconds", history->seconds, "photons", whole(metrics->photons),
        "photons_expected", whole_or_null(metrics->photons_expected), "hits", whole(metrics->hits),
        "photons_per_second", history->figures.rate, "photons_per_second_average",
        history->figures.average, "seconds_left", real_or_null(history->figures.seconds_left),
        "bytes_read", whole(metrics->bytes_read), "bytes_written", whole(metrics->bytes_written),
        "retries", whole(metrics->retries), "account", account_json(metrics), "files",
        files_json(metrics), "latency", latency_json(metrics), "devices",
        devices_json(history, metrics), "queues", queues_json(metrics), "warnings",
        warnings_json(&metrics->warnings), "history", points_json(history, metrics));
}

char *ics_live_history_text(const ics_live_history *history, const ics_metrics *metrics,
                            const ics_live_about *about)
{
    json_auto_t *object =
        json_pack("{s:s, s:s, s:I, s:s, s:o?, s:o?, s:f}", "schema", "icestream.live", "version",
                  ICESTREAM_VERSION, "sequence", (json_int_t)history->snapshots, "state",
                  state_name(metrics), "worker", ics_json_text(about->worker), "configuration",
                  ics_json_text(about->configuration), "time", ics_clock_unix());
    if (metrics != NULL) {
        json_object_update_new(object, ics_new_made(snapshot_json(history, metrics)));
    }
    return ics_new_made(json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(13)));
}
