/* The hits of a unit that is not finished: its collector, and its checkpoint, so that a later run
 * continues where this run was ended.
 *
 * No checkpoint is needed for a result. If one cannot be read or written, the unit leaves a notice
 * for the log and is computed without it. */
#include "base/clock.h"
#include "base/disk.h"
#include "base/error.h"
#include "base/json_text.h"
#include "pipeline/checkpoint/checkpoint_state.h"
#include "pipeline/spool/quarantine.h"
#include "pipeline/units/unit.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The number of photons of generated steps may be an estimate. It is below this. */
#define PHOTONS_MOST (UINT64_C(1) << 62)

int ics_unit_make_collector(ics_unit_common *common, const char *directory, ics_collector **out,
                            icestream_error *error)
{
    const icestream_config *config = common->config;
    ICS_TRY(ics_collector_create(&common->budget, directory, out, error));
    const int status = ics_collector_make_histograms(*out, config->sink.histograms,
                                                     config->sink.histogram_count, error);
    if (status != ICESTREAM_OK) {
        ics_collector_destroy(*out);
        *out = NULL;
    }
    return status;
}

int ics_unit_open_collector(ics_unit *unit, icestream_error *error)
{
    if (unit->work->collector != NULL) {
        return ICESTREAM_OK;
    }
    ics_unit_common *common = unit->common;
    const char *directory = common->to_stdout ? NULL : common->config->sink.directory;
    ICS_TRY(ics_unit_make_collector(common, directory, &unit->work->collector, error));
    if (!common->to_stdout && common->volume == NULL && common->origin.bins.width == 0) {
        ics_collector_allow_early_rows(unit->work->collector);
    }
    return ICESTREAM_OK;
}

/* ---- notices --------------------------------------------------------------------------------- */

void ics_unit_leave_notice(ics_unit *unit, const char *format, ...)
{
    char *text = NULL, *both = NULL;
    va_list values;
    va_start(values, format);
    int length = vasprintf(&text, format, values);
    va_end(values);
    if (length < 0) {
        return;
    }
    char *earlier = atomic_exchange(&unit->notice, NULL);
    if (earlier != NULL && asprintf(&both, "%s; %s", earlier, text) >= 0) {
        free(text);
        text = both;
    }
    free(earlier);
    free(atomic_exchange(&unit->notice, text));
}

char *ics_unit_next_notice(ics_unit *unit)
{
    return atomic_exchange(&unit->notice, NULL);
}

/* ---- names and origin ------------------------------------------------------------------------ */

/* A stream cannot be read again, so its messages have no checkpoints. In volumes a step file is
 * known by its digest, so the name of its checkpoint is made of the digest. */
static int name_checkpoint(ics_unit *unit, icestream_error *error)
{
    const ics_unit_common *common = unit->common;
    char *path = NULL;
    int length = 0;
    if (unit->input->stream || common->to_stdout || unit->summary.digest[0] == '\0') {
        return ICESTREAM_OK;
    }
    if (common->config->sink.rotate == 0) {
        length = asprintf(&path, "%s.checkpoint", unit->output);
    } else {
        length = asprintf(&path, "%s/%.16s.checkpoint", common->config->sink.directory,
                          unit->summary.digest);
    }
    free(unit->checkpoint);
    unit->checkpoint = length >= 0 ? path : NULL;
    return length >= 0 ? ICESTREAM_OK
                       : ics_error_set(error, ICESTREAM_E_MEMORY,
                                       "out of memory for the checkpoint of %s", unit->name);
}

