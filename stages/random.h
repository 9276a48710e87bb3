/* Random numbers of photons (physics.md 14.3).
 *
 * There are two generators. Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011, doi
 * 10.1145/2063384.2063405) is a function of the seed, the identity of the photon and a block
 * number: one block gives four words of 32 bits. It makes what is needed once in the life of a
 * photon. The words of the bounces come from a state of 64 bits that travels with the photon, which
 * a block of Philox starts. A word of the state costs three instructions, one of Philox about 15.
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
 *   block 1            state:     a and b: ice_random_of()
 *   from 0x20000000    profiles:  depth and direction of a photon of a step with a profile
 *                                 (stages/profile.h)
 *   from 0x30000000    pulses:    time of a photon of a step with a pulse (tables/tables.c)
 *   from 0x40000000    a user's header for create (docs/stages.md)
 *   from 0x80000000    detection: a decides about a hit, b about its PMT, c and d about the time in
 *                      the PMT; ice_detection_block() in physics/detect/detection.h gives the
 *                      block
 *   from 0xC0000000    light of particles, before there are photons (physics/light/light_draw.h)
 *
 * The words of the state serve the bounces one after the other. Bounce k takes
 *   propagate          the scattering depth of segment k
 *   scatter            in birefringent ice two words for the deflection along segment k; then the
 *                      scattering angle and the azimuth
 */
#define ICE_BLOCK_CREATE  0u
#define ICE_BLOCK_RANDOM  1u
#define ICE_BLOCK_PROFILE 0x20000000u
#define ICE_BLOCK_PULSE   0x30000000u
#define ICE_BLOCK_USER    0x40000000u
#define ICE_BLOCK_DETECT  0x80000000u

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

/* Rounds of Philox. */
#define ICE_PHILOX_ROUNDS 10

/* These numbers are added to the two words of the key after every round. */
#define ICE_WEYL_LOW  0x9E3779B9u
#define ICE_WEYL_HIGH 0xBB67AE85u

/* Computes the block of the counter (c0, c1, c2, c3) with the key (k0, k1). */
ICE_FN ice_block ice_philox(ice_word c0, ice_word c1, ice_word c2, ice_word c3, uint32_t k0,
                            uint32_t k1)
{
    for (int round = 0; round < ICE_PHILOX_ROUNDS; ++round) {
        const uint64_t product_0 = (uint64_t)0xD2511F53u * (uint32_t)c0;
        const uint64_t product_1 = (uint64_t)0xCD9E8D57u * (uint32_t)c2;
        const ice_word next_0 = (ice_word)(product_1 >> 32) ^ c1 ^ k0;
        const ice_word next_2 = (ice_word)(product_0 >> 32) ^ c3 ^ k1;
        c1 = (ice_word)product_1;
        c3 = (ice_word)product_0;
        c0 = next_0;
        c2 = next_2;
        k0 += ICE_WEYL_LOW;
        k1 += ICE_WEYL_HIGH;
    }
    ice_block block = {(uint32_t)c0, (uint32_t)c1, (uint32_t)c2, (uint32_t)c3};
    return block;
}

/* Returns the low word of the key of all blocks of a seed. It is the low word of the seed XOR a
 * hash of the high word, which is one-to-one and 0 for 0 (finalizer of MurmurHash3, A. Appleby). So
 * two seeds with the same low word have no key in common, whatever the events are, and seeds below
 * 2^32 are their own low words. */
ICE_FN uint32_t ice_key_low(uint64_t seed)
{
    uint32_t h = (uint32_t)(seed >> 32);
    h = (h ^ h >> 16) * 0x85EBCA6Bu;
    h = (h ^ h >> 13) * 0xC2B2AE35u;
    return (uint32_t)seed ^ h ^ h >> 16;
}

/* Returns the high word of the key: the high word of the seed XOR the high word of the event. */
ICE_FN uint32_t ice_key_high(uint64_t seed, uint64_t event)
{
    return (uint32_t)((seed ^ event) >> 32);
}

/* Returns block number `block` of a photon, with the key of its seed and event. */
ICE_FN ice_block ice_draw(uint32_t key_low, uint32_t key_high, uint32_t event_low, uint32_t step_id,
                          uint32_t photon_id, uint32_t block)
{
    return ice_philox(block, photon_id, step_id, event_low, key_low, key_high);
}

/* As ice_draw, with the key of the seed that is in the tables. */
ICE_FN ice_block ice_draw_of(const ice_tables *tables, ice_identity identity, uint32_t block)
{
    return ice_draw(tables->seed_low, tables->seed_high ^ identity.event_high, identity.event_low,
                    identity.step_id, identity.photon_id, block);
}

/* ---- the state of a photon ------------------------------------------------------------------- */

/* Which random numbers a seed means. Hit files with other versions have other photons, so the
 * number is in their trailers and in the digest of their settings (docs/files.md 2.2).
 *   1   all words are Philox, one block for each bounce (until November 2026)
 *   2   the words of the bounces come from the photon's state
 *   3   seeds from 2^32: the key has a hash of the high word; smaller seeds mean what they did */
ICE_FN int ice_random_version(uint64_t seed)
{
    return seed >> 32 == 0u ? 2 : 3;
}

