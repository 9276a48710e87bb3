/* Promise: damaged and hostile YAML is an error with its place, and takes little time and memory.
 * tests/cli/bad_inputs_configuration.py has more of it. To join: another input is a row of
 * `hostile`, another limit a test like depth_is_limited. */
#include "tests/config/yaml_text.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *text;
    const char *place, *message; /* the beginning of the error and a part of it */
} hostile[] = {
    {"open list", "a: [1, 2\n", "h.yaml:2:1: error: ", "did not find expected ',' or ']'"},
    {"open quote", "a: \"b\n", "h.yaml:2:1: error: ", "found unexpected end of stream"},
    {"surplus bracket", "a: 1]\nb: ]\n", "h.yaml:2:4: error: ", "did not find expected"},
    {"wrong indent", "a:\n    b: 1\n  c: 2\n", "h.yaml:3:3: error: ", "did not find expected key"},
    {"two colons", "a: b: c\n", "h.yaml:1:5: error: ", "mapping values are not allowed"},
    {"lone dash", "a: -\n", "h.yaml:1:4: error: ", "a lone - needs quotes: \"-\""},
    {"star", "a: [*.npy]\n", "h.yaml:1:6: error: ", "starts with * needs quotes"},
    {"at sign", "a: @b\n", "h.yaml:1:4: error: ", "cannot start any token"},
    {"bad escape", "a: \"\\q\"\n", "h.yaml:1:5: error: ", "unknown escape character"},
    {"surrogate", "a: \"\\ud800\"\n",
     "h.yaml:1:7: error: ", "invalid Unicode character escape code"},
    {"control character", "a: 1\nbc: \x01\n",
     "h.yaml:2:5: error: ", "control characters are not allowed (0x01)"},
    {"Latin-1", "a: 1\n\xc3\xa4: \xe4x\n", "h.yaml:2:5: error: ", "not valid UTF-8 text"},
    {"overlong", "a: \xc0\xaf\n", "h.yaml:1:4: error: ", "not valid UTF-8 text"},
    {"cut character", "ab: \xe2\x82", "h.yaml:1:5: error: ", "not valid UTF-8 text"},
    {"anchor used before", "a: *b\nc: &b 1\n", "h.yaml:1:4: error: ", "unknown anchor '*b'"},
    {"anchor twice", "a: &x 1\nb: &x 2\n", "h.yaml:2:4: error: ", "'&x' is already used in line 1"},
    {"mapping in itself", "a: &x {b: {c: *x}}\n", "h.yaml:1:15: error: ", "'&x' contains itself"},
    {"root in itself", "&r\na: *r\n", "h.yaml:2:4: error: ", "'&r' contains itself"},
    {"document after end", "a: 1\n...\n---\n",
     "h.yaml:3:1: error: ", "a second document starts here"},
    {"private tag", "a: !python/object:os.system []\n",
     "h.yaml:1:4: error: ", "found '!python/object:os.system'"},
    {"unknown tag handle", "a: !x!y 5\n", "h.yaml:1:4: error: ", "undefined tag handle"},
    {"tag directive behind a comment", "# a\r%TAG ! tag:x,2000:\n--- {}\n",
     "h.yaml:1:5: error: ", "a %TAG directive"},
    {"YAML 3", "%YAML 3.0\n---\na: 1\n", "h.yaml:1:1: error: ", "incompatible YAML document"},
    {"mapping as a key", "{{a: 1}: 2}\n",
     "h.yaml:1:2: error: ", "a key must be a word, not a mapping"},
    {"alias of a list as a key", "a: &l [1]\n*l : 2\n",
     "h.yaml:2:1: error: ", "a key must be a word, not a list"},
};

START_TEST(hostile_input_gets_place_and_message)
{
    ics_yaml *document = NULL;
    icestream_error error = {0};
    const char *text = hostile[_i].text;
    int status = ics_yaml_read_text("h.yaml", text, strlen(text), &document, &error);
    ck_assert_msg(status == ICESTREAM_E_CONFIG, "%s was accepted", hostile[_i].name);
    ck_assert_ptr_null(document);
    ck_assert_int_eq(error.status, ICESTREAM_E_CONFIG);
    ck_assert_msg(strncmp(error.text, hostile[_i].place, strlen(hostile[_i].place)) == 0 &&
                      strstr(error.text, hostile[_i].message),
                  "%s: found \"%s\", expected \"%s...%s\"", hostile[_i].name, error.text,
                  hostile[_i].place, hostile[_i].message);
}
END_TEST

static void expect_failure(const char *text, size_t length, const char *expected)
{
    ics_yaml *document = NULL;
    icestream_error error = {0};
    ck_assert_int_eq(ics_yaml_read_text("h.yaml", text, length, &document, &error),
                     ICESTREAM_E_CONFIG);
    ck_assert_ptr_null(document);
    ck_assert_str_eq(error.text, expected);
}

START_TEST(depth_is_limited)
{
    char text[80];
    memset(text, '[', 33);
    memset(text + 33, ']', 33);
    expect_failure(text, 66, "h.yaml:1:33: error: nested deeper than 32 levels");
    memmove(text + 32, text + 33, 32);
    text[64] = 0;
    ics_yaml *document = read_good(text);
    ck_assert_uint_eq(ics_yaml_root(document)->height, 32);
    ics_yaml_destroy(document);
    /* 20 levels inside an anchor, used 13 levels deep. */
    const char *deep =
        "a: &d [[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]\nb: [[[[[[[[[[[[*d]]]]]]]]]]]]\n";
    expect_failure(deep, strlen(deep), "h.yaml:2:16: error: nested deeper than 32 levels");
}
END_TEST

START_TEST(values_are_limited)
{
    const size_t count = 1000000; /* together with the list itself one too many */
    char *text = malloc(2 * count + 2);
    ck_assert_ptr_nonnull(text);
    text[0] = '[';
    for (size_t i = 0; i < count; ++i) {
        text[1 + 2 * i] = '1', text[2 + 2 * i] = ',';
    }
    text[2 * count + 1] = ']';
    ics_yaml *document = NULL;
    icestream_error error = {0};
    ck_assert_int_eq(ics_yaml_read_text("h.yaml", text, 2 * count + 2, &document, &error),
                     ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(error.text, "too many values"));
    /* One item fewer is read. */
    ck_assert_int_eq(ics_yaml_read_text("h.yaml", text, 2 * count - 1, &document, NULL),
                     ICESTREAM_E_CONFIG); /* no bracket at the end */
    text[2 * count - 1] = ']';
    ck_assert_int_eq(ics_yaml_read_text("h.yaml", text, 2 * count, &document, NULL), ICESTREAM_OK);
    ck_assert_uint_eq(ics_yaml_root(document)->count, count - 1);
    ics_yaml_destroy(document);
    free(text);
}
END_TEST

ICS_TEST_MAIN("yaml_hostile")
{
    TCase *bad = tcase_create("hostile");
    tcase_add_loop_test(bad, hostile_input_gets_place_and_message, 0, COUNT(hostile));
    tcase_add_test(bad, depth_is_limited);
    tcase_add_test(bad, values_are_limited);
    suite_add_tcase(suite, bad);
}
