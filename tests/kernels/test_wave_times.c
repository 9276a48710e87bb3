/* Promises of kernels/wave_times.h: every length of a wave has a span that contains it, and every
 * number of photons a bin. They end where the next one begins. The median is in the one that has
 * it, and the records of several lanes add up.
 *
 * How to join: a new number of ics_wave_clock joins the test that adds two lanes. */
#include "kernels/wave_times.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

/* The time (ns) at which a span begins. */
static double begin_of(uint32_t span)
{
    return ldexp(1.0 + (span % 8) / 8.0, ICS_WAVE_SPANS_FIRST + (int)(span / 8));
}

START_TEST(span_contains_the_time)
{
    unsigned long long time = 512;
    for (int i = 0; i < 3000 && (double)time < begin_of(ICS_WAVE_SPANS - 1); ++i) {
        const uint32_t span = gpu_wave_span_of(time);
        ck_assert_double_le(begin_of(span), (double)time);
        ck_assert_double_lt((double)time, begin_of(span + 1));
        time += 1 + time / 177;
    }
    ck_assert_uint_eq(gpu_wave_span_of(0), 0);
    ck_assert_uint_eq(gpu_wave_span_of(511), 0);
    ck_assert_uint_eq(gpu_wave_span_of(~0ull), ICS_WAVE_SPANS - 1);
}
END_TEST

START_TEST(edges)
{
    const ics_wave_times shorter = {.waves = 1, .longest = 2e-3};
    ck_assert_double_eq(ics_wave_times_edge(&shorter, 0), 0.0);
    for (uint32_t span = 1; span <= ICS_WAVE_SPANS; ++span) {
        const double edge = ics_wave_times_edge(&shorter, span);
        ck_assert_double_eq_tol(edge, 1e-9 * begin_of(span), 1e-15 * begin_of(span));
        /* Times (ns) just below and at the edge are in the spans on both sides. */
        const unsigned long long time = (unsigned long long)begin_of(span);
        ck_assert_uint_eq(gpu_wave_span_of(time - 1), span - 1);
        ck_assert_uint_eq(gpu_wave_span_of(time), span < ICS_WAVE_SPANS ? span : span - 1);
    }
    /* The last span has waves that are longer than its own end. */
    const ics_wave_times longer = {.waves = 1, .longest = 20.0};
    ck_assert_double_eq(ics_wave_times_edge(&longer, ICS_WAVE_SPANS), 20.0);
    ck_assert_double_eq(ics_wave_times_edge(&longer, ICS_WAVE_SPANS - 1),
                        ics_wave_times_edge(&shorter, ICS_WAVE_SPANS - 1));
}
END_TEST

START_TEST(lanes_add_up)
{
    ics_wave_clock lanes[2] = {
        {.stages = {1000, 0, 0, 0, 0, 7000}, .waves = 3, .sum = 6000, .longest = 4000},
        {.stages = {2000}, .waves = 2, .sum = 9000, .longest = 8000}};
    lanes[0].spans[8] = 3;
    lanes[1].spans[32] = 2;
    gpu_wave_wait_add(&lanes[0].waits[ICS_WAIT_SLOT], 0);
    gpu_wave_wait_add(&lanes[0].waits[ICS_WAIT_SLOT], 1000);
    gpu_wave_wait_add(&lanes[0].waits[ICS_WAIT_HITS], 7);
    gpu_wave_wait_add(&lanes[1].waits[ICS_WAIT_SLOT], 3000);
    double stages[6] = {0};
    ics_wave_times times = {0};
    ck_assert_double_eq(ics_wave_times_median(&times), 0.0);
    ics_wave_times_add(&lanes[0], stages, &times);
    ics_wave_times_add(&lanes[1], stages, &times);
    ck_assert_uint_eq(times.waves, 5);
    ck_assert_uint_eq(times.waits[ICS_WAIT_SLOT].waves, 2);
    ck_assert_uint_eq(times.waits[ICS_WAIT_SLOT].photons, 4000);
    ck_assert_uint_eq(times.waits[ICS_WAIT_SLOT].most, 3000);
    ck_assert_uint_eq(times.waits[ICS_WAIT_HITS].waves, 1);
    ck_assert_uint_eq(times.waits[ICS_WAIT_HITS].bins[7], 1);
    ck_assert_double_eq_tol(times.seconds, 15e-6, 1e-15);
    ck_assert_double_eq_tol(times.longest, 8e-6, 1e-15);
    ck_assert_double_eq_tol(stages[0], 3e-6, 1e-15);
    ck_assert_double_eq_tol(stages[5], 7e-6, 1e-15);
    /* The third of five is in the span from 1024 to 1152 ns. */
    ck_assert_double_eq_tol(ics_wave_times_median(&times), 1088e-9, 1e-15);

    ics_wave_times both = times;
    ics_wave_times_merge(&both, &times);
    ck_assert_uint_eq(both.waves, 10);
    ck_assert_uint_eq(both.waits[ICS_WAIT_SLOT].waves, 4);
    ck_assert_uint_eq(both.waits[ICS_WAIT_SLOT].photons, 8000);
    ck_assert_uint_eq(both.waits[ICS_WAIT_SLOT].most, 3000);
    ck_assert_uint_eq(both.waits[ICS_WAIT_SLOT].bins[0], 2);
    ck_assert_uint_eq(both.waits[ICS_WAIT_SLOT].bins[gpu_wave_wait_bin_of(3000)], 2);
    ck_assert_uint_eq(both.waits[ICS_WAIT_HITS].bins[7], 2);
    ck_assert_uint_eq(both.spans[32], 4);
    ck_assert_double_eq_tol(both.seconds, 30e-6, 1e-15);
    ck_assert_double_eq(both.longest, times.longest);
    ck_assert_double_eq(ics_wave_times_median(&both), ics_wave_times_median(&times));
}
END_TEST

