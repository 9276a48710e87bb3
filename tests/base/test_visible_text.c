/* base/visible_text: what terminals and logs get instead of control characters and bytes that are
 * no UTF-8. How to join: add a row to a table. */
#include "base/visible_text.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

START_TEST(test_escapes)
{
    static const struct {
        const char *text, *line, *lines; /* lines NULL: as `line` */
    } cases[] = {
        {"plain", "plain", NULL},
        {"\x1b[31m\a\r", "\\x1b[31m\\x07\\x0d", NULL},
        {"a\nb\tc", "a\\nb\\tc", "a\nb\tc"},
        {"\x7f", "\\x7f", NULL},
        {"\xc2\x9b", "\\x9b", NULL}, /* a control character of two bytes */
        {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
         NULL},
        {"a\xe2\x80\xae"
         "b",
         "a\\u202eb", NULL}, /* from right to left */
        {"\xe2\x80\xaa\xe2\x80\xac\xe2\x80\xa8", "\\u202a\\u202c\\u2028", NULL},
        {"\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xa5", "\\u2066\\u2069\xe2\x81\xa5", NULL},
        {"\xff\x80", "\\xff\\x80", NULL},
        {"\xc3", "\\xc3", NULL},                            /* cut */
        {"\xc0\xaf", "\\xc0\\xaf", NULL},                   /* too long a form */
        {"\xed\xa0\x80", "\\xed\\xa0\\x80", NULL},          /* a surrogate */
        {"\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80", NULL}, /* beyond Unicode */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char out[64];
        ck_assert_str_eq(ics_visible_text(cases[i].text, false, out, sizeof out), cases[i].line);
        const char *lines = cases[i].lines != NULL ? cases[i].lines : cases[i].line;
        ck_assert_str_eq(ics_visible_text(cases[i].text, true, out, sizeof out), lines);
        char *printed = NULL;
        size_t size = 0;
        FILE *file = open_memstream(&printed, &size);
        ics_visible_print(file, cases[i].text);
        ck_assert_int_eq(fclose(file), 0);
        ck_assert_str_eq(printed, lines);
        free(printed);
    }
}
END_TEST

START_TEST(test_is_cut_between_characters)
{
    char out[6];
    ck_assert_str_eq(ics_visible_text("ab\x1b", false, out, sizeof out), "ab");
    ck_assert_str_eq(ics_visible_text("abc\xe2\x82\xac", false, out, sizeof out), "abc");
    ck_assert_str_eq(ics_visible_text("abcdef", false, out, sizeof out), "abcde");
    ck_assert_str_eq(ics_visible_text("", false, out, sizeof out), "");
}
END_TEST

static size_t writes;
static char written[32768];

static ssize_t keep_write(void *cookie, const char *bytes, size_t size)
{
    (void)cookie;
    ++writes;
    strncat(written, bytes, size);
    return (ssize_t)size;
}

/* Standard error has no buffer: lines of several processes must not mix. */
START_TEST(line_is_one_write)
{
    char text[9000];
    const cookie_io_functions_t functions = {.write = keep_write};
    FILE *file = fopencookie(NULL, "w", functions);
    setvbuf(file, NULL, _IONBF, 0);
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    memcpy(text, "warning: \x1b", 10);
    ics_visible_print_line(file, text);
    ck_assert_uint_eq(writes, 1);
    ck_assert_uint_eq(strlen(written), strlen(text) + 3 + 1);
    ck_assert_int_eq(strncmp(written, "warning: \\x1bxxx", 16), 0);
    ck_assert_int_eq(written[strlen(written) - 1], '\n');
    ck_assert_int_eq(fclose(file), 0);
}
END_TEST

ICS_TEST_MAIN("visible_text")
{
    TCase *tests = tcase_create("visible_text");
    tcase_add_test(tests, test_escapes);
    tcase_add_test(tests, test_is_cut_between_characters);
    tcase_add_test(tests, line_is_one_write);
    suite_add_tcase(suite, tests);
}
