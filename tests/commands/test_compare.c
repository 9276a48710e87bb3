/* `icestream compare`, from the configuration to the report, with small workloads.
 *
 * Promises: schedules of the CPU give identical hits; other seeds or equal physics are compatible;
 * other physics is different; the report names what differs, and the exit status follows from it.
 * To join: a setting that changes hits needs a test that its name appears among the differences.
 * The statistics are tested in test_statistics.c, verdicts in test_verdict.c.
 */
#include "pipeline/icestream.h"
#include "tests/support/json_values.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* 10 000 photons start 2 m from a module of hex86 in uniform ice, and modules record hundreds of
 * them. There are no step files, because the pattern matches nothing. */
static const char *const common[] = {
    "source.files=[/nonexistent/*.steps.npy]",
    "device.backend=cpu",
    "ice.model=uniform",
    "workload.kind=point",
    "workload.steps=50",
    "workload.photons_per_step=200",
    "workload.position=[2, 0, 7]",
    "workload.direction=isotropic",
    "device.threads=2",
    "graph.batch=1500",
    "detector.oversize=5",
};
enum { COMMON = sizeof common / sizeof *common };

/* The common settings and up to two more. */
static icestream_config *load(const char *more, const char *still_more)
{
    const char *sets[COMMON + 2];
    memcpy(sets, common, sizeof common);
    size_t count = COMMON;
    if (more != NULL) {
        sets[count++] = more;
    }
    if (still_more != NULL) {
        sets[count++] = still_more;
    }
    icestream_config *config = NULL;
    icestream_error error = {0};
    ck_assert_msg(icestream_config_load(NULL, sets, count, &config, &error) == ICESTREAM_OK, "%s",
                  error.text);
    return config;
}

/* What a command printed and returned. */
typedef struct answer {
    int status;
    icestream_error error;
    char *text;
    json_t *json;
} answer;

static answer compare_as(const icestream_config *config, const icestream_compare_options *options)
{
    answer result = {0};
    size_t size = 0;
    FILE *out = open_memstream(&result.text, &size);
    ck_assert_ptr_nonnull(out);
    result.status = icestream_compare(config, options, out, &result.error);
    fclose(out);
    if (options->json && size > 0) {
        result.json = json_loads(result.text, 0, NULL);
        ck_assert_ptr_nonnull(result.json);
    }
    return result;
}

static answer compare(const icestream_config *config, const char *schedules,
                      const icestream_config *against, bool json)
{
    icestream_compare_options options = {.schedules = schedules, .against = against, .json = json};
    return compare_as(config, &options);
}

static void forget(answer *result)
{
    json_decref(result->json);
    free(result->text);
}

START_TEST(schedules_are_identical)
{
    icestream_config *config = load(NULL, NULL);
    answer result = compare(config, NULL, NULL, true);
    ck_assert_msg(result.status == ICESTREAM_OK, "%s", result.error.text);
    ck_assert(json_is_true(json_object_get(result.json, "holds")));
    ck_assert_int_eq(json_integer_value(json_object_get(result.json, "photons")), 10000);
    ck_assert_str_eq(text_of(result.json, "steps_from"), "workload point");
    const json_t *pair = item_of(result.json, "pairs", 0);
    ck_assert_str_eq(text_of(pair, "expected"), "identical");
    ck_assert_str_eq(text_of(pair, "differences"), "");
    ck_assert_str_eq(text_of(pair, "verdict"), "identical");
    ck_assert(json_is_true(json_object_get(pair, "same_account")));
    ck_assert_int_gt(json_integer_value(json_object_get(pair, "shared_hits")), 100);
    for (size_t i = 0; i < 2; ++i) {
        const json_t *one = item_of(result.json, "participants", i);
        ck_assert_str_eq(text_of(one, "schedule"), i == 0 ? "wavefront" : "monolithic");
        ck_assert_double_gt(json_real_value(json_object_get(one, "photons_per_second")), 0);
        ck_assert_double_gt(json_real_value(json_object_get(one, "bounces_per_photon")), 1);
        ck_assert_str_eq(text_of(one, "backend"), "cpu");
        ck_assert_int_eq(json_integer_value(json_object_get(one, "threads")), 2);
        ck_assert_double_gt(
            json_real_value(json_object_get(one, "nanoseconds_per_photon_and_thread")), 0);
        const json_t *account = json_object_get(one, "account");
        ck_assert_int_eq(json_integer_value(json_object_get(account, "created")), 10000);
    }
    forget(&result);
    result = compare(config, "monolithic,wavefront", NULL, false);
    ck_assert_int_eq(result.status, ICESTREAM_OK);
    ck_assert_ptr_nonnull(strstr(result.text, "monolithic and wavefront: identical"));
    forget(&result);
    icestream_config_destroy(config);
}
END_TEST

