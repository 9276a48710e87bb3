/* scatter: hg-sl. Simplified Liu with probability f_SL, else Henyey-Greenstein (physics.md 7.3).
 *
 * One number u decides, and is then stretched to (0, 1] for the chosen function. For u <= f_SL,
 * simplified Liu gets u / f_SL. Otherwise ice_henyey_greenstein() gets v = (u - f_SL) / (1 - f_SL).
 */
#ifndef ICS_STAGES_SCATTER_HG_SL_H
#define ICS_STAGES_SCATTER_HG_SL_H

#include "stages/scatter_hg.h"
#include "stages/scatter_sl.h"

/* 1 - cos; u in (0, 1]. */
ICE_FN float ice_scatter_hg_sl(const ice_scatter_constants *constants, float u)
{
    /* Both functions are computed, because the photons of one warp or vector nearly always need
     * both. Outside of its part of the numbers, a function gives some number that is not used. */
    const float f = constants->liu_fraction;
    const float stretched = ice_min(u * constants->inverse_liu, 1.0f);
    const float from_liu = ice_scatter_sl(constants, stretched);
    const float from_henyey = ice_henyey_greenstein(constants, (u - f) * constants->inverse_henyey);
    return u <= f ? from_liu : from_henyey;
}

ICE_FN ice_density ice_density_hg_sl(const ice_scatter_constants *constants, double x)
{
    return ice_density_mixed((double)constants->liu_fraction, ice_density_sl(constants, x),
                             ice_density_hg(constants, x));
}

/* For `icestream stages`: what the user may set, separated by blanks. */
#define ICE_PARAMETERS_scatter_hg_sl "ice.mean_cosine ice.liu_fraction"
/* This variant declares no parameters (ICE_PARAMETER_INDEX in stages/tables.h). */
#define ICE_DECLARE_scatter_hg_sl(PARAMETER)

#endif
