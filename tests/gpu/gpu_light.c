#include "tests/gpu/gpu_light.h"

#include "tests/support/shape_world.h"
#include "tests/support/test_scale.h"

#include <math.h>
#include <stdlib.h>

const ics_schedule gpu_schedules[GPU_SCHEDULES] = {
#define X(constant, name, word) ICS_SCHEDULE_##constant,
    ICS_SCHEDULE_LIST(X)
#undef X
};
const ics_math gpu_maths[2] = {ICS_MATH_PORTABLE, ICS_MATH_FAST};

const char *gpu_math_name(ics_math math)
{
    return math == ICS_MATH_PORTABLE ? "portable" : "fast";
}

const char *gpu_place_name(gpu_place place)
{
    static const char *const names[GPU_PLACES] = {"plain",     "going on", "uniform", "bounded",
                                                  "limited",   "unculled", "dense",   "bent, 1-D",
                                                  "bent, 2-D", "water",    "shapes"};
    return names[place];
}

/* Makes a lattice of modules around the central string, where the light is. */
static ice_detector *dense_detector(void)
{
    enum { SIDE = 5, HIGH = 80 };
    static double positions[SIDE * SIDE * HIGH][3];
    for (int i = 0; i < SIDE * SIDE * HIGH; ++i) {
        positions[i][0] = 6.0 * (i % SIDE) - 12.5;
        positions[i][1] = 6.0 * (i / SIDE % SIDE) - 11.5;
        positions[i][2] = 6.0 * (i / SIDE / SIDE) - 237.0 + 0.1 * (i % 7);
    }
    ice_detector *detector = world_detector(positions, SIDE * SIDE * HIGH, 5.0);
    detector->keep_hit_photons = true;
    return detector;
}

/* Much clearer than ice at 400 nm, opaque to red light. */
static void make_water(ice_medium *medium)
{
    medium->spectral = calloc(ICE_SPECTRAL_ROWS, sizeof *medium->spectral);
    ck_assert_ptr_nonnull(medium->spectral);
    for (int i = 0; i < ICE_SPECTRAL_ROWS; ++i) {
        medium->spectral[i] = (ice_spectral_optics){.phase_index = 1.38 - 5e-5 * i,
                                                    .group_index = 1.42 - 1e-4 * i,
                                                    .scattering = 0.05 - 5e-5 * i,
                                                    .absorption = 0.01 + 1e-5 * i};
    }
    for (size_t i = 0; i < medium->layer_count; ++i) {
        medium->layers[i].effective_scattering = 1.0 - medium->mean_cosine;
        medium->layers[i].bubbles = 0.0;
        medium->layers[i].dust_absorption = 1.0;
    }
}

static void enrich(ice_medium *medium, gpu_place place)
{
    if (place == GPU_PLACE_BENT_LINE) {
        world_medium_add(medium, ICE_HAS_TILT_LINE | ICE_HAS_SCATTERING_ANISOTROPY |
                                     ICE_HAS_OLD_ABSORPTION_ANISOTROPY |
                                     ICE_HAS_ABSORPTION_ANISOTROPY | ICE_HAS_BIREFRINGENCE |
                                     ICE_HAS_HOLES);
    }
    if (place == GPU_PLACE_BENT_MAP) {
        world_medium_add(medium,
                         ICE_HAS_TILT_MAP | ICE_HAS_ABSORPTION_ANISOTROPY | ICE_HAS_BIREFRINGENCE);
    }
    if (place == GPU_PLACE_WATER) {
        make_water(medium);
    }
}

