#include "pipeline/production/run/disk_full.h"

#include "base/clock.h"
#include "base/container.h"
#include "base/error.h"
#include "pipeline/production/run/jobs.h"
#include "pipeline/production/run/log.h"
#include "pipeline/production/run/stop.h"

static const double longest_delay = 30.0; /* s */

double ics_run_disk_full_delay(uint32_t failures)
{
    double delay = failures < 6 ? (double)(1u << (failures - 1)) : longest_delay;
    return delay < longest_delay ? delay : longest_delay;
}

static void pause_run(ics_run_state *run, const char *name, const icestream_error *error,
                      double until)
{
    ics_run_disk_full *disk = &run->disk_full;
    disk->until = until;
    if (disk->paused) {
        return;
    }
    disk->paused = true;
    disk->since = ics_clock_seconds();
    snprintf(disk->reason, sizeof disk->reason, "%.900s", error->text);
    const ics_event event = {.kind = ICS_EVENT_PAUSED, .file = name, .reason = error->text};
    ics_run_log_event(run, &event);
}

static void resume_run(ics_run_state *run)
{
    run->disk_full.paused = false;
    const ics_event event = {.kind = ICS_EVENT_RESUMED,
                             .seconds = ics_clock_seconds() - run->disk_full.since};
    ics_run_log_event(run, &event);
}

void ics_run_disk_full_pause(ics_run_state *run, const char *name, const icestream_error *error)
{
    pause_run(run, name, error, 0.0);
}

/* Batches that were under way fail together. Only the first failure counts as an attempt. */
void ics_run_disk_full_of_unit(ics_run_state *run, ics_unit *unit, const icestream_error *error)
{
    ics_run_disk_full *disk = &run->disk_full;
    disk->of_unit = unit;
    if (!disk->paused) {
        disk->spills++;
        pause_run(run, NULL, error, ics_clock_seconds() + ics_run_disk_full_delay(disk->spills));
    }
}

void ics_run_disk_full_end(ics_run_state *run)
{
    run->disk_full.spills = 0;
}

void ics_run_disk_full_forget(ics_run_state *run, const ics_unit *unit)
{
    if (run->disk_full.of_unit == unit) {
        run->disk_full.of_unit = NULL;
    }
}

/* ---- trying to move hits to the disk --------------------------------------------------------- */

static ics_run_state *run_of_job(ics_job *job)
{
    return ICS_CONTAINER_OF(job, ics_run_state, disk_full.job);
}

/* On the writer's thread. */
static void spill(ics_job *job, void *thread_state)
{
    (void)thread_state;
    ics_run_state *run = run_of_job(job);
    run->disk_full.error = (icestream_error){.status = ICESTREAM_OK};
    ics_unit_spill(run->disk_full.tries_unit, &run->disk_full.error);
}

static void spill_done(ics_job *job)
{
    ics_run_state *run = run_of_job(job);
    ics_run_disk_full *disk = &run->disk_full;
    bool ends_pause = disk->until > 0.0; /* else the retry of a unit ends it by now */
    if (ics_error_may_pass(&disk->error)) {
        disk->of_unit = disk->tries_unit;
        disk->spills++;
        disk->until =
            ends_pause ? ics_clock_seconds() + ics_run_disk_full_delay(disk->spills) : 0.0;
    } else if (disk->error.status != ICESTREAM_OK) {
        ics_run_fail(run, &disk->error);
    } else if (ends_pause) {
        disk->spills = 0;
        resume_run(run);
    }
}

static void try_spill(ics_run_state *run)
{
    ics_run_disk_full *disk = &run->disk_full;
    ics_unit *unit = disk->of_unit;
    disk->tries_unit = unit;
    disk->of_unit = NULL;
    /* The job counts as one of the unit, so that its hits stay where they are meanwhile. */
    ics_run_send_job(run, run->jobs.writers[unit->writer], &disk->job, &unit->jobs_out, spill,
                     spill_done);
}

/* Whether a unit still collects hits that could be moved to the disk: no writer has all of them. */
static bool collects(const ics_unit *unit)
{
    return unit != NULL && unit->result != ICS_RESULT_QUARANTINED &&
           (ics_unit_rules_is_reading(unit->state) || unit->state == ICS_UNIT_READ);
}

static void offer(ics_run_state *run)
{
    ics_run_disk_full *disk = &run->disk_full;
    if (ics_run_is_stopping(run) || !disk->paused || disk->job.out ||
        (disk->until == 0.0 && disk->retries > 0)) {
        return;
    }
    if (disk->until > ics_clock_seconds()) {
        ics_run_wake_at(run, disk->until);
    } else if (disk->until > 0.0 && collects(disk->of_unit)) {
        try_spill(run);
    } else {
        resume_run(run);
    }
}

static bool waits(const ics_run_state *run)
{
    return !ics_run_is_stopping(run) && run->disk_full.paused;
}

const ics_run_part ics_run_disk_full_part = {.offer = offer, .waits = waits};
