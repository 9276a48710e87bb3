/* Workloads of `icestream generate` and `icestream bench`.
 *
 * Promise: workloads have the steps that their formulas give. Expected numbers are the check values
 * of the README of the clsim reference; numbers of other steps were computed with the same
 * formulas. To join: a new kind of workload gets a test with check values of its steps.
 */
#include "tests/commands/workload_config.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1048576 };

static double theta(const icestream_step *step)
{
    return atan2(hypot(step->dx, step->dy), step->dz);
}

static double phi(const icestream_step *step)
{
    double angle = atan2(step->dy, step->dx);
    return angle < 0 ? angle + 2 * M_PI : angle;
}

/* Single precision of z = -407 is 3e-5, of t = 23 is 2e-6; of a direction 6e-8, and phi of a
 * direction that is 0.1 away from the axis 1e-6. */
START_TEST(cascade_check_values)
{
    icestream_config config = make_config(ICS_WORKLOAD_CASCADE, N);
    ics_workload *workload = make_workload(&config);
    icestream_step step = make_step(workload, 0);
    ck_assert_double_eq_tol(step.z, -406.882782, 3e-5);
    ck_assert_double_eq_tol(step.t, 22.9585209, 2e-6);
    ck_assert_double_eq_tol(theta(&step), 3.04439712, 2e-7);
    ck_assert_double_eq_tol(phi(&step), 4.98882771, 2e-6);
    ck_assert_double_eq(step.x, 0);
    ck_assert_double_eq(step.y, 0);
    ck_assert_double_eq_tol(step.length, 0.001, 1e-10);
    ck_assert_double_eq(step.beta, 1);
    ck_assert_double_eq(step.weight, 1);
    ck_assert_uint_eq(step.photons, 200);
    ck_assert_uint_eq(step.kind, ICESTREAM_KIND_CASCADE);
    ck_assert_uint_eq(step.spectrum, 0);
    ck_assert_uint_eq(step.flags, ICESTREAM_STEP_NOT_THINNED);
    step = make_step(workload, 1);
    ck_assert_double_eq_tol(step.z, -404.300232, 3e-5);
    ck_assert_double_eq_tol(theta(&step), 3.04367256, 2e-7);
    ck_assert_double_eq_tol(phi(&step), 0.300972015, 2e-6);
    ck_assert_uint_eq(step.step_id, 1);
    ics_workload_destroy(workload);
}
END_TEST

START_TEST(uniform_check_values)
{
    icestream_config config = make_config(ICS_WORKLOAD_UNIFORM, N);
    ics_workload *workload = make_workload(&config);
    icestream_step step = make_step(workload, 0);
    ck_assert_double_eq_tol(step.x, 66.5615768, 8e-6);
    ck_assert_double_eq_tol(step.y, 245.781754, 2e-5);
    ck_assert_double_eq_tol(step.z, 471.002747, 4e-5);
    ck_assert_double_eq(step.t, 0);
    ck_assert_double_eq_tol(theta(&step), 1.68230891, 2e-7);
    ck_assert_double_eq_tol(phi(&step), 2.79139733, 2e-7);
    step = make_step(workload, N - 1);
    ck_assert_uint_eq(step.step_id, N - 1);
    ck_assert_uint_eq(step.source_id, N - 1);
    ics_workload_destroy(workload);
}
END_TEST

START_TEST(shuffled_check_values)
{
    icestream_config config = make_config(ICS_WORKLOAD_CASCADE, N);
    config.workload.counts = ICS_COUNTS_SHUFFLED;
    ics_workload *workload = make_workload(&config);
    ck_assert_uint_eq(make_step(workload, 0).photons, 246);
    ck_assert_uint_eq(make_step(workload, 1).photons, 113);
    ck_assert_uint_eq(make_step(workload, N - 1).photons, 224);
    icestream_step *steps = calloc(N, sizeof *steps);
    ck_assert_ptr_nonnull(steps);
    ics_workload_fill(workload, 0, N, steps);
    uint64_t sums[2] = {0, 0};
    uint32_t least[2] = {UINT32_MAX, UINT32_MAX};
    uint32_t most[2] = {0, 0};
    for (size_t i = 0; i < N; ++i) {
        size_t half = i / (N / 2);
        sums[half] += steps[i].photons;
        least[half] = steps[i].photons < least[half] ? steps[i].photons : least[half];
        most[half] = steps[i].photons > most[half] ? steps[i].photons : most[half];
    }
    ck_assert_uint_eq(sums[0], 104696641);
    ck_assert_uint_eq(sums[0] + sums[1], 209715200);
    ck_assert_uint_eq(ics_workload_photons(workload), 209715200);
    ck_assert_uint_eq(least[0], 20);
    ck_assert_uint_eq(most[0], 379);
    ck_assert_uint_eq(least[1], 21); /* 400 minus the counts of the first half */
    ck_assert_uint_eq(most[1], 380);
    free(steps);
    ics_workload_destroy(workload);
}
END_TEST

