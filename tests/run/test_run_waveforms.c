/* sink.hits: waveforms in whole runs: the rows are those of `convert --waveforms` of the hit file,
 * for every way of computing the hits, after a stop in the middle, and with --resume. How to join:
 * a test has an empty folder `place`; write a.steps.npy into it, call expect_same() with settings.
 */
#include "pipeline/photons/files/waveform_check.h"
#include "tests/run/run_place.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEADER_BYTES   1024
#define OUTPUT         "a.hits.npy"
#define WITH_WAVEFORMS "sink.hits=waveforms"

/* The rows of a file of waveforms, which was checked as `info --verify` does. */
typedef struct waveforms {
    icestream_waveform_bin *rows;
    size_t count;
    json_t *metadata;
} waveforms;

static void release(waveforms *all)
{
    free(all->rows);
    json_decref(all->metadata);
}

static waveforms read_waveforms(const char *name)
{
    char path[2 * SCRATCH_PATH];
    icestream_error error = {.status = ICESTREAM_OK};
    waveforms all = {.count = 0};
    size_t size = 0;
    run_folder_path(place.hits, name, path);
    ck_assert_msg(ics_waveform_check_file(path, true, &all.metadata, &error) == ICESTREAM_OK, "%s",
                  error.text);
    unsigned char *bytes = scratch_read(path, &size);
    all.count = (size_t)json_integer_value(json_object_get(all.metadata, "rows"));
    ck_assert_uint_gt(size, HEADER_BYTES + all.count * sizeof *all.rows);
    all.rows = malloc((all.count + 1) * sizeof *all.rows);
    ck_assert_ptr_nonnull(all.rows);
    memcpy(all.rows, bytes + HEADER_BYTES, all.count * sizeof *all.rows);
    free(bytes);
    return all;
}

/* Runs on the CPU with these settings, up to a NULL. Overwrites the files of earlier runs. */
static int run(const char *const *sets, const char *more)
{
    place.options.force = !place.options.resume;
    const char *all[RUN_FOLDER_SETS] = {"device.backend=cpu"};
    size_t count = 1;
    for (size_t i = 0; sets[i] != NULL; ++i) {
        all[count++] = sets[i];
    }
    all[count] = more;
    return run_folder_run(&place, all);
}

static waveforms run_waveforms(const char *const *sets)
{
    ck_assert_msg(run(sets, WITH_WAVEFORMS) == ICESTREAM_OK, "%s", place.error.text);
    return read_waveforms(OUTPUT);
}

/* The waveforms that `convert --waveforms` makes of the hit file of a run. */
static waveforms convert_hits(const char *const *sets, icestream_waveform_options options)
{
    char from[2 * SCRATCH_PATH], to[2 * SCRATCH_PATH];
    icestream_error error = {.status = ICESTREAM_OK};
    FILE *nowhere = fopen("/dev/null", "w");
    ck_assert_ptr_nonnull(nowhere);
    ck_assert_msg(run(sets, NULL) == ICESTREAM_OK, "%s", place.error.text);
    options.force = true;
    ck_assert_msg(icestream_waveforms(run_folder_path(place.hits, OUTPUT, from),
                                      run_folder_path(place.hits, "converted.npy", to), &options,
                                      nowhere, &error) == ICESTREAM_OK,
                  "%s", error.text);
    fclose(nowhere);
    return read_waveforms("converted.npy");
}

static void expect_equal(const waveforms *found, const waveforms *expected)
{
    ck_assert_uint_eq(found->count, expected->count);
    ck_assert_mem_eq(found->rows, expected->rows, found->count * sizeof *found->rows);
    /* All else, too, but the list of keys, which has sink.hits. */
    json_object_del(json_object_get(found->metadata, "settings"), "models");
    json_object_del(json_object_get(expected->metadata, "settings"), "models");
    char *left = json_dumps(found->metadata, JSON_SORT_KEYS);
    char *right = json_dumps(expected->metadata, JSON_SORT_KEYS);
    ck_assert_str_eq(left, right);
    free(left);
    free(right);
}

static json_int_t number_of(const waveforms *all, const char *key)
{
    return json_integer_value(json_object_get(all->metadata, key));
}

