/* The light of the tests of emulated kernels: steps near modules, half of them isotropic. Among the
 * others are a cascade with a profile and a beam from a module with a pulse. */
#ifndef EMULATED_LIGHT_H
#define EMULATED_LIGHT_H

#include "tests/support/stage_world.h"

/* Fills emissions[count]; the detector of `world` has at least 280 modules for each of them. */
static inline void grid_light(const stage_world *world, ice_emission *emissions, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        const ice_module *near = &world->detector->modules[(size_t)i * 280];
        emissions[i] = (ice_emission){.x = (float)near->x + 2.0f,
                                      .y = (float)near->y,
                                      .z = (float)near->z + 1.0f,
                                      .dz = 1.0f,
                                      .beta = 1.0f,
                                      .event_low = i / 7,
                                      .event_high = i % 3,
                                      .step_id = i,
                                      .first_photon = i,
                                      .photons = 1 + i * 37 % 50,
                                      .flags = i % 2 ? ICE_EMISSION_ISOTROPIC : 0};
        if (i % 8 == 4) { /* a cascade and, with a pulse, a beam from a module */
            emissions[i].length = 0.6f;
            emissions[i].beta = 4.2f;
            emissions[i].flags = ICE_PROFILE_CASCADE << ICE_PROFILE_SHIFT;
        } else if (i % 8 == 6) {
            emissions[i].spectrum = 1;
            emissions[i].length = 20.0f;
            emissions[i].flags = ICE_PROFILE_LAB_TILTED << ICE_PROFILE_SHIFT |
                                 ICE_PULSE_LED << ICE_PULSE_SHIFT | ICE_EMISSION_GLASS;
        }
    }
}

#endif
