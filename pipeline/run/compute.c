#include "pipeline/run/compute.h"

#include "base/error.h"
#include "pipeline/run/jobs.h"
#include "pipeline/run/life.h"
#include "pipeline/run/log.h"
#include "pipeline/run/room.h"
#include "pipeline/run/stop.h"

/* Finishes a batch whose hits are stored or not needed: handles its error, and keeps its memory for
 * the next batch. */
static void return_batch(ics_run_state *run, ics_batch *batch)
{
    ics_unit *unit = batch->owner;
    icestream_error error;
    ics_batch_error(batch, unit->name, &error);
    if (error.status == ICESTREAM_E_OUTPUT && ics_error_may_pass(&error) &&
        !run->options->fail_fast) {
        ics_run_room_wanted(run, unit, &error); /* the hits are still in memory */
    } else if (error.status == ICESTREAM_E_INPUT) {
        ics_run_life_refuse(run, unit, unit->input->stream ? ICS_ON_BAD_MESSAGE : ICS_ON_BAD_INPUT,
                            error.text);
    } else if (error.status != ICESTREAM_OK) {
        ics_run_fail(run, &error);
        ics_run_life_event(run, unit, ICS_ON_GIVEN_UP); /* its hits are incomplete now */
    }
    run->batches.credits++;
    STAILQ_INSERT_HEAD(&run->batches.spare, &batch->job, link);
}

static void store_done(ics_job *job)
{
    ics_batch *batch = ics_batch_of_job(job);
    ics_unit *unit = batch->owner;
    ics_run_log_notice(unit->run, unit);
    return_batch(unit->run, batch);
}

/* Whether the hits of the unit will be written, as far as is known now. */
static bool has_use_for_hits(const ics_unit *unit)
{
    return unit->state != ICS_UNIT_REFUSED && unit->state != ICS_UNIT_READING_REST &&
           unit->state != ICS_UNIT_WAITING_AGAIN;
}

static void compute_done(ics_job *job)
{
    ics_batch *batch = ics_batch_of_job(job);
    ics_unit *unit = batch->owner;
    ics_run_state *run = unit->run;
    ics_run_log_device(run);
    if (batch->error.status != ICESTREAM_OK || !has_use_for_hits(unit)) {
        return_batch(run, batch);
        return;
    }
    ics_batch_account_add(&unit->account, &batch->account);
    ics_batch_account_add(&run->batches.account, &batch->account);
    ics_weight_sum_join(&run->batches.weights, &batch->weights);
    ics_light_levels_add(&run->batches.light, &batch->light);
    unit->maths |= batch->maths;
    unit->seconds += batch->seconds;
    run->batches.seconds += batch->seconds;
    if (!ics_run_send_job(run, run->jobs.writers[unit->writer], &batch->job, &unit->jobs_out,
                          ics_unit_store, store_done)) {
        ics_run_life_event(run, unit, ICS_ON_GIVEN_UP); /* its hits are incomplete now */
        return_batch(run, batch);
    }
}

static void offer(ics_run_state *run)
{
    while (ics_run_submit_batch(run, compute_done)) {
    }
}

const ics_run_part ics_run_compute_part = {.name = "compute", .offer = offer};
