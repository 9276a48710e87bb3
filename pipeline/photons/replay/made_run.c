#include "pipeline/photons/replay/made_run.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json_text.h"
#include "pipeline/photons/devices/device.h"
#include "pipeline/photons/files/kernels_record.h"
#include "pipeline/photons/provenance/origin.h"
#include "pipeline/photons/replay/backend.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for the replay of hits");
}

static int rebuild(const char *path, icestream_config **out, icestream_error *error)
{
    char **settings = NULL;
    size_t count = 0;
    ICS_TRY(ics_hit_settings(path, &settings, &count, error));
    const int status =
        icestream_config_load(NULL, (const char *const *)settings, count, out, error);
    ics_hit_settings_free(settings, count);
    return status;
}

/* Finds the step of each photon, and stores the step of each hit. */
static int find_steps(ics_made_run *run, const char *path, icestream_error *error)
{
    const ics_hit_list *list = &run->list;
    const ics_replay_photons photons = {list->photons, list->photon_count, list->metadata};
    ics_replay_steps found;
    ICS_TRY(ics_replay_steps_find(run->config, path, &photons, run->world.models, &found, error));
    run->steps = calloc(list->count, sizeof *run->steps);
    for (size_t i = 0; run->steps != NULL && i < list->count; ++i) {
        const icestream_hit *hit = &list->hits[i];
        run->steps[i] = found.items[ics_replay_photons_find(&photons, hit->event_id, hit->step_id)];
    }
    run->inputs = json_incref(found.inputs);
    const bool foreign = found.foreign;
    ics_replay_steps_free(&found);
    if (foreign) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "--steps: found %s, whose SHA-256 the hits do not name, expected the "
                             "step file from which they were made",
                             path);
    }
    return run->steps != NULL ? ICESTREAM_OK : no_memory(error);
}

static int refuse_headers(const icestream_config *config, icestream_error *error)
{
    for (int i = 0; i < ICS_STAGES; ++i) {
        if (config->stages.custom[i] != NULL) {
            return ics_error_set(error, ICESTREAM_E_CONFIG,
                                 "stages.%s: found the header %s, expected a variant of "
                                 "icestream, because the probability of what a header does is "
                                 "not known",
                                 ics_stage_name((ics_stage)i), config->stages.custom[i]);
        }
    }
    return ICESTREAM_OK;
}

static int choose_backend(ics_made_run *run, const char *backend, icestream_error *error)
{
    const bool fast = run->replay.maths == ICS_MATHS_FAST;
    bool on_gpu;
    ICS_TRY(ics_replay_choose_gpu(backend, fast, run->list.count, &on_gpu, error));
    run->replay.gpu = on_gpu ? &run->gpu : NULL;
    run->replay.own = run->world.tables;
    return ICESTREAM_OK;
}

static int create(ics_made_run *run, const ics_made_run_options *options, icestream_error *error)
{
    ICS_TRY(ics_hit_list_read(options->hits, options->hit_count, &run->list, error));
    if (run->config == NULL) {
        ICS_TRY(rebuild(options->hits[0], &run->rebuilt, error));
        run->config = run->rebuilt;
    }
    ICS_TRY(refuse_headers(run->config, error));
    ICS_TRY(ics_world_create(run->config, &run->world, error));
    ICS_TRY(ics_hit_list_check_config(&run->list, run->config, run->world.models, error));
    run->hit_count = run->list.count;
    run->photon_count = run->list.photon_count;
    if (options->sample > 0) {
        ics_hit_list_sample(&run->list, options->sample);
    }
    ICS_TRY(find_steps(run, options->steps, error));
    ICS_TRY(ics_device_gpu_options_from_config(run->config, &run->gpu, error));
    run->replay = (ics_replay_options){.models = ics_world_hit_models(&run->world),
                                       .variants = run->gpu.variants,
                                       .maths = ics_metadata_maths(run->list.metadata),
                                       .kernels = ics_kernels_record_get(run->list.metadata),
                                       .threads = run->config->device.threads};
    return choose_backend(run, options->backend, error);
}

