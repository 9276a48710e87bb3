/* Promises of conversions to the text format of ppc and to waveforms: the numbers equal those that
 * were computed by hand. To join: another hit is computed by hand and added to hit_text or
 * write_times(); a bad option is a row of tests/cli/bad_inputs/bad_inputs_exchange.py. */
#include "pipeline/photons/files/format/table_reader.h"
#include "tests/files/hit_files.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static void store_hits(const char *path, const icestream_hit *hits, size_t count,
                       const json_t *metadata)
{
    icestream_error error = {.text = ""};
    ck_assert_msg(write_hits(path, hits, count, metadata, true, &error) == 0, "%s", error.text);
}

static char *read_text(const char *path)
{
    size_t size;
    char *bytes = (char *)scratch_read(path, &size);
    char *text = malloc(size + 1);
    ck_assert_ptr_nonnull(text);
    memcpy(text, bytes, size);
    text[size] = 0;
    free(bytes);
    return text;
}

/* ---- text ------------------------------------------------------------------------------------ */

START_TEST(hit_text)
{
    /* Computed by hand. The photons travel along x, upwards, and downwards to -y. They arrive at
     * the north pole, at -x, and at (0, 0.1, 0.1). */
    const icestream_hit hits[] = {
        {.event_id = 3,
         .t = 1234.5,
         .z = 0.1651f,
         .dx = 1,
         .wavelength = 400.5f,
         .weight = 2,
         .string = 63,
         .module = 34,
         .pmt = -1},
        {.event_id = 3,
         .t = -0.25,
         .x = -0.1651f,
         .dz = 1,
         .wavelength = 337,
         .photon_id = 1,
         .string = 1,
         .module = 60,
         .pmt = 0},
        {.event_id = UINT64_MAX,
         .t = 1e7,
         .y = 0.1f,
         .z = 0.1f,
         .dy = -0.6f,
         .dz = -0.8f,
         .wavelength = 500,
         .string = 86,
         .module = 1,
         .pmt = -1},
    };
    static const char expected[] =
        "V 2000.1.2\nTBEGIN ? ? ?\n"
        "EM 3 1 1970 1 0 0\n"
        /* photon: theta pi/2, phi 0; from the pole down to the centre: theta pi */
        "HIT 63 34 1234.500000 400.500000 1.570796 0.000000 3.141593 0.000000\n"
        /* photon: theta 0; from -x to the centre: along +x */
        "HIT 1 60 -0.250000 337.000000 0.000000 0.000000 1.570796 0.000000\n"
        "EE\n"
        "EM 18446744073709551615 1 1970 1 0 0\n"
        /* photon: cos theta -0.8, phi 3 pi/2; to the centre: (0, -1, -1), theta 3 pi/4 */
        "HIT 86 1 10000000.000000 500.000000 2.498092 4.712389 2.356194 4.712389\n"
        "EE\n"
        "TEND ? ? ?\nEND\n";
    scratch place = scratch_create();
    char from[SCRATCH_PATH], to[SCRATCH_PATH];
    icestream_error error = {.text = ""};
    store_hits(scratch_path(&place, "a.hits.npy", from), hits, 3, NULL);
    scratch_path(&place, "a.txt", to);
    ck_assert_msg(icestream_convert(from, to, false, &error) == ICESTREAM_OK, "%s", error.text);
    char *text = read_text(to);
    ck_assert_str_eq(text, expected);
    free(text);
    ck_assert_int_eq(icestream_convert(from, to, false, &error), ICESTREAM_E_OUTPUT);
    ck_assert_int_eq(icestream_convert(from, to, true, &error), ICESTREAM_OK);
    /* a file without hits */
    store_hits(from, hits, 0, NULL);
    ck_assert_int_eq(icestream_convert(from, to, true, &error), ICESTREAM_OK);
    text = read_text(to);
    ck_assert_str_eq(text, "V 2000.1.2\nTBEGIN ? ? ?\nTEND ? ? ?\nEND\n");
    free(text);
    /* Only hits in .npy are converted to text. */
    ck_assert_int_eq(icestream_convert(to, from, true, &error), ICESTREAM_E_USAGE);
    ck_assert_ptr_nonnull(strstr(error.text, "a.txt: found an unknown ending"));
    scratch_remove(&place);
}
END_TEST

