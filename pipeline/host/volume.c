#include "pipeline/host/volume.h"

#include "pipeline/error.h"
#include "pipeline/files/hit_reader.h"
#include "pipeline/files/output.h"
#include "pipeline/files/table_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct is_volume {
    is_run_common *common;
    is_collector *collector; /* NULL: nothing was added yet */
    json_t *inputs;          /* digests of the step files */
    is_account account;
    is_maths_used maths;
    uint64_t number; /* that was not tried yet, or that `path` has */
    char *path;      /* that the volume has or will have, once a commit was tried */
    is_error trouble;
};

int is_volume_create(is_run_common *common, is_volume **out, is_error *error)
{
    is_volume *volume = calloc(1, sizeof *volume);
    json_t *inputs = json_array();
    if (volume == NULL || inputs == NULL) {
        free(volume);
        json_decref(inputs);
        return is_error_set(error, IS_E_MEMORY, "out of memory for a volume of hits");
    }
    volume->common = common;
    volume->inputs = inputs;
    *out = volume;
    return IS_OK;
}

/* Nothing is in it, and its name is the next one. */
static void empty(is_volume *volume)
{
    is_collector_destroy(volume->collector);
    volume->collector = NULL;
    json_array_clear(volume->inputs);
    volume->account = (is_account){0};
    volume->maths = IS_MATHS_NONE;
    free(volume->path);
    volume->path = NULL;
}

void is_volume_destroy(is_volume *volume)
{
    if (volume != NULL) {
        empty(volume);
        json_decref(volume->inputs);
        free(volume);
    }
}

const is_error *is_volume_trouble(const is_volume *volume)
{
    return &volume->trouble;
}

const char *is_volume_name(const is_volume *volume)
{
    return volume->path != NULL ? volume->path : volume->common->config->sink.directory;
}

int is_volume_add(is_volume *volume, is_unit *unit, is_error *error)
{
    is_run_common *common = volume->common;
    int status = IS_OK;
    volume->trouble = (is_error){.status = IS_OK};
    if (volume->collector == NULL) {
        status = is_collector_create(&common->budget, common->config->sink.directory,
                                     &volume->collector, error);
    }
    if (status == IS_OK &&
        json_array_append_new(volume->inputs, json_string(unit->summary.digest)) != 0) {
        status = is_error_set(error, IS_E_MEMORY, "out of memory for a volume of hits");
    }
    if (status != IS_OK) {
        return status;
    }
    status = is_collector_take(volume->collector, unit->work->collector, error);
    if (status != IS_OK) {
        json_array_remove(volume->inputs, json_array_size(volume->inputs) - 1);
        return status;
    }
    is_account_add(&volume->account, &unit->account);
    volume->maths |= unit->maths;
    is_collector_add(volume->collector, NULL, 0, &volume->trouble);
    return IS_OK;
}

int is_volume_spill(is_volume *volume, is_error *error)
{
    return volume->collector != NULL ? is_collector_add(volume->collector, NULL, 0, error) : IS_OK;
}

/* ---- committing ------------------------------------------------------------------------------ */

/* Marks the units whose claims are somebody else's by now. */
static int look_for_claims(const is_volume *volume, is_unit *const *units, bool *lost, size_t count,
                           bool *any, is_error *error)
{
    int status = IS_OK;
    for (size_t i = 0; status == IS_OK && i < count; ++i) {
        bool held = true;
        if (units[i]->claim.name != NULL) {
            status = is_run_claims_holds(volume->common->claims, &units[i]->claim, &held, error);
        }
        lost[i] = status == IS_OK && !held;
        *any = *any || lost[i];
    }
    return status;
}

static int make_metadata(const is_volume *volume, json_t **out, is_error *error)
{
    int status = is_account_check(&volume->account, volume->account.created,
                                  is_collector_count(volume->collector), error);
    if (status == IS_OK) {
        status = is_run_origin_metadata(&volume->common->origin, NULL, out, error);
    }
    if (status == IS_OK) {
        status = is_metadata_set_account(*out, &volume->account, error);
    }
    if (status == IS_OK) {
        status = is_metadata_set_maths(*out, volume->maths, error);
    }
    if (status == IS_OK && volume->common->content != NULL) {
        status = is_metadata_set_detection(*out, volume->common->content, &volume->account, error);
    }
    if (status == IS_OK && json_object_set(*out, "inputs", volume->inputs) != 0) {
        status = is_error_set(error, IS_E_MEMORY, "out of memory for metadata");
    }
    return status;
}

