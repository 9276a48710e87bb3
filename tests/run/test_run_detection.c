/* stages.detect and sink.hits in whole runs: what the hit files contain, that detection depends
 * only on the photon, and that the photon account closes. How to join: a test has an empty folder
 * `place`; write a.steps.npy into it and call RUN_ONE() with the settings. */
#include "pipeline/photons/files/hit_reader.h"
#include "tests/run/run_place.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A hit file that was verified as `info --verify` does. */
typedef struct result {
    icestream_hit *hits;
    size_t count;
    size_t electrons; /* number of hits with pmt 0: photo-electrons */
    json_t *metadata;
} result;

static result read_result(const char *name)
{
    char path[2 * SCRATCH_PATH];
    icestream_error error = {.status = ICESTREAM_OK};
    ics_hit_reader *reader = NULL;
    FILE *nowhere = fopen("/dev/null", "w");
    ck_assert_ptr_nonnull(nowhere);
    run_folder_path(place.hits, name, path);
    ck_assert_msg(icestream_info(path, true, false, nowhere, &error) == ICESTREAM_OK, "%s",
                  error.text);
    fclose(nowhere);
    result all = {.count = 0};
    all.hits = run_folder_hits(&place, name, &all.count);
    for (size_t i = 0; i < all.count; ++i) {
        all.electrons += all.hits[i].pmt == 0;
    }
    ck_assert_int_eq(ics_hit_reader_open(path, false, &reader, &error), ICESTREAM_OK);
    all.metadata = json_deep_copy(ics_hit_reader_metadata(reader));
    ics_hit_reader_destroy(reader);
    return all;
}

static void release(result *all)
{
    free(all->hits);
    json_decref(all->metadata);
}

/* Runs on the CPU with these settings, up to a NULL. Overwrites the hit files of earlier runs. */
static int run(const char *const *sets)
{
    place.options.force = !place.options.resume;
    const char *all[RUN_FOLDER_SETS] = {"device.backend=cpu"};
    for (size_t i = 0; sets[i] != NULL; ++i) {
        all[i + 1] = sets[i];
    }
    return run_folder_run(&place, all);
}

#define RUN(...) run((const char *const[]){__VA_ARGS__, NULL})

static result run_one(const char *const *sets)
{
    ck_assert_msg(run(sets) == ICESTREAM_OK, "%s", place.error.text);
    return read_result("a.hits.npy");
}

#define RUN_ONE(...) run_one((const char *const[]){__VA_ARGS__, NULL})

static json_int_t account_of(const result *all, const char *name)
{
    return json_integer_value(json_object_get(json_object_get(all->metadata, "account"), name));
}

static const char *content_of(const result *all)
{
    return json_string_value(json_object_get(all->metadata, "content"));
}

