/* scatter: sl. Simplified Liu: cos = 2 u^beta - 1 with beta = (1 - g) / (1 + g) (physics.md 7.2).
 */
#ifndef ICS_STAGES_SCATTER_SL_H
#define ICS_STAGES_SCATTER_SL_H

#include "stages/maths.h"
#include "stages/scatter_density.h"
#include "stages/tables.h"

/* 1 - cos; u in (0, 1]. */
ICE_FN float ice_scatter_sl(const ice_scatter_constants *constants, float u)
{
    return ice_twice_one_minus_power(u, constants->liu_exponent);
}

/* The density (physics.md 7.2): with y = (1 + cos)/2 = 1 - x/2 and e = 1/beta = (1 + g)/(1 - g),
 * p = e/2 y^(e - 1); d ln p / d g = (1/e + ln y) 2 / (1 - g)^2. Rounding may put an angle of 180
 * degrees to y <= 0; y is at least 2^-100 here. */
ICE_FN ice_density ice_density_sl(const ice_scatter_constants *constants, double x)
{
    const double g = (double)constants->g, rest = 1.0 - g, e = (1.0 + g) / rest;
    const double least = 7.888609052210118e-31, above = fma(-0.5, x, 1.0);
    const double log_y = ice_double_log(above > least ? above : least);
    ice_density p;
    p.value = 0.5 * e * ice_double_exp((e - 1.0) * log_y);
    p.by_mean_cosine = (1.0 / e + log_y) * 2.0 / (rest * rest);
    p.by_mixture = 0.0;
    return p;
}

/* For `icestream stages`: what the user may set, separated by blanks. */
#define ICE_PARAMETERS_scatter_sl "ice.mean_cosine"
/* This variant declares no parameters (ICE_PARAMETER_INDEX in stages/tables.h). */
#define ICE_DECLARE_scatter_sl(PARAMETER)

#endif
