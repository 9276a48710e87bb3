/* Means with their statistical errors, and the comparisons of physics.md 12. Every comparison is
 * printed. It fails the test beyond 4 standard deviations, or if its p-value is below 1e-4. For a
 * correct program this happens in 1 of 16 000, or in 1 of 10 000 comparisons. */
#ifndef MOMENTS_H
#define MOMENTS_H

#include "pipeline/commands/measure/statistics.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PHYSICS_SIGMAS 4.0
#define PHYSICS_LEVEL  1e-4

typedef struct moment {
    double count, sum, squares;
} moment;

static inline void moment_add(moment *m, double value)
{
    m->count += 1.0;
    m->sum += value;
    m->squares += value * value;
}

static inline void moment_join(moment *to, const moment *from)
{
    to->count += from->count;
    to->sum += from->sum;
    to->squares += from->squares;
}

static inline double moment_mean(const moment *m)
{
    return m->sum / m->count;
}

static inline double moment_variance(const moment *m)
{
    const double mean = moment_mean(m);
    return m->squares / m->count - mean * mean;
}

/* Returns the standard deviation of the mean. */
static inline double moment_error(const moment *m)
{
    return sqrt(moment_variance(m) / m->count);
}

/* Compares a value, which has a statistical error, with the expected value. `slack` is the
 * uncertainty of the expectation or of the comparison, such as half of the last digit. */
static inline void expect_value(const char *what, double value, double error, double expected,
                                double slack)
{
    const double allowed = PHYSICS_SIGMAS * error + slack;
    printf("%-44s %14.7g +- %-10.3g expected %-12.7g %6.1f %% of what is allowed\n", what, value,
           error, expected, 100.0 * fabs(value - expected) / allowed);
    ck_assert_msg(fabs(value - expected) <= allowed,
                  "%s: found %.8g +- %.3g, expected %.8g +- %.3g", what, value, error, expected,
                  slack);
}

static inline void expect_mean(const char *what, const moment *m, double expected, double slack)
{
    ck_assert_double_gt(m->count, 0.0);
    expect_value(what, moment_mean(m), moment_error(m), expected, slack);
}

static inline void expect_probability(const char *what, ics_statistics_test test)
{
    printf("%-44s %14.7g of %-10.6g p = %.4g\n", what, test.statistic, test.size, test.probability);
    ck_assert_msg(test.size > 0.0, "%s: nothing was tested", what);
    ck_assert_msg(test.probability > PHYSICS_LEVEL, "%s: p = %.3g", what, test.probability);
}

/* Compares a share of `total` independent trials with its probability. */
static inline void expect_share(const char *what, double successes, double total,
                                double probability, double slack)
{
    expect_value(what, successes / total, sqrt(probability * (1.0 - probability) / total),
                 probability, slack);
}

static inline int moment_order(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Compares a sample with a distribution function (Kolmogorov-Smirnov). Sorts the sample. */
static inline void expect_distribution(const char *what, double *sample, size_t count,
                                       double (*distribution)(double value, void *user), void *user)
{
    qsort(sample, count, sizeof *sample, moment_order);
    double distance = 0.0;
    for (size_t i = 0; i < count; ++i) {
        const double n = (double)count, expected = distribution(sample[i], user);
        distance = fmax(distance, fmax((double)(i + 1) / n - expected, expected - (double)i / n));
    }
    expect_probability(what, ics_statistics_kolmogorov_test(distance, (double)count));
}

/* 1 - exp(-value / *mean). */
static inline double exponential_distribution(double value, void *mean)
{
    return -expm1(-value / *(const double *)mean);
}

/* value / *end. */
static inline double uniform_distribution(double value, void *end)
{
    return value / *(const double *)end;
}

static inline double *sample_allocate(size_t count)
{
    double *sample = calloc(count, sizeof *sample);
    ck_assert_ptr_nonnull(sample);
    return sample;
}

/* ---- histograms ------------------------------------------------------------------------------ */

static inline double histogram_total(const double *bins, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        sum += bins[i];
    }
    return sum;
}

/* Returns the position, in bins, below which this share of the total lies. */
static inline double histogram_quantile(const double *bins, int count, double share)
{
    double left = share * histogram_total(bins, count);
    int i = 0;
    while (i < count - 1 && bins[i] < left) {
        left -= bins[i++];
    }
    return i + left / bins[i];
}

/* Compares counts of n = 0, 1, 2, ... with P(n) = p (1 - p)^n. There is one bin for every n with 10
 * or more expected, and one for the rest. The last of the `count` bins also has all larger n. */
static inline ics_statistics_test histogram_geometric_test(const double *bins, int count, double p)
{
    const double total = histogram_total(bins, count);
    double chi_square = 0.0, left = total;
    int n = 0;
    for (; n < count - 1 && total * p * pow(1.0 - p, n) >= 10.0; ++n) {
        const double expected = total * p * pow(1.0 - p, n);
        chi_square += (bins[n] - expected) * (bins[n] - expected) / expected;
        left -= bins[n];
    }
    const double rest = total * pow(1.0 - p, n);
    chi_square += (left - rest) * (left - rest) / rest;
    return (ics_statistics_test){chi_square, n + 1,
                                 ics_statistics_chi_square_probability(chi_square, n)};
}

#endif
