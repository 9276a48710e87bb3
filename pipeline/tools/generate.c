/* `icestream generate`: the configured workload as a step file or a stream of step messages. */
#include "pipeline/config/config.h"
#include "pipeline/error.h"
#include "pipeline/files/table_writer.h"
#include "pipeline/tools/workload.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Steps made and written at a time: 4 MiB, whatever the workload's size; on a pipe also the length
 * of a message. */
enum { BLOCK = 1 << 16 };

/* What the workload was, in words of the configuration, for whoever finds the file. */
static int describe(const is_config *config, const is_workload *workload, json_t **out,
                    is_error *error)
{
    char event[24];
    /* As text: integers of JSON end at 2^63. */
    snprintf(event, sizeof event, "%" PRIu64, config->workload.event);
    json_t *description =
        json_pack("{s:s, s:I, s:I, s:s, s:I, s:s}", "kind", is_workload_name(workload), "steps",
                  (json_int_t)is_workload_steps(workload), "photons_per_step",
                  (json_int_t)config->workload.photons_per_step, "counts",
                  config->workload.shuffled ? "shuffled" : "balanced", "photons",
                  (json_int_t)is_workload_photons(workload), "event", event);
    int failed = description == NULL;
    if (!failed && config->workload.kind == IS_WORKLOAD_POINT) {
        const double *position = config->workload.position;
        const double *direction = config->workload.direction;
        json_t *heading = config->workload.isotropic
                              ? json_string("isotropic")
                              : json_pack("[f, f, f]", direction[0], direction[1], direction[2]);
        failed |= json_object_set_new(
            description, "position", json_pack("[f, f, f]", position[0], position[1], position[2]));
        failed |= json_object_set_new(description, "time", json_real(config->workload.time));
        failed |= json_object_set_new(description, "direction", heading);
        failed |= json_object_set_new(description, "surface_radius",
                                      json_real(config->workload.surface_radius));
        failed |=
            json_object_set_new(description, "spectrum", json_integer(config->workload.spectrum));
    }
    if (failed) {
        json_decref(description);
        return is_error_set(error, IS_E_MEMORY, "generate: no memory for the metadata");
    }
    *out = json_pack("{s:s, s:o}", "producer", "icestream " IS_VERSION " generate", "workload",
                     description);
    return *out ? IS_OK : is_error_set(error, IS_E_MEMORY, "generate: no memory for the metadata");
}

/* Where blocks of steps go: a file's writer, or messages on standard output where it is NULL. */
static int write_block(is_table_writer *writer, const is_step *steps, size_t count, is_error *error)
{
    if (writer)
        return is_table_writer_append(writer, steps, count, error);
    return is_table_message_write(STDOUT_FILENO, "standard output", is_schema_steps(), steps, count,
                                  error);
}

static int write_steps(const is_workload *workload, is_table_writer *writer, is_error *error)
{
    is_step *steps = calloc(BLOCK, sizeof *steps);
    if (!steps)
        return is_error_set(error, IS_E_MEMORY, "generate: no memory for %d steps", BLOCK);
    uint64_t total = is_workload_steps(workload);
    uint64_t first = 0;
    int status = IS_OK;
    /* At least once, so that a workload without steps is a legal, empty message. */
    do {
        size_t count = total - first < BLOCK ? (size_t)(total - first) : BLOCK;
        is_workload_fill(workload, first, count, steps);
        status = write_block(writer, steps, count, error);
        first += count;
    } while (status == IS_OK && first < total);
    free(steps);
    return status;
}

static int write_file(const is_config *config, const is_workload *workload, const char *path,
                      bool force, is_error *error)
{
    json_t *metadata = NULL;
    is_table_writer *writer = NULL;
    int status = describe(config, workload, &metadata, error);
    if (status == IS_OK)
        status = is_table_writer_create(path, is_schema_steps(), force, &writer, error);
    if (status == IS_OK)
        status = write_steps(workload, writer, error);
    if (status == IS_OK)
        status = is_table_writer_commit(writer, metadata, error);
    is_table_writer_destroy(writer);
    json_decref(metadata);
    return status;
}

int is_generate(const is_config *config, const char *path, bool force, is_error *error)
{
    is_workload *workload = NULL;
    int status = is_workload_create(config, &workload, error);
    if (status != IS_OK)
        return status;
    if (strcmp(path, "-") == 0)
        status = write_steps(workload, NULL, error);
    else
        status = write_file(config, workload, path, force, error);
    is_workload_destroy(workload);
    return status;
}
