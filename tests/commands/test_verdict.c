/* Verdicts on two samples of hits (pipeline/commands/compare/verdict.h).
 *
 * Promises: samples whose relation is known (identical, compatible, different, empty) get the right
 * verdict. Random numbers have fixed seeds.
 * To join: make two samples with a known relation and check the kind of the verdict.
 */
#include "pipeline/commands/compare/verdict.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HITS = 4000, PHOTONS = 100000, PAIRS = 400 };

static const ics_range everything = {0, INFINITY}; /* nm */

/* Hits of photons 0, 1, 2, ... on 50 modules, with exponential times from `delay` on. */
static icestream_hit *make_hits(uint64_t seed, size_t count, double delay)
{
    icestream_hit *hits = calloc(count, sizeof *hits);
    ck_assert_ptr_nonnull(hits);
    uint64_t state = seed;
    for (size_t i = 0; i < count; ++i) {
        hits[i].photon_id = (uint32_t)i;
        hits[i].string = (uint16_t)(1 + 5 * test_uniform(&state));
        hits[i].module = (uint16_t)(1 + 10 * test_uniform(&state));
        hits[i].t = delay - 300 * log(1 - test_uniform(&state));
        hits[i].wavelength = (float)(300 + 300 * test_uniform(&state));
        hits[i].dz = (float)(2 * test_uniform(&state) - 1);
        hits[i].scatters = (uint16_t)(20 * test_uniform(&state));
    }
    return hits;
}

static ics_verdict judge(const icestream_hit *a, size_t a_count, const icestream_hit *b,
                         size_t b_count)
{
    ics_verdict verdict;
    icestream_error error = {0};
    ics_hit_sample first = {a, a_count, PHOTONS};
    ics_hit_sample second = {b, b_count, PHOTONS};
    ck_assert_msg(ics_verdict_reach(&first, &second, &verdict, &error) == ICESTREAM_OK, "%s",
                  error.text);
    return verdict;
}

static const ics_verdict_test *find_test(const ics_verdict *verdict, const char *name)
{
    for (size_t i = 0; i < ICS_VERDICT_TESTS; ++i) {
        if (strcmp(verdict->tests[i].name, name) == 0) {
            return &verdict->tests[i];
        }
    }
    ck_abort_msg("no test %s", name);
    return NULL;
}

/* The same photons in a quarter of the hits, each with four times the weight. */
START_TEST(weights)
{
    enum { MANY = 4 * HITS };
    icestream_hit *a = make_hits(11, MANY, 0), *b = make_hits(12, HITS, 0);
    ics_verdict verdict;
    icestream_error error = {0};
    for (size_t i = 0; i < MANY; ++i) {
        a[i].weight = i % 2 == 0 ? 1.5F : 0.5F;
    }
    for (size_t i = 0; i < HITS; ++i) {
        b[i].weight = 4;
    }
    const ics_hit_sample first = {a, MANY, PHOTONS};
    ics_hit_sample second = {b, HITS, PHOTONS};
    ck_assert_int_eq(ics_verdict_reach_by_weight(&first, &second, everything, &verdict, &error),
                     ICESTREAM_OK);
    ck_assert_int_eq(verdict.kind, ICS_VERDICT_COMPATIBLE);
    for (size_t i = 0; i < ICS_VERDICT_TESTS; ++i) {
        ck_assert_double_gt(verdict.tests[i].test.size, 0);
    }
    const ics_statistics_sum sum = ics_statistics_weights(b, HITS);
    ck_assert_double_eq_tol(sum.sum, 4.0 * HITS, 1e-6);
    ck_assert_double_eq_tol(sum.variance, 16.0 * HITS, 1e-6);
    /* A tenth of the weight is missing: 6 standard deviations of the sum. */
    for (size_t i = 0; i < HITS; ++i) {
        b[i].weight = 3.6F;
    }
    ck_assert_int_eq(ics_verdict_reach_by_weight(&first, &second, everything, &verdict, &error),
                     ICESTREAM_OK);
    ck_assert_int_eq(verdict.kind, ICS_VERDICT_DIFFERENT);
    ck_assert(!find_test(&verdict, "totals")->passed);
    ck_assert(find_test(&verdict, "time")->passed);
    /* Weights that depend on the time are a difference in time. */
    for (size_t i = 0; i < HITS; ++i) {
        b[i].weight = b[i].t > 300 ? 2.9F : 4.6F;
    }
    ck_assert_int_eq(ics_verdict_reach_by_weight(&first, &second, everything, &verdict, &error),
                     ICESTREAM_OK);
    ck_assert(!find_test(&verdict, "time")->passed);
    ck_assert(find_test(&verdict, "nz")->passed);
    /* Hits of one photon are not independent. */
    b[1].photon_id = b[0].photon_id;
    b[0].weight = b[1].weight = 3;
    ck_assert_double_eq_tol(ics_statistics_weights(b, 2).variance, 36, 1e-6);
    second.count = 0;
    ck_assert_int_eq(ics_verdict_reach_by_weight(&first, &second, everything, &verdict, &error),
                     ICESTREAM_OK);
    ck_assert_int_eq(verdict.kind, ICS_VERDICT_DIFFERENT);
    free(a);
    free(b);
}
END_TEST

