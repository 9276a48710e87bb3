#include "pipeline/production/run/retry.h"

#include "base/clock.h"
#include "base/error.h"
#include "pipeline/production/run/disk_full.h"
#include "pipeline/production/run/jobs.h"
#include "pipeline/production/run/log.h"
#include "pipeline/production/run/stop.h"

#include <errno.h>
#include <math.h>

enum { TRIES = 6, CROWD = 256 };

static void set_needs_room(ics_run_state *run, ics_retry *retry, bool needs_room)
{
    run->disk_full.retries += needs_room;
    run->disk_full.retries -= retry->needs_room;
    retry->needs_room = needs_room;
}

static void set_pending(ics_run_state *run, ics_retry *retry, ics_retry_what what)
{
    run->retries.pending += what != ICS_RETRY_NOTHING;
    run->retries.pending -= retry->what != ICS_RETRY_NOTHING;
    retry->what = what;
}

ics_run_retry_answer ics_run_retry_after(ics_run_state *run, ics_retry *retry, ics_retry_what what,
                                         const char *name, bool lasting,
                                         const icestream_error *error)
{
    bool no_room = ics_error_no_room(error);
    bool endless = no_room || lasting || error->cause == ENOTCONN; /* no source.queue */
    set_needs_room(run, retry, false);
    if (run->options->fail_fast || run->stop.fatal.status != ICESTREAM_OK ||
        !(endless || ics_error_may_pass(error)) || (!endless && retry->tries >= TRIES)) {
        return ICS_RUN_RETRY_REFUSED;
    }
    if (ics_run_is_stopping(run)) {
        ics_run_log_text(run, ICS_EVENT_WARNING, "%s is left unfinished: %s", name, error->text);
        return ICS_RUN_RETRY_LEAVE;
    }
    retry->tries++;
    retry->failed = ics_clock_seconds();
    /* The claims of a queue must not expire while their ends wait. */
    const double most = error->cause == ENOTCONN ? run->config->source.lease / 4.0 : HUGE_VAL;
    const double delay = fmin(ics_run_disk_full_delay(retry->tries), most);
    retry->due = retry->failed + delay;
    set_pending(run, retry, what);
    run->retries.total++;
    if (no_room && what != ICS_RETRY_LOOK) {
        set_needs_room(run, retry, true);
        ics_run_disk_full_pause(run, name, error);
        return ICS_RUN_RETRY_LATER;
    }
    const ics_event event = {.kind = ICS_EVENT_RETRIED,
                             .file = name,
                             .reason = error->text,
                             .attempt = retry->tries,
                             .seconds = delay};
    ics_run_log_event(run, &event);
    return ICS_RUN_RETRY_LATER;
}

bool ics_run_retry_is_due(ics_run_state *run, const ics_retry *retry)
{
    if (retry->what == ICS_RETRY_NOTHING) {
        return true;
    }
    if (ics_run_is_stopping(run)) {
        return false; /* while a run stops nothing is tried again */
    }
    bool room = retry->needs_room && run->retries.room_found > retry->failed;
    if (room || retry->due <= ics_clock_seconds()) {
        return true;
    }
    ics_run_wake_at(run, retry->due);
    return false;
}

void ics_run_retry_begin(ics_run_state *run, ics_retry *retry)
{
    set_pending(run, retry, ICS_RETRY_NOTHING);
}

void ics_run_retry_succeeded(ics_run_state *run, ics_retry *retry)
{
    if (retry->needs_room) {
        run->retries.room_found = ics_clock_seconds();
    }
    ics_run_retry_clear(run, retry);
}

void ics_run_retry_clear(ics_run_state *run, ics_retry *retry)
{
    set_needs_room(run, retry, false);
    set_pending(run, retry, ICS_RETRY_NOTHING);
    retry->tries = 0;
}

bool ics_run_retry_is_crowded(const ics_run_state *run)
{
    return run->retries.pending >= CROWD;
}

bool ics_run_retry_is_expected(const ics_run_state *run)
{
    return !ics_run_is_stopping(run) && run->retries.pending > 0;
}