static int make_origin(const ics_unit *unit, json_t **out, icestream_error *error)
{
    const char *content = unit->common->content;
    ICS_TRY(ics_unit_origin(unit, out, error));
    if (content != NULL && json_object_set_new(*out, "content", json_string(content)) != 0) {
        json_decref(*out);
        *out = NULL;
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for metadata");
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

static int survey(ics_unit *unit, const json_t *origin, icestream_error *error)
{
    ics_unit_work *work = unit->work;
    ics_unit_saving *saving = &work->saving;
    uint64_t cut = 0;
    ICS_TRY(ics_checkpoint_open(unit->checkpoint, origin, &saving->file, error));
    if (saving->file == NULL) {
        return ICESTREAM_OK;
    }
    char holder[32];
    ics_checkpoint_await_lock(saving->file, holder);
    const uint64_t photons = unit->input->generated ? PHOTONS_MOST : unit->summary.photons;
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
    ics_photon_intervals_clear(&work->taken_over.photons);
    work->taken_over = (ics_checkpoint_part){.maths = ICS_MATHS_NONE};
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
    char *near = NULL;
    if (asprintf(&near, "%s/quarantine", unit->common->config->sink.directory) < 0) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %s", unit->checkpoint);
    }
    const ics_quarantine quarantine = {.folder = unit->common->quarantine, .near = near};
    const char *slash = strrchr(unit->checkpoint, '/');
    const char *name = slash != NULL ? slash + 1 : unit->checkpoint;
    const int status =
        ics_quarantine_move(&quarantine, unit->checkpoint, name, why.text, &moved, &where, error);
    free(near);
    if (status == ICESTREAM_OK && moved) {
        ics_unit_leave_notice(unit,
                              "%s; this checkpoint is now %s: the step file is computed from its "
                              "beginning",
                              why.text, where.text);
    }
    return status;
}

static int read_checkpoint(ics_unit *unit, const json_t *origin, icestream_error *error)
{
    ics_unit_work *work = unit->work;
    int status = survey(unit, origin, error);
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
    if (status == ICESTREAM_OK && work->saving.file != NULL) {
        status = ics_unit_open_collector(unit, error);
    }
    if (status == ICESTREAM_OK && work->saving.file != NULL) {
        status =
            ics_checkpoint_collect(work->saving.file, work->collector, &unit->common->stop, error);
    }
    return status;
}

int ics_unit_read_checkpoint(ics_unit *unit, icestream_error *error)
{
    const ics_unit_common *common = unit->common;
    ICS_TRY(name_checkpoint(unit, error));
    if (unit->work->matches) {
        /* The run that wrote the hit file was killed before it removed the checkpoint. */
        ics_unit_remove_checkpoint(unit);
    }
    if (unit->checkpoint == NULL || unit->work->matches || common->options->force ||
        common->config->sink.checkpoint == 0.0) {
        return ICESTREAM_OK;
    }
    json_t *origin = NULL;
    ICS_TRY(make_origin(unit, &origin, error));
    int status = read_checkpoint(unit, origin, error);
    json_decref(origin);
    return status;
}

void ics_unit_pass_over_finished(const ics_unit_work *work, ics_step_cursor *cursor)
{
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

/* ---- writing --------------------------------------------------------------------------------- */

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

static void end_saving(ics_unit *unit, const icestream_error *error)
{
    ics_unit_saving *saving = &unit->work->saving;
    saving->ended = true;
    empty_part(&saving->waiting);
    if (error->status != ICESTREAM_E_INTERRUPTED) {
        ics_unit_leave_notice(
            unit,
            "%s; the run goes on: if it is ended, a later run computes what this checkpoint "
            "lacks again",
            error->text);
    }
}

static int describe_batch(const ics_batch *batch, ics_checkpoint_part *part, icestream_error *error)
{
    const ics_photon_interval photons = {batch->first_photon, batch->first_photon + batch->photons};
    ICS_TRY(ics_photon_intervals_add(&part->photons, photons, error));
    ics_batch_account_add(&part->account, &batch->account);
    part->maths |= batch->maths;
    return ICESTREAM_OK;
}

void ics_unit_save_batch(ics_unit *unit, const ics_batch *batch)
{
    ics_unit_saving *saving = &unit->work->saving;
    icestream_error error = {.status = ICESTREAM_OK};
    if (!saves(unit)) {
        return;
    }
    if (saving->due == 0.0) {
        saving->due = ics_clock_seconds() + unit->common->config->sink.checkpoint;
    }
    int status = describe_batch(batch, &saving->waiting, &error);
    if (status == ICESTREAM_OK && saving->file != NULL) {
        status = ics_checkpoint_append(saving->file, &saving->waiting, batch->hits,
                                       batch->hit_count, &error);
        empty_part(&saving->waiting);
        saving->unsynced = true;
    }
    if (status != ICESTREAM_OK) {
        end_saving(unit, &error);
    }
}

/* Adds what `icestream status` says of a checkpoint: which step file it is of, and where it was
 * begun. No run compares it. */
static int add_writer(const ics_unit *unit, json_t *origin, icestream_error *error)
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    const bool is_estimate = unit->input->generated;
    json_t *writer =
        json_pack("{s:o, s:o?, s:o, s:I}", "file", ics_json_text(unit->name), "worker",
                  unit->common->worker != NULL ? ics_json_text(unit->common->worker) : NULL, "host",
                  ics_json_text(host), "photons",
                  is_estimate ? (json_int_t)0 : (json_int_t)unit->summary.photons);
    return json_object_set_new(origin, ICS_CHECKPOINT_WRITTEN, writer) == 0
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for metadata");
}

/* Makes the file, with one record of all hits that the collector has. */
static int begin(ics_unit *unit, icestream_error *error)
{
    ics_unit_saving *saving = &unit->work->saving;
    json_t *origin = NULL;
    ICS_TRY(make_origin(unit, &origin, error));
    int status = add_writer(unit, origin, error);
    if (status == ICESTREAM_OK) {
        status = ics_checkpoint_create(unit->checkpoint, origin, &saving->file, error);
    }
    json_decref(origin);
    ICS_TRY(status);
    status = ics_checkpoint_append_all(saving->file, &saving->waiting, unit->work->collector,
                                       &unit->common->cancel, error);
    if (status != ICESTREAM_OK) { /* it has no record */
        ics_unit_remove_checkpoint(unit);
    }
    empty_part(&saving->waiting);
    saving->unsynced = true;
    return status;
}

/* Writes what waits, and waits for the disk. */
static void save(ics_unit *unit)
{
    ics_unit_saving *saving = &unit->work->saving;
    icestream_error error = {.status = ICESTREAM_OK};
    int status = saving->file == NULL ? begin(unit, &error) : ICESTREAM_OK;
    if (status == ICESTREAM_OK) {
        status = ics_checkpoint_sync(saving->file, &error);
    }
    saving->unsynced = false;
    saving->due = ics_clock_seconds() + unit->common->config->sink.checkpoint;
    if (status != ICESTREAM_OK) {
        end_saving(unit, &error);
    }
}

void ics_unit_save_if_due(ics_unit *unit)
{
    if (saves(unit) && ics_clock_seconds() >= unit->work->saving.due) {
        save(unit);
    }
}

bool ics_unit_has_unsaved(const ics_unit *unit)
{
    const ics_unit_work *work = unit->work;
    return work != NULL && work->collector != NULL && !work->lost && unit->refusal == NULL &&
           saves(unit) && (work->saving.waiting.photons.count > 0 || work->saving.unsynced);
}

void ics_unit_save_rest(ics_job *job, void *thread_state)
{
    (void)thread_state;
    save(ICS_CONTAINER_OF(job, ics_unit, writer_job));
}

void ics_unit_give_way(ics_unit *unit, const icestream_error *error)
{
    ics_unit_saving *saving = &unit->work->saving;
    if (!ics_error_no_room(error) || saving->file == NULL || saving->ended) {
        return;
    }
    ics_unit_leave_notice(unit, "%s: removed, because the disk is full and the hits need the room",
                          unit->checkpoint);
    ics_unit_remove_checkpoint(unit);
    ics_checkpoint_close(saving->file);
    saving->file = NULL;
    saving->ended = true;
    empty_part(&saving->waiting);
}

void ics_unit_close_saving(ics_unit_work *work)
{
    ics_checkpoint_close(work->saving.file);
    work->saving.file = NULL;
    empty_part(&work->saving.waiting);
    empty_part(&work->taken_over);
}
