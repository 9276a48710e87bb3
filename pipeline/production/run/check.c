#include "base/clock.h"
#include "base/container.h"
#include "base/error.h"
#include "pipeline/production/run/disk_full.h"
#include "pipeline/production/run/generated_steps.h"
#include "pipeline/production/run/jobs.h"
#include "pipeline/production/run/log.h"
#include "pipeline/production/run/parts.h"
#include "pipeline/production/run/retry.h"
#include "pipeline/production/run/stop.h"
#include "pipeline/production/run/unit_states.h"
#include "pipeline/production/run/warnings.h"
#include "pipeline/production/transfer/transfer.h"

#include <inttypes.h>

/* A program that writes a step file under its final name may not have finished. The file gets one
 * more attempt. */
static ics_run_retry_answer wait_for_producer(ics_run_state *run, ics_unit *unit)
{
    icestream_error error = {.status = ICESTREAM_OK};
    ics_error_set(
        &error, ICESTREAM_E_INPUT,
        "%s: found a bad file that was changed less than a second ago, expected a complete "
        "one; it is read once more before it is quarantined",
        unit->name);
    return ics_run_retry_after(run, &unit->retry, ICS_RETRY_CHECK, unit->name, true, &error);
}

/* Whether the next message can be found behind the one that the reader has refused. */
static bool can_skip(const ics_unit *unit)
{
    const ics_source *source = unit->input->source;
    return source->can_skip != NULL && source->can_skip(unit);
}

/* If a batch has found bad input before, only an error that ends the run matters. */
void ics_run_read_failed(ics_run_state *run, ics_unit *unit, const icestream_error *error)
{
    bool reading = ics_unit_rules_is_reading(unit->state);
    ics_run_retry_answer answer = ICS_RUN_RETRY_REFUSED;
    if (!reading && (error->status == ICESTREAM_E_INPUT || ics_error_may_pass(error))) {
        return;
    }
    if (reading && unit->work->blocked) {
        ics_run_unit_trouble(run, unit, ICS_RETRY_CHECK, true, error);
        return;
    }
    if (reading && unit->work->young && unit->retry.tries == 0) {
        answer = wait_for_producer(run, unit);
    } else if (reading && unit->input->source->repeats) {
        answer = ics_run_retry_after(run, &unit->retry, ICS_RETRY_CHECK, unit->name, false, error);
    }
    if (answer == ICS_RUN_RETRY_LATER) {
        ics_run_unit_event(run, unit, ICS_ON_RETRY_LATER);
    } else if (answer == ICS_RUN_RETRY_REFUSED && error->status == ICESTREAM_E_INPUT) {
        ics_run_unit_refuse(run, unit, can_skip(unit), error->text);
    } else {
        ics_run_unit_give_up(run, unit);
        if (answer == ICS_RUN_RETRY_REFUSED) {
            ics_run_fail(run, error);
        }
    }
}

/* ---- checking -------------------------------------------------------------------------------- */

static ics_unit *unit_of_job(ics_job *job)
{
    return ICS_CONTAINER_OF(job, ics_unit, reader_job);
}

void ics_run_note_light(ics_run_state *run, const ics_unit *unit)
{
    run->units.no_record += unit->work->no_record;
    if (unit->light_mismatch != NULL && !run->units.mismatch_noted) {
        run->units.mismatch_noted = true;
        ics_run_log_text(run, ICS_EVENT_WARNING,
                         "%s: the light of these steps was made for other settings than those of "
                         "this run, which source.light_mismatch accepts; the trailers of hit files "
                         "list them (light_mismatch)",
                         unit->name);
    }
}

/* Logs why an existing hit file is made again. */
static void note_again(ics_run_state *run, const ics_unit *unit)
{
    if (unit->work->unlike != NULL) {
        ics_run_log_text(run, ICS_EVENT_MESSAGE, "made again: %s", unit->work->unlike);
    }
}

/* The number of photons of steps that the run makes may be an estimate. */
static uint64_t photons_left(const ics_unit *unit)
{
    const uint64_t all = unit->summary.photons, finished = unit->taken_over.created;
    return all > finished ? all - finished : 0;
}

static void check_done(ics_job *job)
{
    ics_unit *unit = unit_of_job(job);
    ics_run_state *run = unit->run;
    const ics_unit_work *work = unit->work;
    run->bytes_checked += unit->input->bytes;
    if (work->read_error.status != ICESTREAM_OK) {
        ics_run_read_failed(run, unit, &work->read_error);
    } else if (work->lost) {
        ics_run_unit_decide(run, unit, ICS_ON_DECIDED, ICS_RESULT_LOST);
    } else if (work->matches) {
        ics_run_log_notice(run, unit);
        ics_run_retry_succeeded(run, &unit->retry);
        ics_unit_use_found_output(unit);
        ics_run_unit_decide(run, unit, ICS_ON_OUTPUT_EXISTS, ICS_RESULT_SKIPPED);
    } else if (!work->found) {
        ics_run_unit_decide(run, unit, ICS_ON_DECIDED, ICS_RESULT_ABSENT);
    } else {
        ics_run_retry_succeeded(run, &unit->retry);
        ics_run_note_light(run, unit);
        note_again(run, unit);
        ics_run_save_continue(run, unit);
        run->photons_checked += photons_left(unit);
        ics_run_warnings_check_first(run, unit);
        if (unit->input->source->makes) {
            ics_run_generated_log(run, unit);
        }
        ics_run_unit_event(run, unit, ICS_ON_CHECKED);
    }
}

