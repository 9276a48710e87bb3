/* Hits that a GPU replays have the weights, layers and derivatives of the CPU's replay, bit by bit
 * with portable maths, and are found on the paths of their photons.
 *
 * How to join: a new feature of the ice joins in replay_places (tests/support/replay_check.h). */
#include "tests/gpu/gpu_world.h"
#include "tests/support/replay_check.h"

START_TEST(gpu_replays_as_the_cpu)
{
    const ics_gpu_options options = gpu_options(ICS_SCHEDULE_MONOLITHIC, ICS_MATH_PORTABLE);
    replay_sample sample = replay_sample_create(&replay_places[_i]);
    replay_sample_check(&sample, true, &options);
    replay_sample_check(&sample, false, &options);
    replay_sample_free(&sample);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpu_replay");
    TCase *tests = tcase_create("gpu_replay");
    tcase_set_timeout(tests, 600);
    tcase_add_loop_test(tests, gpu_replays_as_the_cpu, 0, REPLAY_PLACES);
    suite_add_tcase(suite, tests);
    return gpu_suite_run(suite);
}
