/* Promise: the search for the cell of a word in a histogram with many bins
 * (stages/histograms/large_histogram.h) finds the number of edges that the word reaches, whatever
 * the edges are, and its tables stay within the memory that a GPU has for them.
 *
 * How to join: another kind of edges is a row of `axes`. */
#include "stages/photon.h"
#include "tables/large_axes.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

static const struct {
    ice_photon_quantity quantity;
    ics_bin_edges edges;
} axes[] = {
    {ICE_PHOTON_PATH, {0.0, 640.0, 65536, false}},
    {ICE_PHOTON_PATH, {1.0, 1000.0, 65536, true}},
    {ICE_PHOTON_PATH, {-100.0, 1e-3, 300, false}},      /* most edges are the word 0 */
    {ICE_PHOTON_DELAY, {1000.0, 1000.001, 500, false}}, /* most edges are the same word */
    {ICE_PHOTON_DELAY, {1e-30, 1e18, 4000, true}},
    {ICE_PHOTON_DELAY, {ICS_BIN_EDGE_LOG_LEAST, 1e-37, 65536, true}}, /* the smallest numbers */
    {ICE_PHOTON_DELAY, {3.0, 3.5, 1, false}},
    {ICE_PHOTON_BOUNCES,
     {ICS_BIN_EDGE_LOG_LEAST, 100.0, 100, true}}, /* most edges are the word 1 */
    {ICE_PHOTON_BOUNCES, {0.0, 65536.0, 65536, false}},
    {ICE_PHOTON_BOUNCES, {1.0, 1e6, 65536, true}}, /* many edges are the same whole number */
    {ICE_PHOTON_BOUNCES, {0.5, 9.5, 100, true}},
    {ICE_PHOTON_BOUNCES, {0.0, 1e18, 1000, false}}, /* beyond the largest word */
    {ICE_PHOTON_BOUNCES, {-9.0, -1.0, 70, false}},  /* all edges are the word 0 */
};

/* The number of edges[bins + 1] that a word reaches, found from edge `near` on, one by one. */
static uint32_t reached(const uint32_t *edges, uint32_t bins, uint32_t word, uint32_t near)
{
    uint32_t cell = near;
    while (cell > 0 && word < edges[cell - 1]) {
        --cell;
    }
    while (cell <= bins && word >= edges[cell]) {
        ++cell;
    }
    return cell;
}

static uint32_t *words_of(const ics_large_axes *of)
{
    uint32_t *words;
    ck_assert_int_eq(ics_large_axes_create_words(of, &words, NULL), ICESTREAM_OK);
    return words;
}

/* The words at every edge, just below and above it, in the middle of every bin, and far outside. */
START_TEST(a_search_finds_the_number_of_edges_that_are_reached)
{
    ics_large_axes one = {.count = 0};
    ics_large_axes_add(&one, axes[_i].quantity, axes[_i].edges);
    const ice_large_search search = one.items[0].search;
    uint32_t *words = words_of(&one);
    ck_assert_uint_eq(one.cells, search.bins + 2);
    ck_assert_uint_le(ice_large_buckets(search), ICE_LARGE_BUCKETS);
    for (uint32_t k = 0; k <= search.bins; ++k) {
        const double edge = ics_bin_edge(&axes[_i].edges, k);
        ck_assert_uint_eq(words[k], ics_bin_edge_word(axes[_i].quantity, edge));
        ck_assert_uint_ge(words[k], k > 0 ? words[k - 1] : 0);
        const uint32_t after = k < search.bins ? words[k + 1] : UINT32_MAX;
        const uint32_t near[] = {words[k] - (words[k] > 0), words[k],
                                 words[k] + (words[k] < UINT32_MAX),
                                 words[k] + (after - words[k]) / 2};
        for (size_t i = 0; i < COUNT(near); ++i) {
            const uint32_t cell = reached(words, search.bins, near[i], k);
            ck_assert_msg(ice_large_cell(words, search, near[i]) == cell,
                          "edge %u: word %u: found cell %u, expected %u", k, near[i],
                          ice_large_cell(words, search, near[i]), cell);
        }
    }
    ck_assert_uint_eq(ice_large_cell(words, search, 0), reached(words, search.bins, 0, 0));
    ck_assert_uint_eq(ice_large_cell(words, search, UINT32_MAX), search.bins + 1);
    free(words);
}
END_TEST

/* The words of several histograms follow each other, with their starts between them. */
START_TEST(words_of_histograms_follow_each_other)
{
    ics_large_axes all = {.count = 0};
    for (uint32_t i = 0; i < ICE_PHOTON_HISTOGRAMS; ++i) {
        ics_large_axes_add(&all, axes[2 * i].quantity, axes[2 * i].edges);
    }
    uint32_t *words = words_of(&all);
    const uint32_t *at = words;
    uint32_t cells = 0;
    for (uint32_t i = 0; i < ICE_PHOTON_HISTOGRAMS; ++i) {
        ics_large_axes one = {.count = 0};
        ics_large_axes_add(&one, axes[2 * i].quantity, axes[2 * i].edges);
        uint32_t *alone = words_of(&one);
        ck_assert_mem_eq(at, alone, ics_large_axes_words(&one) * sizeof *at);
        at += ice_large_words(all.items[i].search);
        cells += one.cells;
        free(alone);
    }
    ck_assert_uint_eq((size_t)(at - words), ics_large_axes_words(&all));
    ck_assert_uint_eq(cells, all.cells);
    free(words);
}
END_TEST

ICS_TEST_MAIN("large_axes")
{
    TCase *tests = tcase_create("large axes");
    tcase_add_loop_test(tests, a_search_finds_the_number_of_edges_that_are_reached, 0, COUNT(axes));
    tcase_add_test(tests, words_of_histograms_follow_each_other);
    suite_add_tcase(suite, tests);
}
