#include "pipeline/commands/measure/statistics.h"

#include "pipeline/photons/files/weight_sum.h"

#include <math.h>

/* The counts of a smaller bin are not close enough to a normal distribution (physics.md 12.6). */
#define SMALLEST_BIN 10

/* Both expansions need about sqrt(a) terms near x = a, and far fewer elsewhere. */
#define TERMS_MAX 1000000

double ics_statistics_gamma_upper(double a, double x)
{
    if (!(x > 0)) {
        return 1;
    }
    if (isinf(x)) {
        return 0;
    }
    int sign;
    double scale = exp(a * log(x) - x - lgamma_r(a, &sign));
    if (x < a + 1) {
        /* The lower function as a power series. All terms are positive. */
        double term = 1 / a;
        double sum = term;
        for (int n = 1; n < TERMS_MAX && term > sum * 1e-16; ++n) {
            term *= x / (a + n);
            sum += term;
        }
        return fmax(0, 1 - scale * sum);
    }
    /* The upper function as a continued fraction, from the ratios of successive convergents. For
     * x >= a + 1 no denominator is 0. */
    double b = x + 1 - a;
    double c = 0; /* reciprocal of the ratio of numerators; the first ratio is 1/0 */
    double d = 1 / b;
    double fraction = d;
    for (int n = 1; n < TERMS_MAX; ++n) {
        double numerator = -n * (n - a);
        b += 2;
        double ratio = b + numerator * c;
        c = 1 / ratio;
        d = 1 / (b + numerator * d);
        fraction *= ratio * d;
        if (fabs(ratio * d - 1) < 1e-15) {
            break;
        }
    }
    return fmin(1, scale * fraction);
}

double ics_statistics_chi_square_probability(double chi_square, double degrees)
{
    return ics_statistics_gamma_upper(degrees / 2, chi_square / 2);
}

double ics_statistics_kolmogorov_probability(double lambda)
{
    if (!(lambda > 0)) {
        return 1;
    }
    if (lambda < 1) {
        /* The series after Jacobi's transformation converges fast for small lambda, the other
         * series for large lambda. */
        double sum = 0;
        for (int k = 1; k < 12; k += 2) {
            sum += exp(-k * k * M_PI * M_PI / (8 * lambda * lambda));
        }
        return 1 - sqrt(2 * M_PI) / lambda * sum;
    }
    double sum = 0;
    for (int k = 1; k < 8; ++k) {
        sum += (k % 2 ? 2 : -2) * exp(-2.0 * k * k * lambda * lambda);
    }
    return sum;
}

ics_statistics_test ics_statistics_kolmogorov_test(double distance, double size)
{
    double root = sqrt(size);
    return (ics_statistics_test){.statistic = distance,
                                 .size = size,
                                 .probability = ics_statistics_kolmogorov_probability(
                                     (root + 0.12 + 0.11 / root) * distance)};
}

static const ics_statistics_test nothing_to_test = {.probability = 1};

/* The test of a chi-square whose number of degrees of freedom is that of its bins. */
static ics_statistics_test test_of_bins(double chi_square, size_t bins)
{
    return bins == 0 ? nothing_to_test
                     : (ics_statistics_test){.statistic = chi_square,
                                             .size = (double)bins,
                                             .probability = ics_statistics_chi_square_probability(
                                                 chi_square, (double)bins)};
}

ics_statistics_test ics_statistics_kolmogorov_two_sample(const double *a, size_t a_count,
                                                         const double *b, size_t b_count,
                                                         double inflation)
{
    if (a_count == 0 || b_count == 0) {
        return nothing_to_test;
    }
    double distance = 0;
    size_t i = 0;
    size_t j = 0;
    while (i < a_count && j < b_count) {
        /* At equal values both distribution functions step together. */
        double value = fmin(a[i], b[j]);
        while (i < a_count && a[i] <= value) {
            ++i;
        }
        while (j < b_count && b[j] <= value) {
            ++j;
        }
        double gap = fabs((double)i / (double)a_count - (double)j / (double)b_count);
        distance = fmax(distance, gap);
    }
    double n = (double)a_count;
    double m = (double)b_count;
    return ics_statistics_kolmogorov_test(distance, n * m / (n + m) / inflation);
}

