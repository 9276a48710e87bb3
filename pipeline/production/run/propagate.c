#include "base/error.h"
#include "pipeline/production/run/disk_full.h"
#include "pipeline/production/run/generated_steps.h"
#include "pipeline/production/run/log.h"
#include "pipeline/production/run/parts.h"
#include "pipeline/production/run/stop.h"
#include "pipeline/production/run/unit_states.h"
#include "pipeline/production/run/warnings.h"

/* ---- what is propagated next ----------------------------------------------------------------- */

static ics_propagation *prepare(const ics_run_state *run, ics_unit *unit)
{
    ics_propagation *propagation = &unit->work->propagation;
    propagation->reader = run->jobs.readers;
    propagation->writer = run->jobs.writers[unit->writer];
    propagation->skips = unit->result == ICS_RESULT_QUARANTINED;
    propagation->photons = ics_unit_photons(unit);
    return propagation;
}

/* One of the first units that are not read to their ends. */
static ics_propagation *next(void *user)
{
    const ics_run_state *run = user;
    if (ics_run_is_stopping(run) || run->disk_full.paused) {
        return NULL;
    }
    uint32_t seen = 0;
    for (ics_unit *unit = run->units.oldest;
         unit != run->units.to_open && seen < run->shape.filling; unit = unit->next) {
        bool reading = unit->state == ICS_UNIT_READING;
        if (reading && !unit->work->propagation.job.out) {
            return prepare(run, unit);
        }
        seen += reading || unit->state == ICS_UNIT_CHECKING;
    }
    return NULL;
}

/* ---- what was read --------------------------------------------------------------------------- */

/* Adds the next message of the stream as a unit directly behind this one. */
static void append_message(ics_run_state *run, ics_unit *unit)
{
    ics_unit *next = ics_unit_create(&run->common, unit->input, unit->message + 1);
    ics_run_unit_insert(run, unit, next);
    unit->input->source->pass_on(unit, next);
}

/* A unit may be read several times. */
static void look_at_steps(ics_run_state *run, ics_unit *unit)
{
    if (!unit->was_looked_at) {
        unit->was_looked_at = true;
        ics_run_warnings_check_all(run, unit);
        if (unit->input->source->makes && !unit->input->source->repeats) {
            ics_run_generated_warn(run, unit);
        }
    }
}

static void look_at_whole(ics_run_state *run, ics_unit *unit)
{
    look_at_steps(run, unit);
    const ics_source *source = unit->input->source;
    if (!source->repeats) {
        ics_run_note_light(run, unit);
    }
    if (!source->repeats || source->makes) {
        ics_run_warnings_check_first(run, unit);
    }
}

static void take_read(ics_propagation *propagation)
{
    ics_unit *unit = propagation->user;
    ics_run_state *run = unit->run;
    if (propagation->error.status != ICESTREAM_OK) {
        ics_run_read_failed(run, unit, &propagation->error);
    } else if (propagation->feed.at_end) {
        if (!propagation->skips) {
            look_at_whole(run, unit);
        }
        if (unit->input->source->continues) {
            append_message(run, unit);
        }
        ics_run_unit_event(run, unit, ICS_ON_READ_ALL);
    }
}

/* ---- what was computed and stored ------------------------------------------------------------ */

static bool take_computed(ics_propagation *propagation, const ics_batch *batch)
{
    ics_unit *unit = propagation->user;
    ics_run_log_device(unit->run);
    if (batch->error.status != ICESTREAM_OK || !ics_run_unit_has_use_for_hits(unit)) {
        return false;
    }
    ics_batch_account_add(&unit->account, &batch->account);
    unit->maths |= batch->maths;
    ics_kernels_add(&unit->kernels, &batch->kernels);
    unit->seconds += batch->seconds;
    return true;
}

static void take_stored(ics_propagation *propagation, const icestream_error *error)
{
    ics_unit *unit = propagation->user;
    ics_run_state *run = unit->run;
    ics_run_log_notice(run, unit);
    if (error->status == ICESTREAM_E_OUTPUT && ics_error_may_pass(error) &&
        !run->options->fail_fast) {
        ics_run_disk_full_of_unit(run, unit, error); /* the hits are still in memory */
    } else if (error->status == ICESTREAM_E_INPUT) {
        ics_run_unit_refuse(run, unit, unit->input->source->continues, error->text);
    } else if (error->status != ICESTREAM_OK) {
        ics_run_fail(run, error);
        ics_run_unit_give_up(run, unit); /* its hits are incomplete now */
    }
}

ics_engine_owner ics_run_propagate_owner(ics_run_state *run)
{
    return (ics_engine_owner){.next = next,
                              .read = take_read,
                              .computed = take_computed,
                              .stored = take_stored,
                              .user = run};
}

/* ---- the part -------------------------------------------------------------------------------- */

static void offer(ics_run_state *run)
{
    ics_engine_turn(run->engine);
}

static bool waits(const ics_run_state *run)
{
    return run->engine->out > 0;
}

const ics_run_part ics_run_propagate_part = {.offer = offer, .waits = waits};
