/* `icestream stages`.
 *
 * Promises: the list has the stages and the variants of `expected`, the default variant first, with
 * parameters and sizes of fields, in text and in JSON.
 * To join: a new stage needs a row in `expected`; a new variant can be added to the row of its
 * stage.
 */
#include "pipeline/icestream.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* The stages, each with its variants, the default first. A stage may have more variants than these.
 */
static const char *const expected[][5] = {
    {"create", "cherenkov"},
    {"propagate", "cumulative", "layer-walk"},
    {"collide", "string-grid", "cell-grid", "brute-force"},
    {"scatter", "hg-sl", "hg", "sl", "isotropic"},
    {"tabulate", "none", "spherical", "cylindrical"},
    {"compact", "partition"},
    {"detect", "none", "pe"},
};
enum { STAGES = sizeof expected / sizeof *expected };

static char *list(bool json)
{
    char *text = NULL;
    size_t size = 0;
    icestream_error error = {0};
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    ck_assert_msg(icestream_stages(json, out, &error) == ICESTREAM_OK, "%s", error.text);
    fclose(out);
    return text;
}

static json_int_t sum_bytes(const json_t *fields)
{
    json_int_t sum = 0;
    size_t i;
    json_t *field;
    json_array_foreach(fields, i, field)
    {
        ck_assert_ptr_nonnull(json_string_value(json_object_get(field, "field")));
        sum += json_integer_value(json_object_get(field, "bytes"));
    }
    return sum;
}

START_TEST(json_is_complete)
{
    char *text = list(true);
    json_t *root = json_loads(text, 0, NULL);
    ck_assert_ptr_nonnull(root);
    /* At most 48 bytes of state; photon.h: 64 and 48. */
    ck_assert_int_eq(json_integer_value(json_object_get(root, "photon_bytes")), 48);
    ck_assert_int_eq(json_integer_value(json_object_get(root, "emission_bytes")), 64);
    ck_assert_int_eq(json_integer_value(json_object_get(root, "arrival_bytes")), 48);
    const json_t *stages = json_object_get(root, "stages");
    ck_assert_uint_eq(json_array_size(stages), STAGES);
    for (size_t i = 0; i < STAGES; ++i) {
        const json_t *stage = json_array_get(stages, i);
        ck_assert_str_eq(json_string_value(json_object_get(stage, "name")), expected[i][0]);
        ck_assert_int_eq(sum_bytes(json_object_get(stage, "reads")),
                         json_integer_value(json_object_get(stage, "bytes_read")));
        ck_assert_int_eq(sum_bytes(json_object_get(stage, "writes")),
                         json_integer_value(json_object_get(stage, "bytes_written")));
        const json_t *variants = json_object_get(stage, "variants");
        for (size_t j = 0; j + 1 < 5 && expected[i][j + 1] != NULL; ++j) {
            const json_t *variant = json_array_get(variants, j);
            ck_assert_str_eq(json_string_value(json_object_get(variant, "name")),
                             expected[i][j + 1]);
            ck_assert_int_eq(json_is_true(json_object_get(variant, "default")), j == 0);
            ck_assert_uint_gt(strlen(json_string_value(json_object_get(variant, "description"))),
                              0);
            ck_assert(json_is_array(json_object_get(variant, "parameters")));
        }
    }
    json_decref(root);
    free(text);
}
END_TEST

START_TEST(bytes_and_parameters)
{
    char *text = list(true);
    json_t *root = json_loads(text, 0, NULL);
    const json_t *stages = json_object_get(root, "stages");
    const json_t *create = json_array_get(stages, 0);
    /* All of the photon; all of the emission but its reserved word. */
    ck_assert_int_eq(json_integer_value(json_object_get(create, "bytes_written")), 48);
    ck_assert_int_eq(json_integer_value(json_object_get(create, "bytes_read")), 60);
    const json_t *collide = json_array_get(stages, 2);
    ck_assert_int_eq(json_integer_value(json_object_get(collide, "bytes_written")), 48);
    const json_t *mixture =
        json_array_get(json_object_get(json_array_get(stages, 3), "variants"), 0);
    const json_t *parameters = json_object_get(mixture, "parameters");
    ck_assert_uint_eq(json_array_size(parameters), 2);
    ck_assert_str_eq(json_string_value(json_array_get(parameters, 0)), "ice.mean_cosine");
    ck_assert_str_eq(json_string_value(json_array_get(parameters, 1)), "ice.liu_fraction");
    json_decref(root);
    free(text);
}
END_TEST

START_TEST(text_is_complete)
{
    char *text = list(false);
    for (size_t i = 0; i < STAGES; ++i) {
        char heading[32];
        snprintf(heading, sizeof heading, "\n%s: ", expected[i][0]);
        ck_assert_msg(strstr(text, heading) != NULL, "no %s in\n%s", heading, text);
        for (size_t j = 1; j < 5 && expected[i][j] != NULL; ++j) {
            char line[32];
            snprintf(line, sizeof line, "\n  %c %s ", j == 1 ? '*' : ' ', expected[i][j]);
            ck_assert_msg(strstr(text, line) != NULL, "no '%s' in\n%s", line, text);
        }
    }
    free(text);
}
END_TEST

ICS_TEST_MAIN("stages")
{
    TCase *tests = tcase_create("list");
    tcase_add_test(tests, json_is_complete);
    tcase_add_test(tests, bytes_and_parameters);
    tcase_add_test(tests, text_is_complete);
    suite_add_tcase(suite, tests);
}
