#include "pipeline/run/rotate.h"

#include "base/container.h"
#include "base/error.h"
#include "pipeline/files/output.h"
#include "pipeline/run/jobs.h"
#include "pipeline/run/life.h"
#include "pipeline/run/log.h"
#include "pipeline/run/retry.h"
#include "pipeline/run/room.h"
#include "pipeline/run/stop.h"

#include <stdlib.h>
#include <string.h>

enum {
    UNITS_MAX = 250000, /* in a volume, so that readers accept the size of its metadata */
    HITS_MAX_POWER = 35 /* 2^35 hits (2.2 TB) in a volume, because of its checksums */
};

/* ---- units whose hits are in the volume ------------------------------------------------------ */

static bool append(ics_run_rotation *rotation, ics_unit *unit)
{
    if (rotation->unit_count == rotation->unit_capacity) {
        size_t capacity = rotation->unit_capacity == 0 ? 64 : 2 * rotation->unit_capacity;
        ics_unit **units = realloc(rotation->units, capacity * sizeof *units);
        if (units == NULL) {
            return false;
        }
        rotation->units = units;
        rotation->unit_capacity = capacity;
    }
    rotation->units[rotation->unit_count++] = unit;
    return true;
}

/* Handles the error that the volume reports about the last unit that it got. Hits that had to stay
 * in memory are safe there; any other error ends the run. */
static void handle_trouble(ics_run_state *run)
{
    const icestream_error *trouble = ics_volume_trouble(run->common.volume);
    if (trouble->status == ICESTREAM_E_OUTPUT && ics_error_may_pass(trouble) &&
        !run->options->fail_fast) {
        ics_run_room_wanted(run, NULL, trouble);
    } else if (trouble->status != ICESTREAM_OK) {
        ics_run_fail(run, trouble);
    }
}

static void count_unit(ics_run_state *run, ics_unit *unit)
{
    ics_run_rotation *rotation = &run->rotation;
    handle_trouble(run);
    rotation->hits += unit->account.hits - unit->account.undetected;
    if (!append(rotation, unit)) {
        ics_run_fail_memory(run, "out of memory for the units of a volume");
    }
    rotation->sealed = rotation->hits >= run->config->sink.rotate ||
                       rotation->hits >> HITS_MAX_POWER > 0 || rotation->unit_count >= UNITS_MAX;
}

/* ---- committing ------------------------------------------------------------------------------ */

static ics_run_state *run_of_job(ics_job *job)
{
    return ICS_CONTAINER_OF(job, ics_run_state, rotation.commit_job);
}

/* On the writer's thread. */
static void commit(ics_job *job, void *thread_state)
{
    (void)thread_state;
    ics_run_state *run = run_of_job(job);
    ics_run_rotation *rotation = &run->rotation;
    ics_volume_commit(run->common.volume, rotation->units, rotation->lost, rotation->unit_count,
                      &rotation->result);
}

static void handle_commit_error(ics_run_state *run, const icestream_error *error)
{
    ics_run_rotation *rotation = &run->rotation;
    ics_run_retry_answer answer = ics_run_retry_after(
        run, &rotation->retry, ICS_RETRY_COMMIT, ics_volume_name(run->common.volume), false, error);
    rotation->abandoned = answer != ICS_RUN_RETRY_LATER;
    if (answer == ICS_RUN_RETRY_REFUSED) {
        ics_run_fail(run, error);
    }
}

static void log_dropped(ics_run_state *run)
{
    const ics_run_rotation *rotation = &run->rotation;
    size_t lost = 0;
    for (size_t i = 0; i < rotation->unit_count; ++i) {
        lost += rotation->lost[i];
    }
    ics_run_log_text(
        run, ICS_EVENT_WARNING,
        "a hit file is not written: other workers have claimed %zu of its %zu step files; the "
        "other step files are computed again",
        lost, rotation->unit_count);
}

/* The volume has been committed under `path`, or dropped (NULL). */
static void release_unit(ics_run_state *run, ics_unit *unit, const char *path, bool lost)
{
    if (path != NULL) {
        unit->output = strdup(path);
        if (unit->output == NULL) {
            ics_run_fail_memory(run, "out of memory for the units of a volume");
        }
        ics_run_life_event(run, unit, ICS_ON_COMMITTED);
    } else {
        ics_run_life_event(run, unit, lost ? ICS_ON_CLAIM_LOST : ICS_ON_VOLUME_DROPPED);
    }
}

