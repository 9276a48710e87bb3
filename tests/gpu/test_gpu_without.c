/* What `bench/impact.py random` and `divergence` measure: kernels that leave something out
 * still compute every photon to its end, with nearly as many bounces as the kernels of a run.
 *
 * How to join: a new schedule joins with its row in graphs/schedule.c, a new ics_without with its
 * constant. */
#include "tests/gpu/gpu_light.h"

#include <stdio.h>
#include <stdlib.h>

enum { PHOTONS = 2000000, LEAST = 500000 };

static stage_world world;
static ice_emission *emissions;
static size_t emission_count;

static void prepare(void)
{
    world = gpu_place_create(GPU_PLACE_PLAIN);
    emissions = gpu_light_create(GPU_LIGHT_ISOTROPIC, gpu_scaled(PHOTONS, LEAST), &emission_count);
}

static void clean_up(void)
{
    free(emissions);
    stage_world_destroy(&world);
}

static ice_account run(ics_schedule schedule, ics_without without)
{
    ics_gpu_options options = gpu_options(schedule, ICS_MATH_FAST);
    options.without = without;
    const gpu_load load = {.emissions = emissions, .count = emission_count};
    world_result result = gpu_run(&world, &options, &load);
    const ice_account account = result.account;
    world_result_free(&result);
    return account;
}

/* Without divergence there are 32 times fewer different photons, of which at least 15,000. The
 * bounces of a photon vary by about as much as their mean, so that the mean varies by 1 %. */
START_TEST(photons_have_as_many_bounces)
{
    if (gpu_is_of_another_part(_i)) {
        return;
    }
    const ics_schedule schedule = gpu_schedules[_i];
    const ice_account expected = run(schedule, ICS_WITHOUT_NOTHING);
    for (int i = ICS_WITHOUT_RANDOM; i <= ICS_WITHOUT_DIVERGENCE; ++i) {
        const ice_account found = run(schedule, (ics_without)i);
        ck_assert_uint_eq(found.created, expected.created);
        ck_assert_uint_eq(found.absorbed + found.detected + found.left + found.stopped,
                          found.created);
        const double ratio = (double)found.bounces / (double)expected.bounces;
        ck_assert_msg(ratio > 0.9 && ratio < 1.1, "%s, without %d: %g times the bounces",
                      ics_graph_schedule_name(schedule), i, ratio);
        ck_assert_uint_ne(found.bounces, expected.bounces);
        printf("%s, without %d: %g times the bounces\n", ics_graph_schedule_name(schedule), i,
               ratio);
        fflush(stdout);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpu without");
    TCase *tests = tcase_create("without");
    tcase_add_unchecked_fixture(tests, prepare, clean_up);
    tcase_add_loop_test(tests, photons_have_as_many_bounces, 0, GPU_SCHEDULES);
    suite_add_tcase(suite, tests);
    return gpu_suite_run(suite);
}
