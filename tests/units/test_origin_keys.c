/* Promise: a key of a run file changes the digests of the origin if, and only if, keys.def
 * says that hits depend on the key. If this fails for a new key, its column `hits` is wrong, or,
 * for TABLES, the key needs a row in `table_keys` below. */
#include "pipeline/photons/config/keys.h"
#include "pipeline/photons/provenance/origin.h"
#include "tests/support/config_text.h"
#include "tests/support/model_files.h"
#include "tests/support/test_main.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- a world in which every key matters ------------------------------------------------------ */

/* Ice, and a detector of four modules on two strings. */
#define BUILT_IN "ice: {model: south-pole-like}\n"
#define ALL_ICE  "ice: {directory: FOLDER}\n"
#define FEW                                                                                        \
    "detector: {file: FOLDER/few.csv, cables: FOLDER/cables.txt, efficiencies: "                   \
    "FOLDER/efficiencies.txt}\n"
#define PLAIN_FEW "detector: {file: FOLDER/few.csv}\n"
#define TYPES                                                                                      \
    BUILT_IN                                                                                       \
    "detector: {file: FOLDER/few.csv, om_conf: FOLDER/types.conf, om_map: FOLDER/types.map}\n"
#define TYPE_TABLES                                                                                \
    BUILT_IN                                                                                       \
    "detector: {file: FOLDER/few.csv, om_conf: FOLDER/types.conf, om_map: FOLDER/types.map, "      \
    "om_tables: {A: FOLDER/areas.csv, B: FOLDER/areas.csv}}\nstages: {detect: pmt-table}\n"        \
    "light: {acceptance: standard}\n"
#define AT_SIDE   BUILT_IN "detector: {file: FOLDER/few.csv, string_cables: side}\n"
#define DETECTING "stages: {detect: pe}\n"
#define RICH      ALL_ICE FEW DETECTING

static model_folder create_folder(void)
{
    static const char *const files[][2] = {
        {"icemodel.par", "0.9 0.1\n1.1 0.1\n6954.1 0\n6617.75 0\n"},
        {"icemodel.dat", "1900 0.03 0.01 0 0.1 0.2 1 1\n1910 0.03 0.01 0 0 0 2 1\n"},
        {"cfg.txt", "5\n0.99\n0.45\n0.9\n216\n0.04\n-0.08\n0.5\n0.03\n100\n0.25\n0.8\n"
                    "0.6\n-0.3\n-0.3\n0.5\n0.076795\n544284.545166\n2.229494\n0.002624\n0.077381\n"
                    "1547618.883526\n2.449589\n0.002505\n0.000995\n0.248264\n2.354436\n1.680717\n"},
        {"version", "0\n"},
        {"tilt.par", "1 -100\n86 0\n2 100\n"},
        {"tilt.dat", "1000 1 0 2\n1010 1 0 2\n"},
        {"few.csv", "string,module,x,y,z\n1,1,0,0,0\n1,2,0,0,-17\n2,1,100,0,0\n2,2,100,0,-17\n"},
        {"other.csv", "string,module,x,y,z\n1,1,0,0,0\n1,2,0,0,-18\n"},
        {"cables.txt", "1 1 45 0.2\n"},
        {"efficiencies.txt", "1 2 0.8 1\n"},
        {"other-efficiencies.txt", "1 2 0.7 1\n"},
        {"axes.txt", "1 1 0 0.6 0.8 3\n"},
        {"voltages.txt", "1 1 1200\n1 2 1200\n2 1 1200\n2 2 0\n"},
        {"relative.txt", "300 0.5\n500 2\n"},
        {"pulse.txt", "0 1\n5 0\n"},
        {"types.conf", "A 1 1 0.5 0.15 0.2 1 180 0\nB 2 1 0.5 0.15 0.15 1 180 0\n"},
        {"other.conf", "A 1 1 0.5 0.16 0.2 1 180 0\nB 2 1 0.5 0.15 0.15 1 180 0\n"},
        {"areas.csv", "pmt,zenith,azimuth,area\n0,0,0,0\n0,30,0,0\n0,60,0,0\n0,90,0,0.01\n"
                      "0,120,0,0.02\n0,150,0,0.03\n0,180,0,0.03\n"},
        {"other-areas.csv", "pmt,zenith,azimuth,area\n0,0,0,0\n0,30,0,0\n0,60,0,0\n"
                            "0,90,0,0.02\n0,120,0,0.02\n0,150,0,0.03\n0,180,0,0.03\n"},
        {"types.map", "1 1 1\n1 2 1\n2 1 1\n2 2 1\n"},
        {"other.map", "1 1 1\n1 2 2\n2 1 1\n2 2 1\n"},
    };
    model_folder folder = model_folder_create();
    char path[MODEL_PATH];
    for (size_t i = 0; i < COUNT(files); ++i) {
        model_folder_write(&folder, files[i][0], files[i][1], path);
    }
    return folder;
}

