/* Trouble that may pass: what failed is tried again after growing delays, for as long as it takes
 * where the disk is full, else a few times. While there is no room nothing new is read. */
#include "base/error.h"
#include "pipeline/run/state.h"

#include <stddef.h>

enum { TRIES = 6 };

static const double longest_delay = 30.0; /* s */

static double delay_after(uint32_t failures)
{
    double delay = failures < 6 ? (double)(1u << (failures - 1)) : longest_delay;
    return delay < longest_delay ? delay : longest_delay;
}

static void pause_run(ics_run_state *run, const char *file, const icestream_error *error,
                      double until)
{
    ics_run_pause *paused = &run->pause;
    paused->until = until;
    if (paused->on) {
        return;
    }
    paused->on = true;
    paused->since = ics_progress_seconds();
    snprintf(paused->reason, sizeof paused->reason, "%.900s", error->text);
    const ics_event event = {.kind = ICS_EVENT_PAUSED, .file = file, .reason = error->text};
    ics_run_tell(run, &event);
}

static void resume_run(ics_run_state *run)
{
    run->pause.on = false;
    const ics_event event = {.kind = ICS_EVENT_RESUMED,
                             .seconds = ics_progress_seconds() - run->pause.since};
    ics_run_tell(run, &event);
}

/* While the run stops nothing is tried again: what is not done is left to who comes next. */
static void leave_it(ics_run_state *run, ics_unit *unit, const icestream_error *error)
{
    unit->retry = ICS_RETRY_NOTHING;
    ics_run_say(run, ICS_EVENT_WARNING, "%s is left: %s", unit->name, error->text);
}

bool ics_run_retry(ics_run_state *run, ics_unit *unit, ics_unit_retry what,
                   const icestream_error *error)
{
    bool no_room = ics_error_no_room(error);
    unit->needs_room = false;
    if (run->options->fail_fast || run->fatal.status != ICESTREAM_OK ||
        !ics_error_may_pass(error) || (!no_room && unit->tries >= TRIES)) {
        return false;
    }
    if (ics_run_stopping(run)) {
        leave_it(run, unit, error);
        return true;
    }
    unit->tries++;
    unit->needs_room = no_room;
    double delay = delay_after(unit->tries);
    unit->retry = what;
    unit->due = ics_progress_seconds() + delay;
    run->retries++;
    const ics_event event = {.kind = ICS_EVENT_RETRIED,
                             .file = unit->name,
                             .reason = error->text,
                             .attempt = unit->tries,
                             .seconds = delay};
    if (no_room) {
        pause_run(run, unit->name, error, 0.0);
    } else {
        ics_run_tell(run, &event);
    }
    return true;
}

/* Batches that were under way fail together: that is one pause. */
void ics_run_pause_for_room(ics_run_state *run, ics_unit *unit, const icestream_error *error)
{
    run->pause.unit = unit;
    if (!run->pause.on) {
        run->pause.spills++;
        pause_run(run, NULL, error, ics_progress_seconds() + delay_after(run->pause.spills));
    }
}

/* A unit that waits for room, or tries again at the moment, keeps the run paused. */
static bool waits_for_room(const ics_run_state *run)
{
    if (run->rotation.carrier != NULL && run->rotation.carrier->needs_room) {
        return true;
    }
    for (const ics_unit *unit = run->oldest; unit != NULL; unit = unit->next) {
        if (unit->needs_room && !unit->finished) {
            return true;
        }
    }
    return false;
}

static bool will_retry(const ics_run_state *run)
{
    if (run->rotation.carrier != NULL && run->rotation.carrier->retry != ICS_RETRY_NOTHING) {
        return true;
    }
    for (const ics_unit *unit = run->oldest; unit != NULL; unit = unit->next) {
        if (unit->retry != ICS_RETRY_NOTHING) {
            return true;
        }
    }
    return false;
}

/* Where one found room, the others need not wait for their time. */
static void hurry_others(ics_run_state *run)
{
    if (run->rotation.carrier != NULL) {
        run->rotation.carrier->due = 0.0;
    }
    for (ics_unit *unit = run->oldest; unit != NULL; unit = unit->next) {
        if (unit->needs_room) {
            unit->due = 0.0;
        }
    }
}

void ics_run_succeeded(ics_run_state *run, ics_unit *unit)
{
    if (unit->needs_room) {
        hurry_others(run);
    }
    if (unit->state == ICS_UNIT_WRITING) { /* there is room again */
        run->pause.spills = 0;
    }
    unit->retry = ICS_RETRY_NOTHING;
    unit->needs_room = false;
    unit->tries = 0;
}

