/* A create stage of your own: light of lamps (every spectrum but 0) leaves a flat surface instead of
 * a narrow beam. The number of photons at the angle a to the direction of the step is proportional
 * to cos(a) (Lambert). Cherenkov light and isotropic light stay as they are.
 *
 *     stages: { create: { source: ../stages/lambertian.h } }
 *
 * docs/stages.md has the contract of the stage. */
#include "stages/create_cherenkov.h"

ICE_FN ice_photon ice_create_custom(const ice_tables *tables, const ice_emission *emission,
                                    uint32_t emission_index, uint32_t photon_id)
{
    ice_photon photon = ice_create_cherenkov(tables, emission, emission_index, photon_id);
    if (emission->spectrum != 0 && !(emission->flags & ICE_EMISSION_ISOTROPIC)) {
        const ice_direction axis = {emission->dx, emission->dy, emission->dz};
        const ice_block draw =
            ice_draw_of(tables, ice_identity_of(emission, photon_id), ICE_BLOCK_USER);
        const float square = ice_uniform(draw.a); /* cos^2 is uniform */
        float sin_azimuth, cos_azimuth;
        ice_sincos2pi(ice_uniform(draw.b), &sin_azimuth, &cos_azimuth);
        ice_set_direction(&photon, ice_rotate(axis, ice_sqrt(square), ice_sqrt(1.0f - square),
                                              cos_azimuth, sin_azimuth));
    }
    return photon;
}
