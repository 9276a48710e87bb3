#include "pipeline/production/run/unit_states.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/new.h"
#include "base/visible_text.h"
#include "pipeline/production/run/disk_full.h"
#include "pipeline/production/run/log.h"
#include "pipeline/production/run/parts.h"
#include "pipeline/production/run/retry.h"
#include "pipeline/production/run/stop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Finished units behind an unfinished one are freed when there are more of them than this. */
enum { FREED_LATER = 1024 };

/* ---- lists ----------------------------------------------------------------------------------- */

void ics_run_unit_append(ics_run_state *run, ics_unit *unit)
{
    ics_run_units *units = &run->units;
    unit->run = run;
    unit->next = NULL;
    if (units->last != NULL) {
        units->last->next = unit;
    } else {
        units->first = unit;
    }
    units->last = unit;
    units->oldest = units->oldest != NULL ? units->oldest : unit;
    units->to_open = units->to_open != NULL ? units->to_open : unit;
    units->made++;
}

void ics_run_unit_insert(ics_run_state *run, ics_unit *before, ics_unit *unit)
{
    ics_run_units *units = &run->units;
    unit->run = run;
    unit->next = before->next;
    before->next = unit;
    units->last = units->last == before ? unit : units->last;
    units->to_open = unit;
    units->made++;
    ics_run_unit_open(run, unit);
}

/* Whether the parts from reading to writing have nothing more to do for the unit. */
static bool is_past(const ics_unit *unit)
{
    return unit->work == NULL && unit->state != ICS_UNIT_WAITING;
}

/* Frees a unit. `before`: the unit in front of it; NULL: it is the first one. */
static void free_unit(ics_run_units *units, ics_unit *before, ics_unit *unit)
{
    ics_unit **at = before != NULL ? &before->next : &units->first;
    *at = unit->next;
    units->last = units->last == unit ? before : units->last;
    units->freed++;
    ics_unit_destroy(unit);
}

/* A unit at the front may wait for a sink.command that fails for hours. This function frees
 * finished units behind it. */
static void free_all_finished(ics_run_units *units)
{
    ics_unit *before = NULL;
    for (ics_unit *unit = units->first, *next; unit != NULL && unit != units->oldest; unit = next) {
        next = unit->next;
        if (unit->state == ICS_UNIT_FINISHED) {
            free_unit(units, before, unit);
        } else {
            before = unit;
        }
    }
}

static void offer(ics_run_state *run)
{
    ics_run_units *units = &run->units;
    /* A unit that was never opened may have been given back: the parts go up to `to_open` only. */
    while (units->oldest != NULL && units->oldest != units->to_open && is_past(units->oldest)) {
        units->oldest = units->oldest->next;
    }
    while (units->forgets && units->first != NULL && units->first != units->oldest &&
           units->first->state == ICS_UNIT_FINISHED) {
        free_unit(units, NULL, units->first);
    }
    if (units->forgets && units->finished - units->freed > FREED_LATER) {
        free_all_finished(units);
    }
}

const ics_run_part ics_run_unit_part = {.offer = offer};

/* ---- memory of open units -------------------------------------------------------------------- */

void ics_run_unit_close(ics_run_state *run, ics_unit *unit)
{
    run->units.open -= unit->work != NULL;
    ics_run_disk_full_forget(run, unit);
    ics_unit_close(unit);
}

void ics_run_unit_open(ics_run_state *run, ics_unit *unit)
{
    ics_run_unit_close(run, unit);
    ics_unit_open(unit);
    run->units.open++;
}

/* ---- what states mean ------------------------------------------------------------------------ */

