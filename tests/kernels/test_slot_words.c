/* The words of a slot keep what is packed into them: photons come back bit by bit, also at the ends
 * of the ranges of their numbers, and segments of numbers that are none go on. test_kernels.c shows
 * that all other segments come back with their ends. The headers under test are
 * kernels/cuda/device/slot_words.h and segment_words.h; they are compiled as C (see
 * tests/kernels/emulated). */
#include "tests/kernels/emulated/grid.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <stdlib.h>

#define ICE_PUT_ARRIVAL(sink, tables, arrival) ((void)(sink), (void)(arrival), -1)
#include "kernels/cuda/device/segment_words.h"

enum { TRIALS = 20000 };

static uint64_t state;

static void seed(void)
{
    state = 12;
}

static uint32_t any_word(void)
{
    /* The ends of the range as well as the middle. */
    static const uint32_t ends[] = {0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
    const uint64_t word = test_word(&state);
    return word % 4 ? (uint32_t)(word >> 32) : ends[(word >> 8) % 6];
}

static float any_float(double low, double high)
{
    const uint64_t word = test_word(&state);
    return (float)(word % 8 == 0 ? low : word % 8 == 1 ? high : test_between(&state, low, high));
}

/* ---- photons --------------------------------------------------------------------------------- */

static ice_photon any_photon(void)
{
    ice_photon photon = {.x = any_float(-2000, 2000),
                         .y = any_float(-2000, 2000),
                         .z = any_float(-2000, 2000),
                         .path = any_float(0, 1e5),
                         .dx = any_float(-1, 1),
                         .dy = any_float(-1, 1),
                         .dz = any_float(-1, 1),
                         .absorption = any_float(0, 17),
                         .wavelength = any_float(250, 700),
                         .emission = any_word(),
                         .photon_id = any_word(),
                         .scatters = any_word() % 1000000001};
    photon.emission = photon.emission == ICS_NOBODY ? 0 : photon.emission;
    return photon;
}

static void same_photon(const ice_photon *a, const ice_photon *b)
{
    ck_assert_mem_eq(a, b, sizeof *a);
}

START_TEST(a_photon_comes_back)
{
    for (int i = 0; i < TRIALS; ++i) {
        const ice_photon photon = any_photon();
        const bool waits = i % 2;
        const gpu_photon_words words = gpu_photon_pack(&photon, waits);
        const ice_photon back = gpu_photon_unpack(words);
        same_photon(&back, &photon);
        ck_assert(!gpu_is_vacant(words.identity));
        ck_assert(gpu_may_wait(__float_as_uint(words.identity.x),
                               __float_as_uint(words.identity.w)) == waits);
    }
    ck_assert(gpu_is_vacant(gpu_identity_vacant()));
}
END_TEST

/* A photon of wavefront in the words of its slot and in its identity. */
static ice_photon photon_of(gpu_wave_words words, ics_word identity, uint32_t wave)
{
    return gpu_wave_identify(identity, wave, gpu_wave_unpack(words));
}

START_TEST(a_photon_of_wavefront_comes_back_in_a_later_wave)
{
    for (int i = 0; i < TRIALS; ++i) {
        const ice_photon photon = any_photon();
        const ice_random random = {(uint64_t)any_word() << 32 | any_word()};
        const uint32_t wave = any_word(), waves = any_word() % 1000, waits = any_word() % 3;
        const gpu_wave_words words = gpu_wave_pack(&photon, random);
        ics_word identity = gpu_wave_identity_pack(&photon, wave);
        ck_assert(!gpu_is_vacant(identity));
        ck_assert(!gpu_wave_waits(identity));
        ck_assert(gpu_wave_random(words).state == random.state);
        ck_assert(gpu_way_path(words.way) == photon.path);
        /* Waves in which it waits do not count. */
        for (uint32_t k = 0; k < waits; ++k) {
            identity = gpu_wave_identity_wait(identity);
            ck_assert(gpu_wave_waits(identity));
            ck_assert(gpu_may_wait(__float_as_uint(identity.x), __float_as_uint(identity.w)));
        }
        ice_photon expected = photon;
        expected.scatters += waves;
        ice_photon back = photon_of(words, identity, wave + waves + waits);
        same_photon(&back, &expected);
        if (waits > 0) {
            identity = gpu_wave_identity_end_wait(identity);
            ck_assert(!gpu_wave_waits(identity));
        }
        back = photon_of(words, identity, wave + waves + waits);
        same_photon(&back, &expected);
    }
}
END_TEST

/* The extract of a slot has what propagate needs of the identity. */
START_TEST(an_extract_says_what_the_identity_says)
{
    for (int i = 0; i < TRIALS; ++i) {
        const ice_photon photon = any_photon();
        const uint32_t wave = any_word(), waves = any_word() % 1000;
        ics_word identity = gpu_wave_identity_pack(&photon, wave);
        if (i % 2) {
            identity = gpu_wave_identity_wait(identity);
        }
        const ics_pair extract = gpu_extract_of(identity);
        ck_assert(!gpu_extract_is_vacant(extract));
        const ice_photon expected = gpu_wave_identify(identity, wave + waves, photon);
        const ice_photon back = gpu_extract_unpack(extract, wave + waves, expected);
        same_photon(&back, &expected);
    }
    ck_assert(gpu_extract_is_vacant(gpu_extract_of(gpu_identity_vacant())));
}
END_TEST

/* ---- segments -------------------------------------------------------------------------------- */

/* A bounce at whose end the photon continues. */
static ice_bounce any_bounce(void)
{
    const ice_bounce bounce = {.length = any_float(0, 1e6),
                               .absorption = any_float(ICE_ABSORPTION_END, 17),
                               .height = any_float(-1000, 1000)};
    return bounce;
}

/* A stage of a user may return numbers that are none. The photon goes on, whatever bits the numbers
 * have. */
START_TEST(no_number_looks_like_a_state)
{
    for (int i = 0; i < TRIALS; ++i) {
        ice_bounce bounce = any_bounce();
        bounce.absorption = __uint_as_float(0x7f800001u | any_word());
        bounce.length = __uint_as_float(0x7f800001u | any_word());
        const uint32_t segment = gpu_segment_pack(&bounce);
        ck_assert(gpu_segment_continues(segment));
        ck_assert(!gpu_segment_is_vacant(segment));
        const ice_bounce back = gpu_segment_unpack(segment, bounce.absorption, bounce.height);
        ck_assert(back.length != back.length);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("slot words");
    TCase *tests = tcase_create("round trips");
    tcase_add_checked_fixture(tests, seed, NULL);
    tcase_add_test(tests, a_photon_comes_back);
    tcase_add_test(tests, a_photon_of_wavefront_comes_back_in_a_later_wave);
    tcase_add_test(tests, an_extract_says_what_the_identity_says);
    tcase_add_test(tests, no_number_looks_like_a_state);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
