#include "pipeline/units/volume.h"

#include "base/error.h"
#include "pipeline/files/output.h"
#include "pipeline/files/table_writer.h"
#include "pipeline/units/command_pending.h"
#include "pipeline/units/hit_check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct ics_volume {
    ics_unit_common *common;
    ics_collector *collector; /* NULL: nothing was added yet */
    json_t *inputs;           /* digests of the step files */
    icestream_account account;
    ics_maths_used maths;
    uint64_t number; /* in `path`, or for the next path */
    char *path;      /* of the hit file; NULL: no commit was tried yet */
    icestream_error trouble;
};

int ics_volume_create(ics_unit_common *common, ics_volume **out, icestream_error *error)
{
    ics_volume *volume = calloc(1, sizeof *volume);
    json_t *inputs = json_array();
    if (volume == NULL || inputs == NULL) {
        free(volume);
        json_decref(inputs);
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a volume of hits");
    }
    volume->common = common;
    volume->inputs = inputs;
    *out = volume;
    return ICESTREAM_OK;
}

/* Removes all hits. The volume gets the next name. */
static void empty(ics_volume *volume)
{
    ics_collector_destroy(volume->collector);
    volume->collector = NULL;
    json_array_clear(volume->inputs);
    volume->account = (icestream_account){0};
    volume->maths = ICS_MATHS_NONE;
    free(volume->path);
    volume->path = NULL;
}

void ics_volume_destroy(ics_volume *volume)
{
    if (volume != NULL) {
        empty(volume);
        json_decref(volume->inputs);
        free(volume);
    }
}

const icestream_error *ics_volume_trouble(const ics_volume *volume)
{
    return &volume->trouble;
}

const char *ics_volume_name(const ics_volume *volume)
{
    return volume->path != NULL ? volume->path : volume->common->config->sink.directory;
}

int ics_volume_add(ics_volume *volume, ics_unit *unit, icestream_error *error)
{
    ics_unit_common *common = volume->common;
    int status = ICESTREAM_OK;
    volume->trouble = (icestream_error){.status = ICESTREAM_OK};
    if (volume->collector == NULL) {
        status = ics_unit_make_collector(common, common->config->sink.directory, &volume->collector,
                                         error);
    }
    if (status == ICESTREAM_OK &&
        json_array_append_new(volume->inputs, json_string(unit->summary.digest)) != 0) {
        status = ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a volume of hits");
    }
    if (status != ICESTREAM_OK) {
        return status;
    }
    status = ics_collector_take(volume->collector, unit->work->collector, error);
    if (status != ICESTREAM_OK) {
        json_array_remove(volume->inputs, json_array_size(volume->inputs) - 1);
        return status;
    }
    ics_batch_account_add(&volume->account, &unit->account);
    volume->maths |= unit->maths;
    unit->output_bytes = (unit->account.hits - unit->account.undetected) * sizeof(icestream_hit);
    ics_collector_add(volume->collector, NULL, 0, &volume->trouble);
    return ICESTREAM_OK;
}

int ics_volume_spill(ics_volume *volume, icestream_error *error)
{
    return volume->collector != NULL ? ics_collector_add(volume->collector, NULL, 0, error)
                                     : ICESTREAM_OK;
}

/* ---- committing ------------------------------------------------------------------------------ */

/* Marks the units whose claims other workers have by now. */
static int look_for_claims(const ics_volume *volume, ics_unit *const *units, bool *lost,
                           size_t count, bool *any, icestream_error *error)
{
    int status = ICESTREAM_OK;
    for (size_t i = 0; status == ICESTREAM_OK && i < count; ++i) {
        bool held = true;
        if (units[i]->claim.name != NULL) {
            status = ics_claims_holds(volume->common->claims, &units[i]->claim, &held, error);
        }
        lost[i] = status == ICESTREAM_OK && !held;
        *any = *any || lost[i];
    }
    return status;
}

/* A commit. */
typedef struct commit {
    ics_volume *volume;
    ics_unit *const *units;
    bool *lost, any_lost;
    size_t count;
    json_t *metadata;
} commit;

