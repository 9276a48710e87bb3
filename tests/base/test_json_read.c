/* Promise of base/json_read.h: a text that is no JSON gives no value, and the place of its fault.
 * To join: one more text of the list. */
#include "base/json_read.h"
#include "tests/support/test_main.h"

#include <errno.h>

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
    tcase_add_test(tests, test_no_json);
    suite_add_tcase(suite, tests);
}
