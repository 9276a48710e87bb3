/* Promise: waveforms are exact sums that depend neither on the order of the hits nor on how they
 * were divided; hits of one class of weights and one bin are one sum; a hit at an edge belongs to
 * the bin that begins there; impossible bins are errors. To join: waveforms_of() makes the rows of
 * hits that are divided into pieces. */
#include "pipeline/photons/collect/collector.h"
#include "pipeline/photons/devices/batch.h"
#include "pipeline/photons/files/hit_bins.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 3000, MOST_ROWS = 6000, PIECES = 7 };

typedef struct waveforms {
    icestream_waveform_bin rows[MOST_ROWS];
    size_t count;
    ics_bin_totals totals;
} waveforms;

static int keep_row(void *user, const icestream_waveform_bin *row, icestream_error *error)
{
    (void)error;
    waveforms *all = user;
    ck_assert_uint_lt(all->count, MOST_ROWS);
    all->rows[all->count++] = *row;
    return ICESTREAM_OK;
}

static int add_sums(void *user, const icestream_hit *hits, size_t count, icestream_error *error)
{
    for (size_t i = 0; i < count; ++i) {
        ics_bin_sum sum;
        memcpy(&sum, &hits[i], sizeof sum);
        ck_assert_int_eq(ics_hit_bins_rows_add(user, &sum, 1, error), ICESTREAM_OK);
    }
    return ICESTREAM_OK;
}

/* Makes sums of each piece of the hits, as of a batch, and rows of all sums. */
static waveforms *waveforms_of(const ics_bin_rule *rule, const icestream_hit *hits, size_t count,
                               size_t pieces)
{
    icestream_error error = {.status = ICESTREAM_OK};
    ics_hit_budget budget = {.limit = 1 << 20};
    ics_collector *collector = NULL;
    ics_bin_rows *rows = NULL;
    waveforms *all = calloc(1, sizeof *all);
    ck_assert_ptr_nonnull(all);
    ck_assert_int_eq(ics_collector_create(&budget, NULL, &collector, &error), ICESTREAM_OK);
    for (size_t k = 0; k < pieces; ++k) {
        const size_t first = k * count / pieces, end = (k + 1) * count / pieces;
        size_t left = end - first;
        icestream_hit *piece = malloc((left + 1) * sizeof *piece);
        ck_assert_ptr_nonnull(piece);
        memcpy(piece, hits + first, left * sizeof *piece);
        ck_assert_msg(ics_hit_bins_replace(rule, piece, &left, &error) == ICESTREAM_OK, "%s",
                      error.text);
        for (size_t i = 1; i < left; ++i) {
            ck_assert_int_lt(ics_hit_sort_order(&piece[i - 1], &piece[i]), 0);
        }
        ck_assert_int_eq(ics_collector_add(collector, piece, left, &error), ICESTREAM_OK);
    }
    ck_assert_int_eq(ics_hit_bins_rows_create(rule, keep_row, all, &rows, &error), ICESTREAM_OK);
    ck_assert_int_eq(ics_collector_merge(collector, add_sums, rows, NULL, &error), ICESTREAM_OK);
    ck_assert_int_eq(ics_hit_bins_rows_end(rows, &all->totals, &error), ICESTREAM_OK);
    ics_hit_bins_rows_destroy(rows);
    ics_collector_destroy(collector);
    return all;
}

/* Hits of few bins, with weights of very different sizes. */
static icestream_hit *make_hits(uint32_t seed)
{
    icestream_hit *hits = calloc(MANY, sizeof *hits);
    ck_assert_ptr_nonnull(hits);
    for (uint32_t i = 0; i < MANY; ++i) {
        seed = seed * 1664525u + 1013904223u;
        hits[i] = (icestream_hit){.event_id = UINT64_MAX - (seed >> 30),
                                  .t = (double)(seed >> 12 & 255) - 64.5,
                                  .weight = ldexpf(1.0f + (float)(seed >> 9 & 1023) / 1024.0f,
                                                   (int)(seed >> 20 & 127) - 64),
                                  .step_id = i,
                                  .string = (uint16_t)(seed >> 8 & 1),
                                  .module = (uint16_t)(seed >> 7 & 1),
                                  .pmt = -1};
    }
    return hits;
}

START_TEST(sums_do_not_depend_on_the_order)
{
    const ics_bin_rule rule = {.width = 10};
    icestream_hit *hits = make_hits((uint32_t)_i + 1);
    waveforms *whole = waveforms_of(&rule, hits, MANY, 1);
    ck_assert_uint_eq(whole->totals.hits, MANY);
    ck_assert_uint_eq(whole->totals.bins, whole->count);
    ck_assert_uint_eq(whole->totals.events, 4);
    for (uint32_t i = 0; i < MANY / 2; ++i) { /* the other way round */
        const icestream_hit hit = hits[i];
        hits[i] = hits[MANY - 1 - i];
        hits[MANY - 1 - i] = hit;
    }
    for (size_t pieces = 1; pieces <= MANY; pieces = pieces * PIECES + 1) {
        waveforms *again = waveforms_of(&rule, hits, MANY, pieces);
        ck_assert_uint_eq(again->count, whole->count);
        ck_assert_mem_eq(again->rows, whole->rows, whole->count * sizeof *whole->rows);
        free(again);
    }
    uint64_t counted = 0;
    for (size_t i = 0; i < whole->count; ++i) {
        const icestream_waveform_bin *row = &whole->rows[i];
        long double exact = 0.0L;
        uint64_t many = 0;
        for (uint32_t k = 0; k < MANY; ++k) {
            const bool same = hits[k].event_id == row->event_id && hits[k].string == row->string &&
                              hits[k].module == row->module && hits[k].t >= row->t &&
                              hits[k].t < row->t + rule.width;
            exact += same ? (long double)hits[k].weight : 0.0L;
            many += same;
        }
        ck_assert_uint_eq(row->hits, many);
        ck_assert_double_eq_tol(row->weight / (double)exact, 1.0, 4 * DBL_EPSILON);
        ck_assert_double_eq(row->t, 10.0 * row->bin);
        counted += many;
    }
    ck_assert_uint_eq(counted, MANY);
    free(whole);
    free(hits);
}
END_TEST

