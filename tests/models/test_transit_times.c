/* Promise: transit times follow the table that a type or a PMT names, with pre-pulses and late
 * pulses, and the photon's own numbers decide them (physics.md 8.18). To join: a table of `tables`.
 */
#include "physics/detect/pmt.h"
#include "pipeline/photons/models/detector/pmt_tables.h"
#include "pipeline/photons/models/types/transit_times.h"
#include "tests/support/detection_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <string.h>

/* A pre-pulse, no light, the main pulse and a late one, as a density and as counts; one triangle
 * from 0; one bin; and a late pulse that is rare. */
static const char *const tables[] = {
    ("time,density\n-30,0\n-29,0.5\n-28,0\n-5,0\n-2,8\n0,20\n3,4\n8,0\n30,0\n34,1\n40,0.2\n60,0\n"),
    "counts,time\n3,-30\n0,-28\n40,-5\n200,-1\n250,0.5\n60,2\n0,9\n12,30\n4,33\n0,61\n",
    "time,density\n0,0\n5,1\n",
    "time,counts\n-2,7\n3,0\n",
    "time,counts\n0,1e9\n1,0\n100,1e3\n110,0\n",
};

static ice_transit read_text(const char *csv)
{
    ice_transit transit;
    icestream_error error = {0};
    const ics_text text = ics_text_borrow("t.csv", csv, strlen(csv));
    ck_assert_msg(ics_transit_times_read_csv(&text, &transit, &error) == ICESTREAM_OK, "%s",
                  error.text);
    return transit;
}

/* Returns the exact probability of times below t. */
static double cumulative(const ice_transit *transit, double t)
{
    double sum = 0, below = 0;
    for (size_t i = 0; i < transit->count; ++i) {
        const ice_transit_range *range = &transit->ranges[i];
        const double width = range->to - range->from;
        const double s = fmax(fmin((t - range->from) / width, 1), 0);
        sum += width * (range->low + range->high) / 2;
        below += width * (range->low * s + (range->high - range->low) * s * s / 2);
    }
    return below / sum;
}

/* The tables that detection reads, of one type. */
typedef struct drawn_tables {
    void *memory;
    ice_pmt_tables tables;
} drawn_tables;

static drawn_tables make_tables(const ice_transit *transit)
{
    ice_module_type type = {.transit = *transit};
    const ice_detector detector = {.types = &type, .type_count = 1};
    drawn_tables out = {.memory = malloc(ics_pmt_transit_bytes(&detector))};
    ck_assert_ptr_nonnull(out.memory);
    ics_pmt_transit_fill(&detector, out.memory, &out.tables);
    return out;
}

START_TEST(times_follow_the_table)
{
    enum { BINS = 40 };
    const size_t draws = test_scaled(400000);
    ice_transit transit = read_text(tables[_i]);
    drawn_tables made = make_tables(&transit);
    const ice_transit_parts *parts = made.tables.transits;
    const double first = transit.ranges[0].from, last = transit.ranges[transit.count - 1].to;
    double counts[BINS] = {0}, chi_square = 0, sum = 0, squares = 0;
    uint64_t state = 7 + (uint64_t)_i;
    bool is_inside = true;
    for (size_t i = 0; i < draws; ++i) {
        const uint64_t word = test_word(&state);
        const double t = (double)ice_transit_drawn(made.tables.transit_parts, parts->count,
                                                   (uint32_t)(word >> 32), (uint32_t)word);
        is_inside &= t >= first && t <= last;
        counts[(int)fmin((t - first) / (last - first) * BINS, BINS - 1)] += 1;
        sum += t;
        squares += t * t;
    }
    ck_assert(is_inside);
    int freedom = -1;
    double rest = 0, rest_expected = 0; /* bins with few times count together */
    for (int i = 0; i < BINS; ++i) {
        const double expected =
            (double)draws * (cumulative(&transit, first + (last - first) * (i + 1) / BINS) -
                             cumulative(&transit, first + (last - first) * i / BINS));
        if (expected < 1e-9 * (double)draws) {
            ck_assert_double_eq(counts[i], 0);
        } else if (expected < 10) {
            rest += counts[i];
            rest_expected += expected;
        } else {
            chi_square += (counts[i] - expected) * (counts[i] - expected) / expected;
            ++freedom;
        }
    }
    if (rest_expected > 0) {
        chi_square += (rest - rest_expected) * (rest - rest_expected) / fmax(rest_expected, 1);
        ++freedom;
    }
    /* Chi-square exceeds this with a probability of 1e-5 (Wilson and Hilferty); five tables: 5e-5.
     */
    const double k = fmax(freedom, 1), spread = sqrt(2 / (9 * k));
    ck_assert_double_lt(chi_square, k * pow(1 - 2 / (9 * k) + 4.265 * spread, 3));
    /* The mean within 4.5 standard deviations: below 4e-5 for the five tables. */
    const double mean = sum / (double)draws,
                 deviation = sqrt((squares / (double)draws - mean * mean) / (double)draws);
    ck_assert_double_eq_tol(mean, ics_transit_times_mean(&transit), 4.5 * deviation);
    free(made.memory);
    ics_transit_times_free(&transit);
}
END_TEST

