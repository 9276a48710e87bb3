#include "base/container.h"
#include "base/error.h"
#include "pipeline/production/run/disk_full.h"
#include "pipeline/production/run/jobs.h"
#include "pipeline/production/run/log.h"
#include "pipeline/production/run/parts.h"
#include "pipeline/production/run/retry.h"
#include "pipeline/production/run/stop.h"
#include "pipeline/production/run/unit_states.h"

static ics_unit *unit_of_job(ics_job *job)
{
    return ICS_CONTAINER_OF(job, ics_unit, writer_job);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* A message that was begun on standard output cannot be written again. */
static void handle_write_error(ics_run_state *run, ics_unit *unit, const icestream_error *error)
{
    if (error->status == ICESTREAM_E_INPUT) { /* other hits have the name of the output by now */
        ics_run_unit_refuse(run, unit, false, error->text);
    } else if (!run->common.sink->files) {
        ics_run_unit_give_up(run, unit);
        ics_run_fail(run, error);
    } else {
        ics_run_unit_trouble(run, unit, ICS_RETRY_WRITE, unit->work->blocked, error);
    }
}

static void write_done(ics_job *job)
{
    ics_unit *unit = unit_of_job(job);
    ics_run_state *run = unit->run;
    const ics_unit_work *work = unit->work;
    ics_run_log_notice(run, unit);
    if (work->write_error.status != ICESTREAM_OK) {
        handle_write_error(run, unit, &work->write_error);
    } else if (work->lost) {
        ics_run_unit_decide(run, unit, ICS_ON_DECIDED, ICS_RESULT_LOST);
    } else {
        ics_run_disk_full_end(run);
        ics_run_retry_succeeded(run, &unit->retry);
        if (work->matches) {
            ics_unit_use_found_output(unit);
            ics_run_unit_decide(run, unit, ICS_ON_OUTPUT_EXISTS, ICS_RESULT_SKIPPED);
        } else {
            run->bytes_written += unit->output_bytes;
            ics_run_unit_decide(run, unit, ICS_ON_OUTPUT_EXISTS, ICS_RESULT_DONE);
        }
    }
}

/* ---- discarding ------------------------------------------------------------------------------ */

static void discard_done(ics_job *job)
{
    ics_unit *unit = unit_of_job(job);
    ics_run_state *run = unit->run;
    const icestream_error *error = &unit->work->write_error;
    ics_run_log_notice(run, unit);
    if (error->status != ICESTREAM_OK) { /* the summary and the log have the reason all the same */
        ics_run_log_text(run, ICS_EVENT_WARNING, "%s", error->text);
    }
    ics_run_unit_event(run, unit, ICS_ON_DECIDED);
}

/* ---- the part -------------------------------------------------------------------------------- */

/* Gives the writer the hits, to write them or, of bad input, to discard them. */
static void send_hits(ics_run_state *run, ics_unit *unit)
{
    const bool is_bad = unit->result == ICS_RESULT_QUARANTINED;
    ics_run_retry_begin(run, &unit->retry);
    ics_run_unit_event(run, unit, ICS_ON_BEGUN);
    if (!ics_run_send_job(run, run->jobs.writers[unit->writer], &unit->writer_job, &unit->jobs_out,
                          is_bad ? ics_unit_discard : ics_unit_write,
                          is_bad ? discard_done : write_done)) {
        ics_run_unit_give_up(run, unit);
    }
}

/* Messages go to standard output in the order of their units. Files have no order. */
static void offer(ics_run_state *run)
{
    if (ics_run_is_cancelled(run)) {
        return;
    }
    for (ics_unit *unit = run->units.oldest; unit != run->units.to_open; unit = unit->next) {
        if (unit->state == ICS_UNIT_READ && !ics_unit_has_jobs(unit) &&
            ics_run_retry_is_due(run, &unit->retry)) {
            send_hits(run, unit);
        } else if (!run->common.sink->files && unit->state != ICS_UNIT_WRITING &&
                   unit->state != ICS_UNIT_FINISHED) {
            return;
        }
    }
}

const ics_run_part ics_run_write_part = {.offer = offer};