START_TEST(bin_contains_the_number)
{
    const ics_wave_waits waits = {.most = 1};
    for (uint32_t bin = 0; bin <= ICS_WAIT_BINS; ++bin) {
        /* Numbers just below and at the edge are in the bins on both sides. */
        const uint64_t edge = ics_wave_waits_edge(&waits, bin);
        ck_assert_uint_eq(gpu_wave_wait_bin_of(edge), bin < ICS_WAIT_BINS ? bin : bin - 1);
        if (bin == 0) {
            ck_assert_uint_eq(edge, 0);
        } else {
            ck_assert_uint_eq(gpu_wave_wait_bin_of(edge - 1), bin - 1);
        }
        if (bin <= 16) {
            ck_assert_uint_eq(edge, bin);
        } else {
            ck_assert_double_le((double)edge, 1.125 * (double)ics_wave_waits_edge(&waits, bin - 1));
        }
    }
    ck_assert_uint_eq(gpu_wave_wait_bin_of(UINT64_MAX), ICS_WAIT_BINS - 1);
    /* A lane has at most ICS_LANE_BATCHES batches of fewer than 2^32 photons. The last bin has
     * larger numbers, too. */
    ck_assert_uint_eq(ics_wave_waits_edge(&waits, ICS_WAIT_BINS), 1ull << 34);
    const ics_wave_waits larger = {.most = 1ull << 40};
    ck_assert_uint_eq(ics_wave_waits_edge(&larger, ICS_WAIT_BINS), (1ull << 40) + 1);
    ck_assert_uint_eq(ics_wave_waits_edge(&larger, ICS_WAIT_BINS - 1),
                      ics_wave_waits_edge(&waits, ICS_WAIT_BINS - 1));
}
END_TEST

START_TEST(mean_and_median_of_waits)
{
    ics_wave_waits waits = {0};
    ck_assert_double_eq(ics_wave_waits_mean(&waits), 0.0);
    ck_assert_double_eq(ics_wave_waits_median(&waits), 0.0);
    /* Waves without a photon that waited have no part in them. */
    for (int wave = 0; wave < 9; ++wave) {
        gpu_wave_wait_add(&waits, 0);
    }
    ck_assert_uint_eq(waits.waves, 0);
    ck_assert_uint_eq(waits.bins[0], 9);
    ck_assert_double_eq(ics_wave_waits_median(&waits), 0.0);
    gpu_wave_wait_add(&waits, 90000);
    gpu_wave_wait_add(&waits, 13);
    gpu_wave_wait_add(&waits, 5);
    ck_assert_uint_eq(waits.waves, 3);
    ck_assert_uint_eq(waits.most, 90000);
    ck_assert_double_eq(ics_wave_waits_mean(&waits), 30006.0);
    ck_assert_double_eq(ics_wave_waits_median(&waits), 13.0);
    gpu_wave_wait_add(&waits, 91000);
    gpu_wave_wait_add(&waits, 92000);
    /* The bin from 90112 = 11 * 2^13 has the two, 90000 is in the one before: the third of five. */
    ck_assert_double_eq(ics_wave_waits_median(&waits), 0.5 * (81920 + 90111));
}
END_TEST

ICS_TEST_MAIN("wave times")
{
    TCase *waves = tcase_create("waves");
    tcase_add_test(waves, span_contains_the_time);
    tcase_add_test(waves, edges);
    tcase_add_test(waves, lanes_add_up);
    tcase_add_test(waves, bin_contains_the_number);
    tcase_add_test(waves, mean_and_median_of_waits);
    suite_add_tcase(suite, waves);
}
