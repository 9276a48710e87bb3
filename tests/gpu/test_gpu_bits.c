/* The stage headers give the same bits on a GPU as on a CPU (portable maths, design.md 3). */
#include "tests/gpu/carry.h"
#include "tests/support/stage_world.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 500, PHOTONS = 200, CAPACITY = 1 << 18 };

/* Steps around the detector's centre: cones, beams and isotropic light. */
static void make_emissions(ice_emission *emissions)
{
    for (uint32_t i = 0; i < STEPS; ++i) {
        ice_emission emission = {.x = -400.0f + 1.6f * (float)i,
                                 .y = 250.0f - 1.1f * (float)i,
                                 .z = 450.0f - 1.8f * (float)i,
                                 .length = 0.1f * (float)(i % 7),
                                 .dx = 0.6f,
                                 .dy = i % 2 ? 0.0f : 0.8f,
                                 .dz = i % 2 ? -0.8f : 0.0f,
                                 .beta = 1.0f - 0.0001f * (float)(i % 50),
                                 .event_low = i % 3,
                                 .event_high = i % 5,
                                 .step_id = i,
                                 .photons = PHOTONS,
                                 .spectrum = i % 4 ? 0 : i % 5,
                                 .flags = i % 3 == 2 ? ICE_EMISSION_ISOTROPIC : 0};
        emissions[i] = emission;
    }
}

static void compare_with_cpu(const char *first, const char *second)
{
    stage_world world = stage_world_from_config(NULL, first, second, NULL);
    stage_world_tables(&world);
    ice_emission *emissions = malloc(STEPS * sizeof *emissions);
    is_arrivals gpu = {malloc(CAPACITY * sizeof(ice_arrival)), 0, CAPACITY};
    ck_assert(emissions && gpu.items);
    make_emissions(emissions);

    uint32_t arrived = 0;
    uint64_t bounces = 0;
    char why[256] = "";
    ck_assert_msg(is_gpu_carry(&world.tables->device, world.tables->memory, world.tables->bytes,
                               emissions, STEPS, PHOTONS, gpu.items, CAPACITY, &arrived, &bounces,
                               why, sizeof why) == 0,
                  "%s", why);
    ck_assert_uint_le(arrived, CAPACITY);
    gpu.count = arrived;
    world_sort(&gpu);

    const ice_variants variants = world_variants();
    world_result cpu =
        world_run(&world, IS_SCHEDULE_WAVEFRONT, &variants, "auto", 0, emissions, STEPS);
    printf("%s, %s: %zu arrivals, %llu bounces on the CPU, %u and %llu on the GPU\n", first, second,
           cpu.arrivals.count, (unsigned long long)cpu.account.bounces, arrived,
           (unsigned long long)bounces);
    ck_assert_uint_gt(arrived, 20);
    ck_assert_uint_eq(arrived, cpu.arrivals.count);
    ck_assert_uint_eq(bounces, cpu.account.bounces);
    ck_assert_mem_eq(gpu.items, cpu.arrivals.items, arrived * sizeof *gpu.items);
    world_result_free(&cpu);
    is_arrivals_free(&gpu);
    free(emissions);
    stage_world_destroy(&world);
}

START_TEST(arrivals_have_the_same_bits)
{
    compare_with_cpu("detector.oversize=5", "detector.keep_hit_photons=false");
}
END_TEST

START_TEST(arrivals_of_photons_that_go_on_have_the_same_bits)
{
    compare_with_cpu("detector.oversize=16", "detector.keep_hit_photons=true");
}
END_TEST

START_TEST(arrivals_in_uniform_ice_have_the_same_bits)
{
    compare_with_cpu("ice.model=uniform", "detector.oversize=5");
}
END_TEST

int main(void)
{
    if (is_gpu_devices() == 0) {
        printf("skipped: no device\n");
        return 77; /* CTest reports the suite as skipped */
    }
    Suite *suite = suite_create("gpu bits");
    TCase *tests = tcase_create("portable maths");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, arrivals_have_the_same_bits);
    tcase_add_test(tests, arrivals_of_photons_that_go_on_have_the_same_bits);
    tcase_add_test(tests, arrivals_in_uniform_ice_have_the_same_bits);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK); /* a CUDA context does not survive fork() */
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
