/* Promise of base/json_read.h: a value is whole, or there is none, also when memory ends at any
 * call of jansson. To join: one more text of the list. */
#include "base/json_read.h"
#include "tests/support/test_main.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static long calls_left;
static bool reached;
static bool for_good; /* all later calls fail, too */

/* As malloc(), and the call with the number `calls_left` fails. */
static void *failing_malloc(size_t size)
{
    if (calls_left > 0 && --calls_left == 0) {
        calls_left = for_good;
        reached = true;
        errno = ENOMEM;
        return NULL;
    }
    return malloc(size);
}

static const char *const texts[] = {
    "{}",
    "[]",
    "{\"a\": \"0123456789abcdefg\", \"n\": 123456789012345678}",
    "[\"a \\\"quoted\\\" text, with [brackets] and {more} of 60 characters.....\", "
    "0.12345678901234567890123456789012345678901234567890e-10, 7, true, null]",
    "{\"\\u00e4\\u00f6\\\\\": {\"name of a key that is longer than sixteen bytes\": [1, 2, 3]}, "
    "\"last\": \"12345678901234567890123456789012345678901234567890123456789012345\"}",
};

/* Reads a text with every call of malloc() failing once. Returns how many there were. */
static long fail_each(const char *text, const json_t *expected)
{
    long failed = 0;
    for (long at = 1; at <= failed + 1 && at < 1000; ++at) {
        json_set_alloc_funcs(failing_malloc, free);
        calls_left = at;
        reached = false;
        json_t *found = ics_json_read_text(text, 0, NULL);
        const int cause = errno;
        failed += reached;
        calls_left = 0;
        json_set_alloc_funcs(malloc, free);
        if (found == NULL) {
            ck_assert_msg(reached && cause == ENOMEM, "%s: call %ld", text, at);
        } else {
            ck_assert_msg(json_equal(found, expected), "%s: call %ld", text, at);
        }
        json_decref(found);
    }
    return failed;
}

START_TEST(test_whole_or_none)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        json_t *expected = json_loads(texts[i], 0, NULL);
        ck_assert_ptr_nonnull(expected);
        for (int j = 0; j < 2; ++j) {
            for_good = j == 1;
            ck_assert_int_gt(fail_each(texts[i], expected), 3);
        }
        json_decref(expected);
    }
}
END_TEST

START_TEST(test_no_json)
{
    static const char *const wrong[] = {
        "",      "1",       "\"a\"", "{}, {}", "], [", "[1], [2]",
        "{} {}", "{\"a\":", "[1,]",  "\"],[",  "\\",   "{\"a\": 1}]"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        json_error_t why, expected;
        ck_assert_ptr_null(json_loads(wrong[i], 0, &expected));
        ck_assert_msg(ics_json_read_text(wrong[i], 0, &why) == NULL, "%s", wrong[i]);
        ck_assert_int_ne(errno, ENOMEM);
        ck_assert_str_eq(why.text, expected.text);
        ck_assert_int_eq(why.position, expected.position);
    }
    ck_assert_ptr_null(ics_json_read_text(NULL, 0, NULL));
    ck_assert_ptr_null(ics_json_read_text("{\"a\": 1, \"a\": 2}", JSON_REJECT_DUPLICATES, NULL));
}
END_TEST

ICS_TEST_MAIN("json read")
{
    TCase *tests = tcase_create("json read");
    tcase_add_test(tests, test_whole_or_none);
    tcase_add_test(tests, test_no_json);
    suite_add_tcase(suite, tests);
}
