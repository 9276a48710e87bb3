/* sink.rotate: one hit file for many step files. The volumes must have the same hits as a run with
 * one hit file for each step file. */
#include "pipeline/files/hit_reader.h"
#include "pipeline/icestream.h"
#include "tests/support/run_folder.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Hits of several files, in the order of hit files. */
typedef struct pile {
    icestream_hit *hits;
    size_t count, files, inputs;
    size_t least; /* of the files but the last one */
} pile;

static int run(run_folder *place, const char *first, const char *second)
{
    return run_folder_run(place, (const char *[]){"device.backend=cpu", "graph.batch=1000", first,
                                                  first != NULL ? second : NULL, NULL});
}

static size_t count_inputs(const char *path)
{
    ics_hit_reader *reader = NULL;
    ck_assert_int_eq(ics_hit_reader_open(path, false, &reader, NULL), ICESTREAM_OK);
    size_t count = json_array_size(json_object_get(ics_hit_reader_metadata(reader), "inputs"));
    ics_hit_reader_destroy(reader);
    return count;
}

/* All hits of the files of a pattern in hits/; every file passes `info --verify`. */
static pile pile_up(const run_folder *place, const char *pattern)
{
    char path[2 * SCRATCH_PATH];
    glob_t found = {0};
    pile all = {.least = SIZE_MAX};
    FILE *nowhere = fopen("/dev/null", "w");
    glob(run_folder_path(place->hits, pattern, path), 0, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc; ++i) {
        size_t count = 0;
        icestream_error error = {.status = ICESTREAM_OK};
        ck_assert_msg(icestream_info(found.gl_pathv[i], true, false, nowhere, &error) ==
                          ICESTREAM_OK,
                      "%s", error.text);
        icestream_hit *hits = run_folder_hits(place, strrchr(found.gl_pathv[i], '/') + 1, &count);
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

static void ck_same(const pile *left, const pile *right)
{
    ck_assert_uint_gt(left->count, 0);
    ck_assert_uint_eq(left->count, right->count);
    ck_assert_mem_eq(left->hits, right->hits, left->count * sizeof *left->hits);
}

/* Steps `first`, first + stride, ...: files whose hits have to be merged. */
static void add_steps(const run_folder *place, const char *name, uint32_t first, uint32_t stride)
{
    enum { STEPS = 12 };
    icestream_step steps[STEPS];
    for (uint32_t i = 0; i < STEPS; ++i) {
        steps[i] = run_folder_bright(first + i * stride, 500);
    }
    run_folder_steps(place, name, steps, STEPS);
}

static void add_files(const run_folder *place)
{
    add_steps(place, "a.npy", 0, 4);
    add_steps(place, "b.npy", 1, 4);
    add_steps(place, "c.npy", 2, 4);
    add_steps(place, "d.npy", 3, 4);
}

/* The hits of a run with one hit file for each step file. Removes these hit files afterwards. */
static pile hits_of_each(run_folder *place)
{
    char path[2 * SCRATCH_PATH];
    static const char *const names[] = {"a.hits.npy", "b.hits.npy", "c.hits.npy", "d.hits.npy"};
    ck_assert_msg(run(place, NULL, NULL) == ICESTREAM_OK, "%s", place->error.text);
    pile all = pile_up(place, "*.hits.npy");
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        unlink(run_folder_path(place->hits, names[i], path));
    }
    return all;
}

static void expect_counts(const run_folder *place, int done, int skipped, int set_aside)
{
    json_t *summary = run_folder_summary(place);
    ck_assert_int_eq(run_folder_count(summary, "file_counts", "done"), done);
    ck_assert_int_eq(run_folder_count(summary, "file_counts", "skipped"), skipped);
    ck_assert_int_eq(run_folder_count(summary, "file_counts", "set_aside"), set_aside);
    json_decref(summary);
}

START_TEST(test_one_volume_has_all_hits)
{
    run_folder place = run_folder_open();
    add_files(&place);
    pile each = hits_of_each(&place);
    ck_assert_msg(run(&place, "sink.rotate=1e9", NULL) == ICESTREAM_OK, "%s", place.error.text);
    ck_assert_uint_eq(pile_up(&place, "[a-d].hits.npy").files, 0);
    pile volume = pile_up(&place, "run-*-000000.hits.npy");
    ck_assert_uint_eq(volume.files, 1);
    ck_assert_uint_eq(volume.inputs, 4);
    ck_same(&each, &volume);
    expect_counts(&place, 4, 0, 0);
    json_t *summary = run_folder_summary(&place);
    json_t *file = json_array_get(json_object_get(summary, "files"), 2);
    ck_assert_ptr_nonnull(
        strstr(json_string_value(json_object_get(file, "output")), "-000000.hits.npy"));
    json_decref(summary);
    free(each.hits);
    free(volume.hits);
    run_folder_close(&place);
}
END_TEST

START_TEST(test_full_volumes_are_followed_by_others)
{
    run_folder place = run_folder_open();
    add_files(&place);
    pile each = hits_of_each(&place);
    char rotate[64];
    snprintf(rotate, sizeof rotate, "sink.rotate=%zu", each.count / 3);
    ck_assert_msg(run(&place, rotate, NULL) == ICESTREAM_OK, "%s", place.error.text);
    pile volumes = pile_up(&place, "run-*.hits.npy");
    ck_assert_uint_ge(volumes.files, 2);
    ck_assert_uint_le(volumes.files, 3);
    ck_assert_uint_ge(volumes.least, each.count / 3);
    ck_assert_uint_eq(volumes.inputs, 4);
    ck_same(&each, &volumes);
    free(each.hits);
    free(volumes.hits);
    run_folder_close(&place);
}
END_TEST

START_TEST(test_one_volume_for_each_file)
{
    run_folder place = run_folder_open();
    add_files(&place);
    pile each = hits_of_each(&place);
    ck_assert_msg(run(&place, "sink.rotate=1", NULL) == ICESTREAM_OK, "%s", place.error.text);
    pile volumes = pile_up(&place, "run-*-00000[0-3].hits.npy");
    ck_assert_uint_eq(volumes.files, 4);
    ck_same(&each, &volumes);
    free(each.hits);
    free(volumes.hits);
    run_folder_close(&place);
}
END_TEST

/* A bad weight is found only when a photon of its step has arrived. Then the file has hits already.
 */
START_TEST(test_bad_files_leave_no_hits)
{
    run_folder place = run_folder_open();
    add_steps(&place, "a.npy", 0, 4);
    add_steps(&place, "c.npy", 2, 4);
    pile each = hits_of_each(&place);
    icestream_step steps[40];
    for (uint32_t i = 0; i < 40; ++i) {
        steps[i] = run_folder_bright(1 + 4 * i, 1000);
    }
    steps[20].weight = 3e38f;
    run_folder_steps(&place, "b.npy", steps, 40);
    ck_assert_int_eq(run(&place, "sink.rotate=1e9", NULL), ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(place.error.text, "field weight"));
    pile volume = pile_up(&place, "*.hits.npy");
    ck_assert_uint_eq(volume.files, 1);
    ck_assert_uint_eq(volume.inputs, 2);
    ck_same(&each, &volume);
    expect_counts(&place, 2, 0, 1);
    free(each.hits);
    free(volume.hits);
    run_folder_close(&place);
}
END_TEST

START_TEST(test_resume_makes_what_no_volume_has)
{
    run_folder place = run_folder_open();
    add_files(&place);
    pile each = hits_of_each(&place);
    char path[2 * SCRATCH_PATH];
    unlink(run_folder_path(place.steps, "c.npy", path));
    unlink(run_folder_path(place.steps, "d.npy", path));
    ck_assert_msg(run(&place, "sink.rotate=1", NULL) == ICESTREAM_OK, "%s", place.error.text);
    add_files(&place);

    /* Without --resume it is said where the hits are, and only the others are made. */
    ck_assert_int_eq(run(&place, "sink.rotate=1e9", NULL), ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(place.error.text, "a.npy: found its hits in "));
    ck_assert_ptr_nonnull(strstr(place.error.text, "--resume"));
    expect_counts(&place, 2, 0, 2);
    pile volumes = pile_up(&place, "*.hits.npy");
    ck_assert_uint_eq(volumes.files, 3);
    ck_same(&each, &volumes);
    free(volumes.hits);

    place.options.resume = true;
    ck_assert_msg(run(&place, "sink.rotate=1e9", NULL) == ICESTREAM_OK, "%s", place.error.text);
    expect_counts(&place, 0, 4, 0);
    /* Of other settings there is nothing yet. */
    ck_assert_msg(run(&place, "sink.rotate=1e9", "run.seed=2") == ICESTREAM_OK, "%s",
                  place.error.text);
    expect_counts(&place, 4, 0, 0);
    free(each.hits);
    run_folder_close(&place);
}
END_TEST

START_TEST(test_damaged_volumes_do_not_count)
{
    run_folder place = run_folder_open();
    add_files(&place);
    pile each = hits_of_each(&place);
    ck_assert_msg(run(&place, "sink.rotate=1", NULL) == ICESTREAM_OK, "%s", place.error.text);
    char pattern[2 * SCRATCH_PATH];
    glob_t found = {0};
    size_t size = 0;
    ck_assert_int_eq(
        glob(run_folder_path(place.hits, "run-*-000001.hits.npy", pattern), 0, NULL, &found), 0);
    unsigned char *bytes = scratch_read(found.gl_pathv[0], &size);
    bytes[1024 + 20] ^= 1;
    scratch_write(found.gl_pathv[0], bytes, size);
    place.options.resume = true;
    ck_assert_msg(run(&place, "sink.rotate=1e9", NULL) == ICESTREAM_OK, "%s", place.error.text);
    expect_counts(&place, 1, 3, 0);
    unlink(found.gl_pathv[0]);
    pile volumes = pile_up(&place, "*.hits.npy");
    ck_same(&each, &volumes);
    globfree(&found);
    free(bytes);
    free(each.hits);
    free(volumes.hits);
    run_folder_close(&place);
}
END_TEST

START_TEST(test_claimed_files_are_skipped_that_a_volume_has)
{
    run_folder place = run_folder_open();
    add_files(&place);
    pile each = hits_of_each(&place);
    char source[2 * SCRATCH_PATH], path[2 * SCRATCH_PATH];
    snprintf(source, sizeof source, "source.directory=%s", place.steps);
    unlink(run_folder_path(place.steps, "d.npy", path));
    /* A list first: it leaves no marks in the spool. */
    ck_assert_msg(run(&place, "sink.rotate=1e9", NULL) == ICESTREAM_OK, "%s", place.error.text);
    add_files(&place);
    icestream_config *config = NULL;
    char sink[2 * SCRATCH_PATH];
    snprintf(sink, sizeof sink, "sink.directory=%s", place.hits);
    const char *all[] = {source,
                         sink,
                         "source.pattern=*.npy",
                         "sink.rotate=1e9",
                         "device.backend=cpu",
                         "device.threads=2"};
    ck_assert_msg(icestream_config_load(NULL, all, 6, &config, &place.error) == ICESTREAM_OK, "%s",
                  place.error.text);
    ck_assert_msg(icestream_run(config, &place.options, &place.error) == ICESTREAM_OK, "%s",
                  place.error.text);
    icestream_config_destroy(config);
    expect_counts(&place, 1, 3, 0);
    pile volumes = pile_up(&place, "*.hits.npy");
    ck_assert_uint_eq(volumes.files, 2);
    ck_assert_uint_eq(volumes.inputs, 4);
    ck_same(&each, &volumes);
    free(each.hits);
    free(volumes.hits);
    run_folder_close(&place);
}
END_TEST

START_TEST(test_what_cannot_be)
{
    run_folder place = run_folder_open();
    add_files(&place);
    place.options.force = true;
    ck_assert_int_eq(run(&place, "sink.rotate=10", NULL), ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(place.error.text, "sink.rotate: cannot go with --force"));
    icestream_config *config = NULL;
    const char *sets[] = {"sink.directory=-", "sink.rotate=10"};
    ck_assert_int_eq(icestream_config_load(NULL, sets, 2, &config, &place.error),
                     ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(place.error.text, "sink.rotate: is for files"));
    run_folder_close(&place);
}
END_TEST

ICS_TEST_MAIN("rotate")
{
    TCase *tests = tcase_create("rotate");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, test_one_volume_has_all_hits);
    tcase_add_test(tests, test_full_volumes_are_followed_by_others);
    tcase_add_test(tests, test_one_volume_for_each_file);
    tcase_add_test(tests, test_bad_files_leave_no_hits);
    tcase_add_test(tests, test_resume_makes_what_no_volume_has);
    tcase_add_test(tests, test_damaged_volumes_do_not_count);
    tcase_add_test(tests, test_claimed_files_are_skipped_that_a_volume_has);
    tcase_add_test(tests, test_what_cannot_be);
    suite_add_tcase(suite, tests);
}
