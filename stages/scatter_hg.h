/* scatter: hg. Henyey-Greenstein (physics.md 7.1).
 *
 * A scatter variant returns 1 - cos of the scattering angle for one uniform number in (0, 1].
 */
#ifndef ICS_STAGES_SCATTER_HG_H
#define ICS_STAGES_SCATTER_HG_H

#include "stages/maths.h"
#include "stages/scatter_density.h"
#include "stages/tables.h"

/* Returns 1 - cos for v = 1 - u in [0, 1). This is the published inverse with its differences
 * multiplied out, so that no digits are lost near the forward direction, and g = 0 is no special
 * case. */
ICE_FN float ice_henyey_greenstein(const ice_scatter_constants *constants, float v)
{
    const float g = constants->g;
    const float r = ice_inverse(fmaf(-2.0f * g, v, 1.0f + g));
    return constants->one_minus_g_squared * v * r * fmaf(1.0f + g, r, 1.0f);
}

ICE_FN float ice_scatter_hg(const ice_scatter_constants *constants, float u)
{
    return ice_henyey_greenstein(constants, 1.0f - u);
}

/* The density (physics.md 7.1): p = (1 - g^2) / 2 D^(-3/2), D = 1 + g^2 - 2 g cos = (1 - g)^2 + 2 g
 * x; d ln p / d g = 3 (1 - g - x) / D - 2 g / (1 - g^2). */
ICE_FN ice_density ice_density_hg(const ice_scatter_constants *constants, double x)
{
    const double g = (double)constants->g, rest = 1.0 - g, square = rest * (1.0 + g);
    const double d = fma(2.0 * g, x, rest * rest);
    ice_density p;
    p.value = 0.5 * square / (d * sqrt(d));
    p.by_mean_cosine = 3.0 * (rest - x) / d - 2.0 * g / square;
    p.by_mixture = 0.0;
    return p;
}

/* For `icestream stages`: what the user may set, separated by blanks. */
#define ICE_PARAMETERS_scatter_hg "ice.mean_cosine"
/* This variant declares no parameters (ICE_PARAMETER_INDEX in stages/tables.h). */
#define ICE_DECLARE_scatter_hg(PARAMETER)

#endif
