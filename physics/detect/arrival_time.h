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

typedef struct ice_point {
    double x, y, z; /* m */
} ice_point;

ICE_FN double ice_distance_between(ice_point a, ice_point b)
{
    const double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return sqrt(x * x + y * y + z * z);
}

/* Returns what is added to the path (m) of an arrival, because its light stands for light that
 * meets the module of true size (physics.md 8.19): the straight way from the start to the impact,
 * minus that to the point where the line of the photon crosses the wide module. 0 for true modules.
 */
ICE_FN double ice_way_to_true_module(const ice_tables *tables, const ice_arrival *arrival,
                                     ice_point start)
{
    if (!(tables->features & ICE_HAS_ENTRIES)) {
        return 0.0;
    }
    const ice_sphere module = tables->modules[ice_arrival_module(arrival)];
    const double wider = (double)module.oversize - 1.0;
    const ice_point n = {(double)arrival->dx, (double)arrival->dy, (double)arrival->dz};
    const ice_point at = {(double)arrival->x, (double)arrival->y, (double)arrival->z};
    const double along = at.x * n.x + at.y * n.y + at.z * n.z;
    const ice_point impact = {(double)module.x + at.x, (double)module.y + at.y,
                              (double)module.z + at.z};
    const ice_point wide = {impact.x + wider * (at.x - along * n.x),
                            impact.y + wider * (at.y - along * n.y),
                            impact.z + wider * (at.z - along * n.z)};
    return ice_distance_between(start, impact) - ice_distance_between(start, wide);
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
    const double along = own.emission.flags & ICE_EMISSION_ISOTROPIC ? 0.0 : shift;
    const ice_point start = {(double)own.emission.x + along * (double)own.emission.dx,
                             (double)own.emission.y + along * (double)own.emission.dy,
                             (double)own.emission.z + along * (double)own.emission.dz};
    const double path = (double)arrival->path + ice_way_to_true_module(tables, arrival, start);
    const double way = (double)own.ahead + shift / (double)own.emission.beta + path * index;
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
