/* How many photons were made at which height: a histogram for reports. Memory is constant. */
#ifndef ICS_PHOTONS_DEVICES_LIGHT_LEVELS_H
#define ICS_PHOTONS_DEVICES_LIGHT_LEVELS_H

#include "pipeline/icestream.h"
#include "stages/photon.h"

struct json_t;

enum {
    ICS_LIGHT_LEVELS = 80,        /* from ICS_LIGHT_LEVELS_LOW upwards */
    ICS_LIGHT_LEVELS_LOW = -1000, /* m, z of the lower edge of level 0 */
    ICS_LIGHT_LEVELS_STEP = 25    /* m */
};

/* Zero-initialise. */
typedef struct ics_light_levels {
    uint64_t below, above; /* photons outside of all levels */
    uint64_t photons[ICS_LIGHT_LEVELS];
} ics_light_levels;

/* Counts the photons of the emissions of a batch: emissions[i] is a part of steps[i], and its
 * photons count at the height of the middle of the step. */
void ics_light_levels_count(ics_light_levels *levels, const icestream_step *steps,
                            const ice_emission *emissions, uint32_t count);
/* Adds the photons of `from` to those of `levels`. */
void ics_light_levels_add(ics_light_levels *levels, const ics_light_levels *from);
/* Makes {"low", "step" (m), "below", "above", "photons": [...]}, which the caller releases. NULL:
 * out of memory. */
struct json_t *ics_light_levels_json(const ics_light_levels *levels);

#endif