START_TEST(words_at_the_ends)
{
    /* Words 0 and 2^32 - 1 are the first and the last time of the table, and times never fall with
     * the words. */
    ice_transit transit = read_text(tables[_i]);
    drawn_tables made = make_tables(&transit);
    const ice_transit_part *parts = made.tables.transit_parts;
    const uint32_t count = made.tables.transits[0].count;
    float before = -INFINITY;
    for (uint64_t c = 0; c <= UINT32_MAX; c += UINT32_MAX / 5000) {
        const float t = ice_transit_drawn(parts, count, (uint32_t)c, 0);
        ck_assert_float_le(before, t);
        before = t;
    }
    ck_assert_float_eq(ice_transit_drawn(parts, count, 0, 0), (float)transit.ranges[0].from);
    ck_assert_double_eq_tol((double)ice_transit_drawn(parts, count, UINT32_MAX, UINT32_MAX),
                            transit.ranges[transit.count - 1].to, 2e-3);
    free(made.memory);
    ics_transit_times_free(&transit);
}
END_TEST

START_TEST(worked_numbers)
{
    /* A triangle from 0 at 0 to 5 ns: a quarter of the times is below 2.5 ns. Counts 1, 3 in bins
     * of 2 and 1 ns: half of the times is below 2 + 1/3 ns. */
    static const struct {
        const char *csv;
        uint32_t word;
        float time;
        double mean;
    } cases[] = {{"time,density\n0,0\n5,1\n", 0x40000000u, 2.5f, 10.0 / 3},
                 {"time,counts\n0,1\n2,3\n3,0\n", 0x80000000u, 2.3333333f, 0.25 + 0.75 * 2.5},
                 {"time,density\n-1,2\n1,2\n", 0xC0000000u, 0.5f, 0}};
    for (size_t i = 0; i < COUNT(cases); ++i) {
        ice_transit transit = read_text(cases[i].csv);
        drawn_tables made = make_tables(&transit);
        ck_assert_float_eq_tol(ice_transit_drawn(made.tables.transit_parts,
                                                 made.tables.transits[0].count, cases[i].word, 0),
                               cases[i].time, 1e-6f);
        ck_assert_double_eq_tol(ics_transit_times_mean(&transit), cases[i].mean, 1e-12);
        free(made.memory);
        ics_transit_times_free(&transit);
    }
}
END_TEST

START_TEST(times_of_single_pmts)
{
    /* PMT 0 has the times of the type, PMT 1 its own, and PMT 2 its own with a delay; the PMT of
     * the second type has a spread. */
    model_folder folder = model_folder_create();
    char early[MODEL_PATH], late[MODEL_PATH], set[4 * MODEL_PATH];
    model_folder_write(&folder, "early.csv", "time,density\n-3,1\n-2,1\n", early);
    model_folder_write(&folder, "late.csv", "time,density\n20,1\n21,1\n", late);
    snprintf(set, sizeof set,
             "detector.types={t: {shape: sphere, radius: 0.2, transit_times: %s, pmts: [[0, 0], "
             "{zenith: 90, azimuth: 0, transit_times: %s}, {zenith: 180, azimuth: 0, delay: 100, "
             "transit_times: %s}]}, u: {shape: sphere, radius: 0.2, pmts: [{zenith: 0, azimuth: 0, "
             "delay: 7, spread: 0.1}]}}",
             early, late, late);
    char list[MODEL_PATH], file[MODEL_PATH + 32];
    model_folder_write(&folder, "d.csv", "string,module,x,y,z,type\n1,1,0,0,0,t\n1,2,0,0,9,u\n",
                       list);
    snprintf(file, sizeof file, "detector.file=%s", list);
    ics_models *models = models_load(
        model_config("stages.detect=pmt-plane", "light.acceptance=standard", set, file, NULL));
    const ice_pmt_tables *pmts = models->detection->tables.pmts;
    static const ice_tables seeded = {.seed_low = 3};
    static const double lows[] = {-3, 20, 120, 6}, highs[] = {-2, 21, 121, 8};
    for (uint32_t photon = 0; photon < 500; ++photon) {
        const ice_identity identity = {.photon_id = photon};
        for (size_t k = 0; k < COUNT(lows); ++k) {
            const double t = (double)ice_pmt_transit_time(&seeded, pmts, &pmts->windows[k],
                                                          identity, 0x80000007u);
            ck_assert_double_ge(t, lows[k]);
            ck_assert_double_le(t, highs[k]);
        }
    }
    ics_models_destroy(models);
    model_folder_remove(&folder);
}
END_TEST

ICS_TEST_MAIN("transit_times")
{
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, times_follow_the_table, 0, COUNT(tables));
    tcase_add_loop_test(all, words_at_the_ends, 0, COUNT(tables));
    tcase_add_test(all, worked_numbers);
    tcase_add_test(all, times_of_single_pmts);
    suite_add_tcase(suite, all);
}
