/* What a run tells while it lasts: the log for people or programs, the journal, metrics. */
#include "base/error.h"
#include "pipeline/run/state.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- log and journal ------------------------------------------------------------------------- */

enum { LINES_MAX = 200 }; /* with the keeper: its queue must have room for the claims */

/* A line for the journal that the loop has to tell. */
typedef struct journal_line {
    ics_job job;
    ics_run_state *run;
    ics_event event;
} journal_line;

static void write_line(ics_job *job, void *thread_state)
{
    (void)thread_state;
    journal_line *line = (journal_line *)job;
    ics_run_journal_append(line->run->common.journal, &line->event);
}

static void free_line(journal_line *line)
{
    free((char *)line->event.file);
    free((char *)line->event.reason);
    free((char *)line->event.device);
    free(line);
}

static void line_done(ics_job *job)
{
    journal_line *line = (journal_line *)job;
    ics_run_state *run = line->run;
    run->lines_out--;
    free_line(line);
}

/* The keeper waits for a disk that takes no lines at the moment. */
static bool keeper_is_behind(ics_run_state *run)
{
    icestream_error why = {.status = ICESTREAM_OK};
    if (run->lines_out < LINES_MAX) {
        return false;
    }
    ics_error_set(&why, ICESTREAM_E_OUTPUT, "the disk takes them too slowly");
    ics_run_journal_lose(run->common.journal, &why);
    return true;
}

static void send_line(ics_run_state *run, journal_line *line,
                      void (*work)(ics_job *job, void *thread_state))
{
    line->run = run;
    run->lines_out++;
    ics_run_send_job(run, run->keeper, &line->job, work, line_done);
}

static char *copy_text(const char *text)
{
    return text != NULL ? strdup(text) : NULL;
}

void ics_run_tell(ics_run_state *run, const ics_event *event)
{
    ics_events_report(&run->events, event);
    journal_line *line = NULL;
    if (run->common.journal == NULL || run->keeper == NULL || run->ended ||
        !ics_event_in_journal(event->kind) || keeper_is_behind(run) ||
        (line = calloc(1, sizeof *line)) == NULL) {
        return; /* the journal is not the truth: without memory a line of it is lost */
    }
    line->event = *event;
    line->event.file = copy_text(event->file);
    line->event.reason = copy_text(event->reason);
    line->event.device = copy_text(event->device);
    send_line(run, line, write_line);
}

void ics_run_tell_start(ics_run_state *run, const ics_event *event)
{
    ics_events_report(&run->events, event);
    ics_run_journal_append(run->common.journal, event);
}

void ics_run_tell_stop(ics_run_state *run, const icestream_error *result)
{
    const ics_event event = {.kind = ICS_EVENT_STOP,
                             .files =
                                 run->finished[ICS_UNIT_DONE] + run->finished[ICS_UNIT_SKIPPED],
                             .photons = run->account.created,
                             .hits = run->account.hits,
                             .seconds = ics_progress_seconds() - run->events.progress.start,
                             .exit_status = icestream_status_exit(result->status)};
    ics_events_report(&run->events, &event);
    ics_run_journal_append(run->common.journal, &event);
    ics_run_tell_news(run);
}