START_TEST(settings_of_the_machine_change_no_hits)
{
    /* Threads, batches, pool, instruction set and the reach cull change no hit, and the command
     * expects identical hits. */
    icestream_config *config = load(NULL, NULL);
    static const char *const machinery[] = {"device.threads=1", "graph.batch=317", "graph.pool=64",
                                            "device.instruction_set=baseline",
                                            "graph.reach_cull=false"};
    for (size_t i = 0; i < sizeof machinery / sizeof *machinery; ++i) {
        icestream_config *against = load(machinery[i], NULL);
        answer result = compare(config, NULL, against, true);
        ck_assert_msg(result.status == ICESTREAM_OK, "%s: %s", machinery[i], result.error.text);
        ck_assert_str_eq(text_of(item_of(result.json, "pairs", 0), "expected"), "identical");
        ck_assert_uint_eq(json_array_size(json_object_get(result.json, "participants")), 2);
        forget(&result);
        icestream_config_destroy(against);
    }
    icestream_config_destroy(config);
}
END_TEST

START_TEST(other_seed_is_compatible)
{
    icestream_config *config = load(NULL, NULL);
    icestream_config *against = load("run.seed=2", NULL);
    answer result = compare(config, "wavefront", against, true);
    ck_assert_msg(result.status == ICESTREAM_OK, "%s", result.error.text);
    const json_t *pair = item_of(result.json, "pairs", 0);
    ck_assert_str_eq(text_of(pair, "expected"), "compatible");
    ck_assert_str_eq(text_of(pair, "verdict"), "compatible");
    ck_assert_str_eq(text_of(pair, "differences"), "seed (1, 2)");
    ck_assert(json_is_false(json_object_get(pair, "same_seed")));
    ck_assert_uint_eq(json_array_size(json_object_get(pair, "tests")), 6);
    ck_assert_double_eq(json_real_value(json_object_get(result.json, "false_alarm_rate")), 1e-3);
    forget(&result);
    result = compare(config, "wavefront", against, false);
    ck_assert_ptr_nonnull(
        strstr(result.text, "wavefront and wavefront (against): compatible (expected:"));
    ck_assert_ptr_nonnull(strstr(result.text, "at most 1e-03 of the pairs"));
    forget(&result);
    icestream_config_destroy(against);
    icestream_config_destroy(config);
}
END_TEST

START_TEST(differences_are_named)
{
    static const struct {
        const char *set, *differences;
    } cases[] = {{"run.bounce_limit=77", "bounce limit (10000, 77)"},
                 {"ice.model=south-pole-like", "ice"},
                 {"detector.oversize=4", "detector, detector.oversize (5, 4)"},
                 {"light.acceptance=none", "light.acceptance (standard, none)"},
                 {"stages.propagate=layer-walk", "propagate (cumulative, layer-walk)"}};
    icestream_config *config = load(NULL, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        icestream_config *against = load(cases[i].set, NULL);
        answer result = compare(config, "wavefront", against, true);
        ck_assert_msg(strcmp(text_of(item_of(result.json, "pairs", 0), "differences"),
                             cases[i].differences) == 0,
                      "%s: %s", cases[i].set,
                      text_of(item_of(result.json, "pairs", 0), "differences"));
        forget(&result);
        icestream_config_destroy(against);
    }
    icestream_config_destroy(config);
}
END_TEST

START_TEST(other_physics_differs)
{
    icestream_config *config = load(NULL, NULL);
    icestream_config *against = load("stages.scatter=isotropic", "run.seed=2");
    answer result = compare(config, NULL, against, false);
    ck_assert_int_eq(result.status, ICESTREAM_E_DIFFERENT);
    ck_assert_ptr_nonnull(strstr(result.error.text, "expected compatible hits"));
    ck_assert_ptr_nonnull(
        strstr(result.error.text, "they differ in: scatter (hg-sl, isotropic), seed (1, 2)"));
    ck_assert_ptr_nonnull(strstr(result.text, "They differ in: scatter (hg-sl, isotropic)"));
    ck_assert_ptr_nonnull(strstr(result.text, "below the level"));
    forget(&result);
    icestream_config_destroy(against);
    icestream_config_destroy(config);
}
END_TEST