START_TEST(much_text)
{
    enum { HITS = 3000 }; /* more than a block, and more than the buffer */
    static icestream_hit hits[HITS];
    for (uint32_t i = 0; i < HITS; ++i) {
        hits[i] = (icestream_hit){.event_id = i / 1000,
                                  .t = i,
                                  .x = 0.1f,
                                  .dz = 1,
                                  .wavelength = 400,
                                  .photon_id = i,
                                  .string = 1,
                                  .module = 1};
    }
    scratch place = scratch_create();
    char from[SCRATCH_PATH], to[SCRATCH_PATH];
    icestream_error error = {.text = ""};
    store_hits(scratch_path(&place, "a.hits.npy", from), hits, HITS, NULL);
    ck_assert_int_eq(icestream_convert(from, scratch_path(&place, "a.txt", to), false, &error),
                     ICESTREAM_OK);
    char *text = read_text(to), *line = text;
    unsigned count = 0, events = 0;
    for (char *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        double t;
        *end = 0;
        events += strncmp(line, "EM ", 3) == 0;
        if (sscanf(line, "HIT 1 1 %lf", &t) == 1) {
            ck_assert_double_eq(t, count++);
        }
    }
    ck_assert_uint_eq(count, HITS);
    ck_assert_uint_eq(events, 3);
    free(text);
    scratch_remove(&place);
}
END_TEST

/* ---- waveforms ------------------------------------------------------------------------------- */

typedef struct waveforms {
    int status;
    icestream_error error;
    char *text; /* what was printed */
    icestream_waveform_bin *bins;
    size_t count;
    json_t *metadata;
} waveforms;

static waveforms make(const scratch *place, const icestream_waveform_options *options)
{
    waveforms result = {.status = ICESTREAM_OK};
    char from[SCRATCH_PATH], to[SCRATCH_PATH];
    size_t size = 0;
    FILE *out = open_memstream(&result.text, &size);
    result.status =
        icestream_waveforms(scratch_path(place, "a.hits.npy", from),
                            scratch_path(place, "w.npy", to), options, out, &result.error);
    fclose(out);
    if (result.status != ICESTREAM_OK) {
        return result;
    }
    ics_table_reader *reader = NULL;
    icestream_error error = {.text = ""};
    ck_assert_msg(ics_table_reader_open(to, NULL, &reader, &error) == ICESTREAM_OK, "%s",
                  error.text);
    ck_assert_ptr_eq(ics_table_reader_layout(reader), ics_layout_waveforms());
    const size_t rows = (size_t)ics_table_reader_rows(reader);
    result.bins = calloc(rows + 1, sizeof *result.bins);
    for (size_t got = 1; got > 0; result.count += got) {
        ck_assert_int_eq(ics_table_reader_read(reader, result.bins + result.count,
                                               rows - result.count + 1, &got, &error),
                         ICESTREAM_OK);
    }
    result.metadata = json_deep_copy(ics_table_reader_metadata(reader));
    ics_table_reader_destroy(reader);
    return result;
}

static void forget(waveforms *result)
{
    free(result->text);
    free(result->bins);
    json_decref(result->metadata);
    *result = (waveforms){.status = ICESTREAM_OK};
}

static void expect_bin(const icestream_waveform_bin *bin, icestream_waveform_bin expected)
{
    ck_assert_uint_eq(bin->event_id, expected.event_id);
    ck_assert_uint_eq(bin->string, expected.string);
    ck_assert_uint_eq(bin->module, expected.module);
    ck_assert_int_eq(bin->bin, expected.bin);
    ck_assert_double_eq(bin->t, expected.t);
    ck_assert_uint_eq(bin->hits, expected.hits);
    ck_assert_double_eq(bin->weight, expected.weight);
}