int ics_made_run_create(const icestream_config *config, const ics_made_run_options *options,
                        ics_made_run *out, icestream_error *error)
{
    *out = (ics_made_run){.config = config};
    const int status = create(out, options, error);
    if (status != ICESTREAM_OK) {
        ics_made_run_free(out);
    }
    return status;
}

void ics_made_run_free(ics_made_run *run)
{
    free(run->steps);
    json_decref(run->inputs);
    ics_hit_list_free(&run->list);
    ics_world_destroy(&run->world);
    icestream_config_destroy(run->rebuilt);
    *run = (ics_made_run){.config = NULL};
}

/* ---- files ----------------------------------------------------------------------------------- */

static json_t *list_files(const ics_hit_list *list)
{
    json_t *files = json_array();
    int failed = files == NULL;
    for (size_t i = 0; i < list->file_count && !failed; ++i) {
        const ics_hit_file *file = &list->files[i];
        const char *slash = strrchr(file->path, '/');
        failed |= json_array_append_new(
            files, json_pack("{s:o, s:I, s:s}", "name",
                             ics_json_text(slash != NULL ? slash + 1 : file->path), "rows",
                             (json_int_t)file->rows, "digest", file->digest));
    }
    if (failed) {
        json_decref(files);
    }
    return failed ? NULL : files;
}

int ics_made_run_metadata(const ics_made_run *run, json_t **out, icestream_error *error)
{
    static const char *const kept[] = {"seed",     "random_numbers", "digests",
                                       "settings", "math",           "kernels"};
    const json_t *metadata = run->list.metadata;
    json_auto_t *made = json_object();
    int failed = made == NULL;
    for (size_t i = 0; i < sizeof kept / sizeof *kept && !failed; ++i) {
        json_t *value = json_object_get(metadata, kept[i]);
        failed |= value != NULL && json_object_set_new(made, kept[i], json_deep_copy(value));
    }
    if (failed || json_object_set(made, "inputs", run->inputs) != 0 ||
        json_object_set_new(made, "files", list_files(&run->list)) != 0 ||
        json_object_set_new(made, "hits", json_integer((json_int_t)run->hit_count)) != 0 ||
        json_object_set_new(made, "photons", json_integer((json_int_t)run->photon_count)) != 0) {
        return no_memory(error);
    }
    *out = json_incref(made);
    return ICESTREAM_OK;
}

void ics_made_run_head(const icestream_hit *hit, unsigned char row[ICS_MADE_RUN_HEAD])
{
    memcpy(row, &hit->event_id, 8);
    memcpy(row + 8, &hit->step_id, 4);
    memcpy(row + 12, &hit->photon_id, 4);
    memcpy(row + 16, &hit->string, 2);
    memcpy(row + 18, &hit->module, 2);
    memcpy(row + 20, &hit->pmt, 2);
    memcpy(row + 22, &hit->scatters, 2);
}

void ics_made_run_fields(const char *name, uint32_t count,
                         ics_layout_field fields[ICS_MADE_RUN_HEAD_FIELDS + 1])
{
    static const ics_layout_field head[ICS_MADE_RUN_HEAD_FIELDS] = {
        {"event_id", {'u', 8}, 0, "1", 0},   {"step_id", {'u', 4}, 8, "1", 0},
        {"photon_id", {'u', 4}, 12, "1", 0}, {"string", {'u', 2}, 16, "1", 0},
        {"module", {'u', 2}, 18, "1", 0},    {"pmt", {'i', 2}, 20, "1", 0},
        {"scatters", {'u', 2}, 22, "1", 0}};
    memcpy(fields, head, sizeof head);
    fields[ICS_MADE_RUN_HEAD_FIELDS] =
        (ics_layout_field){name, {'f', 8}, ICS_MADE_RUN_HEAD, "1", count};
}
