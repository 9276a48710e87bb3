/* Promises of latency.h: percentiles of durations agree with those of sorted samples. How to join:
 * add durations to empty() and compare with true_quantile(). */
#include "pipeline/production/telemetry/latency.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

enum { SAMPLES = 20000 };

static const double shares[] = {0.0, 0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0};
enum { SHARES = sizeof shares / sizeof *shares };

/* A random duration (s), log-uniform between 2e-6 s and 2e6 s. */
static double sample(unsigned short state[3])
{
    return 2e-6 * pow(1e12, erand48(state));
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double *sorted_samples(ics_latency *latency)
{
    unsigned short state[3] = {1, 2, 3};
    double *samples = calloc(SAMPLES, sizeof *samples);
    ck_assert_ptr_nonnull(samples);
    for (int i = 0; i < SAMPLES; ++i) {
        samples[i] = sample(state);
        ics_latency_add(latency, samples[i]);
    }
    qsort(samples, SAMPLES, sizeof *samples, compare);
    return samples;
}

/* The percentile by nearest rank. */
static double true_quantile(const double *sorted, double share)
{
    int rank = (int)ceil(share * SAMPLES);
    return sorted[rank > 0 ? rank - 1 : 0];
}

static ics_latency *empty(void)
{
    ics_latency *latency = calloc(1, sizeof *latency);
    ck_assert_ptr_nonnull(latency);
    return latency;
}

START_TEST(quantiles_are_within_a_hundredth)
{
    ics_latency *latency = empty();
    double *samples = sorted_samples(latency);
    ck_assert_uint_eq(latency->count, SAMPLES);
    for (int i = 0; i < SHARES; ++i) {
        double expected = true_quantile(samples, shares[i]);
        double found = ics_latency_quantile(latency, shares[i]);
        ck_assert_msg(fabs(found / expected - 1.0) < 0.008, "%g: found %.9g, expected %.9g",
                      shares[i], found, expected);
    }
    ck_assert_double_eq(ics_latency_quantile(latency, 0.0), samples[0]);
    ck_assert_double_eq(ics_latency_quantile(latency, 1.0), samples[SAMPLES - 1]);
    free(samples);
    free(latency);
}
END_TEST

START_TEST(quantiles_at_the_ends_of_buckets)
{
    /* The relative width of buckets changes at powers of two. */
    for (int exponent = ICS_LATENCY_LOWEST; exponent < ICS_LATENCY_HIGHEST; ++exponent) {
        const double ends[] = {ldexp(1.0, exponent), nextafter(ldexp(1.0, exponent + 1), 0.0)};
        for (int i = 0; i < 2; ++i) {
            ics_latency *latency = empty();
            /* Three durations, so that the median is neither the smallest nor the largest. */
            ics_latency_add(latency, 0.0);
            ics_latency_add(latency, ends[i]);
            ics_latency_add(latency, 1e9);
            double found = ics_latency_quantile(latency, 0.5);
            ck_assert_msg(fabs(found / ends[i] - 1.0) < 0.008, "found %.9g, expected %.9g", found,
                          ends[i]);
            free(latency);
        }
    }
}
END_TEST

START_TEST(strange_values)
{
    ics_latency *latency = empty();
    ck_assert_double_eq(ics_latency_quantile(latency, 0.5), 0.0);
    json_t *json = ics_latency_json(latency);
    ck_assert_int_eq(json_integer_value(json_object_get(json, "count")), 0);
    ck_assert(json_is_null(json_object_get(json, "p99")));
    json_decref(json);
    ics_latency_add(latency, -5.0); /* a clock was set back */
    ics_latency_add(latency, NAN);
    ics_latency_add(latency, 0.0);
    ck_assert_double_eq(latency->max, 0.0);
    ck_assert_double_eq(ics_latency_quantile(latency, 0.5), 0.0);
    ics_latency_add(latency, INFINITY);
    ck_assert(isfinite(latency->sum));
    ck_assert(isfinite(ics_latency_quantile(latency, 1.0)));
    ck_assert_uint_eq(latency->count, 4);
    free(latency);
}
END_TEST

START_TEST(json_has_all_fields)
{
    ics_latency *latency = empty();
    for (int i = 1; i <= 100; ++i) {
        ics_latency_add(latency, i);
    }
    json_t *json = ics_latency_json(latency);
    ck_assert_int_eq(json_integer_value(json_object_get(json, "count")), 100);
    ck_assert_double_eq_tol(json_real_value(json_object_get(json, "mean")), 50.5, 1e-9);
    ck_assert_double_eq_tol(json_real_value(json_object_get(json, "p50")), 50.0, 0.4);
    ck_assert_double_eq_tol(json_real_value(json_object_get(json, "p90")), 90.0, 0.72);
    ck_assert_double_eq_tol(json_real_value(json_object_get(json, "p99")), 99.0, 0.8);
    ck_assert_double_eq(json_real_value(json_object_get(json, "max")), 100.0);
    json_decref(json);
    free(latency);
}
END_TEST

ICS_TEST_MAIN("latency")
{
    TCase *all = tcase_create("percentiles");
    tcase_add_test(all, quantiles_are_within_a_hundredth);
    tcase_add_test(all, quantiles_at_the_ends_of_buckets);
    tcase_add_test(all, strange_values);
    tcase_add_test(all, json_has_all_fields);
    suite_add_tcase(suite, all);
}