/* Hits of equal weight on 200 modules, of which some get far more light than others. The number of
 * hits is a Poisson number with the mean `expected`: photons at exponential distances. The
 * first module gets `share` of the light in addition. */
static ics_hit_sample make_weighted(uint64_t *state, double expected, float weight, double share)
{
    enum { MODULES = 200 };
    const size_t most = (size_t)(expected + 10 * sqrt(expected) + 10);
    icestream_hit *hits = calloc(most, sizeof *hits);
    ck_assert_ptr_nonnull(hits);
    size_t count = 0;
    for (double at = test_exponential(state); at < expected && count < most;
         at += test_exponential(state)) {
        icestream_hit *hit = &hits[count];
        const double brightness = test_uniform(state);
        hit->photon_id = (uint32_t)count++;
        hit->weight = weight;
        hit->module = (uint16_t)(MODULES * brightness * brightness);
        hit->t = test_exponential(state);
        hit->wavelength = (float)test_between(state, 300, 600);
        hit->dz = (float)test_between(state, -1, 1);
        hit->scatters = (uint16_t)test_between(state, 0, 20);
        if (test_uniform(state) < share) {
            hit->module = 0;
        }
    }
    return (ics_hit_sample){hits, count, PHOTONS};
}

/* Returns the number of pairs of samples that are called different, of photons with the weights
 * 1/25 and 1: those of a workload with oversize 5 and 1. */
static int count_different(size_t pairs, double expected, double share)
{
    uint64_t state = 20261123;
    int different = 0;
    for (size_t i = 0; i < pairs; ++i) {
        ics_verdict verdict;
        icestream_error error = {0};
        const ics_hit_sample a = make_weighted(&state, expected, 0.04F, 0);
        const ics_hit_sample b = make_weighted(&state, expected / 25, 1, share);
        ck_assert_int_eq(ics_verdict_reach_by_weight(&a, &b, everything, &verdict, &error),
                         ICESTREAM_OK);
        different += verdict.kind == ICS_VERDICT_DIFFERENT;
        ics_verdict swapped;
        ck_assert_int_eq(ics_verdict_reach_by_weight(&b, &a, everything, &swapped, &error),
                         ICESTREAM_OK);
        ck_assert_int_eq(swapped.kind, verdict.kind);
        free((icestream_hit *)(uintptr_t)a.hits);
        free((icestream_hit *)(uintptr_t)b.hits);
    }
    return different;
}

START_TEST(false_alarms_of_weights)
{
    /* Equal light: ICS_VERDICT_FALSE_ALARM of the pairs are called different by chance; with 8000
     * pairs of this seed 8 were. Of 400 pairs 4 or more are, for one seed in 1300. */
    const int different = count_different(PAIRS, 2000, 0);
    ck_assert_msg(different <= 3, "%d of %d pairs of the same light are different", different,
                  PAIRS);
    /* A tenth of the light goes to another module. */
    ck_assert_int_eq(count_different(20, 20000, 0.1), 20);
}
END_TEST

