/* Modules with types and orientations for tests. */
#ifndef SHAPE_WORLD_H
#define SHAPE_WORLD_H

#include "tests/support/stage_world.h"

/* Bodies of modules of the field: a sphere of 0.1651 m, a spheroid of 0.15 and 0.267 m (D-Egg), a
 * capsule of 0.178 and 0.205 m (mDOM), a cylinder of 0.1 and 0.5 m with ends, and one without
 * (WOM). */
enum { SHAPE_TYPES = 5 };

/* Gives the detector these types with the same oversize, and `orientations` orientations: number 0
 * is upright, the others are random rotations. All modules are upright spheres after that. */
void shape_world_add_types(ice_detector *detector, double oversize, size_t orientations,
                           uint64_t seed);

/* Gives module i the type i % SHAPE_TYPES and an orientation. */
void shape_world_mix(ice_detector *detector);

/* Adds a cable of 0.023 m next to every module and 15 m upwards, 0.2 m away from the axis. */
void shape_world_add_cables(ice_detector *detector);

/* All three: types with 6 random orientations, mixed, and cables. */
void shape_world_fill(ice_detector *detector, double oversize);

/* Sets the oversize of the detector and of its types. */
void shape_world_set_oversize(ice_detector *detector, double oversize);

#endif
