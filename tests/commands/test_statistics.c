/* The statistics of `icestream compare` (pipeline/commands/measure/statistics.h).
 *
 * Promises: probabilities and critical values are those of physics.md 12.6 and of published tables
 * of the chi-square and normal distributions. One test uses random numbers with a fixed seed and
 * checks false alarm rates; its comment says how likely it fails by chance. To join: a new
 * statistic needs tabulated values and a test of its false alarm rate.
 */
#include "pipeline/commands/measure/statistics.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

START_TEST(chi_square_points)
{
    /* 99.9 % points of physics.md 12.6, given to 0.01. */
    static const struct {
        double degrees, point;
    } table[] = {{10, 29.59}, {50, 86.66}, {86, 132.28}, {500, 603.45}};
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
        ck_assert_double_lt(
            ics_statistics_chi_square_probability(table[i].point + 0.006, table[i].degrees), 1e-3);
        ck_assert_double_gt(
            ics_statistics_chi_square_probability(table[i].point - 0.006, table[i].degrees), 1e-3);
    }
}
END_TEST

START_TEST(gamma_values)
{
    /* Two degrees of freedom: exp(-x/2). One: the two-sided normal tail. */
    ck_assert_double_eq_tol(ics_statistics_chi_square_probability(2, 2), 0.36787944117144233,
                            1e-14);
    ck_assert_double_eq_tol(ics_statistics_chi_square_probability(100, 2), 1.9287498479639178e-22,
                            1e-34);
    ck_assert_double_eq_tol(ics_statistics_chi_square_probability(1, 1), 0.31731050786291410,
                            1e-14);
    ck_assert_double_eq_tol(ics_statistics_chi_square_probability(9, 1), 0.0026997960632601866,
                            1e-16);
    /* Q(3, 2) = exp(-2) (1 + 2 + 2), Q(3, 8) = exp(-8) (1 + 8 + 32): both expansions. */
    ck_assert_double_eq_tol(ics_statistics_gamma_upper(3, 2), 0.67667641618306345, 1e-14);
    ck_assert_double_eq_tol(ics_statistics_gamma_upper(3, 8), 0.013753967744002971, 1e-15);
    ck_assert_double_eq(ics_statistics_gamma_upper(5, 0), 1);
    ck_assert_double_eq(ics_statistics_gamma_upper(5, INFINITY), 0);
    /* As large as a detector with 1e5 modules needs: the median is near degrees - 2/3. */
    ck_assert_double_eq_tol(ics_statistics_chi_square_probability(1e5 - 2.0 / 3, 1e5), 0.5, 1e-6);
}
END_TEST

START_TEST(kolmogorov_values)
{
    static const struct {
        double level, critical;
    } table[] = {{0.05, 1.3581}, {0.01, 1.6276}, {0.001, 1.9495}, {0.0001, 2.2253}};
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
        /* The slope of ln p is -4 lambda: 5e-5 in lambda are below 5e-4 of p. */
        ck_assert_double_eq_tol(
            ics_statistics_kolmogorov_probability(table[i].critical) / table[i].level, 1, 5e-4);
    }
    /* Tabulated: the median is 0.82757; below 0.2 the probability is 1 for all purposes. */
    ck_assert_double_eq_tol(ics_statistics_kolmogorov_probability(0.8275735551899077), 0.5, 1e-12);
    ck_assert_double_eq_tol(ics_statistics_kolmogorov_probability(0.2), 1, 1e-11);
    ck_assert_double_eq(ics_statistics_kolmogorov_probability(0), 1);
    /* The two series meet at 1. */
    ck_assert_double_eq_tol(ics_statistics_kolmogorov_probability(1), 0.26999967167735456, 1e-12);
    ck_assert_double_eq_tol(ics_statistics_kolmogorov_probability(1 - 1e-12), 0.26999967167735456,
                            1e-10);
}
END_TEST

