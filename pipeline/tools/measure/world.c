#include "pipeline/tools/measure/world.h"

int ics_world_create_tables(const icestream_config *config, const ics_models *models,
                            ics_tables **out, icestream_error *error)
{
    const ics_table_options options = {.seed = config->run.seed,
                                       .bounce_limit = config->run.bounce_limit,
                                       .reach_cull = config->graph.reach_cull};
    return ics_tables_create(models->medium, models->detector, models->light, &options, out, error);
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
    return (ics_hit_models){.tables = &world->tables->device,
                            .detector = world->models->detector,
                            .light = world->models->light,
                            .detection = world->models->detection};
}

void ics_world_destroy(ics_world *world)
{
    ics_tables_destroy(world->tables);
    ics_models_destroy(world->models);
    *world = (ics_world){.models = NULL};
}