/* Times, weights, and what becomes of them with bins of 10 ns from -5 to 25 ns. */
START_TEST(edges)
{
    static const struct {
        double t;
        int32_t bin; /* -1: outside */
    } cases[] = {{-5.0, 0},  {-5.0000001, -1}, {4.9999999, 0}, {5.0, 1},  {24.99999999999999, 2},
                 {25.0, -1}, {1e30, -1},       {-1e30, -1},    {-0.0, 0}, {15.0, 2}};
    const ics_bin_rule rule = {.width = 10, .has_range = true, .low = -5, .high = 25};
    icestream_error error = {.status = ICESTREAM_OK};
    for (size_t i = 0; i < COUNT(cases); ++i) {
        const icestream_hit hit = {.t = cases[i].t, .weight = 1};
        ics_bin_sum sum = {.bin = -1};
        bool inside = false;
        ck_assert_int_eq(ics_hit_bins_sum_of(&rule, &hit, "x", &sum, &inside, &error),
                         ICESTREAM_OK);
        ck_assert_int_eq(inside, cases[i].bin >= 0);
        ck_assert_double_eq(sum.bin, cases[i].bin);
    }
    const ics_bin_rule all = {.width = 1e-3};
    const icestream_hit late = {.event_id = 7, .t = 1e9, .weight = 1};
    ics_bin_sum sum;
    bool inside = false;
    ck_assert_int_eq(ics_hit_bins_sum_of(&all, &late, "x", &sum, &inside, &error),
                     ICESTREAM_E_INPUT);
    ck_assert_str_eq(error.text, "event_id 7: found a hit at 1e+09 ns, expected at most 2^31 bins "
                                 "of 0.001 ns from time 0 (x leaves it out)");
}
END_TEST

START_TEST(extreme_weights)
{
    static const float weights[] = {0.0f, 1e-45f, 1.1754942e-38f, FLT_MIN, 1.0f, FLT_MAX, FLT_MAX};
    const ics_bin_rule rule = {.width = 1};
    icestream_hit hits[COUNT(weights)];
    for (size_t i = 0; i < COUNT(weights); ++i) {
        hits[i] = (icestream_hit){.t = (double)i, .weight = weights[i]};
        waveforms *one = waveforms_of(&rule, &hits[i], 1, 1);
        ck_assert_uint_eq(one->count, 1);
        ck_assert_double_eq(one->rows[0].weight, (double)weights[i]);
        free(one);
        hits[i].t = 0.5;
    }
    waveforms *all = waveforms_of(&rule, hits, COUNT(weights), 2);
    ck_assert_uint_eq(all->count, 1);
    ck_assert_uint_eq(all->rows[0].hits, COUNT(weights));
    ck_assert_double_eq(all->rows[0].weight, 2.0 * (double)FLT_MAX);
    free(all);
    waveforms *none = waveforms_of(&rule, hits, 0, 1);
    ck_assert_uint_eq(none->count + none->totals.events + none->totals.hits, 0);
    free(none);
}
END_TEST

START_TEST(impossible_sums)
{
    const ics_bin_rule rule = {.width = 1};
    const ics_bin_sum bad[] = {{.bin = 1e10, .hits = 1},
                               {.bin = NAN, .hits = 1},
                               {.exponent = 255, .hits = 1},
                               {.exponent = UINT32_MAX, .hits = 1}};
    icestream_error error = {.status = ICESTREAM_OK};
    ics_bin_rows *rows = NULL;
    ck_assert_int_eq(ics_hit_bins_rows_create(&rule, keep_row, NULL, &rows, &error), ICESTREAM_OK);
    for (size_t i = 0; i < COUNT(bad); ++i) {
        ck_assert_int_eq(ics_hit_bins_rows_add(rows, &bad[i], 1, &error), ICESTREAM_E_INPUT);
    }
    const ics_bin_sum full = {.hits = 1, .mantissa = UINT64_MAX, .exponent = 1};
    ck_assert_int_eq(ics_hit_bins_rows_add(rows, &full, 1, &error), ICESTREAM_OK);
    ck_assert_int_eq(ics_hit_bins_rows_add(rows, &full, 1, &error), ICESTREAM_E_INPUT);
    ck_assert_msg(strstr(error.text, "expected at most 2^40") != NULL, "%s", error.text);
    ics_hit_bins_rows_destroy(rows);
    ics_hit_bins_rows_destroy(NULL);
}
END_TEST

ICS_TEST_MAIN("hit_bins")
{
    TCase *tests = tcase_create("hit_bins");
    tcase_add_loop_test(tests, sums_do_not_depend_on_the_order, 0, 3);
    tcase_add_test(tests, edges);
    tcase_add_test(tests, extreme_weights);
    tcase_add_test(tests, impossible_sums);
    suite_add_tcase(suite, tests);
}
