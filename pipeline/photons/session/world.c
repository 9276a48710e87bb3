#include "pipeline/photons/session/world.h"

#include "base/error.h"
#include "pipeline/photons/generator/forecast.h"
#include "pipeline/photons/models/plausibility.h"

/* Threads that make steps. They need up to ten times as long for a step as the thread that cuts
 * the steps of a file into batches. */
enum { MAKERS_PER_GPU = 12 };

int ics_world_load_models(const icestream_config *config, ics_models **out, icestream_error *error)
{
    ics_models *models = NULL;
    ICS_TRY(ics_models_create(config, &models, error));
    int status = ICESTREAM_OK;
    if (ics_plausibility_check(config, models) != ICESTREAM_OK) {
        status = ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a run");
    } else if (ics_config_generates(config)) {
        status = ics_forecast_judge(config, models, error);
    }
    if (status != ICESTREAM_OK) {
        ics_models_destroy(models);
        return status;
    }
    *out = models;
    return ICESTREAM_OK;
}

int ics_world_create_tables(const icestream_config *config, const ics_models *models,
                            ics_tables **out, icestream_error *error)
{
    const ics_table_options options = {.seed = config->run.seed,
                                       .bounce_limit = config->run.bounce_limit,
                                       .reach_cull = config->graph.reach_cull};
    return ics_tables_create_with(models->medium, models->detector, models->detector_part,
                                  models->light, &options, out, error);
}

int ics_world_create(const icestream_config *config, ics_world *out, icestream_error *error)
{
    *out = (ics_world){.models = NULL};
    int status = ics_models_create(config, &out->models, error);
    if (status == ICESTREAM_OK) {
        status = ics_world_create_tables(config, out->models, &out->tables, error);
    }
    if (status != ICESTREAM_OK) {
        ics_world_destroy(out);
    }
    return status;
}

ics_hit_models ics_world_hit_models(const ics_world *world)
{
    const ics_bin_rule none = {.width = 0};
    return (ics_hit_models){.tables = &world->tables->device,
                            .detector = world->models->detector,
                            .light = world->models->light,
                            .detection = world->models->detection,
                            .bins = world->sums != NULL ? ics_hit_bins_rule_of(world->sums) : none};
}

/* One thread makes steps a thousand times faster than it simulates their photons. GPUs need several
 * of them. */
uint32_t ics_world_makers(const ics_device_facts *facts)
{
    if (!facts->is_gpu) {
        return 1;
    }
    const uint32_t wanted = MAKERS_PER_GPU * facts->gpus, most = ics_workers_thread_count(0);
    return wanted < most ? wanted : most;
}

void ics_world_destroy(ics_world *world)
{
    ics_tables_destroy(world->tables);
    ics_models_destroy(world->models);
    *world = (ics_world){.models = NULL};
}
