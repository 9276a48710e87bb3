/* icestream_run on a list of step files: the hit files, the summary, --resume and --force, and step
 * files that cannot be used. How to join: a test has an empty folder `place`; write step files into
 * it, call run_cpu(), and look at its hit files and its summary. test_run_model.c has stopped runs,
 * test_run_watch.c runs on a folder. */
#include "tests/run/run_place.h"

#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

START_TEST(test_steps_become_hits)
{
    run_folder_bright_steps(&place, "a.steps.npy", 0, 20, 500);
    ck_assert_msg(run_cpu(NULL, NULL) == ICESTREAM_OK, "%s", place.error.text);
    size_t count = 0;
    icestream_hit *hits = run_folder_hits(&place, "a.hits.npy", &count);
    /* 10 000 photons 4 m from a module of 0.83 m effective radius: about 1 % reach it directly,
     * and some scattered photons reach it too. */
    ck_assert_uint_gt(count, 50);
    ck_assert_uint_lt(count, 1000);
    for (size_t i = 0; i < count; ++i) {
        ck_assert_uint_eq(hits[i].event_id, 3);
        ck_assert_uint_lt(hits[i].step_id, 20);
        ck_assert_uint_lt(hits[i].photon_id, 500);
        ck_assert_int_eq(hits[i].pmt, -1);
        ck_assert_uint_ge(hits[i].string, 1);
        ck_assert_uint_le(hits[i].string, 86);
        ck_assert_double_gt(hits[i].t, 1000.0 + 3.0 / 0.2998);
        /* weight = 1 / (25 bias), bias = 0.68 acc / 25 <= 0.68 * 0.1342 / 25 */
        ck_assert_float_gt(hits[i].weight, 1.0f / (0.68f * 0.1343f));
        double radius = hypot(hypot(hits[i].x, hits[i].y), hits[i].z);
        ck_assert_double_eq_tol(radius, 0.1651, 1e-4);
    }
    free(hits);

    json_t *summary = run_folder_summary(&place);
    ck_assert_str_eq(json_string_value(json_object_get(summary, "status")), "done");
    ck_assert_int_eq(run_folder_count(summary, "account", "created"), 10000);
    ck_assert_int_eq(run_folder_count(summary, "account", "hits"), (json_int_t)count);
    ck_assert_int_eq(run_folder_count(summary, "account", "absorbed") +
                         run_folder_count(summary, "account", "detected") +
                         run_folder_count(summary, "account", "left") +
                         run_folder_count(summary, "account", "stopped"),
                     10000);
    ck_assert_int_gt(run_folder_count(summary, "speed", "peak_memory_bytes"), 0);
    json_t *file = json_array_get(json_object_get(summary, "files"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(file, "status")), "done");
    ck_assert_int_eq(json_integer_value(json_object_get(file, "steps")), 20);
    json_decref(summary);
}
END_TEST

START_TEST(test_splitting_a_file_changes_no_hit)
{
    run_folder_bright_steps(&place, "whole.steps.npy", 0, 30, 200);
    ck_assert_int_eq(run_cpu(NULL, NULL), ICESTREAM_OK);
    size_t whole_count = 0, count = 0, total = 0;
    icestream_hit *whole = run_folder_hits(&place, "whole.hits.npy", &whole_count);

    char path[2 * SCRATCH_PATH];
    unlink(run_folder_path(place.steps, "whole.steps.npy", path));
    run_folder_bright_steps(&place, "1.npy", 0, 10, 200);
    run_folder_bright_steps(&place, "2.npy", 10, 10, 200);
    run_folder_bright_steps(&place, "3.npy", 20, 10, 200);
    ck_assert_int_eq(run_cpu("graph.batch=333", NULL), ICESTREAM_OK);
    const char *names[] = {"1.hits.npy", "2.hits.npy", "3.hits.npy"};
    for (int i = 0; i < 3; ++i) {
        icestream_hit *part = run_folder_hits(&place, names[i], &count);
        ck_assert_uint_le(total + count, whole_count);
        ck_assert_mem_eq(part, whole + total, count * sizeof *part);
        total += count;
        free(part);
    }
    ck_assert_uint_eq(total, whole_count);
    free(whole);
}
END_TEST

