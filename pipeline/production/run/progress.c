#include "pipeline/production/run/progress.h"

#include "base/clock.h"
#include "base/container.h"
#include "pipeline/production/run/device_metrics.h"
#include "pipeline/production/run/disk_full.h"
#include "pipeline/production/run/jobs.h"
#include "pipeline/production/run/log.h"
#include "pipeline/production/run/parts.h"
#include "pipeline/production/run/stop.h"

#include <string.h>

static size_t list_devices(const ics_run_state *run,
                           ics_progress_device devices[ICS_PROGRESS_DEVICES],
                           char ids[ICS_PROGRESS_DEVICES][ICS_DEVICE_ID])
{
    ics_device_member_facts facts;
    size_t count = 0;
    while (count < ICS_PROGRESS_DEVICES &&
           ics_device_member_facts_of(run->device, (uint32_t)count, &facts)) {
        ics_device_member_id(&facts, ids[count]);
        devices[count] = (ics_progress_device){
            .name = ids[count], .photons = facts.photons, .alive = facts.alive};
        count++;
    }
    return count;
}

/* An estimate of the photons of all files; 0: unknown. */
static double expect_photons(const ics_run_state *run)
{
    if (run->inputs.count > 0 && run->inputs.items[0].source->makes) {
        return (double)run->photons_checked; /* an estimate of all */
    }
    return run->streaming || run->bytes_checked == 0
               ? 0.0
               : (double)run->photons_checked * (double)run->bytes_total /
                     (double)run->bytes_checked;
}

void ics_run_progress_note_waiting(ics_run_state *run)
{
    ics_run_loop *loop = &run->loop;
    const double now = ics_clock_seconds();
    const bool waits = run->intake.watching && run->units.open == 0;
    if (loop->waits_since > 0.0) {
        run->log.events.progress.idle += now - loop->waits_since;
    }
    loop->waits_since = waits ? now : 0.0;
}

void ics_run_progress_show(ics_run_state *run)
{
    ics_progress_device devices[ICS_PROGRESS_DEVICES];
    char ids[ICS_PROGRESS_DEVICES][ICS_DEVICE_ID];
    ics_progress_state state = {.photons = run->engine->sums.account.created,
                                .photons_total = expect_photons(run),
                                .hits = run->engine->sums.account.hits,
                                .files = run->units.finished,
                                .files_total = run->streaming ? 0 : run->files_total,
                                .files_taken = run->units.made,
                                .files_quarantined = run->units.results[ICS_RESULT_QUARANTINED],
                                .files_undelivered = ics_run_command_count_failed(run),
                                .queue = run->engine->queued,
                                .devices = devices,
                                .device_count = list_devices(run, devices, ids),
                                .paused = run->disk_full.paused ? run->disk_full.reason : NULL,
                                .stopping = ics_run_is_stopping(run),
                                .waiting = run->loop.waits_since > 0.0};
    ics_events_progress(&run->log.events, &state);
    ics_service_notify_progress(&run->loop.service, &state);
}

/* ---- metrics --------------------------------------------------------------------------------- */

static void measure(const ics_run_state *run, ics_metrics *metrics)
{
    *metrics = (ics_metrics){.start_time = run->start_time,
                             .paused = run->disk_full.paused,
                             .stopping = ics_run_is_stopping(run),
                             .photons_expected = (uint64_t)expect_photons(run),
                             .absorbed = run->engine->sums.account.absorbed,
                             .detected = run->engine->sums.account.detected,
                             .left = run->engine->sums.account.left,
                             .stopped = run->engine->sums.account.stopped,
                             .photons = run->engine->sums.account.created,
                             .hits = run->engine->sums.account.hits,
                             .bounces = run->engine->sums.account.bounces,
                             .bytes_read = run->bytes_checked,
                             .bytes_written = run->bytes_written,
                             .retries = run->retries.total,
                             .files_taken = run->units.made,
                             .files_done = run->units.results[ICS_RESULT_DONE],
                             .files_skipped = run->units.results[ICS_RESULT_SKIPPED],
                             .files_quarantined = run->units.results[ICS_RESULT_QUARANTINED],
                             .files_failed = run->units.results[ICS_RESULT_LOST],
                             .files_claimed = run->units.open,
                             .files_waiting = run->measures.files_waiting,
                             .files_expected = run->streaming ? 0 : run->files_total,
                             .warnings = run->log.events.warnings};
    ics_metrics_set_latency(metrics, &run->units.latency);
    /* All batches that may exist at a time (setup.c). */
    ics_metrics_add_queue(metrics, "batches", run->engine->queued,
                          run->units.open_limit - run->shape.readers);
    ics_metrics_add_queue(metrics, "units", run->units.open, run->units.open_limit);
    ics_device_measure(run->device, metrics);
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
    uint64_t waiting = 0;
    if (run->common.claims != NULL &&
        ics_claims_count_waiting(run->common.claims, &waiting, &run->measures.error) ==
            ICESTREAM_OK) {
        run->measures.metrics.files_waiting = waiting;
    }
    if (run->metrics_file.path != NULL) {
        snprintf(run->measures.metrics.worker, sizeof run->measures.metrics.worker, "%s",
                 run->metrics_file.is_other ? run->common.worker : "");
        ics_metrics_write(&run->measures.metrics, run->metrics_file.path, &run->measures.error);
    }
}

static void metrics_done(ics_job *job)
{
    ics_run_state *run = run_of_metrics_job(job);
    run->measures.files_waiting = run->measures.metrics.files_waiting;
    if (run->measures.error.status != ICESTREAM_OK) {
        ics_run_log_text(run, ICS_EVENT_WARNING, "metrics: %s", run->measures.error.text);
    }
}

void ics_run_progress_publish(ics_run_state *run)
{
    enum { FILE_PERIOD = 5 }; /* calls */
    ics_run_measures *measures = &run->measures;
    if ((run->metrics_file.path == NULL && measures->listener == NULL) || run->log.ended) {
        return;
    }
    if (measures->listener != NULL) {
        ics_metrics now;
        measure(run, &now);
        ics_metrics_listener_publish(measures->listener, &now);
    }
    if (measures->calls++ % FILE_PERIOD == 0 && !measures->job.out) {
        measure(run, &measures->metrics);
        ics_run_send_job(run, run->jobs.io, &measures->job, NULL, send_metrics, metrics_done);
    }
}

void ics_run_progress_sample(ics_run_state *run, bool last)
{
    const double seconds = ics_clock_seconds() - run->log.events.progress.start;
    ics_metrics now;
    ics_event event;
    if (run->common.journal == NULL ||
        !(last || ics_metrics_sample_is_due(&run->measures.sampled, seconds))) {
        return;
    }
    measure(run, &now);
    ics_metrics_sample(&now, seconds, &event);
    if (last) {
        json_object_set_new(event.more, "light", ics_light_levels_json(&run->engine->sums.light));
        ics_run_journal_append(run->common.journal, &event);
    } else {
        ics_run_log_event(run, &event);
    }
    json_decref(event.more);
}

void ics_run_progress_publish_last(ics_run_state *run, int exit_status)
{
    ics_metrics *last = &run->measures.metrics;
    measure(run, last);
    if (run->metrics_file.path != NULL || run->measures.listener != NULL) {
        send_metrics(&run->measures.job, NULL);
        metrics_done(&run->measures.job);
    }
    last->ended = true;
    last->exit_status = exit_status;
    if (run->measures.listener != NULL) {
        ics_metrics_listener_end(run->measures.listener, last);
    }
}
