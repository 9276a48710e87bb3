/* Promise: an error that a long-lived structure keeps has the status, the cause and the text of the
 * error that it was made from, and no memory without an error.
 *
 * How to join: add one test for each new promise of base/error.h. */
#include "base/error.h"
#include "tests/support/test_main.h"

#include <errno.h>
#include <string.h>

START_TEST(kept_errors_come_back)
{
    icestream_error from = {.status = ICESTREAM_OK}, to = {.status = ICESTREAM_E_INPUT};
    ics_error_kept kept = {.status = ICESTREAM_OK};
    ck_assert_int_eq(ics_error_copy_kept(&to, &kept), ICESTREAM_OK);
    ck_assert_int_eq(to.status, ICESTREAM_OK);
    ics_error_keep(&kept, &from);
    ck_assert_ptr_null(kept.text);

    ics_error_set_cause(&from, ICESTREAM_E_OUTPUT, ENOSPC, "a.hits.npy: %s", strerror(ENOSPC));
    ics_error_keep(&kept, &from);
    ck_assert_int_eq(ics_error_copy_kept(&to, &kept), ICESTREAM_E_OUTPUT);
    ck_assert_str_eq(to.text, from.text);
    ck_assert(ics_error_no_room(&to));
    ck_assert_int_eq(ics_error_copy_kept(NULL, &kept), ICESTREAM_E_OUTPUT);

    ics_error_set(&from, ICESTREAM_E_INPUT, "%s", "the second error");
    ics_error_keep(&kept, &from);
    ck_assert_int_eq(ics_error_copy_kept(&to, &kept), ICESTREAM_E_INPUT);
    ck_assert_str_eq(to.text, "the second error");
    ck_assert_int_eq(to.cause, 0);
    ics_error_forget(&kept);
    ck_assert_int_eq(kept.status, ICESTREAM_OK);
    ck_assert_ptr_null(kept.text);
}
END_TEST

START_TEST(errors_of_a_kind_are_counted)
{
    icestream_error error = {.status = ICESTREAM_OK};
    size_t first = 0, second = 0;
    for (int i = 1; i <= 75; ++i) {
        ck_assert_int_eq(ics_error_add_counted(&error, &first, ICESTREAM_E_CONFIG, "a.csv",
                                               "a.csv:%d: error: bad", i),
                         ICESTREAM_E_CONFIG);
    }
    ck_assert_ptr_nonnull(strstr(error.text, "a.csv:10: error: bad\na.csv: error: and 65 more"));
    ck_assert_ptr_null(strstr(error.text, "a.csv:11"));
    /* Errors of other kinds stand behind. */
    ics_error_add_counted(&error, &second, ICESTREAM_E_CONFIG, "b.csv", "b.csv:1: error: bad");
    ics_error_add_counted(&error, &first, ICESTREAM_E_CONFIG, "a.csv", "not shown");
    ck_assert_ptr_nonnull(strstr(error.text, "and 65 more\nb.csv:1: error: bad\na.csv: error: "
                                             "and 66 more"));
    ck_assert_int_eq(ics_error_add_counted(NULL, &second, ICESTREAM_E_CONFIG, "b", "x"),
                     ICESTREAM_E_CONFIG);
}
END_TEST

/* As after an allocation that failed. */
START_TEST(an_error_without_its_text_keeps_its_status)
{
    icestream_error to;
    const ics_error_kept kept = {.status = ICESTREAM_E_MEMORY};
    ck_assert_int_eq(ics_error_copy_kept(&to, &kept), ICESTREAM_E_MEMORY);
    ck_assert_str_eq(to.text, icestream_status_text(ICESTREAM_E_MEMORY));
}
END_TEST

/* A lack of memory or descriptors is no fault of an input. */
START_TEST(causes_that_may_pass)
{
    static const struct {
        int cause, of_input;
        bool may_pass;
    } cases[] = {{ENOMEM, ICESTREAM_E_FAILED, true}, {ENOBUFS, ICESTREAM_E_FAILED, true},
                 {EMFILE, ICESTREAM_E_FAILED, true}, {ENFILE, ICESTREAM_E_FAILED, true},
                 {EIO, ICESTREAM_E_INPUT, true},     {ESTALE, ICESTREAM_E_INPUT, true},
                 {ENOSPC, ICESTREAM_E_INPUT, true},  {EACCES, ICESTREAM_E_INPUT, false},
                 {ENOENT, ICESTREAM_E_INPUT, false}, {0, ICESTREAM_E_INPUT, false}};
    for (size_t i = 0; i < COUNT(cases); ++i) {
        icestream_error error = {.status = ICESTREAM_OK};
        ics_error_set_cause(&error, ICESTREAM_E_INPUT, cases[i].cause, "a.npy: bad");
        ck_assert_int_eq(ics_error_may_pass(&error), cases[i].may_pass);
        ck_assert_int_eq(ics_error_of_input(cases[i].cause), cases[i].of_input);
        error.status = ICESTREAM_OK;
        ck_assert(!ics_error_may_pass(&error));
    }
}
END_TEST

ICS_TEST_MAIN("error")
{
    TCase *tests = tcase_create("error");
    tcase_add_test(tests, kept_errors_come_back);
    tcase_add_test(tests, errors_of_a_kind_are_counted);
    tcase_add_test(tests, an_error_without_its_text_keeps_its_status);
    tcase_add_test(tests, causes_that_may_pass);
    suite_add_tcase(suite, tests);
}
