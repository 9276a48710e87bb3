/* Whose light `icestream compare --against` uses, with small cascades (pipeline/commands/compare).
 *
 * Promises: the second configuration gets the light that a run of it would get. Light that is
 * thinned in another way is made again of the same particles, and sums of weights are compared.
 * Other particles, workloads and step files are refused, with key and both values. Steps that do
 * not suit the second configuration are refused like those of a run, and source.light_mismatch:
 * accept uses them.
 * To join: a setting of light needs a row in own_light or other_light.
 */
#include "pipeline/icestream.h"
#include "tests/support/json_values.h"
#include "tests/support/step_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIST "particles.list=[{type: e-, energy: 2, x: 3, y: 0, z: 7, zenith: 60, azimuth: 30}]"

typedef struct answer {
    int status;
    icestream_error error;
    char *text;
    json_t *json;
} answer;

/* A configuration with up to two settings in addition to the common ones. */
static icestream_config *load(const char *light, const char *more, const char *still_more)
{
    const char *sets[8] = {"device.backend=cpu", "device.threads=2", "ice.model=uniform",
                           "detector.oversize=5"};
    size_t count = 4;
    const char *const given[] = {light, more, still_more};
    for (size_t i = 0; i < 3; ++i) {
        if (given[i] != NULL) {
            sets[count++] = given[i];
        }
    }
    icestream_config *config = NULL;
    icestream_error error = {0};
    ck_assert_msg(icestream_config_load(NULL, sets, count, &config, &error) == ICESTREAM_OK, "%s",
                  error.text);
    return config;
}

/* Compares and destroys both configurations. */
static answer compare(icestream_config *config, icestream_config *against, bool json)
{
    answer result = {0};
    size_t size = 0;
    const icestream_compare_options options = {
        .schedules = "wavefront", .against = against, .json = json};
    FILE *out = open_memstream(&result.text, &size);
    ck_assert_ptr_nonnull(out);
    result.status = icestream_compare(config, &options, out, &result.error);
    fclose(out);
    if (json && size > 0) {
        result.json = json_loads(result.text, 0, NULL);
        ck_assert_ptr_nonnull(result.json);
    }
    icestream_config_destroy(config);
    icestream_config_destroy(against);
    return result;
}

static void forget(answer *result)
{
    json_decref(result->json);
    free(result->text);
}

START_TEST(own_light)
{
    /* Each setting changes the number of photons. */
    static const struct {
        const char *set, *difference;
        double factor; /* at least this many times the photons of oversize 5 */
    } rows[] = {{"detector.oversize=2", "detector.oversize (5, 2)", 5},
                {"detector.radius=0.12", "detector.radius (0.1651, 0.12)", 0},
                {"light.acceptance=none", "light.acceptance (standard, none)", 1.5}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        answer result = compare(load(LIST, NULL, NULL), load(LIST, rows[i].set, NULL), true);
        const json_t *light = json_object_get(result.json, "light");
        ck_assert_msg(light != NULL, "%s", result.error.text);
        const json_t *pair = item_of(result.json, "pairs", 0);
        ck_assert_ptr_nonnull(strstr(text_of(pair, "differences"), rows[i].difference));
        ck_assert(json_is_true(json_object_get(light, "by_weight")));
        ck_assert_str_eq(text_of(light, "against"), rows[i].factor > 0 ? "own" : "same");
        ck_assert_double_ge((double)whole_of(light, "photons"),
                            rows[i].factor * (double)whole_of(result.json, "photons"));
        forget(&result);
    }
}
END_TEST

START_TEST(band_of_both)
{
    /* Standard acceptance draws from 280 to 680 nm, none from 265 to 675 nm (physics.md 3.2). The
     * sums of the common band agree; 6 standard deviations are allowed. */
    answer result = compare(load(LIST, "detector.oversize=5", "run.seed=3"),
                            load(LIST, "light.acceptance=none", "run.seed=4"), true);
    ck_assert_msg(result.json != NULL, "%s", result.error.text);
    const json_t *band = json_object_get(json_object_get(result.json, "light"), "band");
    ck_assert_double_eq(json_real_value(json_array_get(band, 0)), 280);
    ck_assert_double_eq(json_real_value(json_array_get(band, 1)), 675);
    const json_t *pair = item_of(result.json, "pairs", 0);
    const json_t *one = item_of(pair, "weight_sums", 0), *two = item_of(pair, "weight_sums", 1);
    const double a = number_of(one, "sum"), b = number_of(two, "sum");
    const double error = hypot(number_of(one, "error"), number_of(two, "error"));
    ck_assert_double_lt(b, number_of(item_of(result.json, "participants", 1), "weight_sum"));
    ck_assert_double_gt(b, 0);
    ck_assert_msg(fabs(a - b) < 6 * error, "%g and %g, +- %g", a, b, error);
    forget(&result);
    result = compare(load(LIST, NULL, NULL), load(LIST, "light.acceptance=none", NULL), false);
    ck_assert_ptr_nonnull(strstr(result.text, "Only hits from 280 to 675 nm are compared"));
    forget(&result);
    result = compare(load(LIST, NULL, NULL), load(LIST, "detector.oversize=2", NULL), false);
    ck_assert_ptr_null(strstr(result.text, "Only hits from"));
    forget(&result);
}
END_TEST