stage_world gpu_place_create(gpu_place place)
{
    stage_world world;
    switch (place) {
    case GPU_PLACE_GOING_ON:
        world = stage_world_from_config(NULL, "detector.oversize=16",
                                        "detector.keep_hit_photons=true", NULL);
        break;
    case GPU_PLACE_UNIFORM:
        world = stage_world_from_config(NULL, "ice.model=uniform", "detector.oversize=5", NULL);
        break;
    case GPU_PLACE_BOUNDED:
        world =
            stage_world_from_config(NULL, "detector.oversize=5", "ice.absorb_above=150",
                                    "ice.absorb_below=-200", "detector.excluded=[[43, 30]]", NULL);
        break;
    default:
        world = stage_world_from_config(NULL, "detector.oversize=5", NULL);
    }
    world.options.seed = 9000000001u + place;
    if (place == GPU_PLACE_DENSE) {
        stage_world_set_detector(&world, dense_detector());
    }
    if (place == GPU_PLACE_SHAPES) {
        shape_world_fill(world.detector, 5.0);
    }
    if (place == GPU_PLACE_LIMITED) {
        world.options.bounce_limit = 3;
    }
    if (place == GPU_PLACE_UNCULLED) {
        world.options.reach_cull = false;
    }
    enrich(world.medium, place);
    stage_world_tables(&world);
    return world;
}

const char *gpu_light_name(gpu_light light)
{
    static const char *const names[GPU_LIGHTS] = {"mixed", "single", "isotropic", "one step",
                                                  "events"};
    return names[light];
}

static uint32_t photons_of(gpu_light light, uint64_t photons, size_t step)
{
    /* 225 on average. In thread-per-step one thread needs a second for 6000 photons among many
     * modules. */
    static const uint32_t mixed[] = {200, 1, 33, 400, 200, 600, 17, 349};
    switch (light) {
    case GPU_LIGHT_MIXED:
        return mixed[step % 8];
    case GPU_LIGHT_SINGLE:
        return 1;
    case GPU_LIGHT_ONE_STEP:
        return (uint32_t)photons;
    default:
        return 250;
    }
}

static size_t steps_of(gpu_light light, uint64_t photons)
{
    switch (light) {
    case GPU_LIGHT_MIXED:
        return 8 * (size_t)ceil((double)photons / 1800.0);
    case GPU_LIGHT_SINGLE:
        return (size_t)photons;
    case GPU_LIGHT_ONE_STEP:
        return 1;
    default:
        return (size_t)ceil((double)photons / 250.0);
    }
}

ice_emission *gpu_light_create(gpu_light light, uint64_t photons, size_t *count)
{
    *count = steps_of(light, photons);
    ice_emission *emissions = calloc(*count, sizeof *emissions);
    ck_assert_ptr_nonnull(emissions);
    uint64_t state = 61 + light;
    for (size_t i = 0; i < *count; ++i) {
        double n[3];
        test_direction(&state, n);
        const bool isotropic = light == GPU_LIGHT_ISOTROPIC || i % 4 == 3;
        const uint32_t step = (uint32_t)i;
        emissions[i] = (ice_emission){
            .x = (float)test_between(&state, -8.0, 8.0),
            .y = (float)test_between(&state, -8.0, 8.0),
            .z = (float)test_between(&state, -250.0, 250.0),
            .length = (float)test_between(&state, 0.0, 3.0),
            .dx = (float)n[0],
            .dy = (float)n[1],
            .dz = (float)n[2],
            .beta = i % 5 == 0 ? 0.8f : 1.0f,
            .event_low = step / 3,
            .event_high = step / 12 % 7,
            .step_id = 100 + step,
            .first_photon = light == GPU_LIGHT_ONE_STEP ? 0xff000000u : step % 3 * 1000,
            .photons = photons_of(light, photons, i),
            .spectrum = i % 6 == 5 ? 2 : 0,
            .flags = isotropic ? ICE_EMISSION_ISOTROPIC : 0,
        };
        if (light == GPU_LIGHT_EVENTS) {
            emissions[i].event_low = (uint32_t)test_word(&state);
            emissions[i].event_high = (uint32_t)test_word(&state) | 0x80000000u;
            emissions[i].step_id = 0xffffffffu - 7 * step;
        }
    }
    return emissions;
}
