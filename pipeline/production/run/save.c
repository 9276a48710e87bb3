#include "base/container.h"
#include "pipeline/production/run/jobs.h"
#include "pipeline/production/run/log.h"
#include "pipeline/production/run/parts.h"
#include "pipeline/production/run/stop.h"
#include "pipeline/production/telemetry/progress.h"

#include <stdlib.h>

static void report(ics_run_state *run, const ics_unit *unit)
{
    char reason[1024], photons[32], total[32], hits[32];
    double finished = (double)unit->taken_over.created, all = (double)unit->summary.photons;
    snprintf(reason, sizeof reason,
             "continues from %.700s: %.4g %% of its photons (%s of %s) and %s hits were computed "
             "before",
             unit->checkpoint, all > 0.0 ? 100.0 * finished / all : 100.0,
             ics_progress_count_text(finished, photons), ics_progress_count_text(all, total),
             ics_progress_count_text((double)unit->taken_over.hits, hits));
    const ics_event event = {.kind = ICS_EVENT_CONTINUED,
                             .file = unit->name,
                             .photons = unit->taken_over.created,
                             .hits = unit->taken_over.hits,
                             .reason = reason};
    ics_run_log_event(run, &event);
}

void ics_run_save_continue(ics_run_state *run, ics_unit *unit)
{
    const ics_checkpoint_part *part = &unit->work->taken_over;
    ics_run_log_notice(run, unit);
    unit->account = unit->taken_over = part->account;
    unit->maths = part->maths;
    unit->kernels = part->kernels;
    ics_batch_account_add(&run->taken_over, &part->account);
    if (unit->taken_over.created > 0) {
        report(run, unit);
    }
}

/* ---- the end of the run ---------------------------------------------------------------------- */

static void save_done(ics_job *job)
{
    ics_unit *unit = ICS_CONTAINER_OF(job, ics_unit, writer_job);
    double finished = (double)unit->account.created, all = (double)unit->summary.photons;
    ics_run_log_notice(unit->run, unit);
    if (!unit->work->saving.ended) {
        ics_run_log_text(unit->run, ICS_EVENT_MESSAGE,
                         "%s: %.4g %% of its photons are computed and in %.700s, from which the "
                         "next run continues",
                         unit->name, all > 0.0 ? 100.0 * finished / all : 100.0, unit->checkpoint);
    }
}

static bool last(ics_run_state *run)
{
    bool any = false;
    if (ics_run_is_cancelled(run)) {
        return false;
    }
    for (ics_unit *unit = run->units.first; unit != NULL; unit = unit->next) {
        if (ics_unit_has_unsaved(unit)) {
            any |= ics_run_send_job(run, run->jobs.writers[unit->writer], &unit->writer_job,
                                    &unit->jobs_out, ics_unit_save_rest, save_done);
        }
    }
    return any;
}

const ics_run_part ics_run_save_part = {.last = last};
