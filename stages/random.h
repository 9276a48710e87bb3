/* Random numbers as a pure function of the photon and the bounce.
 *
 * Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011, doi 10.1145/2063384.2063405). Key and counter
 * are those of files.md 5. One block gives four words of 32 bits.
 */
#ifndef ICS_STAGES_RANDOM_H
#define ICS_STAGES_RANDOM_H

#include "stages/maths.h"
#include "stages/photon.h"
#include "stages/tables.h"

/* The draws of one photon, by block number. This assignment is part of the meaning of a seed and
 * never changes; new consumers take blocks of their own.
 *
 *   block 0            creation:  a position along the step (isotropic light: cosine),
 *                                 b wavelength, c azimuth, d absorption depth
 *   block 1 + k        bounce k:  a scattering depth of segment k, b scattering angle,
 *                                 c scattering azimuth: their upper 24 bits; d and the lower 8 bits
 *                                 of b and c: deflection along segment k (ice_spare_of())
 *   from 0x80000000    detection: a decides about a hit; ice_detection_block() in
 *                      physics/detect/detection.h gives the block
 *   from 0xC0000000    light of particles, before there are photons (physics/light/light_draw.h)
 */
#define ICE_BLOCK_CREATE 0u
#define ICE_BLOCK_BOUNCE 1u
#define ICE_BLOCK_DETECT 0x80000000u

typedef struct ice_block {
    uint32_t a, b, c, d;
} ice_block;

/* AVX-512 multiplies lanes of 64 bits. Words stay in such lanes there, so that no instruction has
 * to change the width. The upper halves are never read. */
#if defined(__AVX512DQ__) && !defined(__CUDACC__)
typedef uint64_t ice_word;
#else
typedef uint32_t ice_word;
#endif

/* Weyl increments of the two words of the key from round to round. */
#define ICE_WEYL_LOW  0x9E3779B9u
#define ICE_WEYL_HIGH 0xBB67AE85u

/* The ten rounds over the counter (c0, c1, c2, c3). key_low holds the first word of the key for
 * every round, because a GPU has these among its constants; key_high is the second word in the
 * first round. */
ICE_FN ice_block ice_philox_rounds(ice_word c0, ice_word c1, ice_word c2, ice_word c3,
                                   const uint32_t *key_low, uint32_t key_high)
{
    for (int round = 0; round < ICE_PHILOX_ROUNDS; ++round) {
        const uint64_t product_0 = (uint64_t)0xD2511F53u * (uint32_t)c0;
        const uint64_t product_1 = (uint64_t)0xCD9E8D57u * (uint32_t)c2;
        const ice_word next_0 = (ice_word)(product_1 >> 32) ^ c1 ^ key_low[round];
        const ice_word next_2 = (ice_word)(product_0 >> 32) ^ c3 ^ key_high;
        c1 = (ice_word)product_1;
        c3 = (ice_word)product_0;
        c0 = next_0;
        c2 = next_2;
        key_high += ICE_WEYL_HIGH;
    }
    ice_block block = {(uint32_t)c0, (uint32_t)c1, (uint32_t)c2, (uint32_t)c3};
    return block;
}

/* The same with key (k0, k1). */
ICE_FN ice_block ice_philox(ice_word c0, ice_word c1, ice_word c2, ice_word c3, uint32_t k0,
                            uint32_t k1)
{
    const uint32_t key_low[ICE_PHILOX_ROUNDS] = {
        k0,
        k0 + ICE_WEYL_LOW,
        k0 + 2 * ICE_WEYL_LOW,
        k0 + 3 * ICE_WEYL_LOW,
        k0 + 4 * ICE_WEYL_LOW,
        k0 + 5 * ICE_WEYL_LOW,
        k0 + 6 * ICE_WEYL_LOW,
        k0 + 7 * ICE_WEYL_LOW,
        k0 + 8 * ICE_WEYL_LOW,
        k0 + 9 * ICE_WEYL_LOW,
    };
    return ice_philox_rounds(c0, c1, c2, c3, key_low, k1);
}

/* Block `block` of a photon. key_low, key_high: low word of the seed; high word of the seed XOR
 * high word of the event. */
ICE_FN ice_block ice_draw(uint32_t key_low, uint32_t key_high, uint32_t event_low, uint32_t step_id,
                          uint32_t photon_id, uint32_t block)
{
    return ice_philox(block, photon_id, step_id, event_low, key_low, key_high);
}

/* The same for a photon of the run that the tables belong to. */
ICE_FN ice_block ice_draw_of(const ice_tables *tables, ice_identity identity, uint32_t block)
{
    return ice_philox_rounds(block, identity.photon_id, identity.step_id, identity.event_low,
                             tables->key_low, tables->seed_high ^ identity.event_high);
}

/* Uniform in [0, 1), 24 bits: exact in single precision. */
ICE_FN float ice_uniform(uint32_t word)
{
    return (float)(int32_t)(word >> 8) * 5.9604644775390625e-8f;
}

/* Uniform in (0, 1], for logarithms. */
ICE_FN float ice_uniform_positive(uint32_t word)
{
    return (float)(int32_t)((word >> 8) + 1u) * 5.9604644775390625e-8f;
}

/* Exponential of mean 1: an optical depth, >= 0 (a fast logarithm may be off by more than its value
 * just below 1). */
ICE_FN float ice_exponential(uint32_t word)
{
    return ice_max(-ice_log(ice_uniform_positive(word)), 0.0f);
}

#endif
