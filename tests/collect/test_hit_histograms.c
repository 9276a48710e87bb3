/* Promises of hit_histograms.h: every hit counts once, in the bin whose lower edge it reaches;
 * photons and steps count in their histograms alone. cli/run/test_histograms.sh compares the
 * histograms of every quantity of hits with the rows of files. */
#include "pipeline/photons/collect/hit_histograms.h"
#include "pipeline/photons/config/histograms.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <math.h>
#include <string.h>

static ics_histogram_config one_axis(ics_quantity quantity, double from, double to, uint32_t bins,
                                     bool is_log)
{
    return (ics_histogram_config){.axes = {{quantity, from, to, bins, is_log}}, .axis_count = 1};
}

static ics_hit_histograms *make(const ics_histogram_config *config)
{
    ics_hit_histograms *histograms = NULL;
    ck_assert_int_eq(ics_hit_histograms_create(config, 1, &histograms, NULL), ICESTREAM_OK);
    return histograms;
}

/* Reads a count of the first histogram by its numbers of bins; `j` below 0: it has one axis. */
static json_int_t count_at(const ics_hit_histograms *histograms, size_t i, int j)
{
    json_t *all = ics_hit_histograms_json(histograms);
    const json_t *values =
        json_object_get(json_object_get(json_array_get(all, 0), "storage"), "values");
    const json_t *item = json_array_get(values, i);
    const json_int_t count = json_integer_value(j < 0 ? item : json_array_get(item, (size_t)j));
    json_decref(all);
    return count;
}

/* Returns the bin in which a hit counts; one hit counts in exactly one. */
static size_t bin_of(const ics_histogram_config *config, const icestream_hit *hit)
{
    ics_hit_histograms *histograms = make(config);
    ics_hit_histograms_add(histograms, hit, 1);
    size_t found = SIZE_MAX;
    json_int_t all = 0;
    for (size_t i = 0; i < (size_t)config->axes[0].bins + 2; ++i) {
        const json_int_t count = count_at(histograms, i, -1);
        found = count > 0 ? i : found;
        all += count;
    }
    ics_hit_histograms_destroy(histograms);
    ck_assert_int_eq(all, 1);
    return found;
}

static size_t bin_of_time(const ics_histogram_config *config, double t)
{
    const icestream_hit hit = {.t = t};
    return bin_of(config, &hit);
}

START_TEST(test_bins_have_their_lower_edge)
{
    const ics_histogram_config config = one_axis(ICS_HIT_TIME, -1.0, 0.1, 11, false);
    ck_assert_uint_eq(bin_of_time(&config, -INFINITY), 0);
    ck_assert_uint_eq(bin_of_time(&config, NAN), 0);
    ck_assert_uint_eq(bin_of_time(&config, nextafter(-1.0, -2.0)), 0);
    ck_assert_uint_eq(bin_of_time(&config, nextafter(0.1, 0.0)), 11);
    ck_assert_uint_eq(bin_of_time(&config, 0.1), 12);
    ck_assert_uint_eq(bin_of_time(&config, INFINITY), 12);
    for (uint32_t i = 0; i < 11; ++i) { /* steps of 0.1 have no exact edges */
        const double edge = -1.0 + 1.1 * i / 11;
        ck_assert_uint_eq(bin_of_time(&config, edge), i + 1);
        ck_assert_uint_eq(bin_of_time(&config, nextafter(edge, -2.0)), i);
    }
}
END_TEST

START_TEST(test_a_logarithmic_axis)
{
    const ics_histogram_config config = one_axis(ICS_HIT_TIME, 0.1, 1000.0, 4, true);
    ck_assert_uint_eq(bin_of_time(&config, 0.0), 0);
    ck_assert_uint_eq(bin_of_time(&config, -5.0), 0);
    ck_assert_uint_eq(bin_of_time(&config, 0.1), 1);
    ck_assert_uint_eq(bin_of_time(&config, nextafter(1.0, 0.0)), 1);
    ck_assert_uint_eq(bin_of_time(&config, 1.0), 2);
    ck_assert_uint_eq(bin_of_time(&config, 10.0), 3);
    ck_assert_uint_eq(bin_of_time(&config, 999.9), 4);
    ck_assert_uint_eq(bin_of_time(&config, 1000.0), 5);
}
END_TEST

