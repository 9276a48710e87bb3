/* The world and the light of the tests of graphs, and how they compare results. */
#ifndef GRAPH_WORLD_H
#define GRAPH_WORLD_H

#include "tests/support/stage_world.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <math.h>
#include <string.h>

/* Steps that graph_make_steps() makes. */
enum { GRAPH_STEPS = 24 };

/* Returns the number of photons of all emissions. */
static inline uint64_t graph_photons(const ice_emission *emissions, size_t count)
{
    uint64_t photons = 0;
    for (size_t i = 0; i < count; ++i) {
        photons += emissions[i].photons;
    }
    return photons;
}

/* Makes light of all kinds close to modules. Some steps have no photon, some have thousands. */
static inline void graph_make_steps(ice_emission emissions[GRAPH_STEPS])
{
    static const uint32_t photons[] = {1000, 0, 1, 17, 6000, 0, 320, 1666};
    const double scale = fmax(0.5, (double)test_scaled(100000) / 1e5);
    uint64_t state = 61;
    for (size_t i = 0; i < GRAPH_STEPS; ++i) {
        double n[3];
        test_direction(&state, n);
        emissions[i] = (ice_emission){
            .x = (float)test_between(&state, -8.0, 8.0),
            .y = (float)test_between(&state, -8.0, 8.0),
            .z = (float)test_between(&state, -300.0, 300.0),
            .length = (float)test_between(&state, 0.0, 3.0),
            .dx = (float)n[0],
            .dy = (float)n[1],
            .dz = (float)n[2],
            .beta = i % 5 == 0 ? 0.8f : 1.0f,
            .event_low = (uint32_t)(i / 3),
            .event_high = (uint32_t)(i / 12),
            .step_id = (uint32_t)(100 + i),
            .photons = (uint32_t)ceil(photons[i % 8] * scale),
            .spectrum = i % 6 == 5 ? 2 : 0,
            .flags = i % 4 == 3 ? ICE_EMISSION_ISOTROPIC : 0,
        };
    }
}

/* Makes the default ice with a ceiling and a floor, and an excluded module in the detector. Photons
 * continue after a hit, which is an entry, if `keep` is true; otherwise they stop at a disc. The
 * tables are built. */
static inline stage_world graph_world(bool keep)
{
    stage_world world = stage_world_from_config(
        NULL, "detector.oversize=5", "ice.absorb_above=350", "ice.absorb_below=-400",
        "detector.excluded=[[43, 20]]",
        keep ? "detector.keep_hit_photons=true" : "detector.keep_hit_photons=false",
        keep ? "detector.crossing=entry" : "detector.crossing=disc", NULL);
    world.options.bounce_limit = 200;
    stage_world_tables(&world);
    return world;
}

/* Fails unless every photon of the account has an end. */
static inline void graph_expect_closed(const ice_account *account, uint64_t photons)
{
    ck_assert_uint_eq(account->created, photons);
    ck_assert_uint_eq(account->created,
                      account->absorbed + account->detected + account->left + account->stopped);
}

/* Fails unless arrivals and account are the same, bit for bit. `name` stands in the message. */
static inline void graph_expect_same(const world_result *result, const world_result *expected,
                                     const char *name)
{
    ck_assert_msg(result->arrivals.count == expected->arrivals.count,
                  "%s: %zu arrivals, expected %zu", name, result->arrivals.count,
                  expected->arrivals.count);
    ck_assert_msg(!memcmp(result->arrivals.items, expected->arrivals.items,
                          expected->arrivals.count * sizeof(ice_arrival)),
                  "%s: other arrivals", name);
    ck_assert_msg(!memcmp(&result->account, &expected->account, sizeof expected->account),
                  "%s: another account", name);
}

#endif