/* Replaces FOLDER in a text by the folder's path. */
static void insert_folder(const model_folder *folder, const char *text, char *out, size_t size)
{
    static const char mark[] = "FOLDER";
    size_t used = 0;
    const char *next;
    while ((next = strstr(text, mark)) != NULL) {
        used += (size_t)snprintf(out + used, size - used, "%.*s%s", (int)(next - text), text,
                                 folder->path);
        text = next + strlen(mark);
    }
    snprintf(out + used, size - used, "%s", text);
}

/* The origin of hits of a run file in which one key has another value. The key is set without the
 * checks of keys against each other, so that each can change alone. */
static ics_origin origin_with(const char *text, const char *key, const char *value)
{
    icestream_error error = {0};
    icestream_config *config = load(text);
    ics_yaml *document = NULL;
    if (key != NULL) {
        ck_assert_int_eq(ics_yaml_read_value(key, "", value, &document, &error), ICESTREAM_OK);
        int status = ics_schema_set(key, ics_yaml_root(document), ics_config_keys, ICS_CONFIG_KEYS,
                                    config, config->origin->given, &error);
        ck_assert_msg(status == ICESTREAM_OK, "%s: %s: %s", key, value, error.text);
    }
    ics_models *models = NULL;
    ck_assert_msg(ics_models_create(config, &models, &error) == ICESTREAM_OK, "%s=%s: %s", key,
                  value, error.text);
    ics_origin origin = {0};
    ck_assert_msg(ics_origin_create(config, models, &origin, &error) == ICESTREAM_OK, "%s=%s: %s",
                  key, value, error.text);
    ics_models_destroy(models);
    icestream_config_destroy(config);
    ics_yaml_destroy(document);
    return origin;
}

/* What --resume and `icestream merge` compare. */
static bool are_equal(const ics_origin *a, const ics_origin *b)
{
    return strcmp(a->configuration, b->configuration) == 0 && strcmp(a->ice, b->ice) == 0 &&
           strcmp(a->detector, b->detector) == 0;
}

/* ---- keys that need certain values ---------------------------------------------------------- */

/* Keys for TABLES that change the tables only in a certain run file or with a certain value. All
 * other keys are tried in the run file RICH with a value from the schema. */
