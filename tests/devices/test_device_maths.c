/* Promise: hit files name the maths of their photons, and --resume never mixes maths in one run,
 * unless device.fallback allows it.
 *
 * Uses a fake GPU. How to join: a new setting that decides the maths is a line of `ways`. */
#include "pipeline/photons/files/hit_reader.h"
#include "tests/devices/fake_gpu_run.h"
#include "tests/support/test_main.h"

/* The maths in the trailer of a hit file; "" if there is none. */
static const char *math_in_file(const run_folder *place, const char *name, char word[16])
{
    char path[2 * SCRATCH_PATH];
    ics_hit_reader *reader = NULL;
    icestream_error error = {.status = ICESTREAM_OK};
    ck_assert_int_eq(
        ics_hit_reader_open(run_folder_path(place->hits, name, path), false, &reader, &error),
        ICESTREAM_OK);
    const json_t *math = json_object_get(ics_hit_reader_metadata(reader), "math");
    snprintf(word, 16, "%s", math != NULL ? json_string_value(math) : "");
    ics_hit_reader_destroy(reader);
    return word;
}

/* Settings of runs, and the maths that they compute with. */
static const struct {
    const char *sets[3], *math;
} ways[] = {
    {{"device.backend=cpu"}, "portable"},
    {{"graph.schedule=event-wavefront", "device.math=portable"}, "portable"},
    {{"graph.schedule=event-wavefront", "device.math=fast"}, "fast"},
    {{"device.backend=cuda", "graph.schedule=auto"}, "fast"}, /* math: auto */
    {{"device.backend=cuda", "device.math=portable"}, "portable"},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

static int run_way(run_folder *place, int way)
{
    return run_folder_run(place, (const char *[]){ways[way].sets[0], ways[way].sets[1], NULL});
}

START_TEST(test_hit_files_name_their_maths)
{
    reset_fake();
    run_folder place = open_place();
    ck_assert_int_eq(run_way(&place, _i), ICESTREAM_OK);
    char word[16];
    ck_assert_str_eq(math_in_file(&place, "a.hits.npy", word), ways[_i].math);
    ck_assert_str_eq(math_in_file(&place, "d.hits.npy", word), ""); /* no photon was computed */
    json_t *summary = run_folder_summary(&place);
    const json_t *files = json_object_get(summary, "files");
    const json_t *first = json_object_get(json_array_get(files, 0), "math");
    ck_assert_str_eq(json_string_value(first), ways[_i].math);
    ck_assert(json_is_null(json_object_get(json_array_get(files, 3), "math")));
    json_decref(summary);

    char path[2 * SCRATCH_PATH];
    size_t size = 0, cpu_size = 0;
    unsigned char *bytes = scratch_read(run_folder_path(place.hits, "a.hits.npy", path), &size);
    ck_assert_int_eq(run_way(&place, 0), ICESTREAM_OK);
    unsigned char *of_cpu = scratch_read(path, &cpu_size);
    bool equal = size == cpu_size && memcmp(bytes, of_cpu, size) == 0;
    ck_assert_int_eq(equal, strcmp(ways[_i].math, "portable") == 0);
    free(bytes);
    free(of_cpu);
    run_folder_close(&place);
}
END_TEST

/* For all pairs of ways: the second run resumes the first run if their maths agree, and refuses
 * otherwise. */
START_TEST(test_resume_does_not_mix_maths)
{
    const int before = _i / WAYS, after = _i % WAYS;
    reset_fake();
    run_folder place = open_place();
    ck_assert_int_eq(run_way(&place, before), ICESTREAM_OK);
    char path[2 * SCRATCH_PATH], refused[4 * SCRATCH_PATH];
    ck_assert_int_eq(unlink(run_folder_path(place.hits, "b.hits.npy", path)), 0);
    place.options.force = false;
    place.options.resume = true;
    atomic_store(&fake.submitted, 0);
    int status = run_way(&place, after);
    if (strcmp(ways[before].math, ways[after].math) == 0) {
        ck_assert_msg(status == ICESTREAM_OK, "%s", place.error.text);
        json_t *summary = run_folder_summary(&place);
        ck_assert_int_eq(run_folder_count(summary, "file_counts", "skipped"), FILES - 1);
        ck_assert_int_eq(run_folder_count(summary, "file_counts", "done"), 1);
        json_decref(summary);
    } else {
        ck_assert_int_eq(status, ICESTREAM_E_OUTPUT);
        snprintf(refused, sizeof refused, "\n%s: math: found %s, expected %s\n",
                 run_folder_path(place.hits, "a.hits.npy", path), ways[before].math,
                 ways[after].math);
        ck_assert_msg(strstr(place.error.text, refused) != NULL, "%s", place.error.text);
        ck_assert_ptr_nonnull(strstr(place.error.text, "nothing was computed; --resume does not"));
        ck_assert_ptr_null(strstr(place.error.text, "d.hits.npy")); /* no photons, any maths */
        ck_assert(!run_folder_has_hits(&place, "b.hits.npy"));
        ck_assert_int_eq(atomic_load(&fake.submitted), 0);
    }
    run_folder_close(&place);
}
END_TEST

/* Hits of another seed are not replaced without --force. With it all files are computed again, and
 * their maths do not matter. */
START_TEST(test_resume_with_another_seed_ignores_maths)
{
    reset_fake();
    run_folder place = open_place();
    ck_assert_int_eq(run_way(&place, 0), ICESTREAM_OK);
    place.options.force = false;
    place.options.resume = true;
    const char *const sets[] = {"device.math=fast", "run.seed=2", "graph.schedule=event-wavefront",
                                NULL};
    ck_assert_int_eq(run_folder_run(&place, sets), ICESTREAM_E_OUTPUT);
    ck_assert_ptr_nonnull(strstr(place.error.text, "run.seed"));
    place.options.force = true;
    ck_assert_msg(run_folder_run(&place, sets) == ICESTREAM_OK, "%s", place.error.text);
    char word[16];
    ck_assert_str_eq(math_in_file(&place, "a.hits.npy", word), "fast");
    run_folder_close(&place);
}
END_TEST

/* With device.fallback cpu a run may change its maths, so --resume may change it as well. */
START_TEST(test_fallback_may_mix_maths)
{
    static const char *const sets[] = {"device.math=fast", "device.fallback=cpu",
                                       "graph.schedule=event-wavefront", NULL};
    reset_fake();
    fake.submit_fault = 3; /* long before the last file */
    run_folder place = open_place();
    ck_assert_int_eq(run_folder_run(&place, sets), ICESTREAM_OK);
    char word[16];
    ck_assert_str_eq(math_in_file(&place, "e.hits.npy", word), "portable");
    reset_fake();
    place.options.force = false;
    place.options.resume = true;
    char *text = run_folder_log(&place, sets);
    ck_assert_msg(strstr(text, "of other maths than this run's, which is fast, and may be kept"
                               " (device.fallback cpu)") != NULL,
                  "%s", text);
    free(text);
    json_t *summary = run_folder_summary(&place);
    ck_assert_int_eq(run_folder_count(summary, "file_counts", "skipped"), FILES);
    json_decref(summary);
    /* Without device.fallback the files do not agree. */
    ck_assert_int_eq(
        run_folder_run(
            &place, (const char *[]){"device.math=fast", "graph.schedule=event-wavefront", NULL}),
        ICESTREAM_E_OUTPUT);
    ck_assert_ptr_nonnull(strstr(place.error.text, "e.hits.npy: math: found portable, expected f"));
    run_folder_close(&place);
}
END_TEST

/* A file that the GPU began and the CPU finished agrees with neither maths. */
START_TEST(test_a_file_of_both_maths_agrees_with_none)
{
    reset_fake();
    run_folder place = run_folder_open();
    run_folder_bright_steps(&place, "a.steps.npy", 0, 1, 40000);
    fake.submit_fault = 15;
    const char *sets[] = {"device.math=fast", "device.fallback=cpu",
                          "graph.schedule=event-wavefront", NULL};
    ck_assert_int_eq(run_folder_run(&place, sets), ICESTREAM_OK);
    ck_assert_int_gt(atomic_load(&fake.taken), 0);
    char word[16];
    ck_assert_str_eq(math_in_file(&place, "a.hits.npy", word), "mixed");
    reset_fake();
    place.options.resume = true;
    for (int way = 0; way < WAYS; ++way) {
        ck_assert_int_eq(run_way(&place, way), ICESTREAM_E_OUTPUT);
        ck_assert_ptr_nonnull(strstr(place.error.text, "a.hits.npy: math: found mixed, expected"));
    }
    sets[0] = "device.math=portable"; /* then the fallback has the same maths */
    ck_assert_int_eq(run_folder_run(&place, sets), ICESTREAM_E_OUTPUT);
    run_folder_close(&place);
}
END_TEST

ICS_TEST_MAIN("device_maths")
{
    TCase *tests = tcase_create("device_maths");
    tcase_add_loop_test(tests, test_hit_files_name_their_maths, 0, WAYS);
    tcase_add_loop_test(tests, test_resume_does_not_mix_maths, 0, WAYS * WAYS);
    tcase_add_test(tests, test_resume_with_another_seed_ignores_maths);
    tcase_add_test(tests, test_fallback_may_mix_maths);
    tcase_add_test(tests, test_a_file_of_both_maths_agrees_with_none);
    suite_add_tcase(suite, tests);
}
