/* sink.rotate: one hit file, a volume, for many step files. The volumes must have the same hits as
 * a run with one hit file for each step file. How to join: write step files with add_steps() or
 * add_files(), set `each`, run with sink.rotate, and call expect_volumes(). */
#include "pipeline/files/hit_reader.h"
#include "tests/run/run_place.h"

#include <check.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The hits of several hit files together, sorted. */
typedef struct pile {
    icestream_hit *hits;
    size_t count, files;
    size_t inputs; /* number of step files that the hit files name */
    size_t least;  /* least number of hits in a file, without the last file */
} pile;

/* The hits of a run with one hit file for each step file; set by the tests. */
static pile each;

static void tear_down(void)
{
    free(each.hits);
    close_place();
}

/* Runs on the CPU, with the hits of a step file in several batches. */
static int run(const char *first, const char *second)
{
    return run_folder_run(&place, (const char *[]){"device.backend=cpu", "graph.batch=1000", first,
                                                   first != NULL ? second : NULL, NULL});
}

static void run_rotated(const char *rotate)
{
    ck_assert_msg(run(rotate, NULL) == ICESTREAM_OK, "%s", place.error.text);
}

static size_t count_inputs(const char *path)
{
    ics_hit_reader *reader = NULL;
    ck_assert_int_eq(ics_hit_reader_open(path, false, &reader, NULL), ICESTREAM_OK);
    size_t count = json_array_size(json_object_get(ics_hit_reader_metadata(reader), "inputs"));
    ics_hit_reader_destroy(reader);
    return count;
}

/* All hits of the files of a pattern in hits/. Checks every file as `info --verify` does. The
 * caller frees the hits. */
static pile pile_up(const char *pattern)
{
    char path[2 * SCRATCH_PATH];
    glob_t found = {0};
    pile all = {.least = SIZE_MAX};
    FILE *nowhere = fopen("/dev/null", "w");
    glob(run_folder_path(place.hits, pattern, path), 0, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc; ++i) {
        size_t count = 0;
        icestream_error error = {.status = ICESTREAM_OK};
        ck_assert_msg(icestream_info(found.gl_pathv[i], true, false, nowhere, &error) ==
                          ICESTREAM_OK,
                      "%s", error.text);
        icestream_hit *hits = run_folder_hits(&place, strrchr(found.gl_pathv[i], '/') + 1, &count);
        all.hits = realloc(all.hits, (all.count + count + 1) * sizeof *hits);
        ck_assert_ptr_nonnull(all.hits);
        memcpy(all.hits + all.count, hits, count * sizeof *hits);
        free(hits);
        all.least = i + 1 < found.gl_pathc && count < all.least ? count : all.least;
        all.count += count;
        all.files++;
        all.inputs += count_inputs(found.gl_pathv[i]);
    }
    if (all.count > 0) {
        qsort(all.hits, all.count, sizeof *all.hits, ics_hit_compare);
    }
    globfree(&found);
    fclose(nowhere);
    return all;
}

static void expect_same_hits(const pile *left, const pile *right)
{
    ck_assert_uint_gt(left->count, 0);
    ck_assert_uint_eq(left->count, right->count);
    ck_assert_mem_eq(left->hits, right->hits, left->count * sizeof *left->hits);
}

/* Writes a file with the steps `first`, first + stride, ..., so that the hits of several files have
 * to be merged. */
static void add_steps(const char *name, uint32_t first, uint32_t stride)
{
    enum { STEPS = 12 };
    icestream_step steps[STEPS];
    for (uint32_t i = 0; i < STEPS; ++i) {
        steps[i] = run_folder_bright(first + i * stride, 500);
    }
    run_folder_steps(&place, name, steps, STEPS);
}

static void add_files(void)
{
    add_steps("a.npy", 0, 4);
    add_steps("b.npy", 1, 4);
    add_steps("c.npy", 2, 4);
    add_steps("d.npy", 3, 4);
}

