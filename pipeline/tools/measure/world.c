#include "pipeline/tools/measure/world.h"

#include "base/error.h"

int ics_world_create(const icestream_config *config, ics_world *out, icestream_error *error)
{
    *out = (ics_world){.models = NULL};
    int status = ics_models_create(config, &out->models, error);
    if (status != ICESTREAM_OK) {
        return status;
    }
    const ics_models *models = out->models;
    ics_table_options options = {.seed = config->run.seed,
                                 .bounce_limit = config->run.bounce_limit,
                                 .reach_cull = config->graph.reach_cull};
    char why[512] = "";
    if (ics_tables_create(models->medium, models->detector, models->light, &options, &out->tables,
                          why, sizeof why) != 0) {
        ics_world_destroy(out);
        return ics_error_set(error, ICESTREAM_E_CONFIG, "%s", why);
    }
    return ICESTREAM_OK;
}

void ics_world_destroy(ics_world *world)
{
    ics_tables_destroy(world->tables);
    ics_models_destroy(world->models);
    *world = (ics_world){.models = NULL};
}
