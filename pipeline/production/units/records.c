/* The checkpoint that a run writes of an unfinished unit, so that a later run continues where this
 * one was ended.
 *
 * Until the checkpoint is begun, only the collector has the hits of batches. Afterwards every batch
 * gets a record. If the collector does not write rows early, the batch gets its record at once, and
 * the record has the hits. If the collector writes rows early, the batch waits until its hits are
 * rows, and the record has the numbers of these rows. Some batches still wait when a checkpoint is
 * due, or when their hits leave the memory: their records have the hits. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/container.h"
#include "base/error.h"
#include "base/json_text.h"
#include "base/new.h"
#include "pipeline/photons/files/format/crc32c.h"
#include "pipeline/production/checkpoint/state.h"
#include "pipeline/production/units/unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether the hits of the unit go to a checkpoint. */
static bool saves(const ics_unit *unit)
{
    return unit->checkpoint != NULL && unit->common->config->sink.checkpoint > 0.0 &&
           !unit->work->saving.ended;
}

static void empty_part(ics_checkpoint_part *part)
{
    ics_photon_intervals_clear(&part->photons);
    *part = (ics_checkpoint_part){.maths = ICS_MATHS_NONE};
}

static void forget_waiting(ics_unit_saving *saving)
{
    empty_part(&saving->waiting);
    free(saving->unsaved);
    saving->unsaved = NULL;
    saving->unsaved_count = saving->unsaved_capacity = 0;
}

static void end_saving(ics_unit *unit, const icestream_error *error)
{
    ics_unit_saving *saving = &unit->work->saving;
    saving->ended = true;
    forget_waiting(saving);
    if (error->status != ICESTREAM_E_INTERRUPTED) {
        ics_unit_leave_notice(
            unit,
            "%s; the run goes on: if it is ended, a later run computes what this checkpoint "
            "lacks again",
            error->text);
    }
}

static int add_to_part(ics_checkpoint_part *part, const ics_unit_unsaved *batch,
                       icestream_error *error)
{
    ICS_TRY(ics_photon_intervals_add(&part->photons, batch->photons, error));
    ics_batch_account_add(&part->account, &batch->account);
    part->maths |= batch->maths;
    ics_kernels_add(&part->kernels, &batch->kernels);
    return ICESTREAM_OK;
}

/* Keeps a batch until its hits are rows or are written. */
static void keep_unsaved(ics_unit_saving *saving, const ics_unit_unsaved *batch)
{
    if (saving->unsaved_count == saving->unsaved_capacity) {
        saving->unsaved_capacity = 2 * saving->unsaved_capacity + 16;
        saving->unsaved =
            ics_new_size(saving->unsaved, saving->unsaved_capacity, sizeof *saving->unsaved);
    }
    saving->unsaved[saving->unsaved_count++] = *batch;
}

/* ---- records --------------------------------------------------------------------------------- */

/* Appends a record of one batch with its hits. */
static int append_hits(ics_unit_saving *saving, const ics_unit_unsaved *batch,
                       const icestream_hit *hits, size_t count, icestream_error *error)
{
    ics_checkpoint_part part = {.maths = ICS_MATHS_NONE};
    int status = add_to_part(&part, batch, error);
    if (status == ICESTREAM_OK) {
        status = ics_checkpoint_append(saving->file, &part, hits, count, error);
    }
    empty_part(&part);
    saving->unsynced = true;
    return status;
}

/* Appends a record of the batches that wait, all of whose hits are rows. */
static int append_rows(ics_unit_saving *saving, icestream_error *error)
{
    const int status = ics_checkpoint_append_rows(saving->file, &saving->waiting, &saving->rows,
                                                  saving->row_count, error);
    empty_part(&saving->waiting);
    saving->unsynced = true;
    return status;
}

void ics_unit_save_batch(ics_unit *unit, const ics_batch *batch)
{
    ics_unit_saving *saving = &unit->work->saving;
    icestream_error error = {.status = ICESTREAM_OK};
    const ics_unit_unsaved about = {
        .photons = {batch->first_photon, batch->first_photon + batch->photons},
        .account = batch->account,
        .maths = batch->maths,
        .kernels = batch->kernels};
    if (!saves(unit)) {
        return;
    }
    if (saving->due == 0.0) {
        saving->due = ics_clock_seconds() + unit->common->config->sink.checkpoint;
    }
    const bool may_be_rows = batch->hit_count > 0 &&
                             ics_collector_allows_rows(unit->work->collector) &&
                             (saving->file == NULL || saving->uses_rows);
    int status = ICESTREAM_OK;
    if (may_be_rows) {
        keep_unsaved(saving, &about);
    } else if (saving->file != NULL) {
        status = append_hits(saving, &about, batch->hits, batch->hit_count, &error);
    } else {
        status = add_to_part(&saving->waiting, &about, &error);
    }
    if (status != ICESTREAM_OK) {
        end_saving(unit, &error);
    }
}

