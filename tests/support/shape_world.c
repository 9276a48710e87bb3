#include "tests/support/shape_world.h"

#include "tests/support/test_scale.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const ice_module_type types[SHAPE_TYPES] = {
    {.shape = ICE_SHAPE_SPHERE, .radius = ICE_MODULE_RADIUS, .half_height = ICE_MODULE_RADIUS},
    {.shape = ICE_SHAPE_SPHEROID, .radius = 0.150, .half_height = 0.267},
    {.shape = ICE_SHAPE_CAPSULE, .radius = 0.178, .half_height = 0.205},
    {.shape = ICE_SHAPE_CYLINDER, .radius = 0.1, .half_height = 0.5},
    {.shape = ICE_SHAPE_CYLINDER, .radius = 0.1, .half_height = 0.5, .open_ends = true},
};

void shape_world_set_oversize(ice_detector *detector, double oversize)
{
    detector->oversize = oversize;
    for (size_t i = 0; i < detector->type_count; ++i) {
        detector->types[i].oversize = oversize;
    }
}

void shape_world_add_types(ice_detector *detector, double oversize, size_t orientations,
                           uint64_t seed)
{
    detector->types = calloc(SHAPE_TYPES, sizeof *detector->types);
    detector->orientations = calloc(orientations, sizeof *detector->orientations);
    ck_assert(detector->types && detector->orientations && orientations > 0);
    memcpy(detector->types, types, sizeof types);
    detector->type_count = SHAPE_TYPES;
    detector->orientation_count = orientations;
    for (size_t i = 0; i < SHAPE_TYPES; ++i) {
        detector->types[i].name = strdup("type of a test");
        detector->types[i].reach = ics_tables_type_reach(&detector->types[i]);
        detector->radius = fmax(detector->radius, detector->types[i].reach);
    }
    detector->orientations[0].w = 1.0;
    for (size_t i = 1; i < orientations; ++i) {
        /* Shoemake's uniform rotations (Graphics Gems III, 1992). */
        const double u = test_uniform(&seed), a = test_between(&seed, 0.0, 2.0 * M_PI),
                     b = test_between(&seed, 0.0, 2.0 * M_PI);
        detector->orientations[i] = (ice_orientation){
            sqrt(1.0 - u) * sin(a), sqrt(1.0 - u) * cos(a), sqrt(u) * sin(b), sqrt(u) * cos(b)};
    }
    shape_world_set_oversize(detector, oversize);
}

void shape_world_add_cables(ice_detector *detector)
{
    detector->cable_count = detector->module_count;
    detector->cables = calloc(detector->cable_count, sizeof *detector->cables);
    ck_assert_ptr_nonnull(detector->cables);
    for (size_t i = 0; i < detector->module_count; ++i) {
        const ice_module *module = &detector->modules[i];
        detector->cables[i] = (ice_cable){.from = {module->x + 0.2, module->y, module->z},
                                          .to = {module->x + 0.2, module->y, module->z + 15.0},
                                          .radius = 0.023,
                                          .string = module->string};
    }
}

void shape_world_mix(ice_detector *detector)
{
    for (size_t i = 0; i < detector->module_count; ++i) {
        detector->modules[i].type = (uint32_t)(i % SHAPE_TYPES);
        detector->modules[i].orientation =
            (uint32_t)(i / SHAPE_TYPES % detector->orientation_count);
    }
}

void shape_world_fill(ice_detector *detector, double oversize)
{
    shape_world_add_types(detector, oversize, 7, 3);
    shape_world_mix(detector);
    shape_world_add_cables(detector);
}
