#include "pipeline/production/run/exit_status.h"

#include "base/error.h"
#include "pipeline/production/run/parts.h"

#include <signal.h>

static size_t unfinished(const ics_run_state *run)
{
    return run->units.made - run->units.finished;
}

size_t ics_run_left(const ics_run_state *run)
{
    return unfinished(run) + (size_t)run->intake.left;
}

/* The number of files and messages. The last unit of a stream is no message, but its end. */
static size_t all_files(const ics_run_state *run)
{
    return run->units.made - run->units.results[ICS_RESULT_ABSENT] + (size_t)run->intake.left;
}

static bool left_files(const ics_run_state *run)
{
    return run->intake.left > 0 || run->intake.left_error.status != ICESTREAM_OK;
}

/* Whether the time limit ended the run before its work was done. A batch system queues such a job
 * again, so a file that may come later is no work: else the job would be queued for ever. */
static bool has_work_left(const ics_run_state *run)
{
    return unfinished(run) > run->stop.blocked || left_files(run);
}

/* Whether the signal ended the run before its work was done. A run that watches a folder always
 * expects more files. */
static bool was_stopped(const ics_run_state *run)
{
    return unfinished(run) > 0 || run->intake.watching || left_files(run);
}

static int status_of(const ics_run_state *run)
{
    bool signalled = run->stop.signal != 0 && was_stopped(run);
    if (run->stop.fatal.status != ICESTREAM_OK) {
        return run->stop.fatal.status;
    }
    if ((run->stop.limit_reached && has_work_left(run)) ||
        (signalled && run->options->unfinished_after_signal)) {
        return ICESTREAM_E_UNFINISHED;
    }
    if (signalled) {
        return run->stop.signal == SIGTERM ? ICESTREAM_E_TERMINATED : ICESTREAM_E_INTERRUPTED;
    }
    if (unfinished(run) > run->stop.blocked) {
        return ICESTREAM_E_FAILED;
    }
    if (run->stop.blocked > 0 || run->units.results[ICS_RESULT_UNDELIVERED] > 0 ||
        run->intake.declined > 0) {
        return ICESTREAM_E_OUTPUT;
    }
    if (run->units.list_refused) {
        return ICESTREAM_E_CONFIG;
    }
    return run->units.results[ICS_RESULT_QUARANTINED] > 0 ? ICESTREAM_E_INPUT : ICESTREAM_OK;
}

int ics_run_decide_status(const ics_run_state *run, icestream_error *error)
{
    size_t done = run->units.results[ICS_RESULT_DONE] + run->units.results[ICS_RESULT_SKIPPED];
    size_t quarantined = run->units.results[ICS_RESULT_QUARANTINED];
    size_t undelivered = run->units.results[ICS_RESULT_UNDELIVERED];
    size_t left = ics_run_left(run), total = all_files(run);
    int status = status_of(run);
    if (error != NULL) {
        *error = (icestream_error){.status = ICESTREAM_OK};
    }
    if (quarantined > 0 && !run->units.forgets) { /* the log has the reasons for claimed files */
        ics_error_add(error, status, "%s", run->units.refusals.text);
    }
    if (run->stop.blocked > 0) {
        ics_error_add(error, status, "%s", run->stop.why_blocked.text);
    }
    if (run->stop.fatal.status != ICESTREAM_OK) {
        ics_error_add(error, status, "%s", run->stop.fatal.text);
        ics_error_add(error, status, "stopped: %zu of %zu files done, %zu left", done, total, left);
    } else if (unfinished(run) > 0 || status == ICESTREAM_E_INTERRUPTED ||
               status == ICESTREAM_E_TERMINATED || status == ICESTREAM_E_UNFINISHED) {
        ics_error_add(error, status, "%s: %zu of %zu files done, %zu left%s",
                      status != ICESTREAM_E_FAILED ? icestream_status_text(status)
                                                   : "internal error: the run stalled",
                      done, total, left,
                      run->streaming || run->units.forgets ? "" : " (--resume continues)");
    } else if (quarantined > 0 && !run->units.list_refused) {
        ics_error_add(error, status, "%zu of %zu files quarantined", quarantined, total);
    }
    if (error != NULL && error->status != ICESTREAM_OK &&
        run->intake.left_error.status != ICESTREAM_OK) {
        ics_error_add(error, status, "the files that no worker has claimed were not counted: %s",
                      run->intake.left_error.text);
    }
    if (run->intake.declined > 0) {
        ics_error_add(error, status, "%s", run->intake.why_declined.text);
        ics_error_add(error, status,
                      "%zu tickets that this run cannot use were left to other workers",
                      run->intake.declined);
    }
    if (undelivered > 0) {
        ics_error_add(error, status, "%s", run->commands.why.text);
        ics_error_add(error, status, "%s failed for the hits of %zu of %zu files; %s",
                      ics_config_delivery(run->config), undelivered, total,
                      run->units.forgets ? "the step files wait in the folder again, and the next "
                                           "run tries it again"
                                         : "--resume tries it again");
    }
    return status;
}
