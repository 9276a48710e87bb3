/* scatter: rayleigh-hg. For water: a molecule scatters with a given probability, else a particle
 * (physics.md 7.5).
 *
 * Scattering by molecules (Einstein and Smoluchowski) has a density proportional to 1 + b cos^2,
 * with b = 0.835 for water (Morel, in Optical Aspects of Oceanography, Academic Press 1974).
 * Scattering by particles follows Henyey-Greenstein.
 */
#ifndef ICS_STAGES_SCATTER_RAYLEIGH_HG_H
#define ICS_STAGES_SCATTER_RAYLEIGH_HG_H

#include "stages/scatter_hg.h"

#define ICE_RAYLEIGH_B 0.835f

/* Returns 1 - cos of molecular scattering; u in [0, 1]. cos is the real root c of
 * c^3 + 3 p c = 2 q with p = 1 / b and q = (u - 1/2) (3 + b) / b, by Cardano's formula for |q|. The
 * root changes its sign with q. */
ICE_FN float ice_rayleigh(float u)
{
    const float p = 1.0f / ICE_RAYLEIGH_B;
    const float q = (u - 0.5f) * ((3.0f + ICE_RAYLEIGH_B) / ICE_RAYLEIGH_B);
    const float sum = fabsf(q) + ice_sqrt(fmaf(q, q, p * p * p));
    const float root = ice_exp(ice_log(sum) * 0.33333334f);
    const float cosine = ice_min(root - ice_div(p, root), 1.0f);
    return 1.0f - ice_with_sign_of(ice_max(cosine, 0.0f), q);
}

/* 1 - cos; u in (0, 1]. */
ICE_FN float ice_scatter_rayleigh_hg(const ice_scatter_constants *constants, float u)
{
    const ice_molecule_constants *molecules = &constants->molecules;
    const float f = molecules->fraction;
    const int32_t molecule = u <= f;
    /* Both are computed: lanes of one warp or vector take both ways nearly always. */
    const float from_molecule = ice_rayleigh(ice_min(u * molecules->inverse, 1.0f));
    const float from_particle =
        ice_henyey_greenstein(constants, molecule ? 0.0f : (u - f) * molecules->inverse_rest);
    return molecule ? from_molecule : from_particle;
}

/* The density of molecules (physics.md 7.5) is (1 + b cos^2) / (2 + 2 b / 3). */
ICE_FN ice_density ice_density_rayleigh_hg(const ice_scatter_constants *constants, double x)
{
    const double b = (double)ICE_RAYLEIGH_B, cosine = 1.0 - x;
    const ice_density molecule = {fma(b * cosine, cosine, 1.0) / (2.0 + 2.0 * b / 3.0), 0.0, 0.0};
    return ice_density_mixed((double)constants->molecules.fraction, molecule,
                             ice_density_hg(constants, x));
}

/* For `icestream stages`: what the user may set, separated by blanks. */
#define ICE_PARAMETERS_scatter_rayleigh_hg "ice.file"
/* This variant declares no parameters (ICE_PARAMETER_INDEX in stages/tables.h). */
#define ICE_DECLARE_scatter_rayleigh_hg(PARAMETER)

#endif