START_TEST(shuffled_odd_and_large)
{
    /* Five steps are two pairs and a last step, which keeps its count. The total does not change,
     * also with the largest counts. */
    icestream_config config = make_config(ICS_WORKLOAD_UNIFORM, 5);
    config.workload.counts = ICS_COUNTS_SHUFFLED;
    config.workload.photons_per_step = 1000000000;
    ics_workload *workload = make_workload(&config);
    icestream_step steps[5];
    ics_workload_fill(workload, 0, 5, steps);
    uint64_t sum = 0;
    for (int i = 0; i < 5; ++i) {
        sum += steps[i].photons;
    }
    ck_assert_uint_eq(sum, UINT64_C(5000000000));
    ck_assert_uint_eq(steps[4].photons, 1000000000);
    ck_assert_uint_eq((uint64_t)steps[1].photons + steps[3].photons, 2000000000);
    ics_workload_destroy(workload);
}
END_TEST

START_TEST(steps_do_not_depend_on_the_blocks)
{
    icestream_config config = make_config(ICS_WORKLOAD_CASCADE, 1000);
    config.workload.counts = ICS_COUNTS_SHUFFLED;
    ics_workload *workload = make_workload(&config);
    icestream_step whole[1000];
    icestream_step pieces[1000];
    ics_workload_fill(workload, 0, 1000, whole);
    for (size_t first = 0; first < 1000; first += 8) {
        ics_workload_fill(workload, first, 8, pieces + first);
    }
    ck_assert_mem_eq(whole, pieces, sizeof whole);
    ics_workload_destroy(workload);
}
END_TEST

START_TEST(point)
{
    icestream_config config = make_config(ICS_WORKLOAD_POINT, 3);
    config.workload.position[0] = 1.5;
    config.workload.position[1] = -2.5;
    config.workload.position[2] = 300;
    config.workload.time = 12.5;
    config.workload.event = UINT64_MAX;
    config.workload.spectrum = 3;
    config.workload.isotropic = true;
    ics_workload *workload = make_workload(&config);
    icestream_step step = make_step(workload, 2);
    icestream_step expected = {.x = 1.5F,
                               .y = -2.5F,
                               .z = 300,
                               .t = 12.5F,
                               .dz = 1,
                               .beta = 1,
                               .weight = 1,
                               .photons = 200,
                               .event_id = UINT64_MAX,
                               .step_id = 2,
                               .kind = ICESTREAM_KIND_POINT,
                               .spectrum = 3,
                               .flags = ICESTREAM_STEP_ISOTROPIC | ICESTREAM_STEP_NOT_THINNED};
    ck_assert_mem_eq(&step, &expected, sizeof step);
    ics_workload_destroy(workload);

    config.workload.surface_radius = 0.1651;
    workload = make_workload(&config);
    step = make_step(workload, 2);
    expected.length = 0.1651F;
    expected.kind = ICESTREAM_KIND_FLASHER;
    ck_assert_mem_eq(&step, &expected, sizeof step);
    ics_workload_destroy(workload);

    /* Directed light has no sphere to start from, and its direction is normalised. */
    config.workload.isotropic = false;
    config.workload.direction[0] = 3;
    config.workload.direction[2] = -4;
    workload = make_workload(&config);
    step = make_step(workload, 2);
    ck_assert_float_eq(step.dx, 0.6F);
    ck_assert_float_eq(step.dy, 0);
    ck_assert_float_eq(step.dz, -0.8F);
    ck_assert_float_eq(step.length, 0);
    ck_assert_uint_eq(step.flags, ICESTREAM_STEP_NOT_THINNED);
    ics_workload_destroy(workload);
}
END_TEST

START_TEST(point_without_direction)
{
    icestream_config config = make_config(ICS_WORKLOAD_POINT, 1);
    icestream_error error = {0};
    ics_workload *workload = NULL;
    ck_assert_int_eq(ics_workload_create(&config, &workload, &error), ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(error.text, "workload.direction: found [0, 0, 0]"));
    ck_assert_ptr_null(workload);
}
END_TEST

ICS_TEST_MAIN("workload")
{
    TCase *formulas = tcase_create("workloads");
    tcase_add_test(formulas, cascade_check_values);
    tcase_add_test(formulas, uniform_check_values);
    tcase_add_test(formulas, shuffled_check_values);
    tcase_add_test(formulas, shuffled_odd_and_large);
    tcase_add_test(formulas, steps_do_not_depend_on_the_blocks);
    tcase_add_test(formulas, point);
    tcase_add_test(formulas, point_without_direction);
    suite_add_tcase(suite, formulas);
}
