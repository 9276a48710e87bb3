/* Layered ice with strong features, and segments in it, for the tests of tilt, anisotropy,
 * birefringence and hole ice. No photon reaches a module in these tests. */
#ifndef FEATURE_WORLD_H
#define FEATURE_WORLD_H

#include "tests/support/stage_world.h"

#include <math.h>

#define ICE_PUT_ARRIVAL(sink, tables, arrival) ((void)(sink), (void)(arrival), 0)
#include "stages/bounce.h"

/* Azimuth (rad) of the ice flow that world_medium_add() sets. */
#define FEATURE_FLOW (130.0 * M_PI / 180.0)

/* Makes 120 layers of 10 m around the origin, with features (ICE_HAS_...). The strength of
 * birefringence is 0, 0.5, 1, 1.5 and 2 in turn. */
static inline stage_world feature_world(uint32_t features)
{
    enum { LAYERS = 120 };
    double b[LAYERS], a[LAYERS];
    for (int i = 0; i < LAYERS; ++i) {
        b[i] = 0.2 + 0.1 * (i % 4);
        a[i] = 0.01 + 0.002 * (i % 3);
    }
    ice_medium *medium = world_medium_layered(-600.0, 10.0, LAYERS, b, a);
    world_medium_add(medium, features);
    return stage_world_create(medium, world_detector_far(), world_light_line(400.0));
}

/* Returns the direction with components n1 along `azimuth` (rad), n2 across it and n3 upwards. */
static inline ice_direction feature_direction(double azimuth, double n1, double n2, double n3)
{
    const ice_direction n = {(float)(cos(azimuth) * n1 - sin(azimuth) * n2),
                             (float)(sin(azimuth) * n1 + cos(azimuth) * n2), (float)n3};
    return n;
}

/* Finds the segment that begins at (x, y) (m) in the direction n. `clearance` (m) is a lower bound
 * of the horizontal distance from there to the nearest module, as ice_clearance() returns it. */
static inline ice_segment feature_segment(const ice_tables *tables, ice_segment_start start,
                                          float x, float y, ice_direction n, float clearance)
{
    const ice_photon photon = {.x = x, .y = y, .dx = n.x, .dy = n.y, .dz = n.z};
    return ice_find_segment(ICE_propagate_cumulative, tables, start, &photon, clearance);
}

#endif