START_TEST(contents)
{
    run_folder_bright_steps(&place, "a.steps.npy", 0, 20, 1000);
    result none = RUN_ONE("graph.batch=700");
    result photons = RUN_ONE("stages.detect=pe", "sink.hits=photons");
    result both = RUN_ONE("stages.detect=pe", "sink.hits=both");
    result pe = RUN_ONE("stages.detect=pe");

    ck_assert_ptr_null(content_of(&none));
    ck_assert_ptr_null(
        json_object_get(json_object_get(none.metadata, "account"), "photo_electrons"));
    ck_assert_str_eq(content_of(&photons), "photons");
    ck_assert_str_eq(content_of(&both), "both");
    ck_assert_str_eq(content_of(&pe), "pe");

    /* All files have the same photons. `both` marks the detected photons with pmt 0; `pe` has only
     * the detected photons, with weight 1. */
    ck_assert_uint_gt(none.count, 50);
    ck_assert_uint_eq(photons.count, none.count);
    ck_assert_mem_eq(photons.hits, none.hits, none.count * sizeof *none.hits);
    ck_assert_uint_eq(both.count, none.count);
    size_t next = 0;
    for (size_t i = 0; i < both.count; ++i) {
        icestream_hit hit = both.hits[i];
        if (hit.pmt == 0) {
            icestream_hit electron = hit;
            electron.weight = 1;
            ck_assert_uint_lt(next, pe.count);
            ck_assert_mem_eq(&electron, &pe.hits[next], sizeof electron);
            ++next;
        }
        hit.pmt = -1;
        ck_assert_mem_eq(&hit, &none.hits[i], sizeof hit);
    }
    ck_assert_uint_eq(next, pe.count);
    ck_assert_uint_eq(pe.electrons, pe.count);
    ck_assert_uint_gt(pe.count, 10);
    ck_assert_uint_lt(pe.count, none.count - 10);

    const result *const files[] = {&photons, &both, &pe};
    for (size_t i = 0; i < COUNT(files); ++i) {
        ck_assert_int_eq(account_of(files[i], "hits"), (json_int_t)none.count);
        ck_assert_int_eq(account_of(files[i], "detected"), account_of(&none, "detected"));
        ck_assert_int_eq(account_of(files[i], "photo_electrons"), (json_int_t)pe.count);
    }
    json_t *summary = run_folder_summary(&place);
    ck_assert_int_eq(run_folder_count(summary, "account", "photo_electrons"), (json_int_t)pe.count);
    ck_assert_int_eq(run_folder_count(summary, "account", "hits"), (json_int_t)none.count);
    json_decref(summary);
    release(&none);
    release(&photons);
    release(&both);
    release(&pe);
}
END_TEST

START_TEST(detection_depends_only_on_the_photon)
{
    run_folder_bright_steps(&place, "a.steps.npy", 0, 30, 400);
    result whole = RUN_ONE("stages.detect=pe");
    static const char *const others[] = {"graph.batch=333",       "graph.batch=1",
                                         "device.threads=1",      "graph.schedule=monolithic",
                                         "graph.pool=64",         "stages.collide=brute-force",
                                         "graph.reach_cull=false"};
    for (size_t i = 0; i < COUNT(others); ++i) {
        result again = RUN_ONE("stages.detect=pe", others[i]);
        ck_assert_uint_eq(again.count, whole.count);
        ck_assert_mem_eq(again.hits, whole.hits, whole.count * sizeof *whole.hits);
        release(&again);
    }
    /* With another seed other photons are detected. */
    result other = RUN_ONE("stages.detect=pe", "run.seed=2");
    ck_assert(other.count != whole.count ||
              memcmp(other.hits, whole.hits, whole.count * sizeof *whole.hits) != 0);
    release(&other);

    char path[2 * SCRATCH_PATH];
    unlink(run_folder_path(place.steps, "a.steps.npy", path));
    run_folder_bright_steps(&place, "x2.npy", 0, 13, 400);
    run_folder_bright_steps(&place, "x1.npy", 13, 17, 400);
    ck_assert_msg(RUN("stages.detect=pe", "graph.batch=500") == ICESTREAM_OK, "%s",
                  place.error.text);
    result first = read_result("x2.hits.npy"), second = read_result("x1.hits.npy");
    ck_assert_uint_eq(first.count + second.count, whole.count);
    ck_assert_mem_eq(first.hits, whole.hits, first.count * sizeof *whole.hits);
    ck_assert_mem_eq(second.hits, whole.hits + first.count, second.count * sizeof *whole.hits);
    release(&first);
    release(&second);
    release(&whole);
}
END_TEST

static bool same_photon(const icestream_hit *a, const icestream_hit *b)
{
    return a->step_id == b->step_id && a->photon_id == b->photon_id;
}

