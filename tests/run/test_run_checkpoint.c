/* icestream_run that is stopped in the middle of a step file: the next run continues there, and its
 * hit file has the bytes of a run that was never stopped. How to join: a test has an empty folder
 * `place` with a step file; stop_in_middle() makes a checkpoint of it. */
#include "pipeline/photons/files/format/table_reader.h"
#include "tests/run/run_place.h"

#include <check.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The steps of the file and the photons of each. In the test case `many_steps` the file is so large
 * that its photons are computed before its digest is known. */
static uint32_t steps, photons;
enum { MANY = 300000 };
_Static_assert(MANY * sizeof(icestream_step) > ICS_DIGEST_PART, "a large file");

/* The photons of a step in the other test cases. A step is a batch, and a photon takes several
 * times as long with a sanitizer. */
#if defined(ICE_KEEP_CALLS)
enum { BRIGHT = 1000 };
#else
enum { BRIGHT = 5000 };
#endif

/* A setting that all later runs of a test have in common. NULL: none. */
static const char *common;

static int run_with(const char *setting)
{
    const char *first = common != NULL ? common : setting;
    char batch[32];
    snprintf(batch, sizeof batch, "graph.batch=%d", steps == MANY ? 5000 : BRIGHT);
    return run_folder_run(&place, (const char *[]){"device.backend=cpu", "device.threads=1", batch,
                                                   first, first != setting ? setting : NULL, NULL});
}

static unsigned char *hit_file(const char *name, size_t *size)
{
    char path[2 * SCRATCH_PATH];
    return scratch_read(run_folder_path(place.hits, name, path), size);
}

/* Counts the files of hits/ that match a pattern, and removes them if `removes`. */
static size_t find_files(const char *pattern, bool removes)
{
    glob_t found;
    char path[2 * SCRATCH_PATH];
    if (glob(run_folder_path(place.hits, pattern, path), 0, NULL, &found) != 0) {
        return 0;
    }
    size_t count = found.gl_pathc;
    for (size_t i = 0; removes && i < count; ++i) {
        ck_assert_int_eq(unlink(found.gl_pathv[i]), 0);
    }
    globfree(&found);
    return count;
}

static void open_with(uint32_t count, uint32_t photons_of_each)
{
    open_place();
    common = NULL;
    steps = count;
    photons = photons_of_each;
    run_folder_bright_steps(&place, "large.steps.npy", 0, steps, photons);
}

static void open_with_steps(void)
{
    open_with(40, BRIGHT);
}

static void open_with_many_steps(void)
{
    open_with(MANY, 1);
}

/* Runs with a time limit that ends the run when a part of the photons is computed; looks for such a
 * limit. Returns the photons that were computed. */
static json_int_t stop_in_middle(const char *setting)
{
    json_int_t created = 0;
    place.options.time_limit = 0.01;
    while (created == 0) {
        int status = run_with(setting);
        if (status == ICESTREAM_OK) {
            ck_assert_uint_eq(find_files("*.hits.npy", true), 1);
            place.options.time_limit /= 3.0;
            continue;
        }
        ck_assert_msg(status == ICESTREAM_E_UNFINISHED, "%s", place.error.text);
        json_t *summary = run_folder_summary(&place);
        created = run_folder_count(summary, "account", "created");
        json_decref(summary);
        place.options.time_limit *= 1.5;
    }
    place.options.time_limit = 0.0;
    return created;
}

/* Runs to the end. Returns the photons that were taken over. */
static json_int_t finish(const char *setting)
{
    ck_assert_msg(run_with(setting) == ICESTREAM_OK, "%s", place.error.text);
    json_t *summary = run_folder_summary(&place);
    json_int_t taken_over = run_folder_count(summary, "taken_over", "photons");
    ck_assert_int_eq(run_folder_count(summary, "account", "created") + taken_over,
                     (json_int_t)steps * photons);
    json_decref(summary);
    return taken_over;
}

/* The hit file of a run that is not stopped. */
static unsigned char *undisturbed(size_t *size)
{
    ck_assert_int_eq(finish(NULL), 0);
    unsigned char *bytes = hit_file("large.hits.npy", size);
    find_files("*.hits.npy", true);
    return bytes;
}

static void check_hits(const unsigned char *expected, size_t size)
{
    size_t found_size = 0;
    unsigned char *found = hit_file("large.hits.npy", &found_size);
    ck_assert_uint_eq(found_size, size);
    ck_assert_int_eq(memcmp(found, expected, size), 0);
    ck_assert(!run_folder_has_hits(&place, "large.hits.npy.checkpoint"));
    free(found);
}

/* Batches may be cut in another way, and several checkpoints follow each other. */
START_TEST(test_next_run_continues)
{
    size_t size = 0;
    unsigned char *expected = undisturbed(&size);
    json_int_t computed = stop_in_middle(NULL);
    ck_assert(run_folder_has_hits(&place, "large.hits.npy.checkpoint"));
    ck_assert(!run_folder_has_hits(&place, "large.hits.npy"));
    common = "graph.batch=777";
    computed += stop_in_middle("sink.checkpoint=0.001");
    ck_assert_int_eq(finish("graph.batch=12345"), computed);
    check_hits(expected, size);
    free(expected);
}
END_TEST

