/* scatter: sl. Simplified Liu: cos = 2 u^beta - 1 with beta = (1 - g) / (1 + g) (physics.md 7.2).
 */
#ifndef ICS_STAGES_SCATTER_SL_H
#define ICS_STAGES_SCATTER_SL_H

#include "stages/maths.h"
#include "stages/tables.h"

/* 1 - cos; u in (0, 1]. */
ICE_FN float ice_scatter_sl(const ice_scatter_constants *constants, float u)
{
    return ice_twice_one_minus_power(u, constants->liu_exponent);
}

/* For `icestream stages`: what the user may set, separated by blanks. */
#define ICE_PARAMETERS_scatter_sl "ice.mean_cosine"
/* This variant declares no parameters (ICE_PARAMETER_INDEX in stages/tables.h). */
#define ICE_DECLARE_scatter_sl(PARAMETER)

#endif
