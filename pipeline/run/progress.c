#include "pipeline/run/progress.h"

#include "base/container.h"
#include "pipeline/run/command.h"
#include "pipeline/run/jobs.h"
#include "pipeline/run/log.h"
#include "pipeline/run/room.h"
#include "pipeline/run/stop.h"

#include <string.h>

/* Makes a short name that only one device has: "cuda:0", "cpu". */
static void name_member(const ics_device_member_facts *facts, char *id, size_t size)
{
    if (facts->is_gpu) {
        snprintf(id, size, "cuda:%d", facts->ordinal);
    } else {
        snprintf(id, size, "cpu");
    }
}

static size_t list_devices(const ics_run_state *run,
                           ics_progress_device devices[ICS_PROGRESS_DEVICES],
                           char ids[ICS_PROGRESS_DEVICES][16])
{
    ics_device_member_facts facts;
    size_t count = 0;
    while (count < ICS_PROGRESS_DEVICES &&
           ics_device_member_facts_of(run->device, (uint32_t)count, &facts)) {
        name_member(&facts, ids[count], sizeof ids[count]);
        devices[count] = (ics_progress_device){
            .name = ids[count], .photons = facts.photons, .alive = facts.alive};
        count++;
    }
    return count;
}

void ics_run_progress_show(ics_run_state *run)
{
    ics_progress_device devices[ICS_PROGRESS_DEVICES];
    char ids[ICS_PROGRESS_DEVICES][16];
    ics_progress_state state = {.photons = run->batches.account.created,
                                .hits = run->batches.account.hits,
                                .files = run->units.finished,
                                .files_total = run->streaming ? 0 : run->files_total,
                                .files_taken = run->units.made,
                                .files_quarantined = run->units.results[ICS_RESULT_QUARANTINED],
                                .files_undelivered = ics_run_command_count_failed(run),
                                .queue = run->jobs.batches_queued,
                                .devices = devices,
                                .device_count = list_devices(run, devices, ids),
                                .paused = ics_run_room_pause_reason(run),
                                .stopping = ics_run_is_stopping(run)};
    if (run->inputs.count > 0 && run->inputs.items[0].generated) {
        state.photons_total = (double)run->photons_checked; /* an estimate of all */
    } else if (!run->streaming && run->bytes_checked > 0) {
        state.photons_total =
            (double)run->photons_checked * (double)run->bytes_total / (double)run->bytes_checked;
    }
    ics_events_progress(&run->log.events, &state);
    ics_service_notify_progress(&run->loop.service, &state);
}

/* ---- metrics --------------------------------------------------------------------------------- */

static void add_queue(ics_metrics *metrics, const char *name, uint64_t used, uint64_t limit)
{
    ics_metrics_queue *queue = &metrics->queues[metrics->queue_count++];
    snprintf(queue->name, sizeof queue->name, "%s", name);
    queue->used = used;
    queue->limit = limit;
}

static void add_devices(const ics_run_state *run, ics_metrics *metrics)
{
    ics_device_member_facts facts;
    for (uint32_t i = 0; metrics->device_count < ICS_METRICS_DEVICES &&
                         ics_device_member_facts_of(run->device, i, &facts);
         ++i) {
        ics_metrics_device *device = &metrics->devices[metrics->device_count++];
        name_member(&facts, device->id, sizeof device->id);
        snprintf(device->name, sizeof device->name, "%.127s", facts.name);
        device->photons = facts.photons;
        device->seconds_busy = facts.seconds;
        device->alive = facts.alive;
    }
}

static void measure(const ics_run_state *run, ics_metrics *metrics)
{
    *metrics = (ics_metrics){.start_time = run->start_time,
                             .paused = ics_run_room_is_paused(run),
                             .photons = run->batches.account.created,
                             .hits = run->batches.account.hits,
                             .bounces = run->batches.account.bounces,
                             .bytes_read = run->bytes_checked,
                             .bytes_written = run->bytes_written,
                             .retries = run->retries.total,
                             .files_taken = run->units.made,
                             .files_done = run->units.results[ICS_RESULT_DONE],
                             .files_skipped = run->units.results[ICS_RESULT_SKIPPED],
                             .files_quarantined = run->units.results[ICS_RESULT_QUARANTINED],
                             .files_failed = run->units.results[ICS_RESULT_LOST],
                             .files_claimed = run->units.open};
    ics_metrics_set_latency(metrics, &run->units.latency);
    add_queue(metrics, "batches", run->jobs.batches_queued, ics_device_credits(run->device));
    add_queue(metrics, "units", run->units.open, run->units.open_limit);
    add_devices(run, metrics);
}

static ics_run_state *run_of_metrics_job(ics_job *job)
{
    return ICS_CONTAINER_OF(job, ics_run_state, measures.job);
}

static void send_metrics(ics_job *job, void *thread_state)
{
    (void)thread_state;
    ics_run_state *run = run_of_metrics_job(job);
    run->measures.error = (icestream_error){.status = ICESTREAM_OK};
    ics_claims_counts counts = {0};
    if (run->common.claims != NULL &&
        ics_claims_stat(run->common.claims, &counts, &run->measures.error) == ICESTREAM_OK) {
        run->measures.metrics.files_waiting = counts.waiting;
    }
    if (run->measures.listener != NULL) {
        ics_metrics_listener_publish(run->measures.listener, &run->measures.metrics);
    }
    if (run->metrics_file.path != NULL) {
        snprintf(run->measures.metrics.worker, sizeof run->measures.metrics.worker, "%s",
                 run->metrics_file.is_other ? run->worker : "");
        ics_metrics_write(&run->measures.metrics, run->metrics_file.path, &run->measures.error);
    }
}

void ics_run_progress_publish_last(ics_run_state *run)
{
    if (run->metrics_file.path == NULL) {
        return; /* nobody asks the listener after the end */
    }
    measure(run, &run->measures.metrics);
    send_metrics(&run->measures.job, NULL);
    if (run->measures.error.status != ICESTREAM_OK) {
        ics_run_log_text(run, ICS_EVENT_WARNING, "metrics: %s", run->measures.error.text);
    }
}

static void metrics_done(ics_job *job)
{
    ics_run_state *run = run_of_metrics_job(job);
    if (run->measures.error.status != ICESTREAM_OK) {
        ics_run_log_text(run, ICS_EVENT_WARNING, "metrics: %s", run->measures.error.text);
    }
}

void ics_run_progress_publish(ics_run_state *run)
{
    if ((run->metrics_file.path == NULL && run->measures.listener == NULL) ||
        run->measures.job.out || run->log.ended) {
        return;
    }
    measure(run, &run->measures.metrics);
    ics_run_send_job(run, run->jobs.io, &run->measures.job, NULL, send_metrics, metrics_done);
}
