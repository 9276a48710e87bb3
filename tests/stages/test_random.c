/* Philox4x32-10 gives the known answers that were published with it (Random123, kat_vectors), and
 * the stages make uniform numbers of its words, one sequence for each photon identity.
 * test_random_state.c shows that the numbers of a photon, and of its neighbours, are independent.
 *
 * How to join: add one test for each new use of the words in stages/random.h. */
#include "stages/random.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>

static ice_block block_of(uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3, uint32_t k0,
                          uint32_t k1)
{
    return ice_philox(c0, c1, c2, c3, k0, k1);
}

static void expect(ice_block block, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    ck_assert_uint_eq(block.a, a);
    ck_assert_uint_eq(block.b, b);
    ck_assert_uint_eq(block.c, c);
    ck_assert_uint_eq(block.d, d);
}

START_TEST(known_answers)
{
    expect(block_of(0, 0, 0, 0, 0, 0), 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8);
    const uint32_t ones = 0xffffffff;
    expect(block_of(ones, ones, ones, ones, ones, ones), 0x408f276d, 0x41c83b0e, 0xa20bc7c6,
           0x6d5451fd);
    /* Digits of pi. */
    expect(block_of(0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0),
           0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1);
}
END_TEST

START_TEST(identity_is_the_counter)
{
    /* files.md 5: the counter is (block, photon, step, event low), the key is (seed low, seed high
     * ^ event high). The known answer for digits of pi, with its words under these names. */
    const uint32_t key_low = 0xa4093822, key_high = 0x299f31d0;
    const uint32_t event_low = 0x03707344, step = 0x13198a2e, photon = 0x85a308d3;
    expect(ice_draw(key_low, key_high, event_low, step, photon, 0x243f6a88), 0xd16cfe09, 0x94fdcceb,
           0x5001e420, 0x24126ea1);
    /* Other numbers of the blocks would give other photons for the same seed. */
    ck_assert_uint_eq(ICE_BLOCK_CREATE, 0);
    ck_assert_uint_eq(ICE_BLOCK_RANDOM, 1);
}
END_TEST

/* Two seeds with the same low word never share a key, and seeds below 2^32 mean what they did when
 * the key was (low word, high word XOR high word of the event). The hash is the finalizer of
 * MurmurHash3, which has published values: fmix32(1) = 0x514e28b7. */
START_TEST(seeds_do_not_collide)
{
    ck_assert_uint_eq(ice_key_low(0xffffffff), 0xffffffff);
    ck_assert_uint_eq(ice_key_low(UINT64_C(1) << 32), 0x514e28b7);
    ck_assert_uint_eq(ice_key_high(UINT64_C(5) << 32, UINT64_C(3) << 32 | 7), 6);
    ck_assert_int_eq(ice_random_version(UINT32_MAX), 2);
    ck_assert_int_eq(ice_random_version(UINT64_C(1) << 32), 3);
    /* Seed 5 2^32 with event 5 2^32 + 7, and seed 0 with event 7. */
    ck_assert_uint_eq(ice_key_high(UINT64_C(5) << 32, UINT64_C(5) << 32 | 7), 0);
    ck_assert_uint_ne(ice_key_low(UINT64_C(5) << 32), ice_key_low(0));
    /* The hash is one-to-one, because each of its operations can be undone. */
    for (uint32_t k = 0; k < 1u << 16; ++k) {
        const uint32_t high = k * 0x00010001u ^ 0x5a5au;
        uint32_t h = ice_key_low((uint64_t)high << 32);
        h = (h ^ h >> 16) * 0x7ed1b41du;
        h = (h ^ h >> 13 ^ h >> 26) * 0xa5cb9243u;
        ck_assert_uint_eq(h ^ h >> 16, high);
    }
}
END_TEST

START_TEST(uniform_numbers)
{
    ck_assert(ice_uniform(0) == 0.0f);
    ck_assert(ice_uniform(0xffffffff) == 1.0f - 0x1p-24f);
    ck_assert(ice_uniform(0x80000000) == 0.5f);
    ck_assert(ice_uniform_positive(0) == 0x1p-24f);
    ck_assert(ice_uniform_positive(0xffffffff) == 1.0f);
    /* Every value of the upper 24 bits. The lower 8 bits do not matter. */
    const uint32_t values = 1u << 24;
    const uint32_t stride = (uint32_t)(values / test_scaled(values)) | 1u;
    uint32_t wrong = 0;
    for (uint32_t k = 0; k < values; k += stride) {
        const uint32_t word = (k << 8) | (k & 0xff);
        wrong += ice_uniform(word) != (float)((double)k * 0x1p-24);
        wrong += ice_uniform_positive(word) != (float)(((double)k + 1.0) * 0x1p-24);
        wrong += !(ice_uniform(word) >= 0.0f && ice_uniform(word) < 1.0f);
        wrong += !(ice_uniform_positive(word) > 0.0f && ice_uniform_positive(word) <= 1.0f);
    }
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

ICS_TEST_MAIN("random")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, known_answers);
    tcase_add_test(all, identity_is_the_counter);
    tcase_add_test(all, seeds_do_not_collide);
    tcase_add_test(all, uniform_numbers);
    suite_add_tcase(suite, all);
}
