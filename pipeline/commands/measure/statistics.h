/* Tests of whether two sets of hits come from the same physics (physics.md 12.6).
 *
 * A photon that continues after a hit can be counted several times, so counts are not independent:
 * the variance of a count is `inflation` times the count (ics_statistics_variance_inflation). Every
 * test takes this factor. It is 1 if photons stop at their first hit.
 */
#ifndef ICS_COMMANDS_MEASURE_STATISTICS_H
#define ICS_COMMANDS_MEASURE_STATISTICS_H

#include "pipeline/icestream.h"

typedef struct ics_statistics_test {
    double statistic; /* chi-square, or the largest distance, or standard deviations */
    double size; /* degrees of freedom, or the effective sample size, or 1; 0: nothing to test */
    double probability; /* that a statistic is at least as large by chance; 1 if size is 0 */
} ics_statistics_test;

/* Regularised upper incomplete gamma function Q(a, x), a > 0, x >= 0. */
double ics_statistics_gamma_upper(double a, double x);
/* P(chi-square with `degrees` > 0 degrees of freedom >= chi_square). */
double ics_statistics_chi_square_probability(double chi_square, double degrees);
/* P(K >= lambda) of the Kolmogorov distribution: 2 sum (-1)^(k-1) exp(-2 k^2 lambda^2). */
double ics_statistics_kolmogorov_probability(double lambda);
/* The Kolmogorov-Smirnov test that found `distance` between distribution functions, with the
 * effective number of values `size` > 0. */
ics_statistics_test ics_statistics_kolmogorov_test(double distance, double size);

/* Kolmogorov-Smirnov test of two samples, each sorted ascending. If values repeat, the test gives
 * fewer false alarms than its level says. */
ics_statistics_test ics_statistics_kolmogorov_two_sample(const double *a, size_t a_count,
                                                         const double *b, size_t b_count,
                                                         double inflation);

/* Chi-square test of the counts a[count] from a_exposure photons against b[count] from b_exposure
 * photons, both above 0. Bins with fewer than 10 counts in both samples together are merged into
 * one bin, which is left out if it still has fewer than 10. The totals are not fixed, so the
 * degrees of freedom are the number of bins used. */
ics_statistics_test ics_statistics_chi_square_two_sample(const uint64_t *a, double a_exposure,
                                                         const uint64_t *b, double b_exposure,
                                                         size_t count, double inflation);

/* Two-sided normal test of the totals a from a_exposure photons and b from b_exposure photons. */
ics_statistics_test ics_statistics_totals_test(double a, double a_exposure, double b,
                                               double b_exposure, double inflation);

/* A sum of weights and its variance. Photons are independent; hits of one photon are not. */
typedef struct ics_statistics_sum {
    double sum, variance;
} ics_statistics_sum;

/* Returns the sum of the weights of hits, which are in the order of hit files. */
ics_statistics_sum ics_statistics_weights(const icestream_hit *hits, size_t count);
/* Two-sided normal test of two sums of weights. The variance is that of the sum which both share,
 * made of photons of the mean weight V/S of each sample. */
ics_statistics_test ics_statistics_sums_test(ics_statistics_sum a, ics_statistics_sum b);
/* Chi-square test of a[count] against b[count], with variances as in ics_statistics_sums_test. The
 * mean weights are those of all bins together. Bins that expect fewer than 5 photons in one of the
 * samples are merged into one, which is left out if it still expects fewer. */
ics_statistics_test ics_statistics_sums_chi_square(const ics_statistics_sum *a,
                                                   const ics_statistics_sum *b, size_t count);

/* A value with its weight. */
typedef struct ics_statistics_weighted {
    double value, weight;
} ics_statistics_weighted;

/* Kolmogorov-Smirnov test of two samples of weighted values, each sorted by value. a_size, b_size:
 * the numbers of values without weights that would fluctuate as much. */
ics_statistics_test ics_statistics_kolmogorov_weighted(const ics_statistics_weighted *a,
                                                       size_t a_count, double a_size,
                                                       const ics_statistics_weighted *b,
                                                       size_t b_count, double b_size);

/* Returns <n^2> / <n> of the number n of hits that one photon made, on one module (per_module) or
 * on all modules; 1 without hits. `hits` are in the order of hit files. */
double ics_statistics_variance_inflation(const icestream_hit *hits, size_t count, bool per_module);

#endif