START_TEST(band)
{
    /* A tenth of the light of one sample lies where the other one draws no photons. */
    uint64_t state = 5;
    ics_verdict verdict;
    icestream_error error = {0};
    const ics_hit_sample a = make_weighted(&state, 20000, 2, 0);
    const ics_hit_sample b = make_weighted(&state, 18000, 2, 0);
    icestream_hit *hits = (icestream_hit *)(uintptr_t)a.hits;
    for (size_t i = 0; i < a.count; i += 10) {
        hits[i].wavelength = 270;
    }
    ck_assert_int_eq(ics_verdict_reach_by_weight(&a, &b, everything, &verdict, &error),
                     ICESTREAM_OK);
    ck_assert_int_eq(verdict.kind, ICS_VERDICT_DIFFERENT);
    ck_assert_double_eq_tol(verdict.first.sum, 2.0 * (double)a.count, 1e-6);
    const ics_range both = {280, 675};
    ck_assert_int_eq(ics_verdict_reach_by_weight(&a, &b, both, &verdict, &error), ICESTREAM_OK);
    ck_assert_int_eq(verdict.kind, ICS_VERDICT_COMPATIBLE);
    ck_assert_double_eq_tol(verdict.first.sum, 2.0 * (double)(a.count - (a.count + 9) / 10), 1e-6);
    const ics_range nothing = {700, 800};
    ck_assert_int_eq(ics_verdict_reach_by_weight(&a, &b, nothing, &verdict, &error), ICESTREAM_OK);
    ck_assert_int_eq(verdict.kind, ICS_VERDICT_DIFFERENT);
    free(hits);
    free((icestream_hit *)(uintptr_t)b.hits);
}
END_TEST

START_TEST(identical)
{
    icestream_hit *a = make_hits(1, HITS, 0);
    icestream_hit *b = make_hits(1, HITS, 0);
    ics_verdict verdict = judge(a, HITS, b, HITS);
    ck_assert_int_eq(verdict.kind, ICS_VERDICT_IDENTICAL);
    ck_assert_uint_eq(verdict.shared, HITS);
    /* One bit of one hit is a difference. */
    b[HITS - 1].pmt = 1;
    verdict = judge(a, HITS, b, HITS);
    ck_assert_int_eq(verdict.kind, ICS_VERDICT_COMPATIBLE);
    ck_assert_uint_eq(verdict.first_difference, HITS - 1);
    ck_assert_uint_eq(verdict.shared, HITS);
    /* A missing hit is a difference, too. */
    verdict = judge(a, HITS - 1, a, HITS);
    ck_assert_int_eq(verdict.kind, ICS_VERDICT_COMPATIBLE);
    ck_assert_uint_eq(verdict.first_difference, HITS - 1);
    ck_assert_uint_eq(verdict.shared, HITS - 1);
    free(a);
    free(b);
}
END_TEST

START_TEST(empty)
{
    ics_verdict verdict = judge(NULL, 0, NULL, 0);
    ck_assert_int_eq(verdict.kind, ICS_VERDICT_EMPTY);
    ck_assert_str_eq(ics_verdict_name(verdict.kind), "empty");
}
END_TEST

START_TEST(nothing_against_something)
{
    icestream_hit *a = make_hits(1, HITS, 0);
    ics_verdict verdict = judge(NULL, 0, a, HITS);
    ck_assert_int_eq(verdict.kind, ICS_VERDICT_DIFFERENT);
    ck_assert(!find_test(&verdict, "totals")->passed);
    ck_assert(!find_test(&verdict, "modules")->passed);
    /* Times cannot be compared with nothing, so only two tests share the rate of false alarms. */
    ck_assert_double_eq(find_test(&verdict, "time")->test.size, 0);
    ck_assert_double_eq_tol(verdict.level, 1e-3 / 2, 1e-15);
    free(a);
}
END_TEST

START_TEST(compatible)
{
    /* Independent samples of one distribution: at most one seed in 1000 would fail. */
    icestream_hit *a = make_hits(1, HITS, 0);
    icestream_hit *b = make_hits(2, HITS + 30, 0);
    ics_verdict verdict = judge(a, HITS, b, HITS + 30);
    ck_assert_int_eq(verdict.kind, ICS_VERDICT_COMPATIBLE);
    ck_assert_double_eq_tol(verdict.level, 1e-3 / 6, 1e-15);
    ck_assert_double_eq(verdict.photon_inflation, 1);
    ck_assert_double_eq(find_test(&verdict, "modules")->test.size, 50);
    free(a);
    free(b);
}
END_TEST