START_TEST(oversize_without_acceptance)
{
    /* Nothing is thinned, so the record of the light names no oversize, and both use one light. */
    icestream_config *second = NULL;
    static const char *const sets[] = {"device.backend=cpu",    "device.threads=2",
                                       "ice.model=uniform",     "workload.steps=2",
                                       "light.acceptance=none", "detector.oversize=2"};
    icestream_error error = {0};
    ck_assert_msg(icestream_config_load(NULL, sets, 6, &second, &error) == ICESTREAM_OK, "%s",
                  error.text);
    answer result = compare(load("workload.steps=2", "light.acceptance=none", NULL), second, true);
    const json_t *light = json_object_get(result.json, "light");
    ck_assert_msg(light != NULL, "%s", result.error.text);
    ck_assert_str_eq(text_of(light, "against"), "same");
    ck_assert(json_is_true(json_object_get(light, "by_weight")));
    ck_assert_ptr_nonnull(strstr(text_of(item_of(result.json, "pairs", 0), "differences"),
                                 "detector.oversize (5, 2)"));
    forget(&result);
}
END_TEST

START_TEST(sums_of_weights_agree)
{
    /* Without detection and far from the modules, so that oversize changes nothing but statistics.
     * The seeds differ, so the sums are independent; 6 standard deviations are allowed. */
    static const char far[] = "particles.list=[{type: e-, energy: 2000, x: 25, y: 10, z: 7, "
                              "zenith: 60, azimuth: 30}]";
    answer result = compare(load(far, "detector.oversize=10", "run.seed=3"),
                            load(far, "detector.oversize=7", "run.seed=4"), true);
    ck_assert_msg(result.json != NULL, "%s", result.error.text);
    const json_t *one = item_of(result.json, "participants", 0);
    const json_t *two = item_of(result.json, "participants", 1);
    const double a = number_of(one, "weight_sum"), b = number_of(two, "weight_sum");
    const double error = hypot(number_of(one, "weight_error"), number_of(two, "weight_error"));
    ck_assert_int_gt(whole_of(one, "hits"), 100);
    ck_assert_double_gt(a, 0);
    ck_assert_msg(fabs(a - b) < 6 * error, "%g and %g, +- %g", a, b, error);
    ck_assert_double_lt(error, 0.2 * a);
    forget(&result);
    result = compare(load(LIST, NULL, NULL), load(LIST, "detector.oversize=2", NULL), false);
    ck_assert_ptr_nonnull(strstr(result.text, "uses its own steps of the same source"));
    ck_assert_ptr_nonnull(strstr(result.text, "Sums of weights are compared and not numbers"));
    ck_assert_ptr_nonnull(strstr(result.text, "    Sum of weights: "));
    forget(&result);
}
END_TEST

START_TEST(same_light)
{
    answer result = compare(load(LIST, NULL, NULL), load(LIST, NULL, NULL), false);
    ck_assert_msg(result.status == ICESTREAM_OK, "%s", result.error.text);
    ck_assert_ptr_nonnull(
        strstr(result.text,
               "Light: the first configuration and the second configuration use these steps.\n"));
    forget(&result);
    /* Another seed makes other photons of the same showers. */
    result = compare(load(LIST, NULL, NULL), load(LIST, "run.seed=9", NULL), true);
    const json_t *light = json_object_get(result.json, "light");
    ck_assert_str_eq(text_of(light, "against"), "same");
    ck_assert(json_is_false(json_object_get(light, "by_weight")));
    ck_assert_str_eq(text_of(item_of(result.json, "pairs", 0), "differences"), "seed (1, 9)");
    forget(&result);
    /* The second configuration names no light. */
    result = compare(load(LIST, NULL, NULL), load(NULL, NULL, NULL), true);
    ck_assert_msg(result.status == ICESTREAM_OK, "%s", result.error.text);
    forget(&result);
    result = compare(load(LIST, NULL, NULL), load(NULL, "detector.oversize=2", NULL), true);
    ck_assert_int_eq(result.status, ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(result.error.text,
                                 "light: detector.oversize: found steps that were made for 5, "
                                 "expected 2, the value of this run"));
    forget(&result);
}
END_TEST