static float float_of(uint32_t word)
{
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

/* The edges of photons: the least whole number, and the least float, that is not below the edge of
 * the configuration. */
START_TEST(test_edges_of_photons)
{
    ics_histogram_config histograms[] = {one_axis(ICS_PHOTON_BOUNCES, 0.5, 10.0, 3, true),
                                         one_axis(ICS_HIT_TIME, 0.0, 1.0, 100, false),
                                         one_axis(ICS_PHOTON_PATH, -0.1, 0.5, 6, false),
                                         one_axis(ICS_PHOTON_DELAY, 1e-3, 1e18, 64, true),
                                         one_axis(ICS_PHOTON_DELAY, 0.0, 1e3, 65, false)};
    icestream_config config = {.sink = {.histograms = histograms, .histogram_count = 5}};
    ice_photon_axes axes;
    ics_large_axes large;
    ics_config_photon_axes(&config, &axes, &large);
    ck_assert_uint_eq(axes.count, 3);
    ck_assert_uint_eq(large.count, 1);
    ck_assert_uint_eq(large.cells, 67);
    ck_assert_uint_eq(large.items[0].quantity, ICE_PHOTON_DELAY);
    ck_assert_uint_eq(large.items[0].search.last, 0x447a0000); /* 1000.0f */
    ck_assert_uint_eq(axes.cells, 5 + 8 + 66);
    const uint32_t bounces[] = {1, 2, 4, 10}; /* 0.5, 1.36, 3.68, 10 */
    ck_assert_mem_eq(axes.items[0].edges, bounces, sizeof bounces);
    ck_assert_uint_eq(axes.items[1].quantity, ICE_PHOTON_PATH);
    ck_assert_uint_eq(axes.items[2].quantity, ICE_PHOTON_DELAY);
    ck_assert_uint_eq(axes.items[1].edges[0], 0); /* -0.1: no path is below it */
    for (uint32_t which = 1; which <= 2; ++which) {
        const ice_photon_axis *axis = &axes.items[which];
        for (uint32_t i = 0; i <= axis->bins; ++i) {
            const double edge = ics_config_histogram_edge(&histograms[which + 1].axes[0], i);
            ck_assert(float_of(axis->edges[i]) >= edge);
            ck_assert(axis->edges[i] == 0 || float_of(axis->edges[i] - 1) < edge);
        }
    }
}
END_TEST

/* Compares the counts of a histogram, in all its cells. */
static void expect_counts(const ics_hit_histograms *histograms, size_t which,
                          const json_int_t *expected, size_t cells)
{
    json_t *all = ics_hit_histograms_json(histograms);
    const json_t *storage = json_object_get(json_array_get(all, which), "storage");
    const json_t *values = json_object_get(storage, "values");
    ck_assert_uint_eq(json_array_size(values), cells);
    for (size_t k = 0; k < cells; ++k) {
        ck_assert_int_eq(json_integer_value(json_array_get(values, k)), expected[k]);
    }
    json_decref(all);
}

/* Counts of histograms with many bins come in an array for them. */
START_TEST(test_many_bins_of_photons)
{
    enum { MANY = ICE_PHOTON_BINS + 1 };
    const ics_histogram_config configs[] = {one_axis(ICS_PHOTON_PATH, 0.0, 1.0, MANY, false),
                                            one_axis(ICS_PHOTON_DELAY, 0.0, 1.0, 1, false),
                                            one_axis(ICS_PHOTON_BOUNCES, 0.0, 65.0, MANY, false)};
    static const uint64_t cells[] = {1, 20, 300};
    uint64_t large[2 * (MANY + 2)];
    for (uint32_t i = 0; i < COUNT(large); ++i) {
        large[i] = 1000 + i;
    }
    ics_hit_histograms *histograms = NULL;
    ck_assert_int_eq(ics_hit_histograms_create(configs, 3, &histograms, NULL), ICESTREAM_OK);
    ics_hit_histograms_add_photons(histograms, cells, large);
    ics_hit_histograms_add_photons(histograms, cells, large);
    json_int_t twice[3][MANY + 2];
    for (size_t k = 0; k < MANY + 2; ++k) {
        twice[0][k] = (json_int_t)(2 * large[k]);
        twice[1][k] = k < COUNT(cells) ? (json_int_t)(2 * cells[k]) : 0;
        twice[2][k] = (json_int_t)(2 * large[MANY + 2 + k]);
    }
    for (size_t i = 0; i < COUNT(configs); ++i) {
        expect_counts(histograms, i, twice[i], configs[i].axes[0].bins + 2);
    }
    ics_hit_histograms_destroy(histograms);
}
END_TEST

/* Each histogram counts its own: hits, photons or steps. */
START_TEST(test_photons_and_steps)
{
    const ics_histogram_config configs[] = {one_axis(ICS_PHOTON_PATH, 0.0, 1.0, 1, false),
                                            one_axis(ICS_STEP_PHOTONS, 10.0, 30.0, 2, false),
                                            one_axis(ICS_HIT_TIME, 0.0, 1.0, 1, false),
                                            one_axis(ICS_PHOTON_BOUNCES, 1.0, 2.0, 1, false)};
    static const uint64_t cells[] = {1, 20, 300, 4, 50, 600};
    static const json_int_t expected[][4] = {{2, 40, 600}, {1, 2, 1, 1}, {0, 1, 0}, {8, 100, 1200}};
    const icestream_hit hit = {.t = 0.5};
    ics_hit_histograms *histograms = NULL;
    ck_assert_int_eq(ics_hit_histograms_create(configs, 4, &histograms, NULL), ICESTREAM_OK);
    ics_hit_histograms_add_photons(histograms, cells, NULL);
    ics_hit_histograms_add_photons(histograms, cells, NULL);
    ics_hit_histograms_add(histograms, &hit, 1);
    static const uint32_t steps[] = {9, 10, 19, 20, 30};
    for (size_t i = 0; i < COUNT(steps); ++i) {
        ics_hit_histograms_add_step(histograms, steps[i]);
    }
    for (size_t i = 0; i < COUNT(configs); ++i) {
        expect_counts(histograms, i, expected[i], configs[i].axes[0].bins + 2);
    }
    ics_hit_histograms_destroy(histograms);
}
END_TEST

ICS_TEST_MAIN("hit_histograms")
{
    TCase *tests = tcase_create("hit_histograms");
    tcase_add_test(tests, test_bins_have_their_lower_edge);
    tcase_add_test(tests, test_a_logarithmic_axis);
    tcase_add_test(tests, test_edges_of_photons);
    tcase_add_test(tests, test_many_bins_of_photons);
    tcase_add_test(tests, test_photons_and_steps);
    suite_add_tcase(suite, tests);
}