/* The first name from the volume's number on that nothing has. */
static int choose_name(is_volume *volume, is_error *error)
{
    struct stat about;
    while (volume->path == NULL) {
        char name[64];
        snprintf(name, sizeof name, "run-%s-%06" PRIu64, volume->common->writer, volume->number);
        volume->path = is_inputs_output(volume->common->config->sink.directory, name);
        if (volume->path == NULL) {
            return is_error_set(error, IS_E_MEMORY, "out of memory for the name of a volume");
        }
        if (lstat(volume->path, &about) == 0) {
            free(volume->path);
            volume->path = NULL;
            volume->number++;
        }
    }
    return IS_OK;
}

static int append_to_file(void *user, const is_hit *hits, size_t count, is_error *error)
{
    return is_table_writer_append(user, hits, count, error);
}

/* What a commit works on. */
typedef struct commit {
    is_volume *volume;
    is_unit *const *units;
    bool *lost, any_lost;
    size_t count;
    json_t *metadata;
} commit;

static int look_again(commit *at, is_error *error)
{
    return look_for_claims(at->volume, at->units, at->lost, at->count, &at->any_lost, error);
}

static int write_table(commit *at, is_error *error)
{
    is_volume *volume = at->volume;
    is_table_writer *writer = NULL;
    int status = is_table_writer_create_as(volume->path, volume->common->writer, is_schema_hits(),
                                           false, &writer, error);
    if (status == IS_OK) {
        status = is_collector_merge(volume->collector, append_to_file, writer,
                                    &volume->common->cancel, error);
    }
    if (status == IS_OK) {
        status = look_again(at, error);
    }
    if (status == IS_OK && !at->any_lost) {
        status = is_table_writer_commit(writer, at->metadata, error);
    }
    is_table_writer_destroy(writer);
    return status;
}

/* Whether an earlier try got the name, and failed only to put that on the medium. */
static int is_there(const commit *at, bool *there, is_error *error)
{
    const char *path = at->volume->path;
    is_hit_reader *reader = NULL;
    *there = false;
    int status = path != NULL ? is_hit_reader_open(path, false, &reader, error) : IS_OK;
    bool same =
        reader != NULL &&
        json_equal(json_object_get(is_hit_reader_metadata(reader), "inputs"), at->volume->inputs);
    is_hit_reader_destroy(reader);
    if (same) {
        status = is_hit_file_matches(path, at->metadata, true, there, error);
    }
    if (status == IS_E_INPUT && !is_error_may_pass(error)) { /* nothing, or somebody else's */
        *error = (is_error){.status = IS_OK};
        return IS_OK;
    }
    if (status == IS_E_INPUT) { /* of the volume: no fault of a step file */
        status = error->status = IS_E_OUTPUT;
    }
    return status == IS_OK && *there ? is_output_sync_folder(path, error) : status;
}

static int write_volume(commit *at, is_error *error)
{
    is_volume *volume = at->volume;
    for (;;) {
        int status = choose_name(volume, error);
        if (status == IS_OK) {
            status = write_table(at, error);
        }
        if (status == IS_OK || error->cause != EEXIST) {
            return status;
        }
        *error = (is_error){.status = IS_OK};
        free(volume->path); /* somebody else was faster */
        volume->path = NULL;
        volume->number++;
    }
}

static void tell_journal(const is_volume *volume, const is_unit *unit)
{
    const is_event event = {.kind = IS_EVENT_DONE,
                            .file = unit->name,
                            .output = volume->path,
                            .input_digest = unit->summary.digest,
                            .output_bytes =
                                (unit->account.hits - unit->account.undetected) * sizeof(is_hit),
                            .photons = unit->account.created,
                            .hits = unit->account.hits,
                            .seconds = is_event_now() - unit->arrived};
    is_run_journal_append(volume->common->journal, &event);
}

static void finish(commit *at, is_volume_result *result)
{
    is_volume *volume = at->volume;
    struct stat about;
    if (!at->any_lost) {
        for (size_t i = 0; i < at->count; ++i) {
            tell_journal(volume, at->units[i]);
        }
        result->bytes = stat(volume->path, &about) == 0 ? (uint64_t)about.st_size : 0;
        result->path = volume->path;
        volume->path = NULL;
        volume->number++;
    }
    result->dropped = at->any_lost;
    empty(volume);
}

void is_volume_commit(is_volume *volume, is_unit *const *units, bool *lost, size_t count,
                      is_volume_result *result)
{
    commit at = {.volume = volume, .units = units, .count = count};
    at.lost = lost;
    *result = (is_volume_result){.dropped = false};
    is_error *error = &result->error;
    bool there = false;
    int status = make_metadata(volume, &at.metadata, error);
    if (status == IS_OK) {
        status = is_there(&at, &there, error);
    }
    if (status == IS_OK && !there) { /* before the merging, which may take long, and after it */
        status = look_again(&at, error);
    }
    if (status == IS_OK && !there && !at.any_lost) {
        status = write_volume(&at, error);
    }
    if (status == IS_OK) {
        finish(&at, result);
    }
    json_decref(at.metadata);
}
