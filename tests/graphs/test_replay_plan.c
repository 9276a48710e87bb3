/* The kernels that replay photons compile for a GPU that is not here: every kind of ice, every wish
 * and both maths, though not each with each, because a kernel takes seconds. Skipped where no
 * kernels can be made.
 *
 * How to join: a new feature of the ice joins in replay_places, a new wish in `kernels`. */
#include "graphs/gpu_replay.h"
#include "tests/support/replay_check.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <string.h>

enum { ARCHITECTURE = 90 };

static const struct {
    int place; /* in replay_places */
    ics_math math;
    bool targets, sums, angles, points;
} kernels[] = {
    {0, ICS_MATH_PORTABLE, true, false, true, false},
    {1, ICS_MATH_FAST, false, true, false, false},
    {2, ICS_MATH_PORTABLE, true, true, true, false},
    {2, ICS_MATH_FAST, false, false, false, true},
};

START_TEST(replay_compiles)
{
    replay_sample sample = replay_sample_create(&replay_places[kernels[_i].place]);
    const ics_gpu_replay_target target = {sample.others[1].tables, world_variants().scatter, true};
    const ics_gpu_options options = {.variants = world_variants(), .math = kernels[_i].math};
    const ics_gpu_replay_wish wish = {.targets = &target,
                                      .target_count = kernels[_i].targets,
                                      .sums = kernels[_i].sums,
                                      .own_angles = kernels[_i].angles,
                                      .profiles = true,
                                      .points = kernels[_i].points};
    ics_kernel_resources kernel;
    icestream_error error = {.text = ""};
    const int status =
        ics_gpu_replay_plan(&options, sample.world.tables, &wish, ARCHITECTURE, &kernel, &error);
    replay_sample_free(&sample);
    if (status == ICESTREAM_E_DEVICE || strstr(error.text, "NVRTC cannot be loaded") != NULL) {
        test_skip("%s", error.text);
        return;
    }
    ck_assert_msg(status == ICESTREAM_OK, "%s", error.text);
    ck_assert_uint_gt(kernel.registers, 0);
}
END_TEST

ICS_TEST_MAIN("replay plan")
{
    TCase *tests = tcase_create("replay plan");
    tcase_add_loop_test(tests, replay_compiles, 0, COUNT(kernels));
    suite_add_tcase(suite, tests);
}