static void log_result(ics_run_state *run, const ics_unit *unit)
{
    ics_event event = ics_unit_report(unit, ICS_EVENT_DONE);
    switch (unit->result) {
    case ICS_RESULT_DONE:
        ics_events_report(&run->log.events, &event);
        break;
    case ICS_RESULT_SKIPPED:
        event.kind = ICS_EVENT_SKIPPED;
        ics_events_report(&run->log.events, &event);
        break;
    case ICS_RESULT_QUARANTINED: /* the summary has the reasons for files that are not claimed */
        if (unit->claim.name != NULL || run->options->log_json) {
            event = (ics_event){
                .kind = ics_unit_refusal_kind(unit), .file = unit->name, .reason = unit->refusal};
            ics_events_report(&run->log.events, &event);
        }
        break;
    case ICS_RESULT_LOST:
        event = (ics_event){.kind = ICS_EVENT_FAILED,
                            .file = unit->name,
                            .reason = "the claim was lost: another worker found it expired, or "
                                      "the file or the ticket was removed",
                            .attempt = unit->claim.attempt};
        ics_run_log_event(run, &event);
        break;
    default:
        break;
    }
}

/* The thread that did the work has written the line of the journal. */
static void finish(ics_run_state *run, ics_unit *unit)
{
    ics_run_units *units = &run->units;
    log_result(run, unit);
    ics_run_retry_clear(run, &unit->retry);
    ics_run_unit_close(run, unit);
    units->finished++;
    units->results[unit->result]++;
    if (unit->result == ICS_RESULT_DONE) {
        ics_latency_add(&units->latency, ics_clock_unix() - unit->arrived);
    }
    if (unit->result == ICS_RESULT_QUARANTINED) {
        units->list_refused =
            units->list_refused || ics_unit_refusal_kind(unit) == ICS_EVENT_REFUSED;
        ics_error_add(&units->refusals, ICESTREAM_E_INPUT, "%s", unit->refusal);
    }
    ics_run_clients_answer(run, unit);
}

/* Does what belongs to the state that the unit has just entered. */
static void enter_state(ics_run_state *run, ics_unit *unit)
{
    ics_run_units *units = &run->units;
    switch (unit->state) {
    case ICS_UNIT_COMPLETE:
        STAILQ_INSERT_TAIL(&units->complete, unit, queued);
        break;
    case ICS_UNIT_STOPPED:
        if (unit->result == ICS_RESULT_UNDELIVERED) {
            finish(run, unit);
        }
        break;
    case ICS_UNIT_ENDING:
        STAILQ_INSERT_TAIL(&units->ending, unit, queued);
        break;
    case ICS_UNIT_FINISHED:
        finish(run, unit);
        break;
    case ICS_UNIT_LEFT:
        ics_run_retry_clear(run, &unit->retry);
        ics_run_unit_close(run, unit);
        break;
    default:
        break;
    }
}

static void fail_rule(ics_run_state *run, const ics_unit *unit, ics_unit_event event)
{
    icestream_error error = {.status = ICESTREAM_OK};
    ics_error_set(&error, ICESTREAM_E_FAILED,
                  "internal error: %s: the event %s cannot happen in the state %s", unit->name,
                  ics_unit_rules_event_name(event), ics_unit_rules_state_name(unit->state));
    ics_run_fail(run, &error);
}

void ics_run_unit_event(ics_run_state *run, ics_unit *unit, ics_unit_event event)
{
    const ics_unit_state before = unit->state;
    if (!ics_unit_rules_next(before, event, &unit->state)) {
        fail_rule(run, unit, event);
        return;
    }
    const bool was_reading = ics_unit_rules_is_reading(before);
    const bool is_reading = ics_unit_rules_is_reading(unit->state);
    run->units.reading += is_reading;
    run->units.reading -= was_reading;
    if (is_reading != was_reading && unit->input->source->continues) {
        run->units.message_open = is_reading;
    }
    if (was_reading && !is_reading && !unit->reader_job.out && !unit->work->propagation.job.out) {
        ics_unit_close_reader(unit);
    }
    if (unit->state != before) {
        enter_state(run, unit);
    }
}

