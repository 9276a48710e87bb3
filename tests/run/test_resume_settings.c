/* --resume never mixes hits of two physics: a hit file is kept only if its digests are those of
 * this run's settings. A finished file of other settings is not replaced: the run ends and names
 * the keys that differ, or the digests of a file that lists no settings; --force makes the file
 * again. Which key changes which digest is tested in tests/units/test_origin_keys.c. How to join:
 * add a row to the runs of settings_decide. */
#include "pipeline/photons/files/format/crc32c.h"
#include "pipeline/photons/provenance/output_digest.h"
#include "tests/run/run_place.h"

#include <check.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { TAIL = 32 };

/* A run with --resume that is refused, with this text in its error. */
static void expect_refusal(const char *set, const char *text)
{
    ck_assert_int_eq(run_cpu(set, NULL), ICESTREAM_E_OUTPUT);
    ck_assert_msg(strstr(place.error.text, "nothing was computed; --resume does not replace") !=
                          NULL &&
                      strstr(place.error.text, text) != NULL,
                  "%s", place.error.text);
}

static void run_with_force(const char *set)
{
    place.options.force = true;
    run_well(set, NULL);
    place.options.force = false;
}

static void expect_files(json_int_t done, json_int_t skipped)
{
    ck_assert_int_eq(run_folder_files(&place, "done"), done);
    ck_assert_int_eq(run_folder_files(&place, "skipped"), skipped);
}

START_TEST(settings_decide)
{
    static const struct {
        const char *set, *text; /* of the refusal; NULL: the hits of the run before are kept */
    } runs[] = {
        {"graph.batch=77", NULL},
        {"device.threads=1", NULL},
        {"detector.radius=0.17", "a.hits.npy: detector.radius: found 0.1651, expected 0.17"},
        {"detector.radius=0.1700", NULL},
        {"stages.scatter=hg", "a.hits.npy: stages.scatter: found hg-sl, expected hg"},
        {"light.spectra=[{line: 400}]",
         "a.hits.npy: light.spectra: found [], expected [{line: 400}]"},
        {"run.bounce_limit=9", "a.hits.npy: run.bounce_limit: found 10000, expected 9"},
        {"run.seed=5", "a.hits.npy: run.seed: found 1, expected 5"},
        {"ice.absorption_factor=1.1", "a.hits.npy: ice.absorption_factor: found 1, expected 1.1"},
        {"ice.absorb_above=1000", "a.hits.npy: ice.absorb_above: found off, expected 1000"}};
    run_folder_bright_steps(&place, "a.npy", 0, 3, 500);
    run_well("graph.batch=78", NULL);
    place.options.resume = true;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; ++i) {
        if (runs[i].text != NULL) {
            expect_refusal(runs[i].set, runs[i].text);
            run_with_force(runs[i].set);
            expect_files(1, 0);
        }
        run_well(runs[i].set, NULL);
        expect_files(0, 1);
    }
}
END_TEST

/* Runs without step files: the run makes the steps of the light. */
static int run_light(const char *light)
{
    char directory[2 * SCRATCH_PATH];
    icestream_config *config = NULL;
    snprintf(directory, sizeof directory, "sink.directory=%s", place.hits);
    const char *sets[] = {"device.backend=cpu", directory, light};
    int status = icestream_config_load(NULL, sets, 3, &config, &place.error);
    ck_assert_msg(status == ICESTREAM_OK, "%s", place.error.text);
    status = icestream_run(config, &place.options, &place.error);
    icestream_config_destroy(config);
    return status;
}

/* Of a run that makes its steps, the particles or the workload are settings like others. */
START_TEST(light_decides)
{
    static const struct {
        const char *first, *second, *text;
    } rows[] = {{"workload.steps=20", "workload.steps=21", "workload.steps: found 20, expected 21"},
                {"workload.steps=20",
                 "particles.list=[{type: e-, energy: 1, x: 0, y: 0, z: 0, zenith: 0, azimuth: 0}]",
                 "workload.steps: found 20, expected nothing"},
                {"particles.list=[{type: e-, energy: 1, x: 0, y: 0, z: 0, zenith: 0, azimuth: 0}]",
                 "particles.list=[{type: e-, energy: 2, x: 0, y: 0, z: 0, zenith: 0, azimuth: 0}]",
                 "particles.list: found [{type: e-, energy: 1, x: 0, y: 0, z: 0, zenith: 0, "
                 "azimuth: 0}], expected "
                 "[{type: e-, energy: 2, x: 0, y: 0, z: 0, zenith: 0, azimuth: 0}]"}};
    char path[2 * SCRATCH_PATH];
    size_t size = 0, again_size = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        place.options.force = true;
        place.options.resume = false;
        ck_assert_int_eq(run_light(rows[i].first), ICESTREAM_OK);
        unsigned char *bytes =
            scratch_read(run_folder_path(place.hits, "generated.hits.npy", path), &size);
        place.options.force = false;
        place.options.resume = true;
        ck_assert_int_eq(run_light(rows[i].first), ICESTREAM_OK);
        ck_assert_int_eq(run_light(rows[i].second), ICESTREAM_E_OUTPUT);
        ck_assert_msg(strstr(place.error.text, rows[i].text) != NULL, "%s", place.error.text);
        ck_assert_ptr_nonnull(strstr(place.error.text, "--resume does not replace"));
        unsigned char *again = scratch_read(path, &again_size);
        ck_assert_uint_eq(size, again_size);
        ck_assert_mem_eq(bytes, again, size);
        place.options.force = true;
        ck_assert_msg(run_light(rows[i].second) == ICESTREAM_OK, "%s", place.error.text);
        free(bytes);
        free(again);
    }
}
END_TEST

