#include "pipeline/tools/world.h"

#include "pipeline/error.h"

int is_world_create(const is_config *config, is_world *out, is_error *error)
{
    *out = (is_world){.models = NULL};
    int status = is_models_create(config, &out->models, error);
    if (status != IS_OK)
        return status;
    const is_models *models = out->models;
    is_table_options options = {.seed = config->run.seed,
                                .bounce_limit = config->run.bounce_limit,
                                .reach_cull = config->graph.reach_cull};
    char why[512] = "";
    if (is_tables_create(models->medium, models->detector, models->light, &options, &out->tables,
                         why, sizeof why) != 0) {
        is_world_destroy(out);
        return is_error_set(error, IS_E_CONFIG, "%s", why);
    }
    return IS_OK;
}

void is_world_destroy(is_world *world)
{
    is_tables_destroy(world->tables);
    is_models_destroy(world->models);
    *world = (is_world){.models = NULL};
}