START_TEST(test_hits_are_sorted_whatever_the_order_of_steps)
{
    enum { STEPS = 64 };
    icestream_step ascending[STEPS], descending[STEPS];
    for (uint32_t i = 0; i < STEPS; ++i) {
        ascending[i] = run_folder_bright(i, 100);
        descending[STEPS - 1 - i] = ascending[i];
    }
    run_folder_steps(&place, "a.npy", ascending, STEPS);
    run_folder_steps(&place, "b.npy", descending, STEPS);
    ck_assert_int_eq(run_cpu("graph.batch=150", NULL), ICESTREAM_OK);
    size_t a_count = 0, b_count = 0;
    icestream_hit *a = run_folder_hits(&place, "a.hits.npy", &a_count);
    icestream_hit *b = run_folder_hits(&place, "b.hits.npy", &b_count);
    ck_assert_uint_gt(a_count, 0);
    ck_assert_uint_eq(a_count, b_count);
    ck_assert_mem_eq(a, b, a_count * sizeof *a);
    free(a);
    free(b);
}
END_TEST

START_TEST(test_empty_step_files_give_empty_hit_files)
{
    run_folder_bright_steps(&place, "none.npy", 0, 0, 0);
    run_folder_bright_steps(&place, "dark.npy", 0, 5, 0);
    ck_assert_int_eq(run_cpu(NULL, NULL), ICESTREAM_OK);
    size_t count = 1;
    free(run_folder_hits(&place, "none.hits.npy", &count));
    ck_assert_uint_eq(count, 0);
    free(run_folder_hits(&place, "dark.hits.npy", &count));
    ck_assert_uint_eq(count, 0);
}
END_TEST

START_TEST(test_many_small_files)
{
    enum { FILES = 60 };
    for (uint32_t i = 0; i < FILES; ++i) {
        char name[32];
        snprintf(name, sizeof name, "%02u.npy", i);
        run_folder_bright_steps(&place, name, i, 1, 100);
    }
    ck_assert_int_eq(run_cpu(NULL, NULL), ICESTREAM_OK);
    json_t *summary = run_folder_summary(&place);
    ck_assert_int_eq(run_folder_count(summary, "file_counts", "done"), FILES);
    ck_assert_int_eq(run_folder_count(summary, "account", "created"), 100 * FILES);
    json_decref(summary);
}
END_TEST

START_TEST(test_bad_files_are_quarantined)
{
    run_folder_bright_steps(&place, "1-good.npy", 0, 3, 100);
    char path[2 * SCRATCH_PATH];
    scratch_write(run_folder_path(place.steps, "2-bad.npy", path), "no steps", 8);
    icestream_step nan_step = run_folder_bright(0, 100);
    nan_step.t = NAN;
    icestream_step steps[2] = {run_folder_bright(5, 10), nan_step};
    run_folder_steps(&place, "3-nan.npy", steps, 2);
    run_folder_bright_steps(&place, "4-good.npy", 9, 3, 100);
    ck_assert_int_eq(run_cpu(NULL, NULL), ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(place.error.text, "2-bad.npy: "));
    ck_assert_ptr_nonnull(strstr(place.error.text, "3-nan.npy: row 1, field t"));
    ck_assert_ptr_nonnull(strstr(place.error.text, "2 of 4 files quarantined"));
    ck_assert(run_folder_has_hits(&place, "1-good.hits.npy"));
    ck_assert(!run_folder_has_hits(&place, "2-bad.hits.npy"));
    ck_assert(!run_folder_has_hits(&place, "3-nan.hits.npy"));
    ck_assert(run_folder_has_hits(&place, "4-good.hits.npy"));
    json_t *summary = run_folder_summary(&place);
    ck_assert_int_eq(run_folder_count(summary, "file_counts", "done"), 2);
    ck_assert_int_eq(run_folder_count(summary, "file_counts", "set_aside"), 2);
    ck_assert_int_eq(json_integer_value(json_object_get(summary, "exit_status")), 3);
    json_t *bad = json_array_get(json_object_get(summary, "files"), 1);
    ck_assert_str_eq(json_string_value(json_object_get(bad, "status")), "set aside");
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(bad, "error")), "2-bad.npy"));
    json_decref(summary);
}
END_TEST

/* A bad weight is found only when a photon of its step reaches a module. */
START_TEST(test_a_bad_weight_is_found_at_the_hits)
{
    run_folder_bright_steps(&place, "1-good.npy", 0, 3, 1000);
    icestream_step steps[40];
    for (uint32_t i = 0; i < 40; ++i) {
        steps[i] = run_folder_bright(i, 1000);
    }
    steps[20].weight = 3e38f;
    run_folder_steps(&place, "2-bad.npy", steps, 40);
    run_folder_bright_steps(&place, "3-good.npy", 0, 3, 1000);
    ck_assert_int_eq(run_cpu("graph.batch=1000", NULL), ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(place.error.text, "2-bad.npy: event 3, step 20, field weight"));
    ck_assert_ptr_nonnull(strstr(place.error.text, "1 of 3 files quarantined"));
    ck_assert(run_folder_has_hits(&place, "1-good.hits.npy"));
    ck_assert(!run_folder_has_hits(&place, "2-bad.hits.npy"));
    ck_assert(!run_folder_has_hits(&place, "2-bad.hits.npy.part"));
    ck_assert(run_folder_has_hits(&place, "3-good.hits.npy"));
}
END_TEST