START_TEST(no_hits_is_no_pass)
{
    /* Light far below the detector. */
    icestream_config *config = load("workload.position=[0, 0, -9000]", NULL);
    answer result = compare(config, NULL, NULL, false);
    ck_assert_int_eq(result.status, ICESTREAM_E_DIFFERENT);
    ck_assert_ptr_nonnull(strstr(result.text, "nothing was compared"));
    ck_assert_ptr_nonnull(strstr(result.error.text, "no hits in either"));
    forget(&result);
    icestream_config_destroy(config);
}
END_TEST

/* What a user types wrong is in tests/cli/bad_inputs_commands.py; these rows are not there. */
START_TEST(wrong_usage)
{
    static const struct {
        const char *set, *schedules, *message;
        int status;
    } cases[] = {
        {"workload.steps=0", NULL, "workload.steps: found 0", ICESTREAM_E_CONFIG},
        {"source.files=['-']", NULL, "standard input", ICESTREAM_E_USAGE},
        {"run.seed=1", "wavefront,nothing", "found 'nothing'", ICESTREAM_E_USAGE},
        {"run.seed=1", "wavefront,wavefront", "is given twice", ICESTREAM_E_USAGE},
    };
    for (size_t i = 0; i < COUNT(cases); ++i) {
        icestream_config *config = load(cases[i].set, NULL);
        answer result = compare(config, cases[i].schedules, NULL, false);
        ck_assert_int_eq(result.status, cases[i].status);
        ck_assert_msg(strstr(result.error.text, cases[i].message) != NULL, "'%s': %s", cases[i].set,
                      result.error.text);
        forget(&result);
        icestream_config_destroy(config);
    }
}
END_TEST

START_TEST(steps_from_files)
{
    char folder[] = "/tmp/icestream-compare-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    char path[2][64];
    char pattern[80];
    snprintf(pattern, sizeof pattern, "source.files=[%s/*.steps.npy]", folder);
    icestream_error error = {0};
    /* Two files with steps of different events. */
    for (int i = 0; i < 2; ++i) {
        icestream_config *config =
            load(i ? "workload.event=7" : "workload.event=3", "workload.steps=20");
        snprintf(path[i], sizeof path[i], "%s/%c.steps.npy", folder, 'a' + i);
        ck_assert_msg(icestream_generate(config, path[i], false, &error) == ICESTREAM_OK, "%s",
                      error.text);
        icestream_config_destroy(config);
    }
    icestream_config *config = load(pattern, NULL);
    answer result = compare(config, NULL, NULL, true);
    ck_assert_msg(result.status == ICESTREAM_OK, "%s", result.error.text);
    ck_assert_str_eq(text_of(result.json, "steps_from"), "2 step files");
    ck_assert_int_eq(json_integer_value(json_object_get(result.json, "steps")), 40);
    ck_assert_int_eq(json_integer_value(json_object_get(result.json, "photons")), 8000);
    forget(&result);
    icestream_config_destroy(config);

    /* A file that is no step file is an error, not a reason to take the workload. */
    FILE *damaged = fopen(path[1], "w");
    ck_assert_ptr_nonnull(damaged);
    fputs("no steps", damaged);
    fclose(damaged);
    config = load(pattern, NULL);
    result = compare(config, NULL, NULL, true);
    ck_assert_int_eq(result.status, ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(result.error.text, "b.steps.npy"));
    forget(&result);
    icestream_config_destroy(config);
    for (int i = 0; i < 2; ++i) {
        unlink(path[i]);
    }
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

ICS_TEST_MAIN("compare")
{
    TCase *tests = tcase_create("compare");
    tcase_add_test(tests, schedules_are_identical);
    tcase_add_test(tests, settings_of_the_machine_change_no_hits);
    tcase_add_test(tests, other_seed_is_compatible);
    tcase_add_test(tests, differences_are_named);
    tcase_add_test(tests, other_physics_differs);
    tcase_add_test(tests, no_hits_is_no_pass);
    tcase_add_test(tests, wrong_usage);
    tcase_add_test(tests, steps_from_files);
    suite_add_tcase(suite, tests);
}
