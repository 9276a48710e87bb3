/* Random numbers as a function of the seed, the identity of the photon and a block number
 * (physics.md 14.3).
 *
 * The generator is Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011, doi
 * 10.1145/2063384.2063405). One block gives four words of 32 bits.
 */
#ifndef ICS_STAGES_RANDOM_H
#define ICS_STAGES_RANDOM_H

#include "stages/maths.h"
#include "stages/photon.h"
#include "stages/tables.h"

/* What the blocks of one photon are used for. This assignment is part of the meaning of a seed and
 * never changes; a new use takes new blocks.
 *
 *   block 0            creation:  a position along the step (isotropic light: cosine),
 *                                 b wavelength, c azimuth, d absorption depth
 *   block 1 + k        bounce k:  a scattering depth of segment k, b scattering angle,
 *                                 c scattering azimuth: their upper 24 bits; d and the lower 8 bits
 *                                 of b and c: deflection along segment k (ice_spare_of())
 *   from 0x40000000    a user's header for create (docs/stages.md); bounces end far below
 *   from 0x80000000    detection: a decides about a hit; ice_detection_block() in
 *                      physics/detect/detection.h gives the block
 *   from 0xC0000000    light of particles, before there are photons (physics/light/light_draw.h)
 */
#define ICE_BLOCK_CREATE 0u
#define ICE_BLOCK_BOUNCE 1u
#define ICE_BLOCK_USER   0x40000000u
#define ICE_BLOCK_DETECT 0x80000000u

typedef struct ice_block {
    uint32_t a, b, c, d;
} ice_block;

/* AVX-512 multiplies numbers in lanes of 64 bits. A word stays in such a lane there, so that no
 * instruction is spent on changing its width. The upper half of a lane is never read. */
#if defined(__AVX512DQ__) && !defined(__CUDACC__)
typedef uint64_t ice_word;
#else
typedef uint32_t ice_word;
#endif

/* These numbers are added to the two words of the key after every round. */
#define ICE_WEYL_LOW  0x9E3779B9u
#define ICE_WEYL_HIGH 0xBB67AE85u

/* Computes the ten rounds for the counter (c0, c1, c2, c3). key_low holds the first word of the key
 * for every round; the tables contain these numbers, and a GPU reads them as constants. key_high is
 * the second word of the key in the first round. */
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

/* Computes the block of the counter (c0, c1, c2, c3) with the key (k0, k1). */
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

/* Returns block number `block` of a photon. key_low is the low word of the seed, and key_high is
 * the high word of the seed XOR the high word of the event. */
ICE_FN ice_block ice_draw(uint32_t key_low, uint32_t key_high, uint32_t event_low, uint32_t step_id,
                          uint32_t photon_id, uint32_t block)
{
    return ice_philox(block, photon_id, step_id, event_low, key_low, key_high);
}

/* As ice_draw, with the seed that is in the tables. */
ICE_FN ice_block ice_draw_of(const ice_tables *tables, ice_identity identity, uint32_t block)
{
    return ice_philox_rounds(block, identity.photon_id, identity.step_id, identity.event_low,
                             tables->key_low, tables->seed_high ^ identity.event_high);
}

/* Returns a uniform number in [0, 1) with 24 bits, which is exact in single precision. */
ICE_FN float ice_uniform(uint32_t word)
{
    return (float)(int32_t)(word >> 8) * 5.9604644775390625e-8f;
}

/* Returns a uniform number in (0, 1], for logarithms. */
ICE_FN float ice_uniform_positive(uint32_t word)
{
    return (float)(int32_t)((word >> 8) + 1u) * 5.9604644775390625e-8f;
}

/* Returns an exponential number of mean 1: an optical depth, >= 0. The maximum is needed because
 * the fast logarithm of a number just below 1 may be positive. */
ICE_FN float ice_exponential(uint32_t word)
{
    return ice_max(-ice_log(ice_uniform_positive(word)), 0.0f);
}

#endif
