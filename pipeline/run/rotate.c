/* sink.rotate: the hits of many units go to one hit file, a volume. A unit whose hits are in it is
 * no longer open, but it is finished, and its claim ended, only when the volume is committed: when
 * it is full, or when nothing else is left to do. */
#include "base/error.h"
#include "pipeline/files/output.h"
#include "pipeline/run/state.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    ENDS_MAX = 64,      /* claims that are ended at a time */
    UNITS_MAX = 250000, /* in a volume: so that its metadata stay below what readers accept */
    HITS_MAX_POWER = 35 /* likewise, for the checksums: 2.2 TB */
};

/* ---- lists ----------------------------------------------------------------------------------- */

static bool push(ics_unit_list *list, ics_unit *unit)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 64 : 2 * list->capacity;
        ics_unit **items = realloc(list->items, capacity * sizeof *items);
        if (items == NULL) {
            return false;
        }
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = unit;
    return true;
}

static ics_unit *take_next(ics_unit_list *list)
{
    ics_unit *unit = list->items[list->next++];
    if (list->next == list->count) {
        list->next = list->count = 0;
    }
    return unit;
}

static void out_of_memory(ics_run_state *run)
{
    icestream_error error = {.status = ICESTREAM_OK};
    ics_error_set(&error, ICESTREAM_E_MEMORY, "out of memory for the units of a volume");
    ics_run_fail(run, &error);
}

/* ---- committing ------------------------------------------------------------------------------ */

bool ics_run_rotation_admits(const ics_run_state *run)
{
    const ics_run_rotation *rotation = &run->rotation;
    return rotation->volume == NULL || (!rotation->writing && !rotation->sealed);
}

/* Hits that had to stay in memory are safe there; no other trouble is. */
static void take_trouble(ics_run_state *run, const icestream_error *trouble)
{
    if (trouble->status == ICESTREAM_E_OUTPUT && ics_error_may_pass(trouble) &&
        !run->options->fail_fast) {
        ics_run_pause_for_room(run, run->rotation.carrier, trouble);
    } else if (trouble->status != ICESTREAM_OK) {
        ics_run_fail(run, trouble);
    }
}

void ics_run_keep_unit(ics_run_state *run, ics_unit *unit)
{
    ics_run_rotation *rotation = &run->rotation;
    const icestream_error *trouble = ics_volume_trouble(rotation->volume);
    ics_run_succeeded(run, unit);
    take_trouble(run, trouble);
    unit->state = ICS_UNIT_KEPT;
    unit->kept = true;
    ics_unit_close(unit);
    run->units_open--;
    rotation->hits += unit->account.hits - unit->account.undetected;
    if (!push(&rotation->kept, unit)) {
        out_of_memory(run);
    }
    rotation->sealed = rotation->hits >= run->config->sink.rotate ||
                       rotation->hits >> HITS_MAX_POWER > 0 || rotation->kept.count >= UNITS_MAX;
}

static ics_run_state *run_of_commit_job(ics_job *job)
{
    return (ics_run_state *)((char *)job - offsetof(ics_run_state, rotation.commit_job));
}

static void commit(ics_job *job, void *thread_state)
{
    (void)thread_state;
    ics_run_rotation *rotation = &run_of_commit_job(job)->rotation;
    ics_volume_commit(rotation->volume, rotation->kept.items, rotation->lost, rotation->kept.count,
                      &rotation->result);
}

/* What failed is tried again, or it is the end of the run; where the run stops anyhow, the units go
 * back to where they came from. */
static void take_commit_error(ics_run_state *run, const icestream_error *error)
{
    ics_run_rotation *rotation = &run->rotation;
    ics_unit *carrier = rotation->carrier;
    free(carrier->name);
    carrier->name = strdup(ics_volume_name(rotation->volume));
    if (carrier->name == NULL) {
        out_of_memory(run);
    } else if (!ics_run_retry(run, carrier, ICS_RETRY_WRITE, error)) {
        ics_run_fail(run, error);
    }
    rotation->left = carrier->retry == ICS_RETRY_NOTHING;
}

static void tell_dropped(ics_run_state *run)
{
    const ics_run_rotation *rotation = &run->rotation;
    size_t lost = 0;
    for (size_t i = 0; i < rotation->kept.count; ++i) {
        lost += rotation->lost[i];
    }
    ics_run_say(
        run, ICS_EVENT_WARNING,
        "%zu of %zu step files of a hit file that was to be written are another worker's by "
        "now: nothing is written, and the others are made anew",
        lost, rotation->kept.count);
}

/* The units of the volume, which has been committed or dropped, go on. */
static void release_units(ics_run_state *run, bool dropped, const char *path)
{
    ics_run_rotation *rotation = &run->rotation;
    for (size_t i = 0; i < rotation->kept.count; ++i) {
        ics_unit *unit = rotation->kept.items[i];
        bool anew = dropped && !rotation->lost[i];
        unit->state = anew ? ICS_UNIT_KEPT : dropped ? ICS_UNIT_LOST : ICS_UNIT_DONE;
        unit->output = dropped ? NULL : strdup(path);
        if (!push(anew ? &rotation->anew : &rotation->ends, unit) ||
            (unit->output == NULL && !dropped)) {
            out_of_memory(run);
        }
    }
    rotation->kept.count = 0;
    rotation->hits = 0;
    rotation->sealed = false;
}