START_TEST(photons_that_continue_after_a_hit)
{
    /* The steps are near a module of 0.83 m effective radius. Some photons are scattered back and
     * hit it again. */
    run_folder_bright_steps(&place, "a.steps.npy", 0, 150, 2000);
    result both = RUN_ONE("stages.detect=pe", "sink.hits=both", "ice.model=uniform",
                          "detector.keep_hit_photons=true", "detector.crossing=disc");
    result pe = RUN_ONE("stages.detect=pe", "ice.model=uniform", "detector.keep_hit_photons=true",
                        "detector.crossing=disc");
    ck_assert_int_gt(account_of(&both, "hits"), account_of(&both, "detected"));
    ck_assert_uint_eq(pe.count, both.electrons);
    size_t pairs = 0, alike = 0, marked = 0;
    for (size_t i = 1; i < both.count; ++i) {
        if (same_photon(&both.hits[i], &both.hits[i - 1])) {
            ++pairs;
            alike += both.hits[i].pmt == both.hits[i - 1].pmt;
            marked += both.hits[i].pmt == 0;
        }
    }
    /* Each hit of a photon is detected or not, whatever happened to its other hits. */
    ck_assert_uint_gt(pairs, 20);
    ck_assert_uint_lt(alike, pairs);
    ck_assert_uint_gt(marked, 0);
    release(&both);
    release(&pe);
}
END_TEST

/* The number of hits of string 43 in a file. */
static size_t hits_of_nearest_string(const result *all)
{
    size_t count = 0;
    for (size_t i = 0; i < all->count; ++i) {
        count += all->hits[i].string == 43;
    }
    return count;
}

START_TEST(modules_that_are_off)
{
    run_folder_bright_steps(&place, "a.steps.npy", 0, 20, 1000);
    /* Only one module is on, and it is far away. */
    char path[2 * SCRATCH_PATH], voltages[2 * SCRATCH_PATH + 64];
    scratch_write(run_folder_path(place.steps, "hvs", path), "1 1 1200\n", 9);
    snprintf(voltages, sizeof voltages, "detector.voltages=%s", path);
    result plain = RUN_ONE("stages.detect=pe", "sink.hits=both");
    result off = RUN_ONE("stages.detect=pe", "sink.hits=both", voltages);
    ck_assert_uint_gt(hits_of_nearest_string(&plain), 50);
    ck_assert_uint_gt(plain.electrons, 10);
    /* Modules that are off absorb photons as before and detect nothing. */
    ck_assert_uint_eq(off.count, plain.count);
    ck_assert_uint_eq(off.electrons, 0);
    ck_assert_int_eq(account_of(&off, "detected"), account_of(&plain, "detected"));
    ck_assert_int_eq(account_of(&off, "absorbed"), account_of(&plain, "absorbed"));
    /* Excluded modules have no hits at all. */
    result excluded = RUN_ONE("stages.detect=pe", "sink.hits=both",
                              "detector.excluded=[[43, 30], [43, 31], [43, 29]]");
    for (size_t i = 0; i < excluded.count; ++i) {
        ck_assert(excluded.hits[i].string != 43 || excluded.hits[i].module < 29 ||
                  excluded.hits[i].module > 31);
    }
    ck_assert_int_lt(account_of(&excluded, "detected"), account_of(&plain, "detected"));
    release(&plain);
    release(&off);
    release(&excluded);
}
END_TEST

/* Runs with this setting. Returns the log; the caller frees it. */
static char *log_of(const char *set)
{
    place.options.force = true;
    return run_folder_log(&place, (const char *[]){"device.backend=cpu", set, NULL});
}

START_TEST(the_log_counts_photo_electrons)
{
    run_folder_bright_steps(&place, "a.steps.npy", 0, 10, 1000);
    char *photons = log_of("stages.detect=none");
    char *electrons = log_of("stages.detect=pe");
    result pe = read_result("a.hits.npy");
    char expected[64];
    snprintf(expected, sizeof expected, " hits, %zu photo-electrons in ", pe.count);
    ck_assert_msg(strstr(electrons, expected) != NULL, "no '%s' in %s", expected, electrons);
    ck_assert_ptr_null(strstr(photons, "electrons"));
    free(photons);
    free(electrons);
    release(&pe);
}
END_TEST