/* The hits of a run with one hit file for each step file. Removes these hit files afterwards. */
static pile hits_of_each(void)
{
    char path[2 * SCRATCH_PATH];
    static const char *const names[] = {"a.hits.npy", "b.hits.npy", "c.hits.npy", "d.hits.npy"};
    ck_assert_msg(run(NULL, NULL) == ICESTREAM_OK, "%s", place.error.text);
    pile all = pile_up("*.hits.npy");
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        unlink(run_folder_path(place.hits, names[i], path));
    }
    return all;
}

/* Checks the volumes of a pattern: their number, the number of their step files, and their hits. */
static void expect_volumes(const char *pattern, size_t files, size_t inputs)
{
    pile volumes = pile_up(pattern);
    ck_assert_uint_eq(volumes.files, files);
    ck_assert_uint_eq(volumes.inputs, inputs);
    expect_same_hits(&each, &volumes);
    free(volumes.hits);
}

static void expect_counts(int done, int skipped, int quarantined)
{
    ck_assert_int_eq(run_folder_files(&place, "done"), done);
    ck_assert_int_eq(run_folder_files(&place, "skipped"), skipped);
    ck_assert_int_eq(run_folder_files(&place, "set_aside"), quarantined);
}

START_TEST(test_one_volume_has_all_hits)
{
    add_files();
    each = hits_of_each();
    run_rotated("sink.rotate=1e9");
    ck_assert_uint_eq(pile_up("[a-d].hits.npy").files, 0);
    expect_volumes("run-*-000000.hits.npy", 1, 4);
    expect_counts(4, 0, 0);
    json_t *summary = run_folder_summary(&place);
    json_t *file = json_array_get(json_object_get(summary, "files"), 2);
    ck_assert_ptr_nonnull(
        strstr(json_string_value(json_object_get(file, "output")), "-000000.hits.npy"));
    json_decref(summary);
}
END_TEST

START_TEST(test_a_full_volume_is_followed_by_another)
{
    add_files();
    each = hits_of_each();
    char rotate[64];
    snprintf(rotate, sizeof rotate, "sink.rotate=%zu", each.count / 3);
    run_rotated(rotate);
    pile volumes = pile_up("run-*.hits.npy");
    ck_assert_uint_ge(volumes.files, 2);
    ck_assert_uint_le(volumes.files, 3);
    ck_assert_uint_ge(volumes.least, each.count / 3);
    ck_assert_uint_eq(volumes.inputs, 4);
    expect_same_hits(&each, &volumes);
    free(volumes.hits);
}
END_TEST

START_TEST(test_one_volume_for_each_file)
{
    add_files();
    each = hits_of_each();
    run_rotated("sink.rotate=1");
    expect_volumes("run-*-00000[0-3].hits.npy", 4, 4);
}
END_TEST

/* A bad weight is found only when a photon of its step reaches a module. Other steps of the file
 * have hits already. */
START_TEST(test_bad_files_leave_no_hits)
{
    add_steps("a.npy", 0, 4);
    add_steps("c.npy", 2, 4);
    each = hits_of_each();
    icestream_step steps[40];
    for (uint32_t i = 0; i < 40; ++i) {
        steps[i] = run_folder_bright(1 + 4 * i, 1000);
    }
    steps[20].weight = 3e38f;
    run_folder_steps(&place, "b.npy", steps, 40);
    ck_assert_int_eq(run("sink.rotate=1e9", NULL), ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(place.error.text, "field weight"));
    expect_volumes("*.hits.npy", 1, 2);
    expect_counts(2, 0, 1);
}
END_TEST

START_TEST(test_resume_makes_missing_hits)
{
    add_files();
    each = hits_of_each();
    char path[2 * SCRATCH_PATH];
    unlink(run_folder_path(place.steps, "c.npy", path));
    unlink(run_folder_path(place.steps, "d.npy", path));
    run_rotated("sink.rotate=1");
    add_files();

    /* Without --resume an error names the volume that has the hits, and only the hits of the other
     * files are made. */
    ck_assert_int_eq(run("sink.rotate=1e9", NULL), ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(place.error.text, "a.npy: found its hits in "));
    ck_assert_ptr_nonnull(strstr(place.error.text, "--resume"));
    expect_counts(2, 0, 2);
    expect_volumes("*.hits.npy", 3, 4);

    place.options.resume = true;
    run_rotated("sink.rotate=1e9");
    expect_counts(0, 4, 0);
    /* With another seed no volume has the hits. */
    ck_assert_msg(run("sink.rotate=1e9", "run.seed=2") == ICESTREAM_OK, "%s", place.error.text);
    expect_counts(4, 0, 0);
}
END_TEST

