/* The time and the weight of a hit in double precision (physics.md 9, 3.2). The host and the GPU
 * make hits with these functions, and get the same bits, if the compiler does not contract products
 * and sums.
 */
#ifndef ICS_PHYSICS_DETECT_ARRIVAL_TIME_H
#define ICS_PHYSICS_DETECT_ARRIVAL_TIME_H

#include "physics/model.h"
#include "stages/create_cherenkov.h"
#include "stages/optics.h"
#include "stages/profile.h"

/* Whether the photons of an emission start at random times within a pulse. */
ICE_FN bool ice_emission_has_pulse(const ice_emission *emission)
{
    return (emission->flags & ICE_EMISSION_PROFILE) != 0 &&
           ice_pulse_of_flags(emission->flags) != ICE_PULSE_INSTANT;
}

/* Returns the time (ns) from the time of the step to an arrival, without that of a pulse. It is the
 * sum of two times: the emitter travels to the point where the photon starts, which is computed
 * again from the random numbers of the photon, and the photon travels at its group velocity. */
ICE_FN double ice_arrival_travel_time(const ice_tables *tables, const ice_emission *emission,
                                      const ice_arrival *arrival)
{
    const ice_identity identity = ice_identity_of(emission, arrival->photon_id);
    const ice_block draw = ice_draw_of(tables, identity, ICE_BLOCK_CREATE);
    ice_photon_step own;
    own.emission = *emission;
    own.ahead = 0.0f;
    own.is_stopped = 0;
    if (emission->flags & ICE_EMISSION_PROFILE) {
        ice_profile_draw_step(ice_profile_setting_of(tables), emission, arrival->photon_id, &own);
    }
    const double shift = ice_start_shift(own.emission.length, own.emission.flags, draw.a);
    const double index = tables->features & ICE_HAS_SPECTRAL_OPTICS
                             ? (double)ice_spectral_at(tables, arrival->wavelength).group_index
                             : ice_group_index_double((double)arrival->wavelength);
    const double way =
        (double)own.ahead + shift / (double)own.emission.beta + (double)arrival->path * index;
    return way / ICE_LIGHT_SPEED;
}

/* Returns the weight of a hit (physics.md 3.2). `kept`: the weight of the step, multiplied by the
 * share of its photons that thinning kept; `bias`: the probability that thinning kept light of the
 * wavelength of the hit; `oversize`: of the modules. +INFINITY or NaN for the bias 0. */
ICE_FN double ice_hit_weight(double kept, double bias, double oversize)
{
    return kept / (bias * oversize * oversize);
}

#endif