START_TEST(every_way_of_computing)
{
    static const char *const ways[] = {"graph.batch=333",           "graph.batch=1000000",
                                       "device.threads=1",          "graph.schedule=monolithic",
                                       "graph.schedule=wavefront",  "graph.pool=64",
                                       "stages.collide=brute-force"};
    run_folder_bright_steps(&place, "a.steps.npy", 0, 30, 800);
    const char *const plain[] = {NULL};
    waveforms expected = convert_hits(plain, (icestream_waveform_options){.bin = 10});
    ck_assert_uint_gt(expected.count, 20);
    ck_assert_int_gt(number_of(&expected, "hits"), (json_int_t)expected.count);
    for (size_t i = 0; i < COUNT(ways); ++i) {
        waveforms found = run_waveforms((const char *const[]){ways[i], NULL});
        ck_assert_uint_eq(found.count, expected.count);
        ck_assert_mem_eq(found.rows, expected.rows, found.count * sizeof *found.rows);
        release(&found);
    }
    waveforms found = run_waveforms(plain);
    expect_equal(&found, &expected);
    release(&found);
    release(&expected);
}
END_TEST

START_TEST(kinds_of_hits_and_bins)
{
    static const struct {
        const char *sets[3], *bins[3];
        icestream_waveform_options options;
    } rows[] = {
        {{"stages.detect=pe"}, {"sink.waveform_bin=3.5"}, {.bin = 3.5}},
        {{"detector.keep_hit_photons=true", "ice.model=uniform"},
         {"sink.waveform_bin=100", "sink.waveform_range=[0, 1234.5]"},
         {.bin = 100, .has_range = true, .low = 0, .high = 1234.5}},
        {{"stages.detect=pe", "graph.batch=700"},
         {"sink.waveform_range=[30, 60]"},
         {.bin = 10, .has_range = true, .low = 30, .high = 60}},
        {{"run.seed=5"},
         {"sink.waveform_range=[-1e9, -1e8]", "sink.waveform_bin=1e6"},
         {.bin = 1e6, .has_range = true, .low = -1e9, .high = -1e8}},
    };
    run_folder_bright_steps(&place, "a.steps.npy", 0, 20, 1000);
    for (size_t i = 0; i < COUNT(rows); ++i) {
        const char *all[6] = {NULL};
        size_t count = 0;
        for (size_t k = 0; k < 3; ++k) {
            if (rows[i].sets[k] != NULL) {
                all[count++] = rows[i].sets[k];
            }
        }
        waveforms expected = convert_hits(all, rows[i].options);
        for (size_t k = 0; k < 3; ++k) {
            if (rows[i].bins[k] != NULL) {
                all[count++] = rows[i].bins[k];
            }
        }
        waveforms found = run_waveforms(all);
        expect_equal(&found, &expected);
        if (rows[i].options.has_range) {
            ck_assert_int_gt(number_of(&found, "outside"), 0);
        }
        release(&found);
        release(&expected);
    }
}
END_TEST

START_TEST(little_memory_for_hits)
{
    run_folder_bright_steps(&place, "a.steps.npy", 0, 20, 2000);
    /* Many batches, and a checkpoint that is written all the time. */
    const char *const sets[] = {"graph.batch=50", "sink.checkpoint=0.001", NULL};
    const char *const plain[] = {NULL};
    waveforms expected = convert_hits(plain, (icestream_waveform_options){.bin = 10});
    waveforms found = run_waveforms(sets);
    expect_equal(&found, &expected);
    release(&found);
    release(&expected);
}
END_TEST

/* Runs with a time limit that ends the run when a part of the photons is computed; looks for such a
 * limit. */
static void stop_in_middle(const char *const *sets)
{
    json_int_t created = 0;
    place.options.time_limit = 0.01;
    while (created == 0) {
        const int status = run(sets, WITH_WAVEFORMS);
        json_t *summary = run_folder_summary(&place);
        created = status == ICESTREAM_OK ? 0 : run_folder_count(summary, "account", "created");
        json_decref(summary);
        place.options.time_limit *= status == ICESTREAM_OK ? 0.3 : 1.5;
        ck_assert_msg(status == ICESTREAM_OK || status == ICESTREAM_E_UNFINISHED, "%s",
                      place.error.text);
    }
    place.options.time_limit = 0.0;
}