void ics_run_unit_decide(ics_run_state *run, ics_unit *unit, ics_unit_event event,
                         ics_unit_result result)
{
    unit->result = result;
    ics_run_unit_event(run, unit, event);
}

/* ---- events with a cause --------------------------------------------------------------------- */

/* People know a claimed file by the name that it had before it was claimed. */
static void set_refusal(ics_unit *unit, const char *text)
{
    const char *path = unit->claim.path;
    size_t length = path != NULL ? strlen(path) : 0;
    unit->refusal = length > 0 && strncmp(text, path, length) == 0
                        ? ics_new_text("%s%s", unit->name, text + length)
                        : ics_new_copy(text);
    ics_visible_hide_newlines(unit->name, unit->refusal);
}

bool ics_run_unit_has_use_for_hits(const ics_unit *unit)
{
    return unit->state != ICS_UNIT_WAITING && unit->result != ICS_RESULT_QUARANTINED;
}

void ics_run_unit_give_up(ics_run_state *run, ics_unit *unit)
{
    if (unit->state == ICS_UNIT_READ && unit->result == ICS_RESULT_QUARANTINED) {
        return;
    }
    if (unit->state != ICS_UNIT_STOPPED && unit->state != ICS_UNIT_ENDING) {
        unit->result = ICS_RESULT_NONE;
    }
    ics_run_unit_event(run, unit, ICS_ON_GIVEN_UP);
}

void ics_run_unit_refuse(ics_run_state *run, ics_unit *unit, bool goes_on, const char *reason)
{
    const bool reads_on = goes_on && ics_unit_rules_is_reading(unit->state);
    if (unit->refusal == NULL) {
        set_refusal(unit, reason);
    }
    ics_run_retry_clear(run, &unit->retry);
    if (unit->state != ICS_UNIT_STOPPED) {
        unit->result = ICS_RESULT_QUARANTINED;
    }
    ics_run_unit_event(run, unit, reads_on ? ICS_ON_BAD_MESSAGE : ICS_ON_BAD_INPUT);
}

/* Leaves the unit to the next run. */
static void leave_blocked(ics_run_state *run, ics_unit *unit, const icestream_error *error)
{
    const ics_event event = {.kind = ICS_EVENT_FAILED,
                             .file = unit->name,
                             .reason = error->text,
                             .attempt = unit->claim.attempt};
    ics_run_log_event(run, &event);
    ics_error_add(&run->stop.why_blocked, ICESTREAM_E_OUTPUT, "%s", error->text);
    run->stop.blocked++;
    ics_run_unit_give_up(run, unit);
    ics_run_unit_close(run, unit);
}

void ics_run_unit_trouble(ics_run_state *run, ics_unit *unit, ics_retry_what what, bool blocked,
                          const icestream_error *error)
{
    const bool spares_run =
        blocked && !run->options->fail_fast && run->stop.fatal.status == ICESTREAM_OK;
    /* A watched folder was removed while the claim was being ended. The next attempt finds that the
     * claim is lost, or that the folder is there again. */
    const bool away =
        what == ICS_RETRY_CLAIM && (error->cause == ENOENT || error->cause == ENOTDIR);
    const bool lasting = run->intake.watching && (spares_run || away);
    switch (ics_run_retry_after(run, &unit->retry, what, unit->name, lasting, error)) {
    case ICS_RUN_RETRY_LATER:
        ics_run_unit_event(run, unit, ICS_ON_RETRY_LATER);
        if (spares_run && unit->state == ICS_UNIT_WAITING) { /* others may be open in its stead */
            ics_run_unit_close(run, unit);
        }
        break;
    case ICS_RUN_RETRY_LEAVE:
        ics_run_unit_give_up(run, unit);
        break;
    case ICS_RUN_RETRY_REFUSED:
        if (spares_run) {
            leave_blocked(run, unit, error);
        } else {
            ics_run_unit_give_up(run, unit);
            ics_run_fail(run, error);
        }
        break;
    }
}