void ics_run_say(ics_run_state *run, ics_event_kind kind, const char *format, ...)
{
    char text[ICS_EVENT_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ics_events_note(&run->events, kind, "%s", text);
}

void ics_run_tell_news(ics_run_state *run)
{
    static const char warning[] = "warning: ";
    char line[4096];
    while (ics_device_news(run->device, line, sizeof line)) {
        bool warns = strncmp(line, warning, strlen(warning)) == 0;
        ics_run_say(run, warns ? ICS_EVENT_WARNING : ICS_EVENT_MESSAGE, "%s",
                    line + (warns ? strlen(warning) : 0));
    }
    icestream_error error = {.status = ICESTREAM_OK};
    uint64_t lost =
        run->common.journal != NULL ? ics_run_journal_take_lost(run->common.journal, &error) : 0;
    if (lost > 0) {
        ics_run_say(run, ICS_EVENT_WARNING, "%llu line%s of the journal lost: %s",
                    (unsigned long long)lost, lost == 1 ? " is" : "s are", error.text);
    }
}

static void reopen(ics_job *job, void *thread_state)
{
    (void)thread_state;
    journal_line *line = (journal_line *)job;
    ics_run_journal *journal = line->run->common.journal;
    icestream_error error = {.status = ICESTREAM_OK};
    if (ics_journal_reopen(journal->journal, &error) != ICESTREAM_OK) {
        ics_run_journal_lose(journal, &error);
    }
}

void ics_run_reopen_logs(ics_run_state *run)
{
    journal_line *line = NULL;
    if (run->common.journal != NULL && !run->ended && !keeper_is_behind(run) &&
        (line = calloc(1, sizeof *line)) != NULL) {
        send_line(run, line, reopen);
    }
}

/* ---- progress -------------------------------------------------------------------------------- */

/* "cuda:0", "cpu": short, and each once. */
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

void ics_run_show_progress(ics_run_state *run)
{
    ics_progress_device devices[ICS_PROGRESS_DEVICES];
    char ids[ICS_PROGRESS_DEVICES][16];
    ics_progress_state state = {.photons = run->account.created,
                                .hits = run->account.hits,
                                .files = run->files_finished,
                                .files_total = run->streaming ? 0 : run->files_total,
                                .files_taken = run->units_made,
                                .files_quarantined = run->finished[ICS_UNIT_SET_ASIDE],
                                .queue = run->ready_count,
                                .devices = devices,
                                .device_count = list_devices(run, devices, ids),
                                .paused = run->pause.on ? run->pause.reason : NULL,
                                .stopping = ics_run_stopping(run)};
    if (!run->streaming && run->bytes_checked > 0) {
        state.photons_total =
            (double)run->photons_checked * (double)run->bytes_total / (double)run->bytes_checked;
    }
    ics_events_progress(&run->events, &state);
    ics_service_notify_progress(&run->service, &state);
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
                             .paused = run->pause.on,
                             .photons = run->account.created,
                             .hits = run->account.hits,
                             .bounces = run->account.bounces,
                             .bytes_read = run->bytes_checked,
                             .bytes_written = run->bytes_written,
                             .retries = run->retries,
                             .files_taken = run->units_made,
                             .files_done = run->finished[ICS_UNIT_DONE],
                             .files_skipped = run->finished[ICS_UNIT_SKIPPED],
                             .files_quarantined = run->finished[ICS_UNIT_SET_ASIDE],
                             .files_failed = run->finished[ICS_UNIT_LOST],
                             .files_claimed = run->units_open};
    ics_metrics_set_latency(metrics, &run->latency);
    add_queue(metrics, "batches", run->ready_count, ics_device_credits(run->device));
    add_queue(metrics, "units", run->units_open, run->units_open_limit);
    add_devices(run, metrics);
}

static const char *metrics_path(const ics_run_state *run)
{
    return run->options->metrics_path != NULL ? run->options->metrics_path
                                              : run->config->metrics.file;
}

static ics_run_state *run_of_metrics_job(ics_job *job)
{
    return (ics_run_state *)((char *)job - offsetof(ics_run_state, metrics_job));
}

static void send_metrics(ics_job *job, void *thread_state)
{
    (void)thread_state;
    ics_run_state *run = run_of_metrics_job(job);
    run->metrics_error = (icestream_error){.status = ICESTREAM_OK};
    ics_claims_counts counts = {0};
    if (run->common.claims != NULL &&
        ics_run_claims_stat(run->common.claims, &counts, &run->metrics_error) == ICESTREAM_OK) {
        run->metrics.files_waiting = counts.waiting;
    }
    if (run->metrics_listener != NULL) {
        ics_metrics_listener_publish(run->metrics_listener, &run->metrics);
    }
    if (metrics_path(run) != NULL) {
        ics_metrics_write(&run->metrics, metrics_path(run), &run->metrics_error);
    }
}

void ics_run_publish_last(ics_run_state *run)
{
    if (metrics_path(run) == NULL) {
        return; /* nobody will ask any more */
    }
    measure(run, &run->metrics);
    send_metrics(&run->metrics_job, NULL);
    if (run->metrics_error.status != ICESTREAM_OK) {
        ics_run_say(run, ICS_EVENT_WARNING, "metrics: %s", run->metrics_error.text);
    }
}

static void metrics_done(ics_job *job)
{
    ics_run_state *run = run_of_metrics_job(job);
    run->metrics_out = false;
    if (run->metrics_error.status != ICESTREAM_OK) {
        ics_run_say(run, ICS_EVENT_WARNING, "metrics: %s", run->metrics_error.text);
    }
}

void ics_run_publish(ics_run_state *run)
{
    if ((metrics_path(run) == NULL && run->metrics_listener == NULL) || run->metrics_out ||
        run->ended) {
        return;
    }
    run->metrics_out = true;
    measure(run, &run->metrics);
    ics_run_send_job(run, run->keeper, &run->metrics_job, send_metrics, metrics_done);
}