START_TEST(settings_without_effect_change_nothing)
{
    /* The first setting of a row alone, and with the other settings of the row: all rows of the hit
     * files must be equal, and all of their trailers except the list of keys (files.md 2.2). */
    static const char *const rows[][3] = {
        {"stages.detect=none", "detector.cable_radius=0.5", "sink.hits=photons"},
        {"stages.detect=pe", "detector.cables=none", "detector.cable_radius=0.5"},
        {"stages.detect=pe", "detector.angular_polynomial=[0.68, 0.34, 0.51, 0, -0.17]",
         "sink.hits=pe"},
        {"stages.detect=pe", "detector.angular_acceptance=standard", "light.high_efficiency=none"},
    };
    run_folder_bright_steps(&place, "a.steps.npy", 0, 10, 1000);
    for (size_t i = 0; i < COUNT(rows); ++i) {
        result one = RUN_ONE(rows[i][0]);
        result other = RUN_ONE(rows[i][0], rows[i][1], rows[i][2]);
        ck_assert_uint_gt(one.count, 0);
        ck_assert_uint_eq(one.count, other.count);
        ck_assert_mem_eq(one.hits, other.hits, one.count * sizeof *one.hits);
        json_object_del(json_object_get(one.metadata, "settings"), "models");
        json_object_del(json_object_get(other.metadata, "settings"), "models");
        ck_assert(json_equal(one.metadata, other.metadata));
        release(&one);
        release(&other);
    }
}
END_TEST

static json_int_t skipped_with(const char *set)
{
    ck_assert_msg(RUN("stages.detect=pe", set) == ICESTREAM_OK, "%s", place.error.text);
    return run_folder_files(&place, "skipped");
}

static void expect_refusal(const char *set, const char *text)
{
    ck_assert_int_eq(RUN("stages.detect=pe", set), ICESTREAM_E_OUTPUT);
    ck_assert_msg(strstr(place.error.text, text) != NULL, "%s", place.error.text);
}

START_TEST(resume_refuses_files_of_other_content)
{
    run_folder_bright_steps(&place, "a.steps.npy", 0, 5, 500);
    ck_assert_int_eq(skipped_with("sink.hits=both"), 0);
    place.options.resume = true;
    ck_assert_int_eq(skipped_with("sink.hits=both"), 1);
    expect_refusal("sink.hits=pe", "a.hits.npy: sink.hits: found both, expected pe");
    place.options.resume = false; /* run() forces then */
    ck_assert_int_eq(skipped_with("sink.hits=pe"), 0);
    place.options.resume = true;
    ck_assert_int_eq(skipped_with("sink.hits=auto"), 1);
    expect_refusal("detector.angular_acceptance=none",
                   "detector.angular_acceptance: found auto, expected none");
}
END_TEST

START_TEST(weights_with_a_probability_above_one)
{
    icestream_step steps[2] = {run_folder_bright(0, 5000), run_folder_bright(1, 5000)};
    steps[0].weight = steps[1].weight = 50;
    run_folder_steps(&place, "a.steps.npy", steps, 2);
    ck_assert_int_eq(RUN("stages.detect=pe"), ICESTREAM_E_INPUT);
    ck_assert_msg(strstr(place.error.text, "a.steps.npy") != NULL, "%s", place.error.text);
    json_t *summary = run_folder_summary(&place);
    json_t *file = json_array_get(json_object_get(summary, "files"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(file, "status")), "set aside");
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(file, "error")),
                                 "field weight: found 50, with which photon "));
    json_decref(summary);
}
END_TEST

ICS_TEST_MAIN("run_detection")
{
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, open_place, close_place);
    tcase_add_test(tests, contents);
    tcase_add_test(tests, detection_depends_only_on_the_photon);
    tcase_add_test(tests, photons_that_continue_after_a_hit);
    tcase_add_test(tests, modules_that_are_off);
    tcase_add_test(tests, the_log_counts_photo_electrons);
    tcase_add_test(tests, settings_without_effect_change_nothing);
    tcase_add_test(tests, resume_refuses_files_of_other_content);
    tcase_add_test(tests, weights_with_a_probability_above_one);
    suite_add_tcase(suite, tests);
}
