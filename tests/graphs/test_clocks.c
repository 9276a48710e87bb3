/* Kernels that measure the time of their stages (kernels/cuda/device/clocks.h) compile for sm_90
 * and need shared memory for it, and kernels that do not measure have no trace of it. The tests
 * need no GPU. They are skipped where NVRTC is missing.
 *
 * How to join: a new schedule joins with its row in graphs/schedule.c. */
#include "graphs/gpu.h"
#include "graphs/schedule.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static ics_gpu_plan *plan_of(const stage_world *world, ics_schedule schedule, bool profile)
{
    const ics_gpu_options options = {
        .schedule = schedule, .variants = world_variants(), .profile = profile, .use_cache = true};
    ics_gpu_plan *plan = NULL;
    icestream_error error = {.status = ICESTREAM_OK};
    const int status = ics_gpu_plan_create(&options, world->tables, 90, &plan, &error);
    if (status == ICESTREAM_E_DEVICE || strstr(error.text, "NVRTC cannot be loaded") != NULL) {
        return NULL; /* this build has no GPU part, or there is no compiler */
    }
    ck_assert_msg(status == ICESTREAM_OK, "%s", error.text);
    return plan;
}

START_TEST(clocks_are_only_in_kernels_that_measure)
{
    stage_world world = stage_world_from_config(NULL, "ice.model=uniform", NULL);
    stage_world_tables(&world);
    for (int i = ICS_SCHEDULE_AUTO + 1; i < ICS_SCHEDULE_COUNT; ++i) {
        const bool loops = ics_schedule_can_profile((ics_schedule)i);
        ics_gpu_plan *without = plan_of(&world, (ics_schedule)i, false);
        ics_gpu_plan *with = plan_of(&world, (ics_schedule)i, true);
        if (without == NULL || with == NULL) {
            test_skip("kernels cannot be compiled here");
            break;
        }
        ck_assert_uint_eq(with->kernel_count, without->kernel_count);
        for (size_t k = 0; k < with->kernel_count; ++k) {
            const uint32_t bytes = without->kernels[k].resources.shared_bytes;
            const uint32_t more = with->kernels[k].resources.shared_bytes;
            /* Six sums, two readings and a stage; the kernels of a loop are timed from outside. */
            ck_assert_msg(loops ? more == bytes : more >= bytes + 60 && more <= bytes + 80,
                          "%s: %u bytes, %u with clocks", with->kernels[k].resources.name, bytes,
                          more);
        }
        ics_gpu_plan_destroy(without);
        ics_gpu_plan_destroy(with);
    }
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("clocks")
{
    TCase *tests = tcase_create("clocks");
    tcase_add_test(tests, clocks_are_only_in_kernels_that_measure);
    suite_add_tcase(suite, tests);
}
