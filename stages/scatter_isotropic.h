/* scatter: isotropic. All directions have the same probability, and g has no effect
 * (physics.md 7.5). For tests and for other media. */
#ifndef ICS_STAGES_SCATTER_ISOTROPIC_H
#define ICS_STAGES_SCATTER_ISOTROPIC_H

#include "stages/scatter_density.h"
#include "stages/tables.h"

/* 1 - cos; u in (0, 1]. */
ICE_FN float ice_scatter_isotropic(const ice_scatter_constants *constants, float u)
{
    (void)constants;
    return 2.0f * u;
}

ICE_FN ice_density ice_density_isotropic(const ice_scatter_constants *constants, double x)
{
    const ice_density p = {0.5, 0.0, 0.0};
    (void)constants, (void)x;
    return p;
}

/* For `icestream stages`: what the user may set, separated by blanks. */
#define ICE_PARAMETERS_scatter_isotropic ""
/* This variant declares no parameters (ICE_PARAMETER_INDEX in stages/tables.h). */
#define ICE_DECLARE_scatter_isotropic(PARAMETER)

#endif