ics_statistics_test ics_statistics_chi_square_two_sample(const uint64_t *a, double a_exposure,
                                                         const uint64_t *b, double b_exposure,
                                                         size_t count, double inflation)
{
    double a_scale = sqrt(b_exposure / a_exposure);
    double rest_a = 0;
    double rest_b = 0;
    double chi_square = 0;
    size_t bins = 0;
    for (size_t i = 0; i <= count; ++i) {
        /* The merged bin comes last. */
        double in_a = i < count ? (double)a[i] : rest_a;
        double in_b = i < count ? (double)b[i] : rest_b;
        if (in_a + in_b < SMALLEST_BIN) {
            rest_a += in_a;
            rest_b += in_b;
            continue;
        }
        double difference = in_a * a_scale - in_b / a_scale;
        chi_square += difference * difference / ((in_a + in_b) * inflation);
        ++bins;
    }
    return test_of_bins(chi_square, bins);
}

ics_statistics_test ics_statistics_totals_test(double a, double a_exposure, double b,
                                               double b_exposure, double inflation)
{
    double variance = a / (a_exposure * a_exposure) + b / (b_exposure * b_exposure);
    if (!(variance > 0)) {
        return nothing_to_test;
    }
    double deviation = fabs(a / a_exposure - b / b_exposure) / sqrt(variance * inflation);
    return (ics_statistics_test){
        .statistic = deviation, .size = 1, .probability = erfc(deviation / sqrt(2))};
}

static bool same_photon(const icestream_hit *a, const icestream_hit *b)
{
    return a->event_id == b->event_id && a->step_id == b->step_id && a->photon_id == b->photon_id;
}

static bool same_module(const icestream_hit *a, const icestream_hit *b)
{
    return a->string == b->string && a->module == b->module;
}

double ics_statistics_variance_inflation(const icestream_hit *hits, size_t count, bool per_module)
{
    if (count == 0) {
        return 1;
    }
    double squares = 0;
    for (size_t i = 0; i < count;) {
        size_t next = i + 1;
        while (next < count && same_photon(&hits[i], &hits[next]) &&
               (!per_module || same_module(&hits[i], &hits[next]))) {
            ++next;
        }
        double multiplicity = (double)(next - i);
        squares += multiplicity * multiplicity;
        i = next;
    }
    return squares / (double)count;
}

/* ---- weights --------------------------------------------------------------------------------- */

ics_statistics_sum ics_statistics_weights(const icestream_hit *hits, size_t count)
{
    ics_weight_sum all = {0};
    for (size_t i = 0; i < count; ++i) {
        ics_weight_sum_add(&all, &hits[i]);
    }
    ics_weight_sum_end(&all);
    return (ics_statistics_sum){.sum = all.photons_sum, .variance = all.photons_squares};
}

/* The weight of a photon in each of two samples, V/S. A sum m of expected weights varies by m times
 * this weight, also in a bin that has few photons or none, where the squares of the weights say
 * nothing. A sample without photons counts as if it had the weight of the other one. */
typedef struct photon_weights {
    double a, b;
} photon_weights;

static photon_weights weights_of(ics_statistics_sum a, ics_statistics_sum b)
{
    const double in_a = a.sum > 0 ? a.variance / a.sum : 0;
    const double in_b = b.sum > 0 ? b.variance / b.sum : 0;
    return (photon_weights){in_a > 0 ? in_a : in_b, in_b > 0 ? in_b : in_a};
}

/* The sum that both samples share, if they have the same light: photons count, not weights. */
static double common_sum(double a, double b, photon_weights weight)
{
    return (a / weight.a + b / weight.b) / (1 / weight.a + 1 / weight.b);
}

