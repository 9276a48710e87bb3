/* How a photon is packed into the three words of its slot, 16 bytes each, and the 8 bytes next to
 * them. Only this file packs and unpacks them; tests/kernels/test_slot_words.c checks that nothing
 * is lost on the way.
 *
 *   position    x, y, z, path
 *   direction   dx, dy, dz, absorption
 *   identity    wavelength, emission, photon_id, scatters
 *   random      the state of the random numbers
 *
 * In the pools of wavefront, whose stages read and write only what they need:
 *
 *   position    x, y, z, dx
 *   direction   dy, dz, the state of the random numbers, low and high
 *   identity    wavelength, emission, photon_id, wave in which the photon was created
 *   way         path, absorption; in the column `random`
 *
 * propagate changes only the way, and scatter only position and direction. The identity does not
 * change from wave to wave; an extract repeats its first and last number.
 *
 * A slot whose emission is ICS_NOBODY is free. A photon waits if the hit buffer had no room for one
 * of its hits: its bounce is then done again. In the pools of wavefront a negative wavelength says
 * so, in all other pools the bit ICS_WAITING of `scatters`.
 */
#ifndef ICS_KERNELS_CUDA_DEVICE_SLOT_WORDS_H
#define ICS_KERNELS_CUDA_DEVICE_SLOT_WORDS_H

#include "kernels/cuda/state.h"
#include "stages/maths.h"

/* ---- photons --------------------------------------------------------------------------------- */

typedef struct gpu_photon_words {
    ics_word position, direction, identity;
} gpu_photon_words;

ICE_FN ics_word gpu_identity_pack(float wavelength, uint32_t emission, uint32_t photon_id,
                                  uint32_t last)
{
    return make_float4(wavelength, __uint_as_float(emission), __uint_as_float(photon_id),
                       __uint_as_float(last));
}

ICE_FN ics_word gpu_identity_vacant(void)
{
    return gpu_identity_pack(0.0f, ICS_NOBODY, 0, 0);
}

ICE_FN bool gpu_is_vacant(ics_word identity)
{
    return __float_as_uint(identity.y) == ICS_NOBODY;
}

/* Frees a slot and keeps the rest of its identity. */
ICE_FN void gpu_set_vacant(ics_word *identity)
{
    identity->y = __uint_as_float(ICS_NOBODY);
}

ICE_FN gpu_photon_words gpu_photon_pack(const ice_photon *photon, bool waits)
{
    const uint32_t last = photon->scatters | (waits ? ICS_WAITING : 0u);
    const gpu_photon_words words = {
        make_float4(photon->x, photon->y, photon->z, photon->path),
        make_float4(photon->dx, photon->dy, photon->dz, photon->absorption),
        gpu_identity_pack(photon->wavelength, photon->emission, photon->photon_id, last)};
    return words;
}

ICE_FN ice_photon gpu_photon_unpack(gpu_photon_words words)
{
    ice_photon photon;
    photon.x = words.position.x;
    photon.y = words.position.y;
    photon.z = words.position.z;
    photon.path = words.position.w;
    photon.dx = words.direction.x;
    photon.dy = words.direction.y;
    photon.dz = words.direction.z;
    photon.absorption = words.direction.w;
    photon.wavelength = words.identity.x;
    photon.emission = __float_as_uint(words.identity.y);
    photon.photon_id = __float_as_uint(words.identity.z);
    photon.scatters = __float_as_uint(words.identity.w) & ~ICS_WAITING;
    return photon;
}

/* ---- photons of wavefront -------------------------------------------------------------------- */

typedef struct gpu_wave_words {
    ics_word position, direction;
    ics_pair way;
} gpu_wave_words;

ICE_FN ics_pair gpu_way_of(float path, float absorption)
{
    return make_float2(path, absorption);
}

ICE_FN float gpu_way_path(ics_pair way)
{
    return way.x;
}

/* What wavefront stores of a photon besides its identity. */
ICE_FN gpu_wave_words gpu_wave_pack(const ice_photon *photon, ice_random random)
{
    const gpu_wave_words words = {make_float4(photon->x, photon->y, photon->z, photon->dx),
                                  make_float4(photon->dy, photon->dz,
                                              __uint_as_float((uint32_t)random.state),
                                              __uint_as_float((uint32_t)(random.state >> 32))),
                                  gpu_way_of(photon->path, photon->absorption)};
    return words;
}

