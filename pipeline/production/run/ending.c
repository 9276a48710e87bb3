#include "base/container.h"
#include "base/error.h"
#include "pipeline/production/run/jobs.h"
#include "pipeline/production/run/parts.h"
#include "pipeline/production/run/retry.h"
#include "pipeline/production/run/stop.h"
#include "pipeline/production/run/unit_states.h"

/* On the I/O thread. */
static void end_claim(ics_job *job, void *thread_state)
{
    (void)thread_state;
    ics_run_ending *ending = ICS_CONTAINER_OF(job, ics_run_ending, job);
    ending->error = (icestream_error){.status = ICESTREAM_OK};
    ics_unit_end_claim(ending->unit, &ending->held, &ending->error);
}

static bool is_given_back(const ics_unit *unit)
{
    return unit->result == ICS_RESULT_NONE || unit->result == ICS_RESULT_UNDELIVERED;
}

static void claim_ended(ics_run_state *run, ics_unit *unit)
{
    ics_run_unit_event(run, unit, is_given_back(unit) ? ICS_ON_GIVEN_UP : ICS_ON_CLAIM_ENDED);
}

static void end_claim_done(ics_job *job)
{
    ics_run_ending *ending = ICS_CONTAINER_OF(job, ics_run_ending, job);
    ics_unit *unit = ending->unit;
    ics_run_state *run = unit->run;
    if (ending->error.status != ICESTREAM_OK) {
        ics_run_unit_trouble(run, unit, ICS_RETRY_CLAIM, false, &ending->error);
        if (ics_unit_rules_is_last(unit->state)) {
            ending->unit = NULL; /* a worker that finds the claim expired continues */
        }
        return;
    }
    /* We could not read the file, and our claim had expired, so another worker may own the file
     * now. That worker will report its state. */
    if (unit->result == ICS_RESULT_QUARANTINED && !ending->held) {
        unit->result = ICS_RESULT_LOST;
    }
    ending->unit = NULL;
    run->endings.ended++;
    run->intake.given_back += is_given_back(unit) && unit->claim.name != NULL && ending->held;
    ics_run_retry_succeeded(run, &unit->retry);
    claim_ended(run, unit);
}

/* Whether the I/O thread has something to do at the end of the unit. */
static bool needs_job(const ics_unit *unit)
{
    return unit->claim.name != NULL || unit->result == ICS_RESULT_QUARANTINED ||
           unit->result == ICS_RESULT_SKIPPED || unit->command_pending ||
           unit->input->url != NULL; /* the fetched step file is removed */
}

/* The next unit whose end needs a job; the others end here. NULL: there is none. */
static ics_unit *next_unit(ics_run_state *run)
{
    ics_unit *unit = ICS_QUEUE_TAKE(&run->units.ending, queued);
    while (unit != NULL && !needs_job(unit)) {
        claim_ended(run, unit);
        unit = ICS_QUEUE_TAKE(&run->units.ending, queued);
    }
    return unit;
}

static void offer(ics_run_state *run)
{
    for (int i = 0; i < ICS_RUN_ENDINGS; ++i) {
        ics_run_ending *ending = &run->endings.entries[i];
        if (ending->unit == NULL) {
            ending->unit = next_unit(run);
        }
        if (ending->unit == NULL) {
            continue;
        }
        if (ending->job.out || !ics_run_retry_is_due(run, &ending->unit->retry)) {
            continue;
        }
        ics_run_retry_begin(run, &ending->unit->retry);
        ics_run_send_job(run, run->jobs.io, &ending->job, &ending->unit->jobs_out, end_claim,
                         end_claim_done);
    }
}

const ics_run_part ics_run_ending_part = {.offer = offer};