static int make_metadata(const commit *at, json_t **out, icestream_error *error)
{
    const ics_volume *volume = at->volume;
    int status = ics_batch_account_check(&volume->account, volume->account.created,
                                         ics_collector_count(volume->collector), error);
    if (status == ICESTREAM_OK) {
        status = ics_origin_metadata(&volume->common->origin, NULL, out, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_metadata_set_account(*out, &volume->account, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_metadata_set_maths(*out, volume->maths, error);
    }
    if (status == ICESTREAM_OK && volume->common->content != NULL) {
        status = ics_metadata_set_detection(*out, volume->common->content, &volume->account, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_collector_put_histograms(volume->collector, *out, error);
    }
    for (size_t i = 0; status == ICESTREAM_OK && i < at->count; ++i) {
        status = ics_metadata_set_light_mismatch(*out, at->units[i]->light_mismatch, error);
    }
    if (status == ICESTREAM_OK && json_object_set(*out, "inputs", volume->inputs) != 0) {
        status = ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for metadata");
    }
    return status;
}

/* Chooses the first name, from the volume's number on, that no file has. */
static int choose_name(ics_volume *volume, icestream_error *error)
{
    struct stat about;
    while (volume->path == NULL) {
        char name[64];
        snprintf(name, sizeof name, "run-%s-%06" PRIu64, volume->common->writer, volume->number);
        volume->path = ics_inputs_output(volume->common->config, name);
        if (volume->path == NULL) {
            return ics_error_set(error, ICESTREAM_E_MEMORY,
                                 "out of memory for the name of a volume");
        }
        if (lstat(volume->path, &about) == 0) {
            free(volume->path);
            volume->path = NULL;
            volume->number++;
        }
    }
    return ICESTREAM_OK;
}

static int append_to_file(void *user, const icestream_hit *hits, size_t count,
                          icestream_error *error)
{
    return ics_table_writer_append(user, hits, count, error);
}

static int look_again(commit *at, icestream_error *error)
{
    return look_for_claims(at->volume, at->units, at->lost, at->count, &at->any_lost, error);
}

static int write_table(commit *at, icestream_error *error)
{
    ics_volume *volume = at->volume;
    ics_table_writer *writer = NULL;
    int status = ics_table_writer_create_as(volume->path, volume->common->writer, ics_layout_hits(),
                                            false, &writer, error);
    if (status == ICESTREAM_OK) {
        status = ics_collector_merge(volume->collector, append_to_file, writer,
                                     &volume->common->cancel, error);
    }
    if (status == ICESTREAM_OK) {
        status = look_again(at, error);
    }
    if (status == ICESTREAM_OK && !at->any_lost && ics_config_delivers(volume->common->config)) {
        status = ics_command_pending_set(volume->path, error);
    }
    if (status == ICESTREAM_OK && !at->any_lost) {
        status = ics_table_writer_commit(writer, at->metadata, error);
    }
    ics_table_writer_destroy(writer);
    return status;
}

/* Finds out whether an earlier attempt has written the hit file, and has only failed to sync its
 * name. */
static int look_for_file(const commit *at, bool *there, icestream_error *error)
{
    const char *path = at->volume->path;
    ics_hit_reader *reader = NULL;
    *there = false;
    int status = path != NULL ? ics_hit_reader_open(path, false, &reader, error) : ICESTREAM_OK;
    bool same =
        reader != NULL &&
        json_equal(json_object_get(ics_hit_reader_metadata(reader), "inputs"), at->volume->inputs);
    ics_hit_reader_destroy(reader);
    if (same) {
        status = ics_hit_file_matches(path, at->metadata, true, there, error);
    }
    /* There is no such file, or it is a file of another worker. */
    if (status == ICESTREAM_E_INPUT && !ics_error_may_pass(error)) {
        *error = (icestream_error){.status = ICESTREAM_OK};
        return ICESTREAM_OK;
    }
    if (status == ICESTREAM_E_INPUT) { /* the volume is bad, not a step file */
        status = error->status = ICESTREAM_E_OUTPUT;
    }
    return status == ICESTREAM_OK && *there ? ics_output_sync_folder(path, error) : status;
}

static int write_volume(commit *at, icestream_error *error)
{
    ics_volume *volume = at->volume;
    for (;;) {
        int status = choose_name(volume, error);
        if (status == ICESTREAM_OK) {
            status = write_table(at, error);
        }
        if (status == ICESTREAM_OK || error->cause != EEXIST) {
            return status;
        }
        *error = (icestream_error){.status = ICESTREAM_OK};
        free(volume->path); /* another process has made a file of this name */
        volume->path = NULL;
        volume->number++;
    }
}

static void finish(commit *at, ics_volume_result *result)
{
    ics_volume *volume = at->volume;
    struct stat about;
    if (!at->any_lost) {
        char digest[ICS_OUTPUT_DIGEST_TEXT] = "";
        icestream_error error = {.status = ICESTREAM_OK};
        if (volume->common->config->sink.digest &&
            ics_output_digest_in_parts(volume->path, digest, &error) != ICESTREAM_OK &&
            at->count > 0) {
            ics_unit_leave_notice(at->units[0], "%s; the journal has no output_digest", error.text);
        }
        for (size_t i = 0; i < at->count; ++i) {
            memcpy(at->units[i]->output_digest, digest, sizeof digest);
            ics_unit_append_line(at->units[i], ICS_EVENT_DONE, volume->path);
            at->units[i]->command_pending = ics_config_delivers(volume->common->config);
            ics_unit_remove_checkpoint(at->units[i]);
        }
        result->bytes = stat(volume->path, &about) == 0 ? (uint64_t)about.st_size : 0;
        result->path = volume->path;
        volume->path = NULL;
        volume->number++;
    }
    result->dropped = at->any_lost;
    empty(volume);
}

void ics_volume_commit(ics_volume *volume, ics_unit *const *units, bool *lost, size_t count,
                       ics_volume_result *result)
{
    commit at = {.volume = volume, .units = units, .count = count};
    at.lost = lost;
    *result = (ics_volume_result){.dropped = false};
    icestream_error *error = &result->error;
    bool there = false;
    int status = make_metadata(&at, &at.metadata, error);
    if (status == ICESTREAM_OK) {
        status = look_for_file(&at, &there, error);
    }
    /* Claims are checked here, before the merge, which may take long, and again after it. */
    if (status == ICESTREAM_OK && !there) {
        status = look_again(&at, error);
    }
    if (status == ICESTREAM_OK && !there && !at.any_lost) {
        status = write_volume(&at, error);
    }
    if (status == ICESTREAM_OK) {
        finish(&at, result);
    }
    for (size_t i = 0; ics_error_no_room(error) && i < count; ++i) {
        ics_unit_remove_checkpoint(units[i]); /* the volume needs the room */
    }
    json_decref(at.metadata);
}
