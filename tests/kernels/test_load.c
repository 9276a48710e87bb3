/* The load of multiprocessors from the begins and ends of blocks, against numbers worked out by
 * hand: blocks one after the other and at the same time, several launches, idle multiprocessors, a
 * tail, and blocks that were overwritten; and from times over a run of many launches.
 *
 * How to join: a new number of ics_load joins in tails_and_idle_processors_are_seen. */
#include "kernels/load.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>

/* A launch from 1000 to 3000 ns on two multiprocessors of four. The first one has two blocks that
 * end at the half and at the end, the second one has two blocks until 3/4. */
#define LAUNCH(at)                                                                                 \
    {(at), (at) + 2000, 0, 0}, {(at), (at) + 1000, 0, 0}, {(at), (at) + 1500, 2, 0},               \
    {                                                                                              \
        (at), (at) + 1500, 2, 0                                                                    \
    }

START_TEST(tails_and_idle_processors_are_seen)
{
    ics_block_span spans[] = {LAUNCH(9000), LAUNCH(1000)};
    ics_load load;
    ics_load_of(spans, COUNT(spans), false, 4, &load);
    ck_assert_uint_eq(load.processors, 4);
    ck_assert_uint_eq(load.launches, 2);
    ck_assert_double_eq_tol(load.seconds, 4e-6, 1e-15);
    ck_assert_double_eq_tol(load.mean, (1.0 + 0.75) / 4, 1e-12);
    ck_assert_double_eq_tol(load.most, 1.0, 1e-12);
    ck_assert_uint_eq(load.most_at, 0);
    ck_assert_double_eq(load.least, 0.0);
    ck_assert_uint_eq(load.least_at, 1);
    for (int i = 0; i < ICS_LOAD_INTERVALS; ++i) {
        ck_assert_double_eq_tol(load.busy[i], i < 15 ? 0.5 : 0.25, 1e-12);
        ck_assert_double_eq_tol(load.blocks[i], i < 10 ? 1.0 : i < 15 ? 0.75 : 0.25, 1e-12);
    }
}
END_TEST

/* Blocks that follow each other on one multiprocessor fill a gap only once, and a block across two
 * parts counts in both. */
START_TEST(blocks_may_follow_each_other)
{
    ics_block_span spans[] = {{0, 1000, 0, 0}, {150, 250, 1, 0}, {225, 325, 1, 0}};
    ics_load load;
    ics_load_of(spans, COUNT(spans), false, 2, &load);
    ck_assert_uint_eq(load.launches, 1);
    ck_assert_double_eq_tol(load.least, 0.175, 1e-12);
    ck_assert_double_eq_tol(load.busy[2], 0.5, 1e-12);  /* 100 to 150 ns */
    ck_assert_double_eq_tol(load.busy[3], 1.0, 1e-12);  /* 150 to 200 ns */
    ck_assert_double_eq_tol(load.busy[6], 0.75, 1e-12); /* 300 to 350 ns, the last block to 325 */
    ck_assert_double_eq_tol(load.blocks[4], (1.0 + 1.0 + 0.5) / 3, 1e-12);
}
END_TEST

/* The first launch is incomplete if older blocks were overwritten. */
START_TEST(a_cut_launch_is_left_out)
{
    ics_block_span spans[] = {LAUNCH(1000), LAUNCH(5000)};
    ics_load load;
    ics_load_of(spans + 3, 5, true, 4, &load);
    ck_assert_uint_eq(load.launches, 1);
    ck_assert_double_eq_tol(load.mean, (1.0 + 0.75) / 4, 1e-12);
    ics_load_of(spans, 4, true, 4, &load);
    ck_assert_uint_eq(load.launches, 0);
    ics_load_of(spans, 0, false, 4, &load);
    ck_assert_uint_eq(load.launches, 0);
}
END_TEST

/* A number that cannot be is left out; a higher one than expected is one more multiprocessor. */
START_TEST(numbers_of_processors_may_be_high)
{
    ics_block_span spans[] = {{0, 100, 5, 0}, {0, 100, ICS_LOAD_PROCESSORS, 0}, {50, 50, 0, 0}};
    ics_load load;
    ics_load_of(spans, COUNT(spans), false, 2, &load);
    ck_assert_uint_eq(load.processors, 6);
    ck_assert_double_eq_tol(load.mean, 1.0 / 6, 1e-12);
}
END_TEST

/* Three launches of 1, 2 and 1 bins in a run of 40 bins, of which the last has only one busy
 * multiprocessor of two. */
START_TEST(many_launches_are_evaluated_over_the_run)
{
    enum { BINS = 40 };
    const unsigned long long bin = 1ull << ICS_BUSY_BIN_SHIFT;
    ics_busy_times *times = calloc(1, sizeof *times);
    ck_assert_ptr_nonnull(times);
    ics_load load;
    ics_load_of_times(times, 2, &load);
    ck_assert_uint_eq(load.launches, 0);
    times->any = (ics_busy_time){.sum = 4 * bin, .begins = 3};
    times->processors[0] = (ics_busy_time){.sum = 4 * bin, .begins = 3};
    times->processors[1] = (ics_busy_time){.sum = 3 * bin, .begins = 2};
    times->any_bins[0] = times->any_bins[10] = times->any_bins[11] = bin;
    times->sum_bins[0] = times->sum_bins[10] = times->sum_bins[11] = 2 * bin;
    times->any_bins[BINS - 1] = times->sum_bins[BINS - 1] = bin;
    ics_load_of_times(times, 2, &load);
    ck_assert(load.of_run);
    ck_assert_uint_eq(load.processors, 2);
    ck_assert_uint_eq(load.launches, 3);
    ck_assert_double_eq_tol(load.seconds, 1e-9 * 4 * (double)bin, 1e-15);
    ck_assert_double_eq_tol(load.most, 1.0, 1e-12);
    ck_assert_double_eq_tol(load.least, 0.75, 1e-12);
    ck_assert_uint_eq(load.least_at, 1);
    ck_assert_double_eq_tol(load.mean, 0.875, 1e-12);
    for (int i = 0; i < ICS_LOAD_INTERVALS; ++i) { /* of two bins each */
        const double expected = i == 0 || i == 5 ? 1.0 : i == 19 ? 0.5 : 0.0;
        ck_assert_double_eq_tol(load.busy[i], expected, 1e-12);
        ck_assert_double_eq(load.blocks[i], 0.0);
    }
    /* A multiprocessor with a higher number than expected is one more. */
    times->processors[4] = (ics_busy_time){.sum = bin, .begins = 1};
    ics_load_of_times(times, 2, &load);
    ck_assert_uint_eq(load.processors, 5);
    free(times);
}
END_TEST

ICS_TEST_MAIN("load")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, tails_and_idle_processors_are_seen);
    tcase_add_test(all, blocks_may_follow_each_other);
    tcase_add_test(all, a_cut_launch_is_left_out);
    tcase_add_test(all, numbers_of_processors_may_be_high);
    tcase_add_test(all, many_launches_are_evaluated_over_the_run);
    suite_add_tcase(suite, all);
}