/* Returns the batch with these photons; NULL: it has a record. */
static ics_unit_unsaved *find_unsaved(ics_unit_saving *saving, ics_photon_interval photons)
{
    for (size_t i = 0; i < saving->unsaved_count; ++i) {
        ics_unit_unsaved *batch = &saving->unsaved[i];
        if (batch->photons.first == photons.first && batch->photons.end == photons.end) {
            return batch;
        }
    }
    return NULL;
}

/* Gives the file of rows the name that records refer to. */
static void name_rows(const ics_unit *unit)
{
    ics_unit_saving *saving = &unit->work->saving;
    ICS_FREES char *path = ics_new_made(ics_checkpoint_rows_path(unit->checkpoint));
    if (!saving->refuses_rows) {
        ics_collector_name_rows(unit->work->collector, path, &saving->uses_rows);
    }
}

/* Adds a batch to those that wait, which are contiguous rows if `row` is one. */
static int add_waiting(ics_unit_saving *saving, const ics_unit_unsaved *batch,
                       const icestream_hit *hits, size_t count, uint64_t row,
                       icestream_error *error)
{
    if (saving->file != NULL) { /* before, the rows that wait begin with the first one */
        saving->rows = (ics_checkpoint_rows){.first = row};
        saving->row_count = 0;
    }
    if (row != ICS_NO_ROW) {
        saving->rows.crc32c = ics_crc32c(saving->rows.crc32c, hits, count * sizeof *hits);
        saving->row_count += count;
    }
    return add_to_part(&saving->waiting, batch, error);
}

void ics_unit_save_hits(void *user, ics_photon_interval photons, const icestream_hit *hits,
                        size_t count, uint64_t row)
{
    ics_unit *unit = user;
    ics_unit_saving *saving = &unit->work->saving;
    icestream_error error = {.status = ICESTREAM_OK};
    int status = ICESTREAM_OK;
    if (!saves(unit)) {
        return;
    }
    if (row != ICS_NO_ROW && saving->file != NULL && !saving->uses_rows) {
        name_rows(unit);
        saving->refuses_rows = !saving->uses_rows;
    }
    ics_unit_unsaved *batch = find_unsaved(saving, photons);
    if (batch == NULL) {
        return;
    }
    if (saving->file == NULL || (row != ICS_NO_ROW && saving->uses_rows)) {
        status = add_waiting(saving, batch, hits, count, row, &error);
        if (status == ICESTREAM_OK && saving->file != NULL) {
            status = append_rows(saving, &error);
        }
    } else {
        status = append_hits(saving, batch, hits, count, &error);
    }
    *batch = saving->unsaved[--saving->unsaved_count];
    if (status != ICESTREAM_OK) {
        end_saving(unit, &error);
    }
}

/* ---- origin and removal ---------------------------------------------------------------------- */

int ics_unit_checkpoint_origin(const ics_unit *unit, json_t **out, icestream_error *error)
{
    ICS_TRY(ics_unit_origin(unit, out, error));
    if (unit->common->content != NULL) {
        ics_new_member(*out, "content", json_string(unit->common->content));
    }
    return ICESTREAM_OK;
}

void ics_unit_remove_checkpoint(ics_unit *unit)
{
    icestream_error error = {.status = ICESTREAM_OK};
    if (unit->checkpoint != NULL &&
        ics_checkpoint_remove(unit->checkpoint, &error) != ICESTREAM_OK) {
        ics_unit_leave_notice(unit, "%s", error.text);
    }
}

void ics_unit_remove_records(ics_unit *unit)
{
    icestream_error error = {.status = ICESTREAM_OK};
    if (ics_checkpoint_remove_records(unit->checkpoint, &error) != ICESTREAM_OK) {
        ics_unit_leave_notice(unit, "%s", error.text);
    }
}

/* ---- beginning and ending -------------------------------------------------------------------- */

/* Adds what `icestream status` says of a checkpoint: which step file it is of, and where it was
 * begun. No run compares it. */