START_TEST(test_hits_of_a_damaged_volume_are_made_again)
{
    add_files();
    each = hits_of_each();
    run_rotated("sink.rotate=1");
    char pattern[2 * SCRATCH_PATH];
    glob_t found = {0};
    size_t size = 0;
    ck_assert_int_eq(
        glob(run_folder_path(place.hits, "run-*-000001.hits.npy", pattern), 0, NULL, &found), 0);
    unsigned char *bytes = scratch_read(found.gl_pathv[0], &size);
    bytes[1024 + 20] ^= 1;
    scratch_write(found.gl_pathv[0], bytes, size);
    place.options.resume = true;
    run_rotated("sink.rotate=1e9");
    expect_counts(1, 3, 0);
    unlink(found.gl_pathv[0]);
    pile volumes = pile_up("*.hits.npy");
    expect_same_hits(&each, &volumes);
    globfree(&found);
    free(bytes);
    free(volumes.hits);
}
END_TEST

START_TEST(test_claimed_files_with_hits_in_a_volume_are_skipped)
{
    add_files();
    each = hits_of_each();
    char source[2 * SCRATCH_PATH], path[2 * SCRATCH_PATH];
    snprintf(source, sizeof source, "source.directory=%s", place.steps);
    unlink(run_folder_path(place.steps, "d.npy", path));
    /* The first run reads a list of files, so it leaves no marks in the spool. */
    run_rotated("sink.rotate=1e9");
    add_files();
    icestream_config *config = NULL;
    char sink[2 * SCRATCH_PATH];
    snprintf(sink, sizeof sink, "sink.directory=%s", place.hits);
    const char *all[] = {source,
                         sink,
                         "source.pattern=*.npy",
                         "sink.rotate=1e9",
                         "device.backend=cpu",
                         "device.threads=2",
                         RUN_FOLDER_WIDE};
    ck_assert_msg(icestream_config_load(NULL, all, 8, &config, &place.error) == ICESTREAM_OK, "%s",
                  place.error.text);
    ck_assert_msg(icestream_run(config, &place.options, &place.error) == ICESTREAM_OK, "%s",
                  place.error.text);
    icestream_config_destroy(config);
    expect_counts(1, 3, 0);
    expect_volumes("*.hits.npy", 2, 4);
}
END_TEST

START_TEST(test_settings_that_are_refused)
{
    add_files();
    place.options.force = true;
    ck_assert_int_eq(run("sink.rotate=10", NULL), ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(place.error.text, "sink.rotate: cannot go with --force"));
    icestream_config *config = NULL;
    const char *sets[] = {"sink.directory=-", "sink.rotate=10"};
    ck_assert_int_eq(icestream_config_load(NULL, sets, 2, &config, &place.error),
                     ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(place.error.text, "sink.rotate: is for files"));
}
END_TEST

ICS_TEST_MAIN("rotate")
{
    TCase *tests = tcase_create("rotate");
    tcase_add_checked_fixture(tests, open_place, tear_down);
    tcase_add_test(tests, test_one_volume_has_all_hits);
    tcase_add_test(tests, test_a_full_volume_is_followed_by_another);
    tcase_add_test(tests, test_one_volume_for_each_file);
    tcase_add_test(tests, test_bad_files_leave_no_hits);
    tcase_add_test(tests, test_resume_makes_missing_hits);
    tcase_add_test(tests, test_hits_of_a_damaged_volume_are_made_again);
    tcase_add_test(tests, test_claimed_files_with_hits_in_a_volume_are_skipped);
    tcase_add_test(tests, test_settings_that_are_refused);
    suite_add_tcase(suite, tests);
}
