/* The hits of a unit that is not finished: its collector, and the checkpoint of an earlier run.
 * units/records.c writes the checkpoint of this run.
 *
 * No checkpoint is needed for a result. If one cannot be read or written, the unit leaves a notice
 * for the log and is computed without it. */
#include "base/cleanup.h"
#include "base/disk.h"
#include "base/error.h"
#include "base/new.h"
#include "pipeline/production/checkpoint/state.h"
#include "pipeline/production/units/damaged_hits.h"
#include "pipeline/production/units/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The number of photons of generated steps may be an estimate. It is below this. */
#define PHOTONS_MOST (UINT64_C(1) << 62)

int ics_unit_open_collector(ics_unit *unit, icestream_error *error)
{
    ics_unit_common *common = unit->common;
    const icestream_config *config = common->config;
    ics_collector **collector = &unit->work->collector;
    if (*collector != NULL) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_collector_create(
        &common->budget, common->sink->files ? config->sink.directory : NULL, collector, error));
    const int status = ics_collector_make_histograms(*collector, config->sink.histograms,
                                                     config->sink.histogram_count, error);
    if (status != ICESTREAM_OK) {
        ics_collector_destroy(*collector);
        *collector = NULL;
        return status;
    }
    if (common->sink->files && common->origin.bins.width == 0) {
        ics_collector_allow_early_rows(*collector);
        ics_collector_set_listener(*collector, ics_unit_save_hits, unit);
    }
    return ICESTREAM_OK;
}

