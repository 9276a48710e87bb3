/* Tests of whether two sets of hits come from the same physics (physics.md 12.6).
 *
 * A photon that goes on after a hit can be counted several times. Its counts are not independent:
 * the variance of a count is then `inflation` times the count (ics_statistics_variance_inflation),
 * and every test takes that factor; it is 1 where photons stop at their first hit.
 */
#ifndef ICS_TOOLS_COMPARE_STATISTICS_H
#define ICS_TOOLS_COMPARE_STATISTICS_H

#include "pipeline/icestream.h"

typedef struct ics_statistics_test {
    double statistic;   /* chi-square; largest distance; standard deviations */
    double size;        /* degrees of freedom; effective sample size; 1. 0: nothing to test */
    double probability; /* of a statistic at least as large by chance, [0, 1]; 1 if size is 0 */
} ics_statistics_test;

/* Regularised upper incomplete gamma function Q(a, x), a > 0, x >= 0. */
double ics_statistics_gamma_upper(double a, double x);
/* P(chi-square with `degrees` > 0 degrees of freedom >= chi_square). */
double ics_statistics_chi_square_probability(double chi_square, double degrees);
/* P(K >= lambda) of the Kolmogorov distribution: 2 sum (-1)^(k-1) exp(-2 k^2 lambda^2). */
double ics_statistics_kolmogorov_probability(double lambda);
/* c(q) = sqrt(-ln(q/2) / 2): reject at level q if D > c(q) / sqrt(effective size). */
double ics_statistics_kolmogorov_critical(double level);

/* Kolmogorov-Smirnov for two samples, each sorted ascending. Values may repeat: the test is then
 * on the safe side (fewer false alarms). */
ics_statistics_test ics_statistics_kolmogorov_two_sample(const double *a, size_t a_count,
                                                         const double *b, size_t b_count,
                                                         double inflation);
/* Kolmogorov-Smirnov for one sample, sorted ascending, against a distribution function. */
ics_statistics_test ics_statistics_kolmogorov_one_sample(const double *sample, size_t count,
                                                         double (*distribution)(double value,
                                                                                void *user),
                                                         void *user, double inflation);

/* Chi-square of counts a[count] from a_exposure photons against b[count] from b_exposure > 0. Bins
 * with less than 10 counts in both together are merged into one, which is left out if it is still
 * that small. Totals are free, so the degrees of freedom are the bins used. */
ics_statistics_test ics_statistics_chi_square_two_sample(const uint64_t *a, double a_exposure,
                                                         const uint64_t *b, double b_exposure,
                                                         size_t count, double inflation);

/* Totals a of a_exposure and b of b_exposure photons, two-sided normal. */
ics_statistics_test ics_statistics_totals_test(double a, double a_exposure, double b,
                                               double b_exposure, double inflation);

/* <n^2> / <n> of the number n of hits that one photon made, on one module (per_module) or on all.
 * `hits` in the order of hit files. 1 without hits. */
double ics_statistics_variance_inflation(const icestream_hit *hits, size_t count, bool per_module);

#endif