ics_statistics_test ics_statistics_sums_test(ics_statistics_sum a, ics_statistics_sum b)
{
    if (!(a.variance + b.variance > 0)) {
        return nothing_to_test;
    }
    const photon_weights weight = weights_of(a, b);
    const double variance = common_sum(a.sum, b.sum, weight) * (weight.a + weight.b);
    const double deviation = fabs(a.sum - b.sum) / sqrt(variance);
    return (ics_statistics_test){
        .statistic = deviation, .size = 1, .probability = erfc(deviation / sqrt(2))};
}

ics_statistics_test ics_statistics_sums_chi_square(const ics_statistics_sum *a,
                                                   const ics_statistics_sum *b, size_t count)
{
    ics_statistics_sum all_a = {0, 0}, all_b = {0, 0};
    for (size_t i = 0; i < count; ++i) {
        all_a.sum += a[i].sum;
        all_a.variance += a[i].variance;
        all_b.sum += b[i].sum;
        all_b.variance += b[i].variance;
    }
    if (!(all_a.variance + all_b.variance > 0)) {
        return nothing_to_test;
    }
    const photon_weights weight = weights_of(all_a, all_b);
    const double largest = fmax(weight.a, weight.b);
    double rest_a = 0, rest_b = 0, chi_square = 0;
    size_t bins = 0;
    for (size_t i = 0; i <= count; ++i) {
        /* The merged bin comes last. */
        const double in_a = i < count ? a[i].sum : rest_a;
        const double in_b = i < count ? b[i].sum : rest_b;
        const double common = common_sum(in_a, in_b, weight);
        if (common < SMALLEST_BIN / 2.0 * largest) {
            rest_a += in_a;
            rest_b += in_b;
            continue;
        }
        chi_square += (in_a - in_b) * (in_a - in_b) / (common * (weight.a + weight.b));
        ++bins;
    }
    return test_of_bins(chi_square, bins);
}

static double sum_of(const ics_statistics_weighted *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; ++i) {
        sum += values[i].weight;
    }
    return sum;
}

/* Returns the number of values without weights whose distribution function fluctuates as much where
 * it fluctuates most. `size` is that number if weights and values are independent; weights that
 * follow the value make it smaller. The function F varies by the sum of (1 - F)^2 w^2 below and
 * F^2 w^2 above; without weights this is at most 1/4. */
static double effective_size(const ics_statistics_weighted *values, size_t count, double sum,
                             double size)
{
    double squares = 0, below = 0, inside = 0, largest = 0.25;
    for (size_t i = 0; i < count; ++i) {
        squares += values[i].weight * values[i].weight;
    }
    for (size_t i = 0; i < count; ++i) {
        inside += values[i].weight / sum;
        below += values[i].weight * values[i].weight / squares;
        if (i + 1 == count || values[i + 1].value > values[i].value) {
            largest =
                fmax(largest, (1 - inside) * (1 - inside) * below + inside * inside * (1 - below));
        }
    }
    return 0.25 * size / largest;
}

ics_statistics_test ics_statistics_kolmogorov_weighted(const ics_statistics_weighted *a,
                                                       size_t a_count, double a_size,
                                                       const ics_statistics_weighted *b,
                                                       size_t b_count, double b_size)
{
    const double a_sum = sum_of(a, a_count), b_sum = sum_of(b, b_count);
    if (!(a_sum > 0) || !(b_sum > 0) || !(a_size > 0) || !(b_size > 0)) {
        return nothing_to_test;
    }
    double distance = 0, in_a = 0, in_b = 0;
    for (size_t i = 0, j = 0; i < a_count && j < b_count;) {
        const double value = a[i].value < b[j].value ? a[i].value : b[j].value;
        for (; i < a_count && a[i].value == value; ++i) {
            in_a += a[i].weight;
        }
        for (; j < b_count && b[j].value == value; ++j) {
            in_b += b[j].weight;
        }
        distance = fmax(distance, fabs(in_a / a_sum - in_b / b_sum));
    }
    const double n = effective_size(a, a_count, a_sum, a_size);
    const double m = effective_size(b, b_count, b_sum, b_size);
    return ics_statistics_kolmogorov_test(distance, n * m / (n + m));
}