START_TEST(other_light)
{
    static const struct {
        const char *first, *second, *text;
    } rows[] = {
        {LIST, "particles.list=[{type: e-, energy: 200}]",
         "particles.list: found [{type: e-, energy: 200}], expected [{type: e-, energy: 2,"},
        {LIST, "workload.kind=cascade",
         "workload.kind: found a workload, expected particles.list, as in the first configuration"},
        {"workload.steps=10", "workload.steps=20", "workload.steps: found 20, expected 10"},
        {"workload.steps=10", LIST, "particles.list: found particles, expected workload cascade"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        answer result =
            compare(load(rows[i].first, NULL, NULL), load(rows[i].second, NULL, NULL), true);
        ck_assert_int_eq(result.status, ICESTREAM_E_CONFIG);
        ck_assert_msg(strstr(result.error.text, rows[i].text) != NULL, "%s", result.error.text);
        ck_assert_ptr_nonnull(strstr(result.error.text, "give both the same"));
        forget(&result);
    }
}
END_TEST

START_TEST(steps_from_files)
{
    char folder[] = "/tmp/icestream-compare-light-XXXXXX", path[64], source[96], other[96];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.steps.npy", folder);
    snprintf(source, sizeof source, "source.files=[%s]", path);
    snprintf(other, sizeof other, "source.files=[%s/b.steps.npy]", folder);
    icestream_error error = {0};
    icestream_config *config = load(LIST, NULL, NULL);
    ck_assert_msg(icestream_generate(config, path, false, &error) == ICESTREAM_OK, "%s",
                  error.text);
    icestream_config_destroy(config);

    answer result = compare(load(source, NULL, NULL), load(source, NULL, NULL), true);
    ck_assert_msg(result.status == ICESTREAM_OK, "%s", result.error.text);
    forget(&result);
    result = compare(load(source, NULL, NULL), load(source, "detector.oversize=1", NULL), true);
    ck_assert_int_eq(result.status, ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(result.error.text,
                                 "detector.oversize: found steps that were made "
                                 "for 5 (the default before 0.2.0), expected 1"));
    ck_assert_ptr_nonnull(strstr(result.error.text, "source.light_mismatch=accept"));
    forget(&result);
    result = compare(load(source, NULL, NULL),
                     load(source, "detector.oversize=1", "source.light_mismatch=accept"), true);
    const json_t *light = json_object_get(result.json, "light");
    ck_assert_str_eq(text_of(light, "against"), "accepted");
    ck_assert(json_is_false(json_object_get(light, "by_weight")));
    ck_assert_str_eq(text_of(item_of(light, "differences", 0), "key"), "detector.oversize");
    forget(&result);
    result = compare(load(source, NULL, NULL), load(other, NULL, NULL), true);
    ck_assert_int_eq(result.status, ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(result.error.text, "a.steps.npy in only one of the"));
    forget(&result);
    result = compare(load(source, NULL, NULL), load(LIST, NULL, NULL), true);
    ck_assert_int_eq(result.status, ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(result.error.text, "found particles, expected "));
    forget(&result);
    result = compare(load(LIST, NULL, NULL), load(source, NULL, NULL), true);
    ck_assert_int_eq(result.status, ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(result.error.text, "a.steps.npy, expected particles.list"));
    forget(&result);
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(first_accepts)
{
    char folder[] = "/tmp/icestream-compare-light-XXXXXX", path[64], source[96];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.steps.npy", folder);
    snprintf(source, sizeof source, "source.files=[%s]", path);
    icestream_error error = {0};
    icestream_config *config = load(LIST, NULL, NULL);
    ck_assert_msg(icestream_generate(config, path, false, &error) == ICESTREAM_OK, "%s",
                  error.text);
    icestream_config_destroy(config);
    /* The steps suit the second configuration, and only the first one accepts them. */
    answer result = compare(load(source, "detector.oversize=1", "source.light_mismatch=accept"),
                            load(source, NULL, NULL), true);
    const json_t *light = json_object_get(result.json, "light");
    ck_assert_msg(light != NULL, "%s", result.error.text);
    ck_assert_str_eq(text_of(light, "against"), "accepted");
    ck_assert(json_is_false(json_object_get(light, "by_weight")));
    forget(&result);
    result = compare(load(source, "detector.oversize=1", "source.light_mismatch=accept"),
                     load(source, NULL, NULL), false);
    ck_assert_ptr_nonnull(strstr(result.text, "made for other values than those of the first "
                                              "configuration,\nwhich source.light_mismatch "
                                              "accepts: detector.oversize (1, 5).\nSums of weights "
                                              "cannot be compared.\n"));
    forget(&result);
    /* A file without a record suits every configuration, but not with the same weights. */
    const icestream_step step = step_file_good(1, 0);
    unlink(path);
    step_file_write(path, &step, 1);
    result = compare(load(source, NULL, NULL), load(source, "detector.oversize=2", NULL), true);
    light = json_object_get(result.json, "light");
    ck_assert_msg(light != NULL, "%s", result.error.text);
    ck_assert_str_eq(text_of(light, "against"), "same");
    ck_assert(json_is_true(json_object_get(light, "by_weight")));
    forget(&result);
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

ICS_TEST_MAIN("compare light")
{
    TCase *tests = tcase_create("compare light");
    tcase_add_test(tests, own_light);
    tcase_add_test(tests, band_of_both);
    tcase_add_test(tests, oversize_without_acceptance);
    tcase_add_test(tests, sums_of_weights_agree);
    tcase_add_test(tests, same_light);
    tcase_add_test(tests, other_light);
    tcase_add_test(tests, steps_from_files);
    tcase_add_test(tests, first_accepts);
    suite_add_tcase(suite, tests);
}
