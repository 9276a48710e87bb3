/* Promise (files.md 2.5): the record of light has what the light of steps depends on and nothing
 * else, and comparing two records names exactly the settings that differ.
 *
 * How to join: a new setting gets a row in `changes`. tests/cli/program/test_light_mismatch.sh
 * shows how commands use the record. */
#include "pipeline/photons/models/light_record.h"
#include "tests/support/model_files.h"
#include "tests/support/test_main.h"

#include <string.h>

static json_t *record_of(const char *set, const char *other)
{
    icestream_config *config = model_config(
        "particles.list=[{type: e-, x: 0, y: 0, z: 0, zenith: 0, azimuth: 0, energy: 1}]",
        set != NULL ? set : other, set != NULL ? other : NULL, NULL);
    ics_models *models = NULL;
    json_t *record = NULL;
    icestream_error error = {.status = ICESTREAM_OK};
    ck_assert_msg(ics_models_create(config, &models, &error) == ICESTREAM_OK, "%s", error.text);
    ck_assert_msg(ics_light_record_create(config, models, true, &record, &error) == ICESTREAM_OK,
                  "%s", error.text);
    ics_models_destroy(models);
    icestream_config_destroy(config);
    return record;
}

static const char *digest_of(const json_t *record)
{
    return json_string_value(json_object_get(record, "digest"));
}

static json_t *compare(const json_t *steps, const json_t *run)
{
    json_t *differences = NULL;
    icestream_error error = {.status = ICESTREAM_OK};
    ck_assert_msg(ics_light_record_compare("a", steps, run, &differences, &error) == ICESTREAM_OK,
                  "%s", error.text);
    return differences;
}

/* `key` NULL: light does not depend on the setting. */
static const struct {
    const char *set, *key;
} changes[] = {{"detector.oversize=2", "detector.oversize"},
               {"detector.radius=0.2", "detector.radius"},
               {"light.acceptance=none", "light.acceptance"},
               {"detector.angular_acceptance=none", "detector.angular_acceptance"},
               {"particles.conventions=clsim", "particles.conventions"},
               {"particles.stopping=true", "particles.stopping"},
               {"run.seed=9", NULL},
               {"ice.model=uniform", NULL},
               {"run.bounce_limit=9", NULL},
               {"detector.keep_hit_photons=true", NULL}};

START_TEST(settings_that_differ_are_named)
{
    json_t *plain = record_of(NULL, NULL);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; ++i) {
        json_t *changed = record_of(changes[i].set, NULL);
        json_t *differences = compare(plain, changed);
        ck_assert_uint_eq(json_array_size(differences), changes[i].key != NULL ? 1 : 0);
        if (changes[i].key != NULL) {
            const json_t *first = json_array_get(differences, 0);
            ck_assert_str_eq(json_string_value(json_object_get(first, "key")), changes[i].key);
            ck_assert_str_ne(digest_of(plain), digest_of(changed));
        } else {
            ck_assert_str_eq(digest_of(plain), digest_of(changed));
        }
        json_decref(differences);
        json_decref(changed);
    }
    json_decref(plain);
}
END_TEST

/* Without an acceptance nothing is thinned, so modules do not matter. */
START_TEST(without_thinning_modules_do_not_matter)
{
    json_t *one = record_of("light.acceptance=none", "detector.oversize=1");
    json_t *five = record_of("light.acceptance=none", "detector.oversize=5");
    json_t *differences = compare(one, five);
    ck_assert_uint_eq(json_array_size(differences), 0);
    ck_assert_str_eq(digest_of(one), digest_of(five));
    json_decref(differences);
    json_decref(one);
    json_decref(five);
}
END_TEST

START_TEST(other_objects_are_errors)
{
    static const char *const texts[] = {"{}", "{\"settings\": 5}", "[]",
                                        "{\"settings\": {\"detector.oversize\": 5}}"};
    json_t *run = record_of(NULL, NULL);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        json_t *steps = json_loads(texts[i], 0, NULL), *differences = NULL;
        icestream_error error = {.status = ICESTREAM_OK};
        ck_assert_int_eq(ics_light_record_compare("a.npy", steps, run, &differences, &error),
                         ICESTREAM_E_INPUT);
        ck_assert_ptr_nonnull(strstr(error.text, "a.npy: trailer: light: "));
        json_decref(steps);
    }
    json_decref(run);
}
END_TEST

ICS_TEST_MAIN("light record")
{
    TCase *records = tcase_create("records");
    tcase_add_test(records, settings_that_differ_are_named);
    tcase_add_test(records, without_thinning_modules_do_not_matter);
    tcase_add_test(records, other_objects_are_errors);
    suite_add_tcase(suite, records);
}