/* The generator is multiply-with-carry with a lag of one (Marsaglia), whose word is the exclusive
 * or of number and carry (MWC64X of D. B. Thomas). The multiplier m makes m 2^32 - 1 and
 * m 2^31 - 1 primes, so nearly all states are on two cycles of m 2^31 - 1 states each. */
#define ICE_RANDOM_MULTIPLIER 4294883355u

/* `bench/impact.py random` defines ICE_WITHOUT_RANDOM for kernels whose hits nobody keeps.
 * Then the lower half of the state is an odd number, which is multiplied by this one, and it is the
 * word: one instruction per word, the least that still gives different numbers. The multiplier is 5
 * modulo 8, so such a state repeats itself after 2^30 words. */
#define ICE_PLAIN_MULTIPLIER 747796405u

/* Returns the word of a state. A stage may read it any number of times. */
ICE_FN uint32_t ice_random_word(ice_random random)
{
#if defined(ICE_WITHOUT_RANDOM)
    return (uint32_t)random.state;
#else
    return (uint32_t)random.state ^ (uint32_t)(random.state >> 32);
#endif
}

/* Returns the state after this one. */
ICE_FN ice_random ice_random_next(ice_random random)
{
#if defined(ICE_WITHOUT_RANDOM)
    const ice_random next = {random.state >> 32 << 32 |
                             (uint32_t)((uint32_t)random.state * ICE_PLAIN_MULTIPLIER)};
    return next;
#elif defined(__CUDACC__)
    /* One instruction. From the expression below, the compiler also adds a product with the upper
     * half of the multiplier, which is 0. */
    ice_random next;
    asm("mad.wide.u32 %0, %1, %2, %3;"
        : "=l"(next.state)
        : "r"((uint32_t)random.state), "r"(ICE_RANDOM_MULTIPLIER), "l"(random.state >> 32));
    return next;
#else
    const ice_random next = {(uint64_t)ICE_RANDOM_MULTIPLIER * (uint32_t)random.state +
                             (random.state >> 32)};
    return next;
#endif
}

/* Returns the state that two uniform words begin. The carry is from 1 to 2^31, so that it is below
 * the multiplier and the state is neither 0 nor the other one that repeats itself. */
ICE_FN ice_random ice_random_begin(uint32_t number, uint32_t carry)
{
#if defined(ICE_WITHOUT_RANDOM)
    number |= 1u;
#endif
    const ice_random begin = {(uint64_t)((carry >> 1) + 1u) << 32 | number};
    return begin;
}

/* Returns the state of a photon before its first bounce. */
ICE_FN ice_random ice_random_of(const ice_tables *tables, ice_identity identity)
{
    const ice_block block = ice_draw_of(tables, identity, ICE_BLOCK_RANDOM);
    return ice_random_begin(block.a, block.b);
}

/* ---- numbers of words ------------------------------------------------------------------------ */

/* Returns a uniform number in [0, 1) with 24 bits, which is exact in single precision. */
ICE_FN float ice_uniform(uint32_t word)
{
    return (float)(int32_t)(word >> 8) * 5.9604644775390625e-8f;
}

/* Returns a uniform number in (0, 1], for logarithms. */
ICE_FN float ice_uniform_positive(uint32_t word)
{
#if defined(__CUDACC__) && defined(ICE_MATH_FAST)
    /* The rounding of all 32 bits takes one instruction less than the choice of 24. */
    return (float)(word | 1u) * 2.3283064365386963e-10f;
#else
    return (float)(int32_t)((word >> 8) + 1u) * 5.9604644775390625e-8f;
#endif
}

/* Returns an exponential number of mean 1: an optical depth, >= 0. */
ICE_FN float ice_exponential(uint32_t word)
{
#if defined(__CUDACC__) && defined(ICE_MATH_FAST)
    /* The maximum is needed because this logarithm of a number just below 1 may be positive. */
    return ice_max(-ice_log(ice_uniform_positive(word)), 0.0f);
#else
    return ice_minus_log_of_count((float)(int32_t)((word >> 8) + 1u));
#endif
}

/* ---- the numbers of a bounce ----------------------------------------------------------------- */

/* Returns the scattering depth of the next segment, >= 0. The state of the photon stays, so that a
 * bounce which a full hit buffer interrupts begins again with the same depth. */
ICE_FN float ice_depth_of(ice_random random)
{
    return ice_exponential(ice_random_word(random));
}

/* The random numbers of a scatter. */
typedef struct ice_scatter_draw {
    float angle;      /* gives the scattering angle; uniform in (0, 1] */
    uint32_t azimuth; /* a random word, which gives the azimuth of the scatter: ice_azimuth_of() */
} ice_scatter_draw;

/* Draws them, after the deflection. *random becomes the state of the next bounce. */
ICE_FN ice_scatter_draw ice_draw_scatter(ice_random *random)
{
    const ice_random first = ice_random_next(*random);
    const ice_random second = ice_random_next(first);
    const ice_scatter_draw draw = {ice_uniform_positive(ice_random_word(first)),
                                   ice_random_word(second)};
    *random = ice_random_next(second);
    return draw;
}

#endif
