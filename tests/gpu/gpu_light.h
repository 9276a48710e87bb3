/* Worlds and light for the GPU suites. Together they have every feature that could make the hits of
 * a schedule wrong.
 *
 * How to join: a new feature of the ice joins with a gpu_place. A new schedule needs nothing here.
 */
#ifndef GPU_LIGHT_H
#define GPU_LIGHT_H

#include "tests/gpu/gpu_world.h"

/* Worlds; the tables are built. */
typedef enum gpu_place {
    GPU_PLACE_PLAIN,     /* layered ice, the whole detector, oversize 5 */
    GPU_PLACE_GOING_ON,  /* photons continue after hits, and modules are 16 times larger */
    GPU_PLACE_UNIFORM,   /* uniform ice */
    GPU_PLACE_BOUNDED,   /* a ceiling and a floor that absorb, an excluded module */
    GPU_PLACE_LIMITED,   /* photons are stopped after 3 bounces */
    GPU_PLACE_UNCULLED,  /* photons that cannot reach a module are computed to their end */
    GPU_PLACE_DENSE,     /* photons pass through a lattice of modules, with many hits */
    GPU_PLACE_BENT_LINE, /* 1-D tilt and all other features of ice */
    GPU_PLACE_BENT_MAP,  /* 2-D tilt, absorption by direction, birefringence */
    GPU_PLACE_WATER,     /* optics by wavelength */
    GPU_PLACE_SHAPES,    /* modules of every shape, with orientations, and cables */
    GPU_PLACES
} gpu_place;
const char *gpu_place_name(gpu_place place);
stage_world gpu_place_create(gpu_place place);

/* Light close to the detector's central string. */
typedef enum gpu_light {
    GPU_LIGHT_MIXED,     /* cones, beams and isotropic light, 1 to 600 photons a step */
    GPU_LIGHT_SINGLE,    /* steps of one photon */
    GPU_LIGHT_ISOTROPIC, /* isotropic steps */
    GPU_LIGHT_ONE_STEP,  /* all photons in one step, photon_id beyond 2^31 */
    GPU_LIGHT_EVENTS,    /* events and steps with high bits set, in no order */
    GPU_LIGHTS
} gpu_light;
const char *gpu_light_name(gpu_light light);
/* Makes about `photons` photons in *count emissions, which the caller frees. */
ice_emission *gpu_light_create(gpu_light light, uint64_t photons, size_t *count);

/* All schedules of a GPU, from the list in graphs/options.h. */
enum { GPU_SCHEDULES = ICS_SCHEDULE_COUNT - 1 };
extern const ics_schedule gpu_schedules[GPU_SCHEDULES];
extern const ics_math gpu_maths[2];
const char *gpu_math_name(ics_math math);

#endif
