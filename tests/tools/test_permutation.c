/* The permutation test of two groups (pipeline/tools/measure/permutation.h).
 *
 * Promises: splits are counted as by hand; the probability is uniform if both groups have the same
 * distribution, whatever it is, also where splits are sampled; it is small if they differ. Random
 * numbers have fixed seeds, and comments say how likely a test fails by chance. To join: a new way
 * to choose splits needs its own row of `sizes`.
 */
#include "pipeline/tools/measure/permutation.h"
#include "pipeline/tools/measure/statistics.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <math.h>
#include <string.h>

enum { OBJECTS = 24, DIMENSIONS = 10 };

/* The inner products of vectors, [count][DIMENSIONS], after their mean is subtracted. */
static ics_permutation test_vectors(double (*vectors)[DIMENSIONS], size_t first, size_t count)
{
    static double products[OBJECTS * OBJECTS];
    memset(products, 0, sizeof products);
    for (size_t d = 0; d < DIMENSIONS; ++d) {
        double mean = 0.0;
        for (size_t i = 0; i < count; ++i) {
            mean += vectors[i][d] / (double)count;
        }
        for (size_t i = 0; i < count; ++i) {
            for (size_t k = 0; k < count; ++k) {
                products[i * count + k] += (vectors[i][d] - mean) * (vectors[k][d] - mean);
            }
        }
    }
    return ics_permutation_test(products, first, count);
}

/* ---- counting -------------------------------------------------------------------------------- */

static const struct {
    double values[5];
    size_t first, count;
    double statistic; /* (difference of the means)^2 / (1/first + 1/second) */
    uint64_t splits, as_large;
} by_hand[] = {
    {{1, 2, 11, 12}, 2, 4, 100, 6, 2},         /* the real split and its exchange */
    {{1, 11, 2, 12}, 2, 4, 1, 6, 4},           /* differences of 1 (twice 2 splits) and 10 */
    {{1, 12, 2, 11}, 2, 4, 0, 6, 6},           /* all splits are at least as large */
    {{9, 1, 2, 3}, 1, 4, 36.75, 4, 1},         /* 9 against the mean 2 */
    {{1, 2, 3, 9}, 3, 4, 36.75, 4, 1},         /* the same, the other way round */
    {{2, 9, 1, 3}, 1, 4, 4.083333, 4, 3},      /* 2 against 13/3; 3 and 2 are nearest */
    {{0, 0, 5, 5, 5}, 2, 5, 30, 10, 1},        /* ties within the groups */
    {{4, 4, 4, 4, 4}, 2, 5, 0, 10, 10},        /* all alike */
    {{0, 0, 0, 0, 5}, 2, 5, 3.333333, 10, 10}, /* 5 in the larger group or in the smaller one */
};

START_TEST(splits_are_counted_as_by_hand)
{
    double vectors[5][DIMENSIONS] = {{0}};
    for (size_t i = 0; i < by_hand[_i].count; ++i) {
        vectors[i][3] = by_hand[_i].values[i];
    }
    const ics_permutation found = test_vectors(vectors, by_hand[_i].first, by_hand[_i].count);
    ck_assert(!found.is_sampled);
    ck_assert_double_eq_tol(found.statistic, by_hand[_i].statistic, 1e-6);
    ck_assert_uint_eq(found.splits, by_hand[_i].splits);
    ck_assert_uint_eq(found.as_large, by_hand[_i].as_large);
    ck_assert_double_eq(found.probability, (double)found.as_large / (double)by_hand[_i].splits);
}
END_TEST

START_TEST(smallest_probabilities)
{
    static const struct {
        size_t first, second;
        double expected;
    } rows[] = {{1, 1, 1.0},         {1, 2, 1.0 / 3},       {2, 2, 2.0 / 6},
                {4, 4, 2.0 / 70},    {4, 5, 1.0 / 126},     {5, 4, 1.0 / 126},
                {7, 7, 2.0 / 3432},  {9, 9, 2.0 / 48620},   {9, 10, 1.0 / 92378},
                {10, 10, 1.0 / 1e5}, {2, 198, 1.0 / 19900}, {100, 100, 1.0 / 1e5}};
    for (size_t i = 0; i < COUNT(rows); ++i) {
        ck_assert_double_eq(ics_permutation_smallest(rows[i].first, rows[i].second),
                            rows[i].expected);
    }
}
END_TEST

/* ---- distribution of the probability --------------------------------------------------------- */

