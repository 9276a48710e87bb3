/* Promises of targets.h: every key on which hits depend has a row that says what a target may do
 * with it; what is refused names the key, both values and the reason; a target is the configuration
 * of the hits with the keys of a file. */
#include "pipeline/photons/config/keys.h"
#include "pipeline/photons/replay/targets.h"
#include "tests/support/config_text.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <string.h>

static size_t rows_of(const char *key)
{
    const ics_target_key *row;
    size_t found = 0;
    for (size_t k = 0; (row = ics_targets_key_at(k)) != NULL; ++k) {
        found += strcmp(row->key, key) == 0;
    }
    return found;
}

START_TEST(every_key_has_a_row)
{
    for (size_t i = 0; i < ICS_CONFIG_KEYS; ++i) {
        const size_t expected = ics_config_key_hits[i] != ICS_HITS_NO;
        ck_assert_msg(rows_of(ics_config_keys[i].path) == expected,
                      "%s: found %zu rows in targets.c, expected %zu: say there whether hits can "
                      "be weighted when the key changes",
                      ics_config_keys[i].path, rows_of(ics_config_keys[i].path), expected);
    }
}
END_TEST

START_TEST(every_row_is_a_key)
{
    const ics_target_key *row;
    for (size_t k = 0; (row = ics_targets_key_at(k)) != NULL; ++k) {
        ck_assert_msg(ics_config_find(row->key) < ICS_CONFIG_KEYS, "%s", row->key);
        ck_assert_msg((row->why != NULL) == (row->rule == ICS_TARGET_REFUSED), "%s", row->key);
    }
}
END_TEST

/* ---- targets --------------------------------------------------------------------------------- */

static icestream_config *own;
static scratch place;

static void set_up(void)
{
    own = load("run: {seed: 3}\nice: {model: uniform}\nworkload: {steps: 5}\n");
    place = scratch_create();
}

static void tear_down(void)
{
    icestream_config_destroy(own);
    scratch_remove(&place);
}

static void write_text(const char *name, const char *text, char path[SCRATCH_PATH])
{
    scratch_write(scratch_path(&place, name, path), text, strlen(text));
}

/* Makes and checks a target. `differences` becomes the number of keys that differ. */
static int check(const char *target, size_t *differences, icestream_error *error)
{
    icestream_config *other = NULL;
    json_t *list = NULL;
    *error = (icestream_error){.status = ICESTREAM_OK};
    int status = ics_targets_config(own, target, &other, error);
    if (status == ICESTREAM_OK) {
        status = ics_targets_check_keys(own, other, &list, error);
    }
    *differences = json_array_size(list);
    json_decref(list);
    icestream_config_destroy(other);
    return status;
}

static const struct {
    const char *set, *said;
} refused[] = {
    {"run.seed=4", "--to run.seed: error: run.seed: found 4, expected 3 as in the hits, because "},
    {"detector.oversize=5", "detector.oversize: found 5, expected 1 as in the hits, because "},
    {"detector.types={a: {shape: sphere, radius: 0.2}}", "detector.types: found "},
    {"run.bounce_limit=9", "run.bounce_limit: found 9, expected 10000"},
    {"ice.birefringence=false", "ice.birefringence: found false, expected true"},
    {"ice.absorb_above=500", "ice.absorb_above: found 500, expected off"},
    {"workload.steps=6", "workload.steps: found 6, expected 5 as in the hits"},
    {"stages.detect=pe", "stages.detect: found pe, expected none"},
    {"ice.tilt=perhaps", "--to ice.tilt=perhaps: error: ice.tilt: found 'perhaps'"},
    {"ice.tlit=true", "--to ice.tlit=true: error: unknown key 'ice.tlit'"},
};

START_TEST(refusals_name_key_and_values)
{
    icestream_error error;
    size_t differences;
    ck_assert_int_eq(check(refused[_i].set, &differences, &error), ICESTREAM_E_CONFIG);
    ck_assert_msg(strstr(error.text, refused[_i].said) != NULL, "%s", error.text);
}
END_TEST

START_TEST(an_ice_may_differ)
{
    icestream_error error;
    size_t differences;
    ck_assert_int_eq(check("ice.model=south-pole-like", &differences, &error), ICESTREAM_OK);
    ck_assert_uint_eq(differences, 1);
    ck_assert_int_eq(check("device.threads=2", &differences, &error), ICESTREAM_OK);
    ck_assert_uint_eq(differences, 0);
}
END_TEST

/* A key of a group replaces the other one, and a path begins in the folder of the file. */
START_TEST(a_file_replaces_keys)
{
    icestream_config *other = NULL;
    icestream_error error;
    char path[SCRATCH_PATH], expected[SCRATCH_PATH];
    write_text("to.yaml", "ice: {file: other.yaml, tilt: false}\n", path);
    ck_assert_int_eq(ics_targets_config(own, path, &other, &error), ICESTREAM_OK);
    ck_assert_str_eq(other->ice.file, scratch_path(&place, "other.yaml", expected));
    ck_assert_ptr_null(other->ice.model);
    ck_assert(!other->ice.tilt);
    ck_assert_uint_eq(other->run.seed, 3);
    icestream_config_destroy(other);
    ck_assert_int_eq(ics_targets_config(own, "ice.file=other.yaml", &other, &error), ICESTREAM_OK);
    ck_assert_str_eq(other->ice.file, "other.yaml");
    icestream_config_destroy(other);
}
END_TEST

START_TEST(a_wrong_file_has_its_place)
{
    icestream_config *other = NULL;
    icestream_error error;
    char path[SCRATCH_PATH];
    write_text("wrong.yaml", "ice: {tlit: false}\n", path);
    ck_assert_int_eq(ics_targets_config(own, path, &other, &error), ICESTREAM_E_CONFIG);
    ck_assert_msg(strstr(error.text, "wrong.yaml:1:7") != NULL, "%s", error.text);
    ck_assert_int_eq(ics_targets_config(own, "no-such-file", &other, &error), ICESTREAM_E_CONFIG);
}
END_TEST

ICS_TEST_MAIN("targets")
{
    TCase *table = tcase_create("table"), *targets = tcase_create("targets");
    tcase_add_test(table, every_key_has_a_row);
    tcase_add_test(table, every_row_is_a_key);
    suite_add_tcase(suite, table);
    tcase_add_checked_fixture(targets, set_up, tear_down);
    tcase_add_loop_test(targets, refusals_name_key_and_values, 0, COUNT(refused));
    tcase_add_test(targets, an_ice_may_differ);
    tcase_add_test(targets, a_file_replaces_keys);
    tcase_add_test(targets, a_wrong_file_has_its_place);
    suite_add_tcase(suite, targets);
}