static void commit_done(ics_job *job)
{
    ics_run_state *run = run_of_job(job);
    ics_run_rotation *rotation = &run->rotation;
    ics_volume_result *result = &rotation->result;
    if (result->error.status != ICESTREAM_OK) {
        handle_commit_error(run, &result->error);
    } else {
        ics_run_retry_succeeded(run, &rotation->retry);
        run->bytes_written += result->bytes;
        if (result->dropped) {
            log_dropped(run);
        }
        for (size_t i = 0; i < rotation->unit_count; ++i) {
            ics_run_log_notice(run, rotation->units[i]);
            release_unit(run, rotation->units[i], result->path, rotation->lost[i]);
        }
        rotation->unit_count = 0;
        rotation->hits = 0;
        rotation->sealed = false;
        free(result->path);
    }
    free(rotation->lost);
    rotation->lost = NULL;
}

static void send_commit(ics_run_state *run)
{
    ics_run_rotation *rotation = &run->rotation;
    ics_run_retry_begin(run, &rotation->retry);
    rotation->lost = calloc(rotation->unit_count, sizeof *rotation->lost);
    if (rotation->lost == NULL) {
        ics_run_fail_memory(run, "out of memory for the units of a volume");
        return;
    }
    ics_run_send_job(run, run->jobs.writers[0], &rotation->commit_job, NULL, commit, commit_done);
}

/* ---- the part -------------------------------------------------------------------------------- */

/* A commit that failed is tried again when its time has come, or once more when the run stops. */
static bool may_commit(ics_run_state *run)
{
    return ics_run_is_stopping(run) || ics_run_retry_is_due(run, &run->rotation.retry);
}

static void offer(ics_run_state *run)
{
    ics_run_rotation *rotation = &run->rotation;
    for (ics_unit *unit; (unit = ICS_QUEUE_TAKE(&run->units.stored, queued)) != NULL;) {
        count_unit(run, unit);
    }
    if (rotation->sealed && !ics_run_life_is_writing(run) && !rotation->commit_job.out &&
        !rotation->abandoned && !ics_run_is_cancelled(run) && may_commit(run)) {
        send_commit(run);
    }
}

/* Called when no job is out: no more hits come into the volume now, or a client waits for them.
 * Returns whether a commit has begun. */
static bool commit_rest(ics_run_state *run)
{
    ics_run_rotation *rotation = &run->rotation;
    if (rotation->unit_count == 0) {
        return false;
    }
    rotation->sealed = true;
    offer(run);
    return rotation->commit_job.out;
}

const ics_run_part ics_run_rotate_part = {.name = "rotate", .offer = offer, .last = commit_rest};

bool ics_run_rotate_is_sealed(const ics_run_state *run)
{
    return run->rotation.sealed;
}

bool ics_run_rotate_has_units(const ics_run_state *run)
{
    return run->rotation.unit_count > 0;
}

/* ---- life ------------------------------------------------------------------------------------ */

int ics_run_rotate_open(ics_run_state *run, icestream_error *error)
{
    ics_run_rotation *rotation = &run->rotation;
    const char *folder = run->config->sink.directory;
    /* Waveforms are never in the hit file of several step files. */
    const bool looks =
        run->config->sink.rotate != 0 ||
        (run->options->resume && !run->common.to_stdout && run->common.origin.bins.width == 0);
    if (!looks) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_known_hits_create(folder, &run->common.origin, &run->common.stop, &rotation->known,
                                  error));
    run->common.known = rotation->known;
    if (run->config->sink.rotate == 0) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_volume_create(&run->common, &run->common.volume, error));
    /* Files of writers that were killed: no living process writes under their names. */
    return ics_output_clean_folder(folder, "run-*.hits.npy", error);
}

void ics_run_rotate_destroy(ics_run_state *run)
{
    ics_run_rotation *rotation = &run->rotation;
    ics_volume_destroy(run->common.volume);
    ics_known_hits_destroy(rotation->known);
    free(rotation->units);
    free(rotation->lost);
}