START_TEST(a_checkpoint_has_the_sums)
{
    const char *const sets[] = {"device.threads=1", "graph.batch=5000", NULL};
    char path[2 * SCRATCH_PATH];
    run_folder_bright_steps(&place, "a.steps.npy", 0, 40, 5000);
    waveforms expected = convert_hits(sets, (icestream_waveform_options){.bin = 10});
    unlink(run_folder_path(place.hits, OUTPUT, path));
    stop_in_middle(sets);
    ck_assert(run_folder_has_hits(&place, OUTPUT ".checkpoint"));
    unlink(run_folder_path(place.hits, OUTPUT, path)); /* of an attempt that was too fast */

    /* A checkpoint of waveforms does not continue as hits, nor with other bins. */
    place.options.resume = true;
    ck_assert_int_eq(run(sets, NULL), ICESTREAM_E_OUTPUT);
    ck_assert_msg(strstr(place.error.text, "bin_ns: found 10, expected none (hits)") != NULL, "%s",
                  place.error.text);
    ck_assert_int_eq(run((const char *const[]){WITH_WAVEFORMS, NULL}, "sink.waveform_bin=20"),
                     ICESTREAM_E_OUTPUT);
    ck_assert_msg(strstr(place.error.text, "bin_ns: found 10, expected 20") != NULL, "%s",
                  place.error.text);

    ck_assert_msg(run(sets, WITH_WAVEFORMS) == ICESTREAM_OK, "%s", place.error.text);
    json_t *summary = run_folder_summary(&place);
    ck_assert_int_gt(run_folder_count(summary, "taken_over", "photons"), 0);
    json_decref(summary);
    waveforms found = read_waveforms(OUTPUT);
    expect_equal(&found, &expected);
    release(&found);
    release(&expected);
}
END_TEST

static void expect_refusal(const char *set, const char *more, const char *text)
{
    ck_assert_int_eq(run((const char *const[]){set, NULL}, more), ICESTREAM_E_OUTPUT);
    ck_assert_msg(strstr(place.error.text, text) != NULL, "no '%s' in %s", text, place.error.text);
}

START_TEST(resume)
{
    char path[2 * SCRATCH_PATH];
    size_t size = 0;
    run_folder_bright_steps(&place, "a.steps.npy", 0, 5, 500);
    waveforms first = run_waveforms((const char *const[]){NULL});
    place.options.resume = true;
    ck_assert_int_eq(run((const char *const[]){WITH_WAVEFORMS, NULL}, NULL), ICESTREAM_OK);
    ck_assert_int_eq(run_folder_files(&place, "skipped"), 1);
    expect_refusal(WITH_WAVEFORMS, "sink.waveform_bin=5",
                   "a.hits.npy: bin_ns: found 10, expected 5");
    expect_refusal(WITH_WAVEFORMS, "sink.waveform_range=[0, 100]",
                   "a.hits.npy: range_ns: found all times, expected [0, 100]");
    expect_refusal(WITH_WAVEFORMS, "run.seed=2", "run.seed: found 1, expected 2");
    expect_refusal("sink.hits=auto", NULL, "a.hits.npy: bin_ns: found 10, expected none (hits)");

    /* A damaged row: the file goes to the quarantine and is made again. */
    run_folder_path(place.hits, OUTPUT, path);
    unsigned char *bytes = scratch_read(path, &size);
    bytes[HEADER_BYTES + 20] ^= 1;
    scratch_write(path, bytes, size);
    free(bytes);
    ck_assert_msg(run((const char *const[]){WITH_WAVEFORMS, NULL}, NULL) == ICESTREAM_OK, "%s",
                  place.error.text);
    ck_assert_int_eq(run_folder_files(&place, "done"), 1);
    waveforms again = read_waveforms(OUTPUT);
    expect_equal(&again, &first);
    release(&again);
    release(&first);

    /* Hits are there, and waveforms are wanted. */
    place.options.resume = false;
    ck_assert_int_eq(run((const char *const[]){NULL}, NULL), ICESTREAM_OK);
    place.options.resume = true;
    expect_refusal(WITH_WAVEFORMS, NULL, "a.hits.npy: bin_ns: found none (hits), expected 10");
}
END_TEST

START_TEST(bins_that_have_no_number)
{
    run_folder_bright_steps(&place, "a.steps.npy", 0, 5, 500);
    icestream_step late = run_folder_bright(0, 500);
    late.t = 3e9f;
    run_folder_steps(&place, "a.steps.npy", &late, 1);
    const char *const sets[] = {"sink.waveform_bin=0.1", NULL};
    ck_assert_int_eq(run(sets, WITH_WAVEFORMS), ICESTREAM_E_INPUT);
    ck_assert_msg(strstr(place.error.text, "a.steps.npy") != NULL &&
                      strstr(place.error.text, "sink.waveform_range leaves it out") != NULL,
                  "%s", place.error.text);
}
END_TEST

ICS_TEST_MAIN("run_waveforms")
{
    TCase *tests = tcase_create("waveforms");
    tcase_add_checked_fixture(tests, open_place, close_place);
    tcase_add_test(tests, every_way_of_computing);
    tcase_add_test(tests, kinds_of_hits_and_bins);
    tcase_add_test(tests, little_memory_for_hits);
    tcase_add_test(tests, a_checkpoint_has_the_sums);
    tcase_add_test(tests, resume);
    tcase_add_test(tests, bins_that_have_no_number);
    suite_add_tcase(suite, tests);
}