/* A stream cannot be read again, so its messages have no checkpoints. */
static void name_checkpoint(ics_unit *unit)
{
    const bool has_digest = unit->summary.digest[0] != '\0' || !ics_unit_has_digest(unit);
    if (unit->input->source->repeats && unit->common->sink->files && has_digest) {
        free(unit->checkpoint);
        unit->checkpoint = ics_new_text("%s.checkpoint", unit->output);
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Whether the checkpoint was computed with the maths of this run. */
static int check_maths(const ics_unit *unit, icestream_error *error)
{
    ics_maths_used found = unit->work->taken_over.maths;
    if ((found & ~unit->common->maths) == 0) {
        return ICESTREAM_OK;
    }
    return ics_error_set(error, ICESTREAM_E_CONFIG, "%s: math: found %s, expected %s",
                         unit->checkpoint, ics_metadata_maths_name(found),
                         ics_metadata_maths_name(unit->common->maths));
}

static int open_once(ics_unit *unit, icestream_error *error)
{
    json_auto_t *origin = NULL;
    ICS_TRY(ics_unit_checkpoint_origin(unit, &origin, error));
    return ics_checkpoint_open(unit->checkpoint, origin, &unit->work->saving.file, error);
}

/* Opens the checkpoint of either digest of a large step file. The unit keeps the digest that fits.
 */
static int open_checkpoint(ics_unit *unit, icestream_error *error)
{
    icestream_error other = {.status = ICESTREAM_OK};
    const int status = open_once(unit, error);
    if (status != ICESTREAM_E_INPUT || !ics_parts_digest_has_parts(unit->summary.digest)) {
        return status;
    }
    ICS_TRY(ics_unit_change_digest(unit, error));
    if (open_once(unit, &other) == ICESTREAM_OK) {
        *error = other;
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_unit_change_digest(unit, error));
    return status;
}

static int survey(ics_unit *unit, icestream_error *error)
{
    ics_unit_work *work = unit->work;
    ics_unit_saving *saving = &work->saving;
    uint64_t cut = 0;
    ICS_TRY(open_checkpoint(unit, error));
    if (saving->file == NULL) {
        return ICESTREAM_OK;
    }
    saving->refuses_rows = true; /* its records may refer to the file of rows that is there */
    char holder[32];
    ics_checkpoint_await_lock(saving->file, holder);
    const uint64_t photons = unit->input->source->makes ? PHOTONS_MOST : unit->summary.photons;
    ICS_TRY(ics_checkpoint_survey(saving->file, photons, &unit->common->stop, &work->taken_over,
                                  &cut, error));
    ICS_TRY(check_maths(unit, error));
    if (!ics_checkpoint_is_ours(saving->file)) {
        saving->ended = true;
        ics_unit_leave_notice(
            unit,
            "%s: found another process using it%s after a wait of %d s: this run reads it and adds "
            "nothing to it",
            unit->checkpoint, holder, ICS_DISK_LOCK_WAIT);
    } else if (cut > 0) {
        ics_unit_leave_notice(
            unit, "%s: found %llu bytes of an incomplete record at its end and cut them off",
            unit->checkpoint, (unsigned long long)cut);
    }
    return ICESTREAM_OK;
}

/* Forgets a checkpoint that cannot be used. The first record that this run writes replaces it. */
static void forget(ics_unit *unit)
{
    ics_unit_work *work = unit->work;
    ics_checkpoint_close(work->saving.file);
    work->saving.file = NULL;
    work->saving.refuses_rows = false;
    ics_photon_intervals_clear(&work->taken_over.photons);
    work->taken_over = (ics_checkpoint_part){.maths = ICS_MATHS_NONE};
}

/* Moves the rows of a checkpoint that was moved. If this fails, its records have lost them. */
static void move_rows(const char *from, const char *to)
{
    ICS_FREES char *rows = ics_new_made(ics_checkpoint_rows_path(from));
    ICS_FREES char *moved = ics_new_made(ics_checkpoint_rows_path(to));
    if (ics_early_rows_is_file(rows)) {
        (void)rename(rows, moved);
    }
}

/* The checkpoint is work of a run with other settings, so this run does not replace it. Of a
 * claimed step file it goes to the quarantine, because nobody may be there to decide. Otherwise the
 * run ends (ICESTREAM_E_OUTPUT). `error` has the settings that differ. */
static int keep_other(ics_unit *unit, icestream_error *error)
{
    const icestream_error why = *error;
    bool moved = false;
    ics_path where;
    *error = (icestream_error){.status = ICESTREAM_OK};
    forget(unit);
    if (unit->claim.name == NULL) {
        ics_error_set(error, ICESTREAM_E_OUTPUT,
                      "%s: found a checkpoint of other settings, which is not replaced: give its "
                      "settings, choose another sink.directory, or begin afresh with --force",
                      unit->name);
        return ics_error_add(error, ICESTREAM_E_OUTPUT, "%s", why.text);
    }
    ICS_TRY(ics_unit_quarantine(unit, unit->checkpoint, why.text, &moved, &where, error));
    if (moved) {
        move_rows(unit->checkpoint, where.text);
        ics_unit_leave_notice(unit,
                              "%s; this checkpoint is now %s: the step file is computed from its "
                              "beginning",
                              why.text, where.text);
    }
    return ICESTREAM_OK;
}

static int read_checkpoint(ics_unit *unit, icestream_error *error)
{
    ics_unit_work *work = unit->work;
    int status = survey(unit, error);
    if (status == ICESTREAM_E_CONFIG) {
        return keep_other(unit, error);
    }
    if (status == ICESTREAM_E_INPUT || status == ICESTREAM_E_OUTPUT) {
        ics_unit_leave_notice(
            unit, "%s; this checkpoint is not used: the step file is computed from its beginning",
            error->text);
        *error = (icestream_error){.status = ICESTREAM_OK};
        forget(unit);
        return ICESTREAM_OK;
    }
    if (status != ICESTREAM_OK || work->saving.file == NULL) {
        return status;
    }
    ICS_TRY(ics_unit_open_collector(unit, error));
    return ics_checkpoint_collect(work->saving.file, work->collector, &unit->common->stop, error);
}

int ics_unit_read_checkpoint(ics_unit *unit, icestream_error *error)
{
    const ics_unit_common *common = unit->common;
    name_checkpoint(unit);
    if (unit->work->matches) {
        /* The run that wrote the hit file was killed before it removed the checkpoint. */
        ics_unit_remove_checkpoint(unit);
    }
    if (unit->checkpoint == NULL || unit->work->matches || common->options->force ||
        common->config->sink.checkpoint == 0.0) {
        return ICESTREAM_OK;
    }
    if (access(unit->checkpoint, F_OK) != 0 && errno == ENOENT) {
        return ICESTREAM_OK; /* nothing needs the digest yet */
    }
    ICS_TRY(ics_unit_await_digest(unit, &common->stop, error));
    return read_checkpoint(unit, error);
}

void ics_unit_pass_over(void *user, ics_step_cursor *cursor)
{
    const ics_unit_work *work = ((const ics_unit *)user)->work;
    ics_photon_interval finished;
    cursor->barrier = 0;
    while (ics_photon_intervals_find(&work->taken_over.photons, cursor->position, &finished)) {
        if (finished.first > cursor->position) {
            cursor->barrier = finished.first;
            return;
        }
        ics_batch_pass_over(cursor, finished.end);
        if (cursor->position < finished.end) {
            return; /* more steps must be read */
        }
    }
}
