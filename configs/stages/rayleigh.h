/* A scatter stage of your own: Rayleigh scattering, with the density 3/8 (1 + cos^2) in the cosine.
 *
 *     stages: { scatter: { source: ../stages/rayleigh.h } }
 *
 * The header of stage S defines ice_S_custom with the parameters of the built-in variants, here
 * those of stages/scatter_hg.h. It may include only headers of stages/. It may use only what C and
 * CUDA C have in common: ICE_FN functions, float, the functions of stages/maths.h. It is compiled
 * when a run starts. The mean cosine of this function is 0, and the ice file has to say so
 * (configs/ice/rayleigh.yaml).
 */
#include "stages/maths.h"
#include "stages/tables.h"

/* Returns 1 - cos of the scattering angle for a u that is uniform in (0, 1]. The cumulative
 * distribution of the cosine c is (c^3 + 3 c + 4) / 8, so c solves c^3 + 3 c = q with q = 8 u - 4.
 * The density is symmetric, so -c has the same distribution, and 1 + c is returned. Cardano's root
 * is c = s - 1 / s with s^3 = q / 2 + sqrt(q^2 / 4 + 1). It is written with e = s - 1, so that no
 * digits cancel near c = 0. */
ICE_FN float ice_scatter_custom(const ice_scatter_constants *constants, float u)
{
    (void)constants; /* Rayleigh scattering has no parameters */
    const float q = fmaf(8.0f, u, -4.0f);
    const float half = 0.5f * fabsf(q);
    const float cube = half + ice_sqrt(fmaf(half, half, 1.0f));
    const float e = ice_expm1(ice_log(cube) * (1.0f / 3.0f));
    const float cosine = e + ice_div(e, 1.0f + e);
    return 1.0f + ice_with_sign_of(cosine, q);
}
