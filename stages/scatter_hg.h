/* scatter: hg. Henyey-Greenstein (physics.md 7.1).
 *
 * A scatter variant returns 1 - cos of the scattering angle for one uniform number in (0, 1].
 */
#ifndef ICS_STAGES_SCATTER_HG_H
#define ICS_STAGES_SCATTER_HG_H

#include "stages/maths.h"
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

/* For `icestream stages`: what the user may set, separated by blanks. */
#define ICE_PARAMETERS_scatter_hg "ice.mean_cosine"
/* This variant declares no parameters (ICE_PARAMETER_INDEX in stages/tables.h). */
#define ICE_DECLARE_scatter_hg(PARAMETER)

#endif