static void send_check(ics_run_state *run, ics_unit *unit)
{
    if (!ics_run_send_job(run, run->jobs.readers, &unit->reader_job, &unit->jobs_out,
                          ics_unit_check, check_done)) {
        ics_run_unit_give_up(run, unit);
    }
}

/* Another attempt of this worker would not help, but another worker may have the rights that this
 * one lacks. So the ticket is given back, and the delivery counts. */
static void give_back_unfetched(ics_run_state *run, ics_unit *unit, const icestream_error *error)
{
    unit->claim.counts = true;
    if (!run->intake.watching || run->options->fail_fast) {
        ics_run_read_failed(run, unit, error);
        return;
    }
    const ics_event event = {.kind = ICS_EVENT_FAILED,
                             .file = unit->name,
                             .reason = error->text,
                             .attempt = unit->claim.attempt};
    ics_run_log_event(run, &event);
    unit->claim.pauses = true;
    ics_run_unit_decide(run, unit, ICS_ON_DECIDED, ICS_RESULT_ABSENT);
}

static void fetch_failed(ics_run_state *run, ics_unit *unit, const icestream_error *error)
{
    const uint32_t most = run->config->source.attempts;
    icestream_error last = *error;
    if (run->config->source.queue == NULL || ics_error_may_pass(error)) {
        ics_run_read_failed(run, unit, error);
    } else if (error->cause == ICS_TRANSFER_MISSING || error->cause == EFBIG) {
        ics_run_unit_refuse(run, unit, false, error->text);
    } else if (unit->claim.attempt < most) {
        give_back_unfetched(run, unit, error);
    } else {
        ics_error_add(&last, error->status,
                      "delivery %" PRIu32 " of at most %" PRIu32 " (source.attempts)",
                      unit->claim.attempt, most);
        ics_run_unit_refuse(run, unit, false, last.text);
    }
}

static void check_fetched(ics_run_state *run, ics_unit *unit)
{
    if (unit->work->read_error.status != ICESTREAM_OK) {
        fetch_failed(run, unit, &unit->work->read_error);
    } else {
        send_check(run, unit);
    }
}

static void check_unit(ics_run_state *run, ics_unit *unit)
{
    ics_run_unit_event(run, unit, ICS_ON_BEGUN);
    if (!ics_run_fetch_begin(run, unit, check_fetched)) {
        send_check(run, unit);
    }
}

/* Checks run ahead of the reading, so that the next files are known to be good when the device has
 * room for them. */
static bool has_room(const ics_run_state *run)
{
    const ics_run_units *units = &run->units;
    return !run->disk_full.paused && units->reading < run->shape.units_ahead &&
           units->open < units->open_limit;
}

static void check_again(ics_run_state *run, ics_unit *unit)
{
    ics_run_retry_begin(run, &unit->retry);
    ics_run_unit_open(run, unit);
    unit->work->again = true;
    check_unit(run, unit);
}

static void open_unit(ics_run_state *run, ics_unit *unit)
{
    if (unit->work == NULL) {
        ics_run_unit_open(run, unit);
    }
    run->units.to_open = unit->next;
    unit->arrived = unit->arrived > 0.0 ? unit->arrived : ics_clock_unix();
    unit->writer = run->units.opened++ % run->shape.writers;
    if (unit->claim.refusal != NULL) {
        ics_run_unit_refuse(run, unit, false, unit->claim.refusal);
    } else {
        check_unit(run, unit);
    }
}

/* A unit that is still open when it is checked again needs no room. While a message of a stream is
 * being read nothing is opened: the position where the next message begins is not known yet. */
static void offer_check(ics_run_state *run)
{
    if (ics_run_is_stopping(run)) {
        return;
    }
    for (ics_unit *unit = run->units.oldest; unit != run->units.to_open; unit = unit->next) {
        if (unit->state == ICS_UNIT_WAITING && !ics_unit_has_jobs(unit) &&
            (unit->work != NULL || has_room(run)) && ics_run_retry_is_due(run, &unit->retry)) {
            check_again(run, unit);
        }
    }
    while (run->units.to_open != NULL && !run->units.message_open && has_room(run) &&
           !ics_run_is_stopping(run)) {
        open_unit(run, run->units.to_open);
    }
}

const ics_run_part ics_run_check_part = {.offer = offer_check};