START_TEST(kolmogorov_by_hand)
{
    /* F1 steps at 1, 2, 3, 4; F2 at 3, 4, 5, 6, 7: the largest gap is 2/4 - 0 before 3, 1 - 2/5
     * at 4, so 0.6. */
    const double a[] = {1, 2, 3, 4};
    const double b[] = {3, 4, 5, 6, 7};
    ics_statistics_test test = ics_statistics_kolmogorov_two_sample(a, 4, b, 5, 1);
    ck_assert_double_eq_tol(test.statistic, 0.6, 1e-15);
    ck_assert_double_eq_tol(test.size, 20.0 / 9, 1e-14);
    /* lam = (1.490712 + 0.12 + 0.0737902) 0.6 = 1.010701; 2 (exp(-2 lam^2) - exp(-8 lam^2)). */
    ck_assert_double_eq_tol(test.probability, 0.258705, 1e-6);
    /* Ties only: equal samples have no distance. */
    const double tied[] = {2, 2, 2};
    ck_assert_double_eq(ics_statistics_kolmogorov_two_sample(tied, 3, tied, 2, 1).statistic, 0);
    /* Twice the variance is half the sample. */
    ck_assert_double_eq_tol(ics_statistics_kolmogorov_two_sample(a, 4, b, 5, 2).size, 10.0 / 9,
                            1e-14);
    /* An empty sample is not an equal sample: the size of such a test is 0. */
    ck_assert_double_eq(ics_statistics_kolmogorov_two_sample(a, 4, b, 0, 1).size, 0);
    ck_assert_double_eq(ics_statistics_kolmogorov_two_sample(a, 0, b, 5, 1).probability, 1);
}
END_TEST

START_TEST(chi_square_by_hand)
{
    /* 6 + 3 and 2 + 4 counts are merged into a bin of 8 + 7. */
    const uint64_t a[] = {100, 6, 2, 50, 0};
    const uint64_t b[] = {120, 3, 4, 50, 0};
    ics_statistics_test test = ics_statistics_chi_square_two_sample(a, 1, b, 1, 5, 1);
    ck_assert_double_eq(test.size, 3);
    ck_assert_double_eq_tol(test.statistic, 400.0 / 220 + 1.0 / 15, 1e-13);
    /* The same with four times the photons in b: (2 A - B/2)^2 / (A + B). */
    const uint64_t c[] = {100};
    const uint64_t d[] = {420};
    test = ics_statistics_chi_square_two_sample(c, 1e6, d, 4e6, 1, 1);
    ck_assert_double_eq_tol(test.statistic, 100.0 / 520, 1e-13);
    ck_assert_double_eq_tol(ics_statistics_chi_square_two_sample(c, 1e6, d, 4e6, 1, 1.25).statistic,
                            80.0 / 520, 1e-13);
    /* Too few counts altogether to test anything. */
    const uint64_t few[] = {3, 1};
    test = ics_statistics_chi_square_two_sample(few, 1, few, 1, 2, 1);
    ck_assert_double_eq(test.size, 0);
    ck_assert_double_eq(test.probability, 1);
}
END_TEST

START_TEST(totals)
{
    /* 10 200 and 10 000 of equally many photons: 200 / sqrt(20 200) = 1.40720 standard
     * deviations, two-sided 0.15937. */
    ics_statistics_test test = ics_statistics_totals_test(10200, 1e6, 10000, 1e6, 1);
    ck_assert_double_eq_tol(test.statistic, 1.407195, 1e-6);
    ck_assert_double_eq_tol(test.probability, 0.159369, 1e-5);
    /* The test compares rates, not numbers. */
    ck_assert_double_eq(ics_statistics_totals_test(100, 1e3, 400, 4e3, 1).statistic, 0);
    ck_assert_double_eq_tol(ics_statistics_totals_test(10200, 1e6, 10000, 1e6, 4).statistic,
                            0.7035975, 1e-6);
    ck_assert_double_eq(ics_statistics_totals_test(0, 1e6, 0, 1e6, 1).size, 0);
}
END_TEST