START_TEST(test_existing_outputs_need_force_or_resume)
{
    run_folder_bright_steps(&place, "a.npy", 0, 3, 500);
    run_folder_bright_steps(&place, "b.npy", 0, 3, 500);
    ck_assert_int_eq(run_cpu(NULL, NULL), ICESTREAM_OK);
    char path[2 * SCRATCH_PATH];
    unlink(run_folder_path(place.hits, "b.hits.npy", path));

    ck_assert_int_eq(run_cpu(NULL, NULL), ICESTREAM_E_OUTPUT);
    ck_assert_ptr_nonnull(strstr(place.error.text, "a.hits.npy: already exists"));
    ck_assert(!run_folder_has_hits(&place, "b.hits.npy"));

    place.options.resume = true;
    ck_assert_int_eq(run_cpu(NULL, NULL), ICESTREAM_OK);
    ck_assert_int_eq(run_folder_files(&place, "skipped"), 1);
    ck_assert_int_eq(run_folder_files(&place, "done"), 1);

    /* The hits depend on seed, ice and input, but not on the schedule or the batches. */
    ck_assert_int_eq(run_cpu("graph.schedule=monolithic", "graph.batch=100"), ICESTREAM_OK);
    ck_assert_int_eq(run_folder_files(&place, "skipped"), 2);
    ck_assert_int_eq(run_cpu("ice.model=uniform", NULL), ICESTREAM_E_OUTPUT);
    ck_assert_ptr_nonnull(
        strstr(place.error.text, "b.hits.npy: ice.model: found south-pole-like, expected uniform"));
    place.options.force = true;
    ck_assert_int_eq(run_cpu("ice.model=uniform", NULL), ICESTREAM_OK);
    ck_assert_int_eq(run_folder_files(&place, "skipped"), 0);
    place.options.force = false;
    run_folder_bright_steps(&place, "b.npy", 1, 3, 500);
    ck_assert_int_eq(run_cpu("ice.model=uniform", NULL), ICESTREAM_OK);
    ck_assert_int_eq(run_folder_files(&place, "skipped"), 1);
    ck_assert_int_eq(run_cpu("ice.model=uniform", "run.seed=2"), ICESTREAM_E_OUTPUT);
    ck_assert_ptr_nonnull(strstr(place.error.text, "a.hits.npy: run.seed: found 1, expected 2"));

    place.options.resume = false;
    place.options.force = true;
    ck_assert_int_eq(run_cpu(NULL, NULL), ICESTREAM_OK);
    ck_assert_int_eq(run_folder_files(&place, "done"), 2);
}
END_TEST

START_TEST(test_folders_of_outputs_are_made)
{
    run_folder_bright_steps(&place, "a.npy", 0, 1, 1);
    char sink[2 * SCRATCH_PATH + 64];
    snprintf(sink, sizeof sink, "sink.directory=%s/new/and/deep/", place.hits);
    ck_assert_msg(run_cpu(sink, NULL) == ICESTREAM_OK, "%s", place.error.text);
    ck_assert(run_folder_has_hits(&place, "new/and/deep/a.hits.npy"));
    ck_assert(run_folder_has_hits(&place, "new/and/deep/summary.json"));
}
END_TEST

ICS_TEST_MAIN("run")
{
    TCase *tests = tcase_create("run");
    tcase_add_checked_fixture(tests, open_place, close_place);
    tcase_add_test(tests, test_steps_become_hits);
    tcase_add_test(tests, test_splitting_a_file_changes_no_hit);
    tcase_add_test(tests, test_hits_are_sorted_whatever_the_order_of_steps);
    tcase_add_test(tests, test_empty_step_files_give_empty_hit_files);
    tcase_add_test(tests, test_many_small_files);
    tcase_add_test(tests, test_bad_files_are_quarantined);
    tcase_add_test(tests, test_a_bad_weight_is_found_at_the_hits);
    tcase_add_test(tests, test_existing_outputs_need_force_or_resume);
    tcase_add_test(tests, test_folders_of_outputs_are_made);
    suite_add_tcase(suite, tests);
}