static void do_retry(ics_run_state *run, ics_unit *unit)
{
    ics_unit_retry what = unit->retry;
    unit->retry = ICS_RETRY_NOTHING;
    icestream_error error = {.status = ICESTREAM_OK};
    if (what == ICS_RETRY_WRITE) {
        ics_run_write_unit(run, unit);
    } else if (what == ICS_RETRY_END) {
        ics_run_end_claim(run, unit, unit->state);
    } else if (ics_unit_begin_anew(unit, &error) == ICESTREAM_OK) {
        ics_run_check_unit(run, unit);
    } else {
        ics_run_fail(run, &error);
    }
}

/* The turn of the loop that the timer begins does the rest. */
static void on_wake(uv_timer_t *timer)
{
    (void)timer;
}

/* The earlier of two times, of which 0 is none. */
static double earlier(double left, double right)
{
    return left == 0.0 || (right > 0.0 && right < left) ? right : left;
}

static ics_run_state *run_of_spill_job(ics_job *job)
{
    return (ics_run_state *)((char *)job - offsetof(ics_run_state, pause.spill_job));
}

static void spill(ics_job *job, void *thread_state)
{
    (void)thread_state;
    ics_run_state *run = run_of_spill_job(job);
    run->pause.spill_error = (icestream_error){.status = ICESTREAM_OK};
    if (run->pause.tried == run->rotation.carrier) {
        ics_volume_spill(run->rotation.volume, &run->pause.spill_error);
    } else {
        ics_unit_spill(run->pause.tried, &run->pause.spill_error);
    }
}

static void spill_done(ics_job *job)
{
    ics_run_state *run = run_of_spill_job(job);
    ics_run_pause *paused = &run->pause;
    ics_unit *unit = paused->tried;
    bool takes_turn = paused->until > 0.0; /* else a unit's retry ends the pause by now */
    unit->batches_out--;
    paused->tried = NULL;
    if (ics_error_may_pass(&paused->spill_error)) {
        paused->unit = unit;
        paused->spills++;
        paused->until = takes_turn ? ics_progress_seconds() + delay_after(paused->spills) : 0.0;
    } else if (paused->spill_error.status != ICESTREAM_OK) {
        ics_run_fail(run, &paused->spill_error);
    } else if (takes_turn) {
        paused->spills = 0;
        resume_run(run);
    }
}

/* What could not be put on the disk is tried again before more is read. */
static void try_spill(ics_run_state *run)
{
    ics_unit *unit = run->pause.unit;
    run->pause.tried = unit;
    run->pause.unit = NULL;
    unit->batches_out++; /* it stays as it is meanwhile */
    ics_run_send_job(run, run->writers[unit->writer], &run->pause.spill_job, spill, spill_done);
}

/* When the pause is to be looked at again; 0: when something has come back, or there is none (any
 * more). */
static double end_pause(ics_run_state *run, double now)
{
    ics_run_pause *paused = &run->pause;
    if (!paused->on || paused->tried != NULL || (paused->until == 0.0 && waits_for_room(run))) {
        return 0.0;
    }
    if (paused->until > now) {
        return paused->until;
    }
    if (paused->until > 0.0 && paused->unit != NULL && paused->unit->state <= ICS_UNIT_READ) {
        try_spill(run);
    } else {
        resume_run(run);
    }
    return 0.0;
}

void ics_run_do_retries(ics_run_state *run)
{
    double now = ics_progress_seconds(), next = 0.0;
    for (ics_unit *unit = run->oldest; unit != NULL; unit = unit->next) {
        if (unit->retry == ICS_RETRY_NOTHING || unit->batches_out > 0 || unit->filling) {
            continue;
        }
        if (unit->due <= now) {
            do_retry(run, unit);
        } else {
            next = earlier(next, unit->due);
        }
    }
    const ics_unit *carrier = run->rotation.carrier;
    if (carrier != NULL && carrier->retry != ICS_RETRY_NOTHING && carrier->due > now) {
        next = earlier(next, carrier->due); /* ics_run_rotate() does it */
    }
    next = earlier(next, end_pause(run, now));
    if (!run->pause.on) { /* else nobody looks for files, and the time may have come long ago */
        next = earlier(next, run->intake.look_at);
    }
    if (next > 0.0 && !run->ended) {
        uint64_t wait = next > now ? (uint64_t)(1000.0 * (next - now)) + 1 : 1;
        uv_timer_start(&run->waker, on_wake, wait, 0);
    }
}

bool ics_run_retries_wait(const ics_run_state *run)
{
    return !ics_run_stopping(run) && (run->pause.on || will_retry(run));
}
