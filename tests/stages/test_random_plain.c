/* The generator of `icestream-lab impact random` (ICE_WITHOUT_RANDOM in stages/random.h): the
 * bounces of a photon get different and roughly uniform numbers, so that a photon has about as much
 * work as with the generator of a run.
 *
 * How to join: add a test here if the generator changes. */
#define ICE_WITHOUT_RANDOM

#include "stages/random.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <math.h>

enum { STATES = 2000, BOUNCES = 100, BINS = 32 };

/* Of 2e5 bounces, the mean depth is 1 to 5 sigma, that is with a false-alarm rate of 6e-7, and each
 * of 32 angles and azimuths is as frequent as the others to 6 sigma: 64 bins with a rate of 2e-9
 * each. The seeds are fixed. */
START_TEST(numbers_are_roughly_uniform)
{
    const double draws = (double)STATES * BOUNCES;
    double depth = 0;
    uint32_t angles[BINS] = {0}, azimuths[BINS] = {0};
    for (uint32_t i = 0; i < STATES; ++i) {
        const ice_block block = ice_draw(1, 2, 3, 4, i, ICE_BLOCK_RANDOM);
        ice_random random = ice_random_begin(block.a, block.b);
        for (int k = 0; k < BOUNCES; ++k) {
            depth += ice_depth_of(random);
            const ice_scatter_draw draw = ice_draw_scatter(&random);
            ++angles[(int)ceilf(BINS * draw.angle) - 1];
            ++azimuths[(int)(BINS * ice_uniform(draw.azimuth))];
        }
    }
    ck_assert_double_eq_tol(depth / draws, 1, 5 / sqrt(draws));
    for (int i = 0; i < BINS; ++i) {
        ck_assert_double_eq_tol(angles[i], draws / BINS, 6 * sqrt(draws / BINS));
        ck_assert_double_eq_tol(azimuths[i], draws / BINS, 6 * sqrt(draws / BINS));
    }
}
END_TEST

/* The upper half of the state, which is stored with it, stays. */
START_TEST(a_word_is_the_one_before_times_a_number)
{
    const ice_random begin = ice_random_begin(0x12345678, 9);
    const ice_random next = ice_random_next(begin);
    ck_assert_uint_eq(ice_random_word(begin), 0x12345679);
    ck_assert_uint_eq(ice_random_word(next), (uint32_t)(0x12345679u * ICE_PLAIN_MULTIPLIER));
    ck_assert_uint_eq(next.state >> 32, begin.state >> 32);
}
END_TEST

ICS_TEST_MAIN("random plain")
{
    TCase *tests = tcase_create("plain");
    tcase_add_test(tests, numbers_are_roughly_uniform);
    tcase_add_test(tests, a_word_is_the_one_before_times_a_number);
    suite_add_tcase(suite, tests);
}