START_TEST(every_test_finds_its_difference)
{
    icestream_hit *a = make_hits(1, HITS, 0);
    static const char *const names[] = {"totals",     "modules", "time",
                                        "wavelength", "nz",      "scatters"};
    for (size_t i = 0; i < 6; ++i) {
        size_t count = HITS;
        icestream_hit *b = make_hits(2, count, i == 2 ? 40 : 0);
        if (i == 0) {
            count -= 500;
        }
        for (size_t j = 0; j < count; ++j) {
            if (i == 1 && b[j].module == 3 && j % 2) {
                b[j].module = 4;
            }
            if (i == 3) {
                b[j].wavelength *= 1.05F;
            }
            if (i == 4) {
                b[j].dz = b[j].dz * 0.9F + 0.1F;
            }
            if (i == 5) {
                b[j].scatters = (uint16_t)(b[j].scatters + 2);
            }
        }
        ics_verdict verdict = judge(a, HITS, b, count);
        ck_assert_int_eq(verdict.kind, ICS_VERDICT_DIFFERENT);
        for (size_t j = 0; j < 6; ++j) {
            bool expected = i != j;
            /* Missing hits change the test of modules, too. */
            if (i == 0 && j == 1) {
                continue;
            }
            ck_assert_msg(find_test(&verdict, names[j])->passed == expected, "%s with %s changed",
                          names[j], names[i]);
        }
        free(b);
    }
    free(a);
}
END_TEST

START_TEST(repeated_hits)
{
    /* Every photon hits its module three times, so variances are three times as large. The tests
     * take this into account, and their results do not change. Without it the fluctuation of the
     * totals would count three times. */
    enum { EACH = 3 };
    icestream_hit *once[2] = {make_hits(1, HITS, 0), make_hits(2, HITS + 180, 0)};
    size_t counts[2] = {HITS, HITS + 180};
    icestream_hit *thrice[2];
    for (int side = 0; side < 2; ++side) {
        thrice[side] = calloc(counts[side] * EACH, sizeof(icestream_hit));
        ck_assert_ptr_nonnull(thrice[side]);
        for (size_t i = 0; i < counts[side] * EACH; ++i) {
            thrice[side][i] = once[side][i / EACH];
        }
    }
    ics_verdict single = judge(once[0], counts[0], once[1], counts[1]);
    ics_verdict triple = judge(thrice[0], counts[0] * EACH, thrice[1], counts[1] * EACH);
    ck_assert_double_eq(triple.photon_inflation, 3);
    ck_assert_double_eq(triple.module_inflation, 3);
    ck_assert_double_eq_tol(find_test(&triple, "totals")->test.statistic,
                            find_test(&single, "totals")->test.statistic, 1e-12);
    ck_assert_double_eq_tol(find_test(&triple, "modules")->test.probability,
                            find_test(&single, "modules")->test.probability, 1e-12);
    ck_assert_double_eq_tol(find_test(&triple, "time")->test.probability,
                            find_test(&single, "time")->test.probability, 1e-12);
    ck_assert_int_eq(triple.kind, ICS_VERDICT_COMPATIBLE);
    for (int side = 0; side < 2; ++side) {
        free(once[side]);
        free(thrice[side]);
    }
}
END_TEST

ICS_TEST_MAIN("verdict")
{
    TCase *tests = tcase_create("verdict");
    tcase_add_test(tests, identical);
    tcase_add_test(tests, weights);
    tcase_add_test(tests, false_alarms_of_weights);
    tcase_add_test(tests, band);
    tcase_add_test(tests, empty);
    tcase_add_test(tests, nothing_against_something);
    tcase_add_test(tests, compatible);
    tcase_add_test(tests, every_test_finds_its_difference);
    tcase_add_test(tests, repeated_hits);
    suite_add_tcase(suite, tests);
}
