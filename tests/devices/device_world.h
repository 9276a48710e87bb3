/* For tests of devices without a run: a configuration, its models, and the tables of a device. */
#ifndef DEVICE_WORLD_H
#define DEVICE_WORLD_H

#include "pipeline/photons/engine/engine.h"
#include "pipeline/photons/models/models.h"

#include <check.h>

typedef struct device_world {
    icestream_config *config;
    ics_models *models;
    ics_tables *tables;
    ics_hit_models hit_models;
    ics_device_options options; /* of the configuration */
} device_world;

/* Makes a world of two CPU threads, oversize 5, which gives many hits, and these settings. Fails
 * the test on errors. */
static inline device_world open_device_world(const char *const *sets, size_t count)
{
    const char *all[9] = {"device.threads=2", "detector.oversize=5"};
    device_world made = {0};
    icestream_error error = {0};
    ck_assert_uint_lt(count + 1, sizeof all / sizeof *all);
    for (size_t i = 0; i < count; ++i) {
        all[i + 2] = sets[i];
    }
    ck_assert_int_eq(icestream_config_load(NULL, all, count + 2, &made.config, &error),
                     ICESTREAM_OK);
    ck_assert_int_eq(ics_models_create(made.config, &made.models, &error), ICESTREAM_OK);
    ck_assert_int_eq(ics_device_options_from_config(made.config, &made.options, &error),
                     ICESTREAM_OK);
    const ics_table_options options = {.seed = 1, .bounce_limit = 10000, .reach_cull = true};
    ck_assert_int_eq(ics_tables_create(made.models->medium, made.models->detector,
                                       made.models->light, &options, &made.tables, &error),
                     ICESTREAM_OK);
    made.hit_models = (ics_hit_models){.tables = &made.tables->device,
                                       .detector = made.models->detector,
                                       .light = made.models->light};
    return made;
}

static inline void close_device_world(device_world *made)
{
    ics_tables_destroy(made->tables);
    ics_models_destroy(made->models);
    icestream_config_destroy(made->config);
}

/* Makes an engine with the device of the world. photons: in a batch; 0: the device's choice. */
static inline ics_engine *open_engine(const device_world *made, uint64_t photons)
{
    const ics_engine_parts parts = {.device = &made->options,
                                    .tables = made->tables,
                                    .models = made->hit_models,
                                    .batch_photons = photons};
    ics_engine *engine = NULL;
    icestream_error error = {0};
    ck_assert_msg(ics_engine_create(&parts, &engine, &error) == ICESTREAM_OK, "%s", error.text);
    return engine;
}

/* Makes a device that gets no batch. */
static inline ics_device *open_device(const device_world *made)
{
    ics_device *device = NULL;
    icestream_error error = {0};
    ck_assert_int_eq(ics_device_create(&made->options, made->tables, made->hit_models,
                                       (ics_post){0}, &device, &error),
                     ICESTREAM_OK);
    return device;
}

/* Computes steps. */
static inline ics_engine_hits run_steps(ics_engine *engine, const icestream_step *steps,
                                        size_t count)
{
    ics_engine_hits computed;
    icestream_error error = {0};
    const ics_step_cursor cursor = {.steps = steps, .count = count};
    ck_assert_msg(ics_engine_run_steps(engine, cursor, NULL, &computed, &error) == ICESTREAM_OK,
                  "%s", error.text);
    return computed;
}

#endif
