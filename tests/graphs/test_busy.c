/* The busy time counts every moment in which at least one lane computed, and counts it once, in any
 * order of the reports.
 *
 * How to join: add one test for each new rule of graphs/busy.h. */
#include "graphs/cuda/busy.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>

START_TEST(late_reports_fill_gaps)
{
    ics_busy busy = {.count = 0};
    ck_assert(ics_busy_seconds(&busy) == 0.0);
    /* Two lanes compute in turn. All spans of the first lane are reported before those of the
     * second. */
    ics_busy_add(&busy, 0, 8);
    ics_busy_add(&busy, 20, 28);
    ics_busy_add(&busy, 4, 12);
    ics_busy_add(&busy, 12, 20);
    ck_assert(ics_busy_seconds(&busy) == 28.0);
    ics_busy_add(&busy, 1, 27);
    ics_busy_add(&busy, 30, 30);
    ics_busy_add(&busy, 31, 30);
    ck_assert(ics_busy_seconds(&busy) == 28.0);
    ck_assert_uint_eq(busy.count, 1);
}
END_TEST

/* Compares with a calendar of ticks. The lane that is furthest behind reports next, up to `late`
 * spans at once. */
START_TEST(every_moment_counts_once)
{
    enum { LANES = 4, TICKS = 20000 };
    static char calendar[TICKS + 64];
    const int late = (int[]){1, 3, 6}[_i];
    srand(17);
    for (size_t i = 0; i < sizeof calendar; ++i) {
        calendar[i] = 0;
    }
    ics_busy busy = {.count = 0};
    int at[LANES] = {0};
    for (;;) {
        int lane = 0;
        for (int i = 1; i < LANES; ++i) {
            lane = at[i] < at[lane] ? i : lane;
        }
        if (at[lane] >= TICKS) {
            break;
        }
        for (int k = 0; k < 1 + rand() % late && at[lane] < TICKS; ++k) {
            const int begin = at[lane] + rand() % 9, end = begin + rand() % 5;
            ics_busy_add(&busy, begin, end);
            for (int tick = begin; tick < end; ++tick) {
                calendar[tick] = 1;
            }
            at[lane] = end;
        }
    }
    double expected = 0;
    for (size_t i = 0; i < sizeof calendar; ++i) {
        expected += calendar[i];
    }
    ck_assert(ics_busy_seconds(&busy) == expected);
    ck_assert_uint_le(busy.count, ICS_BUSY_SPANS);
}
END_TEST

ICS_TEST_MAIN("busy")
{
    TCase *tests = tcase_create("busy");
    tcase_add_test(tests, late_reports_fill_gaps);
    tcase_add_loop_test(tests, every_moment_counts_once, 0, 3);
    suite_add_tcase(suite, tests);
}