/* Writes a hit file with the times of `table`, ordered by event, on modules 1 and 2 of string 7. */
static void write_times(const scratch *place)
{
    static const struct {
        uint64_t event;
        double t;
        float weight;
        uint16_t module;
    } table[] = {{1, 25, 1, 2},  {1, 21, 2, 1},    {1, 29.5, 4, 2}, {1, 20, 8, 2},
                 {1, 30, 16, 2}, {1, -0.5, 32, 2}, {2, 25, 64, 2}};
    icestream_hit hits[7];
    for (uint32_t i = 0; i < 7; ++i) {
        hits[i] = (icestream_hit){.event_id = table[i].event,
                                  .t = table[i].t,
                                  .x = 0.1f,
                                  .dz = 1,
                                  .wavelength = 400,
                                  .weight = table[i].weight,
                                  .photon_id = i,
                                  .string = 7,
                                  .module = table[i].module,
                                  .pmt = -1};
    }
    const ics_metadata_origin ice_origin = {.seed = 17, .ice = "c0ffee"};
    json_t *metadata = NULL;
    icestream_error error;
    char path[SCRATCH_PATH];
    ck_assert_int_eq(ics_metadata_create(&ice_origin, &metadata, &error), 0);
    store_hits(scratch_path(place, "a.hits.npy", path), hits, 7, metadata);
    json_decref(metadata);
}

START_TEST(bins_by_hand)
{
    scratch place = scratch_create();
    write_times(&place);
    waveforms w = make(&place, &(icestream_waveform_options){.bin = 10, .force = true});
    ck_assert_msg(w.status == ICESTREAM_OK, "%s", w.error.text);
    ck_assert_uint_eq(w.count, 5);
    expect_bin(&w.bins[0], (icestream_waveform_bin){1, 20, 2, 1, 2, 7, 1});
    expect_bin(&w.bins[1], (icestream_waveform_bin){1, -10, 32, 1, -1, 7, 2});
    expect_bin(&w.bins[2], (icestream_waveform_bin){1, 20, 13, 3, 2, 7, 2});
    expect_bin(&w.bins[3], (icestream_waveform_bin){1, 30, 16, 1, 3, 7, 2});
    expect_bin(&w.bins[4], (icestream_waveform_bin){2, 20, 64, 1, 2, 7, 2});
    ck_assert_ptr_nonnull(strstr(w.text, "w.npy: 7 hits of 2 events in 5 bins of 10 ns\n"));
    ck_assert_str_eq(json_string_value(json_object_get(w.metadata, "seed")), "17");
    ck_assert_int_eq(json_integer_value(json_object_get(w.metadata, "hits")), 7);
    forget(&w);
    /* With a range, bins are counted from its beginning, and the last bin may be shorter. */
    w = make(&place, &(icestream_waveform_options){
                         .bin = 7, .has_range = true, .low = 20, .high = 30, .force = true});
    ck_assert_msg(w.status == ICESTREAM_OK, "%s", w.error.text);
    ck_assert_uint_eq(w.count, 4);
    expect_bin(&w.bins[0], (icestream_waveform_bin){1, 20, 2, 1, 0, 7, 1});
    expect_bin(&w.bins[1], (icestream_waveform_bin){1, 20, 9, 2, 0, 7, 2});
    expect_bin(&w.bins[2], (icestream_waveform_bin){1, 27, 4, 1, 1, 7, 2});
    expect_bin(&w.bins[3], (icestream_waveform_bin){2, 20, 64, 1, 0, 7, 2});
    ck_assert_ptr_nonnull(strstr(w.text, "5 hits of 2 events"));
    ck_assert_ptr_nonnull(strstr(w.text, ", 2 hits outside the range\n"));
    ck_assert_int_eq(json_integer_value(json_object_get(w.metadata, "outside")), 2);
    forget(&w);
    /* The same hits as text. */
    char from[SCRATCH_PATH], to[SCRATCH_PATH];
    icestream_error error = {.text = ""};
    FILE *out = fopen("/dev/null", "w");
    ck_assert_ptr_nonnull(out);
    scratch_path(&place, "a.hits.npy", from);
    scratch_path(&place, "w.csv", to);
    ck_assert_int_eq(
        icestream_waveforms(from, to, &(icestream_waveform_options){.bin = 2.5}, out, &error),
        ICESTREAM_OK);
    char *text = read_text(to);
    ck_assert_str_eq(text, "event_id,string,module,bin,t,hits,weight\n"
                           "1,7,1,8,20,1,2\n"
                           "1,7,2,-1,-2.5,1,32\n"
                           "1,7,2,8,20,1,8\n"
                           "1,7,2,10,25,1,1\n"
                           "1,7,2,11,27.5,1,4\n"
                           "1,7,2,12,30,1,16\n"
                           "2,7,2,10,25,1,64\n");
    free(text);
    ck_assert_int_eq(
        icestream_waveforms(from, to, &(icestream_waveform_options){.bin = 2.5}, out, &error),
        ICESTREAM_E_OUTPUT);
    fclose(out);
    scratch_remove(&place);
}
END_TEST