START_TEST(test_other_settings_do_not_replace_it)
{
    size_t size = 0, left_size = 0;
    stop_in_middle("run.seed=7");
    unsigned char *left = hit_file("large.hits.npy.checkpoint", &left_size);
    for (int i = 0; i < 2; ++i) {
        place.options.resume = i == 1;
        ck_assert_int_eq(run_with(NULL), ICESTREAM_E_OUTPUT);
        ck_assert_msg(strstr(place.error.text, "large.hits.npy.checkpoint: run.seed: found 7, "
                                               "expected 1") != NULL,
                      "%s", place.error.text);
        unsigned char *found = hit_file("large.hits.npy.checkpoint", &size);
        ck_assert_uint_eq(size, left_size);
        ck_assert_int_eq(memcmp(found, left, size), 0);
        free(found);
    }
    free(left);
    place.options.resume = false;
    place.options.force = true;
    ck_assert_int_eq(finish(NULL), 0);
    place.options.force = false;
    unsigned char *result = hit_file("large.hits.npy", &size);
    find_files("*.hits.npy", true);
    unsigned char *expected = undisturbed(&size);
    ck_assert_int_eq(memcmp(result, expected, size), 0);
    free(result);
    free(expected);
}
END_TEST

START_TEST(test_other_input_does_not_use_it)
{
    stop_in_middle(NULL);
    run_folder_bright_steps(&place, "large.steps.npy", 1, steps, photons);
    ck_assert_int_eq(finish(NULL), 0);
    ck_assert(!run_folder_has_hits(&place, "large.hits.npy.checkpoint"));
}
END_TEST

START_TEST(test_force_and_off_start_afresh)
{
    stop_in_middle(NULL);
    ck_assert_int_eq(finish("sink.checkpoint=off"), 0);
    find_files("*.hits.npy", true);
    stop_in_middle(NULL);
    place.options.force = true;
    ck_assert_int_eq(finish(NULL), 0);
    place.options.force = false;
    find_files("*.hits.npy", true);
    stop_in_middle("sink.checkpoint=off");
    ck_assert(!run_folder_has_hits(&place, "large.hits.npy.checkpoint"));
}
END_TEST

/* A run that was killed between the commit of the hit file and the end of its checkpoint. */
START_TEST(test_resume_removes_what_is_left)
{
    char path[2 * SCRATCH_PATH];
    size_t size = 0;
    stop_in_middle(NULL);
    unsigned char *left = hit_file("large.hits.npy.checkpoint", &size);
    finish(NULL);
    scratch_write(run_folder_path(place.hits, "large.hits.npy.checkpoint", path), left, size);
    place.options.resume = true;
    ck_assert_int_eq(run_with(NULL), ICESTREAM_OK);
    ck_assert_int_eq(run_folder_files(&place, "skipped"), 1);
    ck_assert(!run_folder_has_hits(&place, "large.hits.npy.checkpoint"));
    free(left);
}
END_TEST

START_TEST(test_claimed_file_continues)
{
    char setting[SCRATCH_PATH + 32], *text = NULL;
    size_t size = 0;
    snprintf(setting, sizeof setting, "source.directory=%s", place.steps);
    common = setting;
    json_int_t computed = stop_in_middle(NULL);
    ck_assert(run_folder_has_hits(&place, "large.hits.npy.checkpoint"));
    place.options.progress = open_memstream(&text, &size);
    ck_assert_int_eq(finish(NULL), computed);
    fclose(place.options.progress);
    place.options.progress = NULL;
    ck_assert_ptr_nonnull(strstr(text, "large.steps.npy: continues from "));
    ck_assert(run_folder_has_hits(&place, "large.hits.npy"));
    ck_assert(!run_folder_has_hits(&place, "large.hits.npy.checkpoint"));
    free(text);
}
END_TEST

ICS_TEST_MAIN("run_checkpoint")
{
    TCase *tests = tcase_create("run_checkpoint");
    tcase_add_checked_fixture(tests, open_with_steps, close_place);
    tcase_add_test(tests, test_next_run_continues);
    tcase_add_test(tests, test_other_settings_do_not_replace_it);
    tcase_add_test(tests, test_other_input_does_not_use_it);
    tcase_add_test(tests, test_force_and_off_start_afresh);
    tcase_add_test(tests, test_resume_removes_what_is_left);
    tcase_add_test(tests, test_claimed_file_continues);
    suite_add_tcase(suite, tests);
    TCase *many = tcase_create("many_steps");
    tcase_add_checked_fixture(many, open_with_many_steps, close_place);
    tcase_add_test(many, test_next_run_continues);
    tcase_add_test(many, test_other_input_does_not_use_it);
    tcase_add_test(many, test_resume_removes_what_is_left);
    tcase_add_test(many, test_claimed_file_continues);
    suite_add_tcase(suite, many);
}