/* Names the step file of a hit file by its plain SHA-256, as versions before 0.3.0 did. */
static void name_plainly(const char *hits, const char *steps)
{
    static const char mark[] = "\"input\":\"";
    char plain[ICS_DIGEST_TEXT];
    icestream_error error;
    size_t size = 0;
    uint64_t offset = 0, length = 0;
    ck_assert_int_eq(ics_output_digest_of(steps, plain, &error), ICESTREAM_OK);
    unsigned char *bytes = scratch_read(hits, &size);
    memcpy(&offset, bytes + size - TAIL, sizeof offset);
    memcpy(&length, bytes + size - TAIL + 8, sizeof length);
    char *found = memmem(bytes + offset, length, mark, strlen(mark));
    ck_assert_ptr_nonnull(found);
    found += strlen(mark);
    ck_assert_int_eq(found[64], '-'); /* a large file, of fewer than 10 parts */
    memcpy(found, plain, 64);
    memcpy(found + 64, "\"  ", 3);
    const uint32_t sum = ics_crc32c(0, bytes + offset, length);
    memcpy(bytes + size - TAIL + 16, &sum, sizeof sum);
    scratch_write(hits, bytes, size);
    free(bytes);
}

/* Changes the digest of that name in the trailer of a hit file, as if another version of icestream
 * had written the file. */
static void make_old(const char *path, const char *name)
{
    char mark[64];
    size_t size = 0;
    uint64_t offset = 0, length = 0;
    unsigned char *bytes = scratch_read(path, &size);
    memcpy(&offset, bytes + size - TAIL, sizeof offset);
    memcpy(&length, bytes + size - TAIL + 8, sizeof length);
    snprintf(mark, sizeof mark, "\"%s\":", name);
    char *found = memmem(bytes + offset, length, mark, strlen(mark));
    ck_assert_ptr_nonnull(found);
    char *digest = strchr(found + strlen(mark), '"') + 1;
    memset(digest, digest[0] == '1' ? '2' : '1', 64);
    ck_assert_int_eq(digest[64], '"');
    const uint32_t sum = ics_crc32c(0, bytes + offset, length);
    memcpy(bytes + size - TAIL + 16, &sum, sizeof sum);
    scratch_write(path, bytes, size);
    free(bytes);
}

START_TEST(old_digests)
{
    static const char *const names[] = {"configuration", "ice", "detector"};
    char path[2 * SCRATCH_PATH];
    size_t size = 0, again_size = 0;
    run_folder_bright_steps(&place, "a.npy", 0, 3, 500);
    run_well(NULL, NULL);
    unsigned char *bytes = scratch_read(run_folder_path(place.hits, "a.hits.npy", path), &size);
    make_old(path, names[_i]);
    place.options.resume = true;
    char text[64];
    snprintf(text, sizeof text, "a.hits.npy: digest of %s: found ", names[_i]);
    expect_refusal(NULL, text);
    run_with_force(NULL);
    expect_files(1, 0);
    unsigned char *again = scratch_read(path, &again_size);
    ck_assert_uint_eq(size, again_size);
    ck_assert_mem_eq(bytes, again, size);
    run_well(NULL, NULL);
    expect_files(0, 1);
    free(bytes);
    free(again);
}
END_TEST

/* A finished file that fails a check of `icestream info --verify` is made again, with one line that
 * says why; so is a file of another step file. */
START_TEST(unsound_files_are_made_again)
{
    char path[2 * SCRATCH_PATH];
    size_t size = 0;
    run_folder_bright_steps(&place, "a.npy", 0, 3, 500);
    run_well(NULL, NULL);
    place.options.resume = true;
    unsigned char *bytes = scratch_read(run_folder_path(place.hits, "a.hits.npy", path), &size);
    bytes[1024 + 60] = 7; /* pmt of the first row */
    scratch_write(path, bytes, size);
    char *log = run_folder_log(&place, (const char *[]){"device.backend=cpu", NULL});
    ck_assert_msg(strstr(log, "computed again") != NULL && strstr(log, "a.hits.npy: ") != NULL,
                  "%s", log);
    free(log);
    log = run_folder_log(&place, (const char *[]){"device.backend=cpu", NULL});
    ck_assert_ptr_null(strstr(log, "computed again"));
    free(log);
    run_folder_bright_steps(&place, "a.npy", 1, 3, 500);
    log = run_folder_log(&place, (const char *[]){"device.backend=cpu", NULL});
    ck_assert_ptr_nonnull(strstr(log, "a.hits.npy: found hits of another step file"));
    free(log);
    free(bytes);
}
END_TEST

/* Hits of a large step file are found by either form of its digest, and those of another one are
 * made again. */
START_TEST(either_digest_of_a_large_step_file)
{
    char hits[2 * SCRATCH_PATH], steps[2 * SCRATCH_PATH];
    run_folder_path(place.hits, "a.hits.npy", hits);
    run_folder_path(place.steps, "a.npy", steps);
    run_folder_bright_steps(&place, "a.npy", 0, 240000, 1);
    run_well(NULL, NULL);
    place.options.resume = true;
    run_well(NULL, NULL);
    expect_files(0, 1);
    name_plainly(hits, steps);
    run_well(NULL, NULL);
    expect_files(0, 1);
    make_old(hits, "input");
    run_well(NULL, NULL);
    expect_files(1, 0);
}
END_TEST

ICS_TEST_MAIN("resume settings")
{
    TCase *all = tcase_create("all");
    tcase_add_checked_fixture(all, open_place, close_place);
    tcase_add_test(all, settings_decide);
    tcase_add_test(all, light_decides);
    tcase_add_loop_test(all, old_digests, 0, 3);
    tcase_add_test(all, unsound_files_are_made_again);
    tcase_add_test(all, either_digest_of_a_large_step_file);
    suite_add_tcase(suite, all);
}