static void commit_done(ics_job *job)
{
    ics_run_state *run = run_of_commit_job(job);
    ics_run_rotation *rotation = &run->rotation;
    const ics_volume_result *result = &rotation->result;
    rotation->committing = false;
    if (result->error.status != ICESTREAM_OK) {
        take_commit_error(run, &result->error);
    } else {
        ics_run_succeeded(run, rotation->carrier);
        run->bytes_written += result->bytes;
        if (result->dropped) {
            tell_dropped(run);
        }
        release_units(run, result->dropped, result->path);
        free(result->path);
    }
    free(rotation->lost);
    rotation->lost = NULL;
}

static void send_commit(ics_run_state *run)
{
    ics_run_rotation *rotation = &run->rotation;
    rotation->carrier->retry = ICS_RETRY_NOTHING;
    rotation->lost = calloc(rotation->kept.count, sizeof *rotation->lost);
    if (rotation->lost == NULL) {
        out_of_memory(run);
        return;
    }
    rotation->committing = true;
    ics_run_send_job(run, run->writers[0], &rotation->commit_job, commit, commit_done);
}

/* ---- units after that ------------------------------------------------------------------------ */

static void end_units(ics_run_state *run)
{
    ics_run_rotation *rotation = &run->rotation;
    while (rotation->ends.count > 0 && rotation->ending < ENDS_MAX) {
        ics_unit *unit = take_next(&rotation->ends);
        rotation->ending++;
        ics_run_end_claim(run, unit, unit->state);
    }
}

static void begin_anew(ics_run_state *run)
{
    ics_run_rotation *rotation = &run->rotation;
    while (rotation->anew.count > 0 && !ics_run_stopping(run) && !run->pause.on &&
           run->units_ahead < run->shape.units_ahead && run->units_open < run->units_open_limit) {
        ics_unit *unit = take_next(&rotation->anew);
        icestream_error error = {.status = ICESTREAM_OK};
        if (ics_unit_begin_anew(unit, &error) != ICESTREAM_OK) {
            ics_run_fail(run, &error);
            return;
        }
        unit->kept = false;
        run->units_open++;
        run->oldest = run->first; /* which had passed it */
        ics_run_check_unit(run, unit);
    }
}

void ics_run_rotate(ics_run_state *run)
{
    ics_run_rotation *rotation = &run->rotation;
    if (rotation->volume == NULL) {
        return;
    }
    end_units(run);
    begin_anew(run);
    const ics_unit *carrier = rotation->carrier;
    bool waits = carrier->retry != ICS_RETRY_NOTHING && carrier->due > ics_progress_seconds() &&
                 !ics_run_stopping(run);
    if (rotation->sealed && !rotation->writing && !rotation->committing && !rotation->left &&
        !waits && rotation->ends.count == 0 && !atomic_load(&run->common.cancel)) {
        send_commit(run);
    }
}

/* Clients are told of their messages when the hits are in a file, and may wait for that before they
 * send more. */
bool ics_run_commit_rest(ics_run_state *run)
{
    ics_run_rotation *rotation = &run->rotation;
    bool more = (ics_run_intake_waits(run) && run->messages == NULL) || ics_run_retries_wait(run);
    if (rotation->kept.count == 0 || more) {
        return false;
    }
    rotation->sealed = true;
    ics_run_rotate(run);
    return run->jobs_out > 0;
}

bool ics_run_commands_volume(ics_run_state *run, const char *path)
{
    json_t *commanded = run->rotation.commanded;
    bool first = json_object_get(commanded, path) == NULL;
    if (first && json_object_set_new_nocheck(commanded, path, json_true()) != 0) {
        ics_run_say(run, ICS_EVENT_WARNING, "sink.command: out of memory for %s", path);
        return false;
    }
    return first;
}

/* ---- life ------------------------------------------------------------------------------------ */

int ics_run_rotation_open(ics_run_state *run, icestream_error *error)
{
    ics_run_rotation *rotation = &run->rotation;
    const char *folder = run->config->sink.directory;
    if (run->config->sink.rotate == 0) {
        return ICESTREAM_OK;
    }
    rotation->carrier = calloc(1, sizeof *rotation->carrier);
    rotation->commanded = json_object();
    if (rotation->carrier == NULL || rotation->commanded == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a run");
    }
    rotation->carrier->state = ICS_UNIT_READ; /* so that pauses try to find room for the volume */
    int status = ics_known_hits_create(folder, &run->common.origin, &run->common.stop,
                                       &rotation->known, error);
    if (status == ICESTREAM_OK) {
        status = ics_volume_create(&run->common, &rotation->volume, error);
    }
    if (status ==
        ICESTREAM_OK) { /* of writers that were killed: nobody else writes under their names */
        status = ics_output_clean_folder(folder, "run-*.hits.npy.*part", error);
    }
    run->common.known = rotation->known;
    run->common.volume = rotation->volume;
    return status;
}

void ics_run_rotation_destroy(ics_run_state *run)
{
    ics_run_rotation *rotation = &run->rotation;
    ics_volume_destroy(rotation->volume);
    ics_known_hits_destroy(rotation->known);
    ics_unit_destroy(rotation->carrier);
    json_decref(rotation->commanded);
    free(rotation->kept.items);
    free(rotation->ends.items);
    free(rotation->anew.items);
    free(rotation->lost);
}