/* The photon, with 0 in place of its identity: the same numbers in the words of the other pools. */
ICE_FN ice_photon gpu_wave_unpack(gpu_wave_words words)
{
    const gpu_photon_words same = {
        make_float4(words.position.x, words.position.y, words.position.z, words.way.x),
        make_float4(words.position.w, words.direction.x, words.direction.y, words.way.y),
        gpu_identity_vacant()};
    return gpu_photon_unpack(same);
}

ICE_FN ice_random gpu_wave_random(gpu_wave_words words)
{
    const ice_random random = {(uint64_t)__float_as_uint(words.direction.w) << 32 |
                               __float_as_uint(words.direction.z)};
    return random;
}

/* The identity of a photon. `wave` is the number of a wave, modulo 2^32: for a new photon that of
 * its first wave, otherwise that of the present one. */
ICE_FN ics_word gpu_wave_identity_pack(const ice_photon *photon, uint32_t wave)
{
    return gpu_identity_pack(photon->wavelength, photon->emission, photon->photon_id,
                             wave - photon->scatters);
}

ICE_FN uint32_t gpu_wave_scatters(ics_word identity, uint32_t wave)
{
    return wave - __float_as_uint(identity.w);
}

/* The photon with its identity. */
ICE_FN ice_photon gpu_wave_identify(ics_word identity, uint32_t wave, ice_photon photon)
{
    photon.wavelength = fabsf(identity.x);
    photon.emission = __float_as_uint(identity.y);
    photon.photon_id = __float_as_uint(identity.z);
    photon.scatters = gpu_wave_scatters(identity, wave);
    return photon;
}

ICE_FN bool gpu_wave_waits(ics_word identity)
{
    return identity.x < 0.0f;
}

/* The identity of a photon that loses a number of waves, in which no bounce of it is completed: its
 * first wave is later. */
ICE_FN ics_word gpu_wave_identity_later(ics_word identity, uint32_t waves)
{
    identity.w = __uint_as_float(__float_as_uint(identity.w) + waves);
    return identity;
}

/* The identity of a photon that waits: its present bounce will be done again. */
ICE_FN ics_word gpu_wave_identity_wait(ics_word identity)
{
    identity.x = -fabsf(identity.x);
    return gpu_wave_identity_later(identity, 1);
}

/* The identity of a photon that waits no longer. */
ICE_FN ics_word gpu_wave_identity_end_wait(ics_word identity)
{
    identity.x = fabsf(identity.x);
    return identity;
}

/* ---- extracts -------------------------------------------------------------------------------- */

/* The extract of a slot in the pools of wavefront: the wavelength and the first wave of the photon,
 * which every wave needs, without the other half of its identity, which only hits and the end of
 * the photon need. In the extract of a free slot all bits are set, as they are in a new pool. */
ICE_FN ics_pair gpu_extract_vacant(void)
{
    return make_float2(__uint_as_float(0xffffffffu), __uint_as_float(0xffffffffu));
}

ICE_FN bool gpu_extract_is_vacant(ics_pair extract)
{
    return __float_as_uint(extract.x) == 0xffffffffu;
}

ICE_FN ics_pair gpu_extract_of(ics_word identity)
{
    return gpu_is_vacant(identity) ? gpu_extract_vacant() : make_float2(identity.x, identity.w);
}

/* The photon of an extract: its wavelength and its scatters before the present wave. Position,
 * direction and absorption are those of `photon`. */
ICE_FN ice_photon gpu_extract_unpack(ics_pair extract, uint32_t wave, ice_photon photon)
{
    photon.wavelength = fabsf(extract.x);
    photon.scatters = wave - __float_as_uint(extract.y);
    return photon;
}

/* Whether a photon in a pool of any schedule may wait, from the bits of the first and the last word
 * of its identity. False: the number of its recorded hits has no meaning. */
ICE_FN bool gpu_may_wait(uint32_t first, uint32_t last)
{
    return (last & ICS_WAITING) || (first & 0x80000000u);
}

#endif
