/* Promises of answers of servers that are no success: which cause the error has, because it decides
 * whether a transfer is tried again, and whether a ticket of a queue becomes a dead letter. To
 * join: one more row. */
#include "base/error.h"
#include "pipeline/transfer/http.h"
#include "pipeline/transfer/transfer.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

START_TEST(test_causes)
{
    static const struct {
        long status;
        const char *body;
        bool may_pass, is_missing;
    } cases[] = {
        {400, "", false, false},
        {401, "", false, false},
        {403, "<Error><Code>AccessDenied</Code></Error>", false, false},
        {404, "", false, true},
        {404, "<Error><Code>NoSuchKey</Code></Error>", false, true},
        {404, "<Error><Code>NoSuchBucket</Code></Error>", false, false}, /* of the settings */
        {408, "", true, false},
        {410, "", false, true},
        {412, "", false, false},
        {429, "", true, false},
        {500, "", true, false},
        {501, "", false, false},
        {503, "<Error><Code>SlowDown</Code></Error>", true, false},
        {507, "", true, false},
    };
    static const ics_transfer_target target = {.shown = "http://host/name"};
    const ics_http_request request = {.target = &target, .method = "GET"};
    ics_http_answer *answer = calloc(1, sizeof *answer);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        icestream_error error = {.status = ICESTREAM_OK};
        answer->status = cases[i].status;
        snprintf(answer->body, sizeof answer->body, "%s", cases[i].body);
        ck_assert_int_eq(ics_http_refused(&request, answer, "fetch", &error), ICESTREAM_E_OUTPUT);
        ck_assert_msg(ics_error_may_pass(&error) == cases[i].may_pass, "HTTP %ld", cases[i].status);
        ck_assert_msg((error.cause == ICS_TRANSFER_MISSING) == cases[i].is_missing, "HTTP %ld %s",
                      cases[i].status, cases[i].body);
        ck_assert_ptr_nonnull(strstr(error.text, "http://host/name: cannot fetch: the server"));
    }
    free(answer);
}
END_TEST

ICS_TEST_MAIN("http refused")
{
    TCase *tests = tcase_create("http refused");
    tcase_add_test(tests, test_causes);
    suite_add_tcase(suite, tests);
}