static const struct {
    const char *text, *key, *value;
} table_keys[] = {
    {RICH, "sink.hits", "both"},
    {BUILT_IN PLAIN_FEW, "ice.model", "uniform"},
    {BUILT_IN PLAIN_FEW, "ice.directory", "FOLDER"},
    {BUILT_IN PLAIN_FEW, "ice.file", ICS_SOURCE_DIRECTORY "/configs/ice/uniform.yaml"},
    {RICH, "ice.birefringence_subtraction", "none"},
    {RICH, "ice.absorb_above", "100"},
    {BUILT_IN PLAIN_FEW, "detector.layout", "hex86"},
    {BUILT_IN PLAIN_FEW, "detector.file", "FOLDER/other.csv"},
    {RICH, "detector.radius", "0.2"},
    {RICH, "detector.types", "{a: {shape: spheroid, radius: 0.15, half_height: 0.2}}"},
    {TYPES, "detector.om_conf", "FOLDER/other.conf"},
    {TYPES, "detector.om_map", "FOLDER/other.map"},
    {TYPE_TABLES, "detector.om_tables", "{A: FOLDER/areas.csv, B: FOLDER/other-areas.csv}"},
    {BUILT_IN, "detector.oversize", "3"},
    {RICH, "detector.keep_hit_photons", "true"},
    {BUILT_IN "detector: {oversize: 3}\n", "detector.crossing", "disc"},
    {BUILT_IN, "detector.jitter", "true"},
    {BUILT_IN DETECTING, "detector.dense", "true"},
    {RICH, "detector.angular_acceptance", "none"},
    {RICH, "detector.efficiencies", "FOLDER/other-efficiencies.txt"},
    {RICH, "detector.axes", "FOLDER/axes.txt"},
    {RICH, "detector.cables", "none"},
    {RICH, "detector.voltages", "FOLDER/voltages.txt"},
    {RICH, "detector.cable_radius", "0.03"},
    {AT_SIDE, "detector.cable_radius", "0.03"},
    {AT_SIDE, "detector.string_cables", "straight"},
    {AT_SIDE, "detector.string_cable_azimuth", "90"},
    {RICH, "light.acceptance", "none"},
    {RICH, "light.high_efficiency", "FOLDER/relative.txt"},
};

