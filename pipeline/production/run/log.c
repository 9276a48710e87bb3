#include "pipeline/production/run/log.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/container.h"
#include "base/error.h"
#include "base/new.h"
#include "pipeline/production/run/jobs.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Most lines that wait for the I/O thread, so that its queue always has room for the claims. */
enum { LINES_MAX = 200 };

/* A line of the journal that is sent to the I/O thread. */
typedef struct journal_line {
    ics_job job;
    ics_run_state *run;
    ics_event event;
} journal_line;

static void write_line(ics_job *job, void *thread_state)
{
    (void)thread_state;
    journal_line *line = ICS_CONTAINER_OF(job, journal_line, job);
    ics_run_journal_append(line->run->common.journal, &line->event);
}

static void free_line(journal_line *line)
{
    free((char *)line->event.file);
    free((char *)line->event.output);
    free((char *)line->event.reason);
    free((char *)line->event.device);
    free((char *)line->event.url);
    json_decref(line->event.more);
    free(line);
}

static void line_done(ics_job *job)
{
    free_line(ICS_CONTAINER_OF(job, journal_line, job));
}

/* Whether the I/O thread has too many lines, because the disk is slow. If so, the line of the
 * caller is counted as lost. */
static bool is_behind(ics_run_state *run)
{
    icestream_error why = {.status = ICESTREAM_OK};
    if (run->log.lines_out < LINES_MAX) {
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
    if (!ics_run_send_job(run, run->jobs.io, &line->job, &run->log.lines_out, work, line_done)) {
        free_line(line);
    }
}

void ics_run_log_event(ics_run_state *run, const ics_event *event)
{
    if (event->kind != ICS_EVENT_SAMPLE) { /* the log has `progress` */
        ics_events_report(&run->log.events, event);
    }
    if (run->common.journal == NULL || run->jobs.io == NULL || run->log.ended ||
        !ics_event_is(event->kind, ICS_EVENT_JOURNAL) || is_behind(run)) {
        return;
    }
    journal_line *line = ICS_NEW(journal_line);
    line->event = *event;
    line->event.file = ics_new_copy(event->file);
    line->event.output = ics_new_copy(event->output);
    line->event.reason = ics_new_copy(event->reason);
    line->event.device = ics_new_copy(event->device);
    line->event.url = ics_new_copy(event->url);
    line->event.more = json_incref(event->more);
    send_line(run, line, write_line);
}

void ics_run_log_start(ics_run_state *run, const ics_event *event)
{
    ics_events_report(&run->log.events, event);
    ics_run_journal_append(run->common.journal, event);
}

int ics_run_exit_status(const ics_run_state *run, int status)
{
    const int chosen = run->options->unfinished_exit;
    return status == ICESTREAM_E_UNFINISHED && chosen != 0 ? chosen : icestream_status_exit(status);
}

void ics_run_log_stop(ics_run_state *run, const icestream_error *result)
{
    const ics_event event = {.kind = ICS_EVENT_STOP,
                             .files = run->units.results[ICS_RESULT_DONE] +
                                      run->units.results[ICS_RESULT_SKIPPED],
                             .photons = run->engine->sums.account.created,
                             .hits = run->engine->sums.account.hits,
                             .seconds = ics_clock_seconds() - run->log.events.progress.start,
                             .exit_status = ics_run_exit_status(run, result->status)};
    ics_events_report(&run->log.events, &event);
    ics_run_journal_append(run->common.journal, &event);
    ics_run_log_device(run);
}

void ics_run_log_text(ics_run_state *run, ics_event_kind kind, const char *format, ...)
{
    char text[ICS_EVENT_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ics_events_note(&run->log.events, kind, "%s", text);
}

void ics_run_log_device(ics_run_state *run)
{
    static const char warning[] = "warning: ";
    char line[4096];
    while (ics_device_next_note(run->device, line, sizeof line)) {
        bool warns = strncmp(line, warning, strlen(warning)) == 0;
        ics_run_log_text(run, warns ? ICS_EVENT_WARNING : ICS_EVENT_MESSAGE, "%s",
                         line + (warns ? strlen(warning) : 0));
    }
    icestream_error error = {.status = ICESTREAM_OK};
    uint64_t lost =
        run->common.journal != NULL ? ics_run_journal_lost_lines(run->common.journal, &error) : 0;
    if (lost > 0) {
        ics_run_log_text(run, ICS_EVENT_WARNING, "%llu line%s missing in the journal: %s",
                         (unsigned long long)lost, lost == 1 ? " is" : "s are", error.text);
    }
}

void ics_run_log_notice(ics_run_state *run, ics_unit *unit)
{
    ICS_FREES char *notice = ics_unit_next_notice(unit);
    if (notice != NULL) {
        ics_run_log_text(run, ICS_EVENT_WARNING, "%s", notice);
    }
}

static void reopen(ics_job *job, void *thread_state)
{
    (void)thread_state;
    journal_line *line = ICS_CONTAINER_OF(job, journal_line, job);
    ics_run_journal *journal = line->run->common.journal;
    icestream_error error = {.status = ICESTREAM_OK};
    if (ics_journal_reopen(journal->journal, &error) != ICESTREAM_OK) {
        ics_run_journal_lose(journal, &error);
    }
}

void ics_run_log_reopen(ics_run_state *run)
{
    if (run->common.journal != NULL && !run->log.ended && !is_behind(run)) {
        send_line(run, ICS_NEW(journal_line), reopen);
    }
}
