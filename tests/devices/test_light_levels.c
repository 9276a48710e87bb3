/* Promise: photons count in the level of the middle of their step, those outside of all levels
 * count apart, and the levels of batches add up.
 *
 * How to join: a new kind of step is a row of `cases`. */
#include "pipeline/photons/devices/light_levels.h"
#include "tests/support/test_main.h"

#include <check.h>

enum { BELOW = -1, ABOVE = ICS_LIGHT_LEVELS };

/* Level 0 begins at -1000 m, and a level is 25 m high. */
static const struct {
    icestream_step step;
    int level;
} cases[] = {
    {{.z = -1000, .flags = ICESTREAM_STEP_ISOTROPIC}, 0},
    {{.z = -975.01f, .flags = ICESTREAM_STEP_ISOTROPIC, .length = 100, .dz = 1}, 0},
    {{.z = -1000.01f, .flags = ICESTREAM_STEP_ISOTROPIC}, BELOW},
    {{.z = 999.9f, .flags = ICESTREAM_STEP_ISOTROPIC}, ICS_LIGHT_LEVELS - 1},
    {{.z = 1000, .flags = ICESTREAM_STEP_ISOTROPIC}, ABOVE},
    {{.z = 0, .length = 100, .dz = -1}, 38}, /* the middle is at -50 m */
    {{.z = 0, .length = 100, .dz = 0.5f}, 41},
};

START_TEST(photons_count_at_the_middle_of_their_step)
{
    icestream_step steps[COUNT(cases)];
    ice_emission emissions[COUNT(cases)] = {{0}};
    ics_light_levels expected = {0}, found, sum = {0};
    for (uint32_t i = 0; i < COUNT(cases); ++i) {
        steps[i] = cases[i].step;
        emissions[i].photons = 10 + i;
        *(cases[i].level == BELOW   ? &expected.below
          : cases[i].level == ABOVE ? &expected.above
                                    : &expected.photons[cases[i].level]) += 10 + i;
    }
    found.below = 7; /* what was there is replaced */
    ics_light_levels_count(&found, steps, emissions, COUNT(cases));
    ck_assert_mem_eq(&found, &expected, sizeof found);
    ics_light_levels_add(&sum, &found);
    ics_light_levels_add(&sum, &found);
    ck_assert_uint_eq(sum.below, 2 * expected.below);
    ck_assert_uint_eq(sum.above, 2 * expected.above);
    for (int i = 0; i < ICS_LIGHT_LEVELS; ++i) {
        ck_assert_uint_eq(sum.photons[i], 2 * expected.photons[i]);
    }
}
END_TEST

ICS_TEST_MAIN("light levels")
{
    TCase *tests = tcase_create("light levels");
    tcase_add_test(tests, photons_count_at_the_middle_of_their_step);
    suite_add_tcase(suite, tests);
}
