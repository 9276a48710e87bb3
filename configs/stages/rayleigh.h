/* A scatter stage of one's own: Rayleigh scattering, density 3/8 (1 + cos^2) in the cosine.
 *
 *     stages: { scatter: { source: ../stages/rayleigh.h } }
 *
 * The header of stage S defines ice_S_custom with the parameters of the built-in variants, here
 * those of stages/scatter_hg.h. It may include headers of stages/ and nothing else, and uses what C
 * and CUDA C have in common: ICE_FN functions, float, the wrappers of stages/maths.h. It is
 * compiled when a run starts. <cos> = 0 is the header's business as well: see
 * configs/ice/rayleigh.yaml.
 */
#include "stages/maths.h"
#include "stages/tables.h"

/* 1 - cos of the scattering angle from a uniform number in (0, 1]: the cosine c that has 8 u - 4 =
 * c^3 + 3 c below it, counted from the backward direction, which the symmetric density allows.
 * Cardano's root c = s - 1 / s, s^3 = q / 2 + sqrt(q^2 / 4 + 1), written with e = s - 1 so that
 * nothing cancels near c = 0. */
ICE_FN float ice_scatter_custom(const ice_scatter_constants *constants, float u)
{
    (void)constants; /* g and the like: Rayleigh has no parameters */
    const float q = fmaf(8.0f, u, -4.0f);
    const float half = 0.5f * fabsf(q);
    const float cube = half + ice_sqrt(fmaf(half, half, 1.0f));
    const float e = ice_expm1(ice_log(cube) * (1.0f / 3.0f));
    const float cosine = e + ice_div(e, 1.0f + e);
    return 1.0f + ice_with_sign_of(cosine, q);
}
