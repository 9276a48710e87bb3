/* The settings of single kernels (graph.tune): names, and which settings can work.
 *
 * Promises: every name belongs to a kernel, settings that a multiprocessor has no
 * room for are refused with their reason, and all others are accepted. To join: a new kernel is a
 * line in graphs/tune.h. */
#include "graphs/schedule.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

START_TEST(every_name_is_a_kernel)
{
    for (int i = 0; i < ICS_TUNED_COUNT; ++i) {
        const ics_tuned_kernel kernel = (ics_tuned_kernel)i;
        ics_tuned_kernel found;
        char name[64];
        snprintf(name, sizeof name, "gpu_%s", ics_tune_word(kernel));
        ck_assert(ics_tune_find(name, &found) && found == kernel);
        ck_assert(ics_tune_find(ics_tune_word(kernel), &found) && found == kernel);
        bool has = kernel == ICS_TUNED_TABLE; /* no schedule has the kernel for tables */
        for (int k = ICS_SCHEDULE_AUTO + 1; k < ICS_SCHEDULE_COUNT; ++k) {
            const ics_gpu_schedule *row = ics_schedule_row((ics_schedule)k);
            if (ics_schedule_has(row, kernel)) {
                has = true;
                ck_assert_uint_ge(ics_schedule_block_of(kernel), row->block);
            }
        }
        ck_assert_msg(has, "%s", name);
    }
    ics_tuned_kernel found;
    ck_assert(!ics_tune_find("stamp", &found));
    ck_assert_str_eq(ics_tune_constant(ICS_TUNED_SCATTER_PROPAGATE), "SCATTER_PROPAGATE");
}
END_TEST

/* A multiprocessor has 65,536 registers, of which a warp takes 256 at a time, and 2048 threads. */
START_TEST(blocks_that_fit)
{
    ck_assert_uint_eq(ics_tune_fitting_blocks(256, 80), 3);
    ck_assert_uint_eq(ics_tune_fitting_blocks(256, 81), 2); /* 88 registers */
    ck_assert_uint_eq(ics_tune_fitting_blocks(256, 64), 4);
    ck_assert_uint_eq(ics_tune_fitting_blocks(1024, 64), 1);
    ck_assert_uint_eq(ics_tune_fitting_blocks(1024, 65), 0);
    ck_assert_uint_eq(ics_tune_fitting_blocks(256, 24), 8); /* threads limit */
    ck_assert_uint_eq(ics_tune_fitting_blocks(32, 24), 32); /* blocks limit */
}
END_TEST

static const struct {
    ics_tuned_kernel kernel;
    ics_kernel_tune settings;
    uint32_t threads;
    const char *reason; /* a part of it; NULL: the settings fit */
} cases[] = {
    {ICS_TUNED_MONOLITHIC, {256, 3, 80}, 0, NULL},
    {ICS_TUNED_MONOLITHIC, {608, 0, 0}, 0, NULL},
    {ICS_TUNED_MONOLITHIC, {640, 0, 0}, 0, "found 640 threads, expected at most 608"},
    {ICS_TUNED_WARP_WAVEFRONT, {320, 0, 0}, 0, NULL},
    {ICS_TUNED_WARP_WAVEFRONT, {352, 0, 0}, 0, "found 352 threads, expected at most 320"},
    {ICS_TUNED_FLY, {480, 0, 0}, 0, NULL},
    {ICS_TUNED_FLY, {512, 0, 0}, 0, "found 512 threads, expected at most 480"},
    {ICS_TUNED_CREATE, {1024, 2, 0}, 0, NULL},
    {ICS_TUNED_COLLIDE, {1024, 0, 0}, 0, NULL},
    {ICS_TUNED_PROPAGATE, {0, 8, 0}, 256, NULL},
    {ICS_TUNED_PROPAGATE, {0, 9, 0}, 256, "found 9 blocks of 256 threads, expected at most 8"},
    {ICS_TUNED_SCATTER, {512, 1, 128}, 0, NULL},
    {ICS_TUNED_SCATTER,
     {512, 0, 136},
     0,
     "found 136 registers for each of 1 x 512 threads, "
     "expected at most 128"},
    {ICS_TUNED_SCATTER,
     {0, 3, 88},
     256,
     "found 88 registers for each of 3 x 256 threads, "
     "expected at most 80"},
    {ICS_TUNED_TABLE, {1024, 0, 0}, 0, NULL},
};

START_TEST(settings_that_can_work)
{
    char reason[256] = "";
    const bool fits = ics_tune_fits(cases[_i].kernel, &cases[_i].settings, cases[_i].threads,
                                    reason, sizeof reason);
    ck_assert_int_eq(fits, cases[_i].reason == NULL);
    if (!fits) {
        ck_assert_msg(strstr(reason, cases[_i].reason) != NULL, "%s", reason);
    }
}
END_TEST

START_TEST(common_multiples)
{
    ics_tune tune = {0};
    ck_assert_uint_eq(ics_tune_common_multiple(&tune), 1);
    tune.kernels[ICS_TUNED_PROPAGATE].threads = 192;
    tune.kernels[ICS_TUNED_SCATTER].threads = 256;
    ck_assert_uint_eq(ics_tune_common_multiple(&tune), 768);
    tune.kernels[ICS_TUNED_MONOLITHIC].threads = 224; /* shares its pool with no other kernel */
    ck_assert_uint_eq(ics_tune_common_multiple(&tune), 768);
    const uint32_t primes[] = {31, 29, 27, 25, 23, 32}; /* the largest possible multiple */
    for (int i = ICS_TUNED_CREATE; i <= ICS_TUNED_FLY; ++i) {
        tune.kernels[i].threads = 32 * primes[i];
    }
    ck_assert_uint_eq(ics_tune_common_multiple(&tune), UINT64_C(32) * 31 * 29 * 27 * 25 * 23 * 32);
}
END_TEST

ICS_TEST_MAIN("tune")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, every_name_is_a_kernel);
    tcase_add_test(all, blocks_that_fit);
    tcase_add_loop_test(all, settings_that_can_work, 0, COUNT(cases));
    tcase_add_test(all, common_multiples);
    suite_add_tcase(suite, all);
}
