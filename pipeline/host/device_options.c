/* What a configuration asks of the device. */
#include "pipeline/error.h"
#include "pipeline/host/device.h"

#include <string.h>

static const struct {
    const char *stage, *name;
    ice_variant variant;
} known_variants[] = {
#define ICE_VARIANT(stage, name, yaml, text) {#stage, yaml, ICE_##stage##_##name},
#include "stages/registry.def"
#undef ICE_VARIANT
};

static int find_variant(const is_config *config, const char *stage, const char *name,
                        ice_variant *out, is_error *error)
{
    for (size_t i = 0; i < sizeof known_variants / sizeof *known_variants; ++i) {
        if (strcmp(known_variants[i].stage, stage) == 0 &&
            strcmp(known_variants[i].name, name) == 0) {
            *out = known_variants[i].variant;
            return IS_OK;
        }
    }
    char key[64], place[1024];
    snprintf(key, sizeof key, "stages.%s", stage);
    return is_error_add(error, IS_E_CONFIG,
                        "%s: error: %s: found %s, which is no variant of this stage; `icestream "
                        "stages` lists them",
                        is_config_place(config, key, place, sizeof place), key, name);
}

int is_device_options_from_config(const is_config *config, is_device_options *out, is_error *error)
{
    char place[1024];
    if (config->device.backend == IS_BACKEND_CUDA) {
        return is_error_set(error, IS_E_DEVICE,
                            "%s: error: device.backend: found cuda, but this build has no GPU "
                            "schedules; expected cpu or auto",
                            is_config_place(config, "device.backend", place, sizeof place));
    }
    is_device_options options = {.schedule = config->graph.schedule,
                                 .threads = config->device.threads,
                                 .pool = config->graph.pool,
                                 .instruction_set = config->device.instruction_set};
    is_error found = {.status = IS_OK};
    if (!is_schedule_on_cpu(options.schedule)) {
        is_error_add(&found, IS_E_CONFIG,
                     "%s: error: graph.schedule: found %s, which the CPU does not have; expected "
                     "wavefront, monolithic or auto",
                     is_config_place(config, "graph.schedule", place, sizeof place),
                     is_schedule_name(options.schedule));
    }
    if (config->graph.bounces_per_wave > 1) {
        is_error_add(&found, IS_E_CONFIG,
                     "%s: error: graph.bounces_per_wave: found %u, but a wave of the CPU takes one "
                     "bounce; expected 1 or auto",
                     is_config_place(config, "graph.bounces_per_wave", place, sizeof place),
                     config->graph.bounces_per_wave);
    }
    ice_variants *variants = &options.variants;
    find_variant(config, "create", config->stages.create, &variants->create, &found);
    find_variant(config, "propagate", config->stages.propagate, &variants->propagate, &found);
    find_variant(config, "collide", config->stages.collide, &variants->collide, &found);
    find_variant(config, "scatter", config->stages.scatter, &variants->scatter, &found);
    find_variant(config, "compact", config->stages.compact, &variants->compact, &found);
    if (found.status != IS_OK) {
        return is_error_copy(error, &found);
    }
    *out = options;
    return IS_OK;
}