/* A vector whose dimensions depend on each other, with a long tail. */
static void make_vector(uint64_t *state, double vector[DIMENSIONS])
{
    const double all = test_exponential(state);
    for (size_t d = 0; d < DIMENSIONS; ++d) {
        vector[d] = all * test_exponential(state) + (d > 0 ? 0.7 * vector[d - 1] : 0.0);
    }
}

static const struct {
    size_t first, second;
    size_t trials;
    size_t classes; /* of equal probability: divides the number of different values */
} sizes[] = {
    {4, 4, 2000, 35},  /* 70 splits, always in pairs */
    {3, 4, 2000, 35},  /* 35 splits */
    {5, 2, 2000, 21},  /* 21 splits, and the smaller group is the second one */
    {1, 19, 2000, 20}, /* 20 splits */
    {10, 10, 100, 10}, /* a sample of splits */
    {12, 9, 100, 10},
};

/* A chi-square test of equal numbers in all classes, of a probability that is at most uniform. The
 * test fails by chance with the probability 1e-4. */
START_TEST(the_probability_is_uniform_if_nothing_differs)
{
    const size_t count = sizes[_i].first + sizes[_i].second, classes = sizes[_i].classes;
    const double expected = (double)sizes[_i].trials / (double)classes;
    size_t found[64] = {0};
    double vectors[OBJECTS][DIMENSIONS], chi_square = 0.0;
    uint64_t state = 11 + (uint64_t)_i;
    for (size_t trial = 0; trial < sizes[_i].trials; ++trial) {
        for (size_t i = 0; i < count; ++i) {
            make_vector(&state, vectors[i]);
        }
        const double p = test_vectors(vectors, sizes[_i].first, count).probability;
        ck_assert_double_ge(p, ics_permutation_smallest(sizes[_i].first, sizes[_i].second));
        ck_assert_double_le(p, 1.0);
        ++found[(size_t)ceil(p * (double)classes - 1e-9) - 1];
    }
    for (size_t i = 0; i < classes; ++i) {
        const double difference = (double)found[i] - expected;
        chi_square += difference * difference / expected;
    }
    const double p = ics_statistics_chi_square_probability(chi_square, (double)(classes - 1));
    printf("%zu against %zu: p = %.3g\n", sizes[_i].first, sizes[_i].second, p);
    ck_assert_double_gt(p, 1e-4);
}
END_TEST

/* A shift of all dimensions by two standard deviations of a dimension. The largest possible
 * distance of 7 objects against 7 is then found, in each of 20 trials. */
START_TEST(a_difference_is_found)
{
    double vectors[14][DIMENSIONS];
    uint64_t state = 5;
    for (int trial = 0; trial < 20; ++trial) {
        for (size_t i = 0; i < 14; ++i) {
            for (size_t d = 0; d < DIMENSIONS; ++d) {
                vectors[i][d] = test_between(&state, -1.732, 1.732) + (i < 7 ? 2.0 : 0.0);
            }
        }
        const ics_permutation found = test_vectors(vectors, 7, 14);
        ck_assert_uint_eq(found.splits, 3432);
        ck_assert_uint_eq(found.as_large, 2);
    }
}
END_TEST

START_TEST(a_sample_is_the_same_every_time)
{
    double vectors[21][DIMENSIONS];
    uint64_t state = 6;
    for (size_t i = 0; i < 21; ++i) {
        make_vector(&state, vectors[i]);
    }
    const ics_permutation one = test_vectors(vectors, 11, 21), two = test_vectors(vectors, 11, 21);
    ck_assert(one.is_sampled);
    ck_assert_uint_eq(one.splits, ICS_PERMUTATION_SPLITS);
    ck_assert_uint_eq(one.as_large, two.as_large);
    ck_assert_double_eq(one.statistic, two.statistic);
}
END_TEST

ICS_TEST_MAIN("permutation")
{
    TCase *count = tcase_create("count");
    tcase_add_loop_test(count, splits_are_counted_as_by_hand, 0, COUNT(by_hand));
    tcase_add_test(count, smallest_probabilities);
    suite_add_tcase(suite, count);
    TCase *distribution = tcase_create("distribution");
    tcase_add_loop_test(distribution, the_probability_is_uniform_if_nothing_differs, 0,
                        COUNT(sizes));
    tcase_add_test(distribution, a_difference_is_found);
    tcase_add_test(distribution, a_sample_is_the_same_every_time);
    suite_add_tcase(suite, distribution);
}