static bool has_row(const char *key)
{
    for (size_t i = 0; i < COUNT(table_keys); ++i) {
        if (strcmp(table_keys[i].key, key) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- another value --------------------------------------------------------------------------- */

static const char *another_choice(const ics_schema_field *field)
{
    const char *choice = NULL;
    for (size_t i = 0; (choice = ics_schema_choice(field, i)) != NULL; ++i) {
        if (field->fallback == NULL || strcmp(choice, field->fallback) != 0) {
            return choice;
        }
    }
    return NULL;
}

/* Writes a valid value of a field that is not its default. Returns false if there is only one
 * value. */
static bool another_value(const ics_schema_field *field, char *out, size_t size)
{
    const char *standard = field->fallback != NULL ? field->fallback : "";
    const char *value = NULL;
    switch (field->type) {
    case ICS_SCHEMA_BOOL:
        value = strcmp(standard, "true") == 0 ? "false" : "true";
        break;
    case ICS_SCHEMA_UNSIGNED:
    case ICS_SCHEMA_BYTES:
        snprintf(out, size, "%llu", (unsigned long long)field->least);
        if (strcmp(out, standard) == 0) {
            snprintf(out, size, "%llu", (unsigned long long)field->most);
        }
        return true;
    case ICS_SCHEMA_NUMBER:
        snprintf(out, size, "%.17g", field->low);
        return true;
    case ICS_SCHEMA_NUMBERS:
        if (field->size == 2 * sizeof(double)) {
            snprintf(out, size, "[%g, %g]", field->low, field->high);
        } else {
            snprintf(out, size, "[%g, %g, %g]", field->low, field->high, field->low);
        }
        return true;
    case ICS_SCHEMA_CHOICE:
    case ICS_SCHEMA_NAME:
    case ICS_SCHEMA_VARIANT:
        value = another_choice(field);
        break;
    case ICS_SCHEMA_TEXT:
    case ICS_SCHEMA_PATH:
    case ICS_SCHEMA_PATTERNS:
        value = "elsewhere";
        break;
    case ICS_SCHEMA_LIST:
        value = field->list->example;
        ck_assert_msg(value != NULL, "%s: expected an example", field->path);
        break;
    case ICS_SCHEMA_NODE:
        value = field->node->example;
        break;
    case ICS_SCHEMA_CUSTOM:
        value = field->custom->example;
        ck_assert_msg(value != NULL, "%s: expected an example", field->path);
        break;
    }
    snprintf(out, size, "%s", value != NULL ? value : "");
    return value != NULL;
}

START_TEST(keys_change_digests_as_declared)
{
    model_folder folder = create_folder();
    char text[2048], value[256];
    insert_folder(&folder, RICH, text, sizeof text);
    const ics_origin first = origin_with(text, NULL, NULL);
    for (size_t i = 0; i < ICS_CONFIG_KEYS; ++i) {
        const ics_schema_field *key = &ics_config_keys[i];
        const ics_config_hits hits = ics_config_key_hits[i];
        if (has_row(key->path) || !another_value(key, value, sizeof value)) {
            continue;
        }
        const bool is_digested = hits == ICS_HITS_VALUE || hits == ICS_HITS_TABLES;
        if (strcmp(key->path, "stages.detect") == 0) { /* the text has another value already */
            snprintf(value, sizeof value, "%s", key->fallback);
        }
        if (strcmp(key->path, "particles.pulse") == 0) { /* the file is read with the models */
            insert_folder(&folder, "FOLDER/pulse.txt", value, sizeof value);
        }
        const ics_origin other = origin_with(text, key->path, value);
        ck_assert_msg(are_equal(&first, &other) == !is_digested, "%s=%s: expected %s digests",
                      key->path, value, is_digested ? "other" : "the same");
    }
    model_folder_remove(&folder);
}
END_TEST

START_TEST(table_keys_change_digests)
{
    model_folder folder = create_folder();
    char text[2048], value[1024];
    insert_folder(&folder, table_keys[_i].text, text, sizeof text);
    insert_folder(&folder, table_keys[_i].value, value, sizeof value);
    const ics_origin first = origin_with(text, NULL, NULL);
    const ics_origin other = origin_with(text, table_keys[_i].key, value);
    ck_assert_msg(!are_equal(&first, &other), "%s=%s: expected other digests", table_keys[_i].key,
                  value);
    model_folder_remove(&folder);
}
END_TEST

START_TEST(rows_are_for_table_keys)
{
    for (size_t i = 0; i < COUNT(table_keys); ++i) {
        size_t k = ics_schema_find(table_keys[i].key, ics_config_keys, ICS_CONFIG_KEYS);
        ck_assert_msg(k < ICS_CONFIG_KEYS && ics_config_key_hits[k] == ICS_HITS_TABLES, "%s",
                      table_keys[i].key);
    }
}
END_TEST

/* The content of a file is digested, not its name. */
START_TEST(no_name_of_a_file_is_digested)
{
    for (size_t i = 0; i < ICS_CONFIG_KEYS; ++i) {
        const ics_schema_type type = ics_config_keys[i].type;
        if (ics_config_key_hits[i] == ICS_HITS_VALUE) {
            ck_assert_msg(type != ICS_SCHEMA_PATH && type != ICS_SCHEMA_PATTERNS, "%s",
                          ics_config_keys[i].path);
        }
    }
}
END_TEST

/* Keys for cables change nothing if no module has a cable. */
START_TEST(keys_of_cables_without_cables)
{
    model_folder folder = create_folder();
    char text[2048];
    insert_folder(&folder, ALL_ICE PLAIN_FEW DETECTING, text, sizeof text);
    const ics_origin first = origin_with(text, NULL, NULL);
    const ics_origin thick = origin_with(text, "detector.cable_radius", "0.03");
    const ics_origin cut = origin_with(text, "detector.cable_length", "1");
    ck_assert(are_equal(&first, &thick) && are_equal(&first, &cut));
    model_folder_remove(&folder);
}
END_TEST

ICS_TEST_MAIN("origin keys")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, keys_change_digests_as_declared);
    tcase_add_loop_test(all, table_keys_change_digests, 0, COUNT(table_keys));
    tcase_add_test(all, rows_are_for_table_keys);
    tcase_add_test(all, no_name_of_a_file_is_digested);
    tcase_add_test(all, keys_of_cables_without_cables);
    suite_add_tcase(suite, all);
}
