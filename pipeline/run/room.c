#include "pipeline/run/room.h"

#include "base/clock.h"
#include "base/container.h"
#include "base/error.h"
#include "pipeline/run/jobs.h"
#include "pipeline/run/log.h"
#include "pipeline/run/stop.h"

static const double longest_delay = 30.0; /* s */

double ics_run_room_delay(uint32_t failures)
{
    double delay = failures < 6 ? (double)(1u << (failures - 1)) : longest_delay;
    return delay < longest_delay ? delay : longest_delay;
}

static void pause_run(ics_run_state *run, const char *name, const icestream_error *error,
                      double until)
{
    ics_run_room *room = &run->room;
    room->until = until;
    if (room->paused) {
        return;
    }
    room->paused = true;
    room->since = ics_clock_seconds();
    snprintf(room->reason, sizeof room->reason, "%.900s", error->text);
    const ics_event event = {.kind = ICS_EVENT_PAUSED, .file = name, .reason = error->text};
    ics_run_log_event(run, &event);
}

static void resume_run(ics_run_state *run)
{
    run->room.paused = false;
    const ics_event event = {.kind = ICS_EVENT_RESUMED,
                             .seconds = ics_clock_seconds() - run->room.since};
    ics_run_log_event(run, &event);
}

void ics_run_room_pause(ics_run_state *run, const char *name, const icestream_error *error)
{
    pause_run(run, name, error, 0.0);
}

/* Batches that were under way fail together. Only the first failure counts as an attempt. */
void ics_run_room_wanted(ics_run_state *run, ics_unit *unit, const icestream_error *error)
{
    ics_run_room *room = &run->room;
    room->of_unit = unit;
    if (!room->paused) {
        room->spills++;
        pause_run(run, NULL, error, ics_clock_seconds() + ics_run_room_delay(room->spills));
    }
}

void ics_run_room_found(ics_run_state *run)
{
    run->room.spills = 0;
}

void ics_run_room_add_retry(ics_run_state *run)
{
    run->room.retries++;
}

void ics_run_room_remove_retry(ics_run_state *run)
{
    run->room.retries--;
}

bool ics_run_room_is_paused(const ics_run_state *run)
{
    return run->room.paused;
}

const char *ics_run_room_pause_reason(const ics_run_state *run)
{
    return run->room.paused ? run->room.reason : NULL;
}

void ics_run_room_forget(ics_run_state *run, const ics_unit *unit)
{
    if (run->room.of_unit == unit) {
        run->room.of_unit = NULL;
    }
}

/* ---- trying to move hits to the disk --------------------------------------------------------- */

static ics_run_state *run_of_job(ics_job *job)
{
    return ICS_CONTAINER_OF(job, ics_run_state, room.job);
}

/* On the writer's thread. */
static void spill(ics_job *job, void *thread_state)
{
    (void)thread_state;
    ics_run_state *run = run_of_job(job);
    run->room.error = (icestream_error){.status = ICESTREAM_OK};
    ics_unit_spill(run->room.tries_unit, &run->room.error);
}

static void spill_done(ics_job *job)
{
    ics_run_state *run = run_of_job(job);
    ics_run_room *room = &run->room;
    bool ends_pause = room->until > 0.0; /* else the retry of a unit ends it by now */
    if (ics_error_may_pass(&room->error)) {
        room->of_unit = room->tries_unit;
        room->spills++;
        room->until = ends_pause ? ics_clock_seconds() + ics_run_room_delay(room->spills) : 0.0;
    } else if (room->error.status != ICESTREAM_OK) {
        ics_run_fail(run, &room->error);
    } else if (ends_pause) {
        room->spills = 0;
        resume_run(run);
    }
}

static void try_spill(ics_run_state *run)
{
    ics_run_room *room = &run->room;
    ics_unit *unit = room->of_unit;
    room->tries_unit = unit;
    room->of_unit = NULL;
    /* The job counts as one of the unit, so that its hits stay where they are meanwhile. */
    ics_run_send_job(run, run->jobs.writers[unit->writer], &room->job, &unit->jobs_out, spill,
                     spill_done);
}

/* Whether a unit still collects hits that could be moved to the disk: no writer has all of them. */
static bool collects(const ics_unit *unit)
{
    return unit != NULL &&
           (ics_unit_rules_is_reading(unit->state) || unit->state == ICS_UNIT_READ_TO_END);
}

static void offer(ics_run_state *run)
{
    ics_run_room *room = &run->room;
    if (ics_run_is_stopping(run) || !room->paused || room->job.out ||
        (room->until == 0.0 && room->retries > 0)) {
        return;
    }
    if (room->until > ics_clock_seconds()) {
        ics_run_wake_at(run, room->until);
    } else if (room->until > 0.0 && collects(room->of_unit)) {
        try_spill(run);
    } else {
        resume_run(run);
    }
}

static bool waits(const ics_run_state *run)
{
    return !ics_run_is_stopping(run) && run->room.paused;
}

const ics_run_part ics_run_room_part = {.name = "room", .offer = offer, .waits = waits};
