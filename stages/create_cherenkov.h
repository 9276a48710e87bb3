/* create: cherenkov. Creates one photon of a step (physics.md 2.2, 2.3).
 *
 * Light of spectrum 0 leaves on the Cherenkov cone around the direction of the step, light of other
 * spectra along the direction of the step. Isotropic light leaves in any direction, and starts on a
 * sphere with the radius `length` around the start of the step. Where a particle is slower than
 * light of the photon's wavelength, there is no cone and no light: the photon ends where it starts.
 */
#ifndef ICS_STAGES_CREATE_CHERENKOV_H
#define ICS_STAGES_CREATE_CHERENKOV_H

#include "stages/direction.h"
#include "stages/optics.h"
#include "stages/photon.h"
#include "stages/random.h"

/* Returns the wavelength (nm) at which the cumulative distribution of a spectrum is u, in [0, 1).
 * The stretch of the table for a tail of the distribution is used where u is in this tail. */
ICE_FN float ice_wavelength(const ice_tables *tables, uint32_t spectrum, float u)
{
    const float knots = (float)ICE_WAVELENGTH_KNOTS;
    const float tail = ICE_WAVELENGTH_TAIL;
    const int32_t low = u < tail;
    const int32_t high = u >= 1.0f - tail;
    const float offset = high ? 1.0f - tail : 0.0f;
    const float scale = (low | high) ? knots / tail : knots;
    const int32_t stretch = low ? 1 : (high ? 2 : 0);
    const float position = (u - offset) * scale;
    const int32_t knot = (int32_t)position;
    const int32_t row =
        (int32_t)spectrum * ICE_WAVELENGTH_TABLE + stretch * (ICE_WAVELENGTH_KNOTS + 1) + knot;
    const float left = tables->wavelengths[row];
    const float right = tables->wavelengths[row + 1];
    return fmaf(position - (float)knot, right - left, left);
}

/* Returns the distance (m) from the start of the step to the start of the photon. `first_word` is
 * word a of the block of creation. */
ICE_FN float ice_start_shift(float length, uint32_t flags, uint32_t first_word)
{
    return (flags & ICE_EMISSION_ISOTROPIC) ? length : ice_uniform(first_word) * length;
}

ICE_FN ice_photon ice_create_cherenkov(const ice_tables *tables, const ice_emission *emission,
                                       uint32_t emission_index, uint32_t photon_id)
{
    const ice_block draw =
        ice_draw_of(tables, ice_identity_of(emission, photon_id), ICE_BLOCK_CREATE);
    ice_photon photon;
    photon.wavelength = ice_wavelength(tables, emission->spectrum, ice_uniform(draw.b));
    photon.path = 0.0f;
    photon.emission = emission_index;
    photon.photon_id = photon_id;
    photon.scatters = 0;

    float sin_azimuth, cos_azimuth;
    ice_sincos2pi(ice_uniform(draw.c), &sin_azimuth, &cos_azimuth);

    /* Below the Cherenkov threshold there is no cone. The minimum only keeps NaN out of the
     * direction. */
    const float inverse_speed =
        ice_div(1.0f, emission->beta * ice_medium_index(tables, photon.wavelength));
    const float cone = ice_min(inverse_speed, 1.0f);
    const int32_t isotropic = (emission->flags & ICE_EMISSION_ISOTROPIC) != 0;
    const int32_t cherenkov = emission->spectrum == 0;
    const int32_t is_emitted =
        isotropic | (cherenkov == 0 ? 1 : 0) | (inverse_speed <= 1.0f ? 1 : 0);
    photon.absorption = is_emitted ? ice_exponential(draw.d) : ICE_NOT_EMITTED;
    const float random_cosine = fmaf(2.0f, ice_uniform(draw.a), -1.0f);
    const float cosine = isotropic ? random_cosine : (cherenkov ? cone : 1.0f);
    const float sine = ice_sqrt(ice_max(fmaf(-cosine, cosine, 1.0f), 0.0f));
    const ice_direction axis = {isotropic ? 0.0f : emission->dx, isotropic ? 0.0f : emission->dy,
                                isotropic ? 1.0f : emission->dz};
    const ice_direction n = ice_rotate(axis, cosine, sine, cos_azimuth, sin_azimuth);
    photon.dx = n.x;
    photon.dy = n.y;
    photon.dz = n.z;

    const float shift = ice_start_shift(emission->length, emission->flags, draw.a);
    photon.x = fmaf(shift, isotropic ? n.x : axis.x, emission->x);
    photon.y = fmaf(shift, isotropic ? n.y : axis.y, emission->y);
    photon.z = fmaf(shift, isotropic ? n.z : axis.z, emission->z);
    return photon;
}

/* For `icestream stages`: what the user may set, separated by blanks. */
#define ICE_PARAMETERS_create_cherenkov "light.spectra light.acceptance"

#endif