static void add_writer(const ics_unit *unit, json_t *origin)
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    const bool is_estimate = unit->input->source->makes;
    json_t *writer =
        json_pack("{s:o, s:o, s:o, s:I}", "file", ics_json_text(unit->name), "worker",
                  ics_json_text(unit->common->worker), "host", ics_json_text(host), "photons",
                  is_estimate ? (json_int_t)0 : (json_int_t)unit->summary.photons);
    ics_new_member(origin, ICS_CHECKPOINT_WRITTEN, writer);
}

/* Appends a record of all hits that the collector has. */
static int append_all(ics_unit *unit, icestream_error *error)
{
    ics_unit_saving *saving = &unit->work->saving;
    for (; saving->unsaved_count > 0; --saving->unsaved_count) {
        ICS_TRY(add_to_part(&saving->waiting, &saving->unsaved[saving->unsaved_count - 1], error));
    }
    const int status = ics_checkpoint_append_all(
        saving->file, &saving->waiting, unit->work->collector, &unit->common->cancel, error);
    empty_part(&saving->waiting);
    saving->unsynced = true;
    return status;
}

/* Makes the file, with one record of all rows, or of all hits if there are no rows. */
static int begin(ics_unit *unit, icestream_error *error)
{
    ics_unit_saving *saving = &unit->work->saving;
    json_auto_t *origin = NULL;
    ICS_TRY(ics_unit_checkpoint_origin(unit, &origin, error));
    add_writer(unit, origin);
    ICS_TRY(ics_checkpoint_create(unit->checkpoint, origin, &saving->file, error));
    name_rows(unit);
    const int status = saving->uses_rows ? append_rows(saving, error) : append_all(unit, error);
    if (status != ICESTREAM_OK) { /* it has no record */
        ics_unit_remove_records(unit);
    }
    return status;
}

/* Writes what has no record yet, and waits for the disk. */
static int put_all(ics_unit *unit, icestream_error *error)
{
    ics_unit_saving *saving = &unit->work->saving;
    if (saving->file == NULL) {
        ICS_TRY(begin(unit, error));
    }
    if (saving->unsaved_count > 0) {
        ics_collector_visit_memory(unit->work->collector);
        saving->unsaved_count = 0;
    }
    if (saving->uses_rows) {
        ICS_TRY(ics_collector_sync_rows(unit->work->collector, error));
    }
    return ics_checkpoint_sync(saving->file, error);
}

static void save(ics_unit *unit)
{
    ics_unit_saving *saving = &unit->work->saving;
    icestream_error error = {.status = ICESTREAM_OK};
    const int status = put_all(unit, &error);
    saving->unsynced = false;
    saving->due = ics_clock_seconds() + unit->common->config->sink.checkpoint;
    if (status != ICESTREAM_OK && !saving->ended) {
        end_saving(unit, &error);
    }
}

void ics_unit_save_if_due(ics_unit *unit)
{
    /* A checkpoint has the digest of the step file. */
    if (saves(unit) && ics_clock_seconds() >= unit->work->saving.due && ics_unit_has_digest(unit)) {
        save(unit);
    }
}

bool ics_unit_has_unsaved(const ics_unit *unit)
{
    const ics_unit_work *work = unit->work;
    return work != NULL && work->collector != NULL && !work->lost && unit->refusal == NULL &&
           saves(unit) &&
           (work->saving.waiting.photons.count > 0 || work->saving.unsaved_count > 0 ||
            work->saving.unsynced);
}

void ics_unit_save_rest(ics_job *job, void *thread_state)
{
    (void)thread_state;
    ics_unit *unit = ICS_CONTAINER_OF(job, ics_unit, writer_job);
    icestream_error error = {.status = ICESTREAM_OK};
    if (ics_unit_await_digest(unit, &unit->common->cancel, &error) == ICESTREAM_OK) {
        save(unit);
    } else {
        end_saving(unit, &error);
    }
}

void ics_unit_give_way(ics_unit *unit, const icestream_error *error)
{
    ics_unit_saving *saving = &unit->work->saving;
    if (!ics_error_no_room(error) || saving->file == NULL || saving->ended) {
        return;
    }
    ics_unit_leave_notice(unit, "%s: removed, because the disk is full and the hits need the room",
                          unit->checkpoint);
    ics_unit_remove_records(unit);
    ics_checkpoint_close(saving->file);
    saving->file = NULL;
    saving->ended = true;
    forget_waiting(saving);
}

void ics_unit_close_saving(ics_unit_work *work)
{
    ics_checkpoint_close(work->saving.file);
    work->saving.file = NULL;
    forget_waiting(&work->saving);
    empty_part(&work->taken_over);
}
