/* Promise: damaged and hostile YAML is an error with its place, and takes little time and memory.
 * To join: another input is a row of `hostile`, another limit a test like depth_is_limited. */
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
    {"open mapping", "a: {b: 1\n", "h.yaml:2:1: error: ", "did not find expected ',' or '}'"},
    {"open quote", "a: \"b\n", "h.yaml:2:1: error: ", "found unexpected end of stream"},
    {"surplus bracket", "a: 1]\nb: ]\n", "h.yaml:2:4: error: ", "did not find expected"},
    {"tab as indent", "a:\n\tb: 1\n", "h.yaml:2:1: error: ", "tabs cannot indent"},
    {"wrong indent", "a:\n    b: 1\n  c: 2\n", "h.yaml:3:3: error: ", "did not find expected key"},
    {"two colons", "a: b: c\n", "h.yaml:1:5: error: ", "mapping values are not allowed"},
    {"lone dash", "a: -\n", "h.yaml:1:4: error: ", "a lone - needs quotes: \"-\""},
    {"star", "a: [*.npy]\n", "h.yaml:1:6: error: ", "starts with * needs quotes"},
    {"at sign", "a: @b\n", "h.yaml:1:4: error: ", "cannot start any token"},
    {"bad escape", "a: \"\\q\"\n", "h.yaml:1:5: error: ", "unknown escape character"},
    {"surrogate", "a: \"\\ud800\"\n",
     "h.yaml:1:7: error: ", "invalid Unicode character escape code"},
    {"NUL by escape", "x: 1\na: \"b\\0c\"\n", "h.yaml:2:4: error: ", "NUL"},
    {"control character", "a: 1\nbc: \x01\n",
     "h.yaml:2:5: error: ", "control characters are not allowed (0x01)"},
    {"Latin-1", "a: 1\n\xc3\xa4: \xe4x\n", "h.yaml:2:5: error: ", "not valid UTF-8 text"},
    {"overlong", "a: \xc0\xaf\n", "h.yaml:1:4: error: ", "not valid UTF-8 text"},
    {"cut character", "ab: \xe2\x82", "h.yaml:1:5: error: ", "not valid UTF-8 text"},
    {"UTF-16",
     "\xff\xfe"
     "a:",
     "h.yaml:1:1: error: ", "not valid UTF-8 text"},
    {"unknown anchor", "a: 1\nb: [1, *c]\n", "h.yaml:2:8: error: ", "unknown anchor '*c'"},
    {"anchor used before", "a: *b\nc: &b 1\n", "h.yaml:1:4: error: ", "unknown anchor '*b'"},
    {"anchor twice", "a: &x 1\nb: &x 2\n", "h.yaml:2:4: error: ", "'&x' is already used in line 1"},
    {"anchor in itself", "a: &x\n  - 1\n  - *x\n", "h.yaml:3:5: error: ", "'&x' contains itself"},
    {"mapping in itself", "a: &x {b: {c: *x}}\n", "h.yaml:1:15: error: ", "'&x' contains itself"},
    {"root in itself", "&r\na: *r\n", "h.yaml:2:4: error: ", "'&r' contains itself"},
    {"second document", "a: 1\n---\nb: 2\n",
     "h.yaml:2:1: error: ", "a second document starts here"},
    {"document after end", "a: 1\n...\n---\n",
     "h.yaml:3:1: error: ", "a second document starts here"},
    {"tag", "a: !!str 5\n", "h.yaml:1:4: error: ", "tags are not supported"},
    {"private tag", "a: !python/object:os.system []\n",
     "h.yaml:1:4: error: ", "found '!python/object:os.system'"},
    {"unknown tag handle", "a: !x!y 5\n", "h.yaml:1:4: error: ", "undefined tag handle"},
    {"tag directive", "%TAG ! tag:x,2000:\n--- {}\n", "h.yaml:1:1: error: ", "a %TAG directive"},
    {"tag directive behind a comment", "# a\r%TAG ! tag:x,2000:\n--- {}\n",
     "h.yaml:1:5: error: ", "a %TAG directive"},
    {"YAML 3", "%YAML 3.0\n---\na: 1\n", "h.yaml:1:1: error: ", "incompatible YAML document"},
    {"list as a key", "a: 1\n? [b, c]\n: d\n",
     "h.yaml:2:3: error: ", "a key must be a word, not a list"},
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

START_TEST(many_open_brackets_fail_at_once)
{
    const size_t length = (size_t)4 << 20;
    char *text = malloc(length);
    ck_assert_ptr_nonnull(text);
    memset(text, '[', length);
    expect_failure(text, length, "h.yaml:1:33: error: nested deeper than 32 levels");
    free(text);
}
END_TEST

START_TEST(alias_bombs_are_limited)
{
    /* Seven lists of nine values: 9^7 leaves with all aliases written out. */
    const char *bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n"
                       "b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
                       "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
                       "d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
                       "e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\n"
                       "f: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n"
                       "g: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n";
    /* f has 9^6 leaves; with the first *f there would be more than a million nodes. */
    expect_failure(bomb, strlen(bomb),
                   "h.yaml:7:8: error: too many values: more than 1000000 with all aliases "
                   "written out");
}
END_TEST

START_TEST(anchors_are_limited)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(stream);
    for (int i = 0; i <= 1000; ++i) {
        fprintf(stream, "- &a%d x\n", i);
    }
    fclose(stream);
    expect_failure(text, size, "h.yaml:1001:3: error: more than 1000 anchors");
    free(text);
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

START_TEST(large_files_are_refused)
{
    const size_t length = ((size_t)16 << 20) + 1;
    char *text = malloc(length);
    ck_assert_ptr_nonnull(text);
    memset(text, '\n', length);
    expect_failure(text, length,
                   "h.yaml: error: the file has 16777217 bytes, expected at most 16777216");
    free(text);
}
END_TEST

ICS_TEST_MAIN("yaml_hostile")
{
    TCase *bad = tcase_create("hostile");
    tcase_add_loop_test(bad, hostile_input_gets_place_and_message, 0, COUNT(hostile));
    tcase_add_test(bad, depth_is_limited);
    tcase_add_test(bad, many_open_brackets_fail_at_once);
    tcase_add_test(bad, alias_bombs_are_limited);
    tcase_add_test(bad, anchors_are_limited);
    tcase_add_test(bad, values_are_limited);
    tcase_add_test(bad, large_files_are_refused);
    suite_add_tcase(suite, bad);
}