/* The bins are so numerous that the program merges them several times on the way. */
START_TEST(sums_are_the_hits)
{
    enum { HITS = 100000 };
    icestream_hit *hits = calloc(HITS, sizeof *hits);
    ck_assert_ptr_nonnull(hits);
    double weight = 0;
    for (uint32_t i = 0; i < HITS; ++i) {
        const uint32_t random = i * 2654435761u;
        hits[i] = (icestream_hit){.event_id = i / 40000,
                                  .t = random % 5000,
                                  .x = 0.1f,
                                  .dz = 1,
                                  .wavelength = 400,
                                  .weight = (float)(random >> 8) * 1e-6f,
                                  .photon_id = i,
                                  .string = (uint16_t)(1 + random % 7),
                                  .module = (uint16_t)(1 + i % 60),
                                  .pmt = -1};
        weight += hits[i].weight;
    }
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    store_hits(scratch_path(&place, "a.hits.npy", path), hits, HITS, NULL);
    waveforms w = make(&place, &(icestream_waveform_options){.bin = 100});
    ck_assert_msg(w.status == ICESTREAM_OK, "%s", w.error.text);
    uint64_t sum = 0;
    double total = 0;
    uint32_t counts[3][50] = {{0}};
    for (uint32_t i = 0; i < HITS; ++i) {
        ++counts[hits[i].event_id][(int)(hits[i].t / 100)];
    }
    for (size_t i = 0; i < w.count; ++i) {
        const icestream_waveform_bin *a = &w.bins[i], *b = &w.bins[i + 1];
        sum += a->hits;
        total += a->weight;
        ck_assert_double_eq(a->t, a->bin * 100.0);
        counts[a->event_id][a->bin] -= (uint32_t)a->hits;
        if (i + 1 < w.count) { /* The bins are in order, and each bin is there once. */
            ck_assert(a->event_id < b->event_id ||
                      (a->event_id == b->event_id &&
                       (a->string < b->string ||
                        (a->string == b->string &&
                         (a->module < b->module || (a->module == b->module && a->bin < b->bin))))));
        }
    }
    ck_assert_uint_eq(sum, HITS);
    ck_assert_double_eq_tol(total, weight, 1e-9 * weight);
    for (int i = 0; i < 150; ++i) {
        ck_assert_uint_eq(counts[i / 50][i % 50], 0);
    }
    forget(&w);
    free(hits);
    scratch_remove(&place);
}
END_TEST

START_TEST(times_beyond_all_bins_are_refused)
{
    scratch place = scratch_create();
    const icestream_hit far = {.t = 1e12, .dz = 1, .wavelength = 400};
    char path[SCRATCH_PATH];
    store_hits(scratch_path(&place, "a.hits.npy", path), &far, 1, NULL);
    waveforms w = make(&place, &(icestream_waveform_options){.bin = 1});
    ck_assert_int_eq(w.status, ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(w.error.text, "found a hit at 1e+12 ns"));
    ck_assert(!scratch_exists(&place, "w.npy"));
    ck_assert(!scratch_exists(&place, "w.npy.part"));
    forget(&w);
    scratch_remove(&place);
}
END_TEST

ICS_TEST_MAIN("exchange")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, hit_text);
    tcase_add_test(all, much_text);
    tcase_add_test(all, bins_by_hand);
    tcase_add_test(all, sums_are_the_hits);
    tcase_add_test(all, times_beyond_all_bins_are_refused);
    suite_add_tcase(suite, all);
}
