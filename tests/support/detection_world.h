/* Models of modules that detect, and light for them, for tests. Everything here fails the test on
 * errors. */
#ifndef DETECTION_WORLD_H
#define DETECTION_WORLD_H

#include "physics/detect/detect_pe.h"
#include "pipeline/photons/models/detector/sensors.h"
#include "pipeline/photons/models/models.h"
#include "tests/support/loaded_models.h"
#include "tests/support/model_files.h"

#include <check.h>
#include <math.h>
#include <stdio.h>

static inline uint32_t detection_module(const ics_models *models, uint16_t string, uint16_t number)
{
    const ice_module *module = ics_sensors_find_module(
        models->detector, (ics_module_identity){.string = string, .module = number});
    ck_assert_ptr_nonnull(module);
    return (uint32_t)(module - models->detector->modules);
}

/* Everything default but for one file of the detector. */
static inline ics_models *detection_with_file(const char *key, const char *content, const char *set)
{
    model_folder folder = model_folder_create();
    char path[MODEL_PATH], given[MODEL_PATH + 64];
    snprintf(given, sizeof given, "%s=%s", key,
             model_folder_write(&folder, "x.dat", content, path));
    ics_models *models = models_load(model_config("stages.detect=pe", given, set, NULL));
    model_folder_remove(&folder);
    return models;
}

/* Uniform numbers of a test: words of Philox blocks. */
typedef struct detection_numbers {
    uint32_t next;
} detection_numbers;

static inline double detection_uniform(detection_numbers *from)
{
    const ice_block block = ice_philox(from->next++, 7, 7, 7, 2026, 11);
    return (double)block.a * 0x1p-32;
}

static inline void detection_isotropic(detection_numbers *from, double n[3])
{
    const double z = 2 * detection_uniform(from) - 1, azimuth = 2 * M_PI * detection_uniform(from);
    const double r = sqrt(1 - z * z);
    n[0] = r * cos(azimuth);
    n[1] = r * sin(azimuth);
    n[2] = z;
}

#endif