START_TEST(inflation)
{
    /* Photon 1 hits module 5 twice and module 6 once, photon 2 hits module 5 once. */
    const icestream_hit hits[] = {
        {.photon_id = 1, .module = 5},
        {.photon_id = 1, .module = 5},
        {.photon_id = 1, .module = 6},
        {.photon_id = 2, .module = 5},
    };
    ck_assert_double_eq(ics_statistics_variance_inflation(hits, 4, true), 6.0 / 4);
    ck_assert_double_eq(ics_statistics_variance_inflation(hits, 4, false), 10.0 / 4);
    ck_assert_double_eq(ics_statistics_variance_inflation(hits + 2, 2, true), 1);
    ck_assert_double_eq(ics_statistics_variance_inflation(NULL, 0, true), 1);
    /* The identity of a photon is its event, its step and its number. */
    const icestream_hit others[] = {
        {.event_id = 1}, {.event_id = 2}, {.event_id = 2, .step_id = 1}};
    ck_assert_double_eq(ics_statistics_variance_inflation(others, 3, false), 1);
}
END_TEST

START_TEST(kolmogorov_of_weights)
{
    /* One value of weight 3 below nine of weight 1: S^2/V = 144/18 = 8. The variance is largest
     * after the first value, with F = 1/4 and half of V: (9/16 + 1/16)/2 = 0.3125 and not 0.25. */
    enum { VALUES = 10 };
    ics_statistics_weighted values[VALUES];
    for (int i = 0; i < VALUES; ++i) {
        values[i] = (ics_statistics_weighted){i, i == 0 ? 3 : 1};
    }
    ck_assert_double_eq_tol(
        ics_statistics_kolmogorov_weighted(values, VALUES, 8, values, VALUES, 8).size, 3.2, 1e-12);
    /* Equal weights change nothing. */
    values[0].weight = 1;
    ck_assert_double_eq_tol(
        ics_statistics_kolmogorov_weighted(values, VALUES, 10, values, VALUES, 10).size, 5, 1e-12);
}
END_TEST

START_TEST(false_alarms)
{
    /* 2000 pairs of equal distributions: 100 +- 10 of each test are below 5 %; 60 .. 140 is four
     * standard deviations, one failure of this test in 15 000 seeds for each. */
    enum { PAIRS = 2000, SAMPLE = 400, BINS = 20 };
    uint64_t state = 20240501;
    int below[2] = {0, 0};
    for (int pair = 0; pair < PAIRS; ++pair) {
        static double sample[2][SAMPLE];
        uint64_t counts[2][BINS] = {{0}};
        for (int side = 0; side < 2; ++side) {
            for (int i = 0; i < SAMPLE; ++i) {
                sample[side][i] = test_uniform(&state);
                ++counts[side][(size_t)(sample[side][i] * BINS)];
            }
            qsort(sample[side], SAMPLE, sizeof(double), ascending);
        }
        below[0] += ics_statistics_kolmogorov_two_sample(sample[0], SAMPLE, sample[1], SAMPLE, 1)
                        .probability < 0.05;
        /* Equal totals take one degree of freedom here; a hundred degrees would not notice. */
        ics_statistics_test chi =
            ics_statistics_chi_square_two_sample(counts[0], 1, counts[1], 1, BINS, 1);
        below[1] += ics_statistics_chi_square_probability(chi.statistic, chi.size - 1) < 0.05;
    }
    for (int i = 0; i < 2; ++i) {
        ck_assert_int_gt(below[i], 60);
        ck_assert_int_lt(below[i], 140);
    }
}
END_TEST

ICS_TEST_MAIN("statistics")
{
    TCase *tests = tcase_create("statistics");
    tcase_add_test(tests, chi_square_points);
    tcase_add_test(tests, gamma_values);
    tcase_add_test(tests, kolmogorov_values);
    tcase_add_test(tests, kolmogorov_by_hand);
    tcase_add_test(tests, chi_square_by_hand);
    tcase_add_test(tests, totals);
    tcase_add_test(tests, inflation);
    tcase_add_test(tests, kolmogorov_of_weights);
    tcase_add_test(tests, false_alarms);
    suite_add_tcase(suite, tests);
}
