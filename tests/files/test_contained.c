/* Promises of pipeline/photons/files/contained.h: work in a child process returns its status and
 * error, and a child that crashes, exits or is killed becomes an error of the input file. To join:
 * another way to end is a constant, its case in work() and its row in `expected`. */
#include "base/error.h"
#include "pipeline/photons/files/contained.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SUCCEEDS, FAILS, FAILS_LONG, ICS_KILLED, EXITS, EXITS_AS_IF_DONE };

static int work(void *user, icestream_error *error)
{
    static char text[6000];
    int *what = user;
    const int kind = *what;
    *what = 17; /* only in the memory of the child */
    memset(text, 'x', sizeof text - 1);
    switch (kind) {
    case FAILS:
        return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, 28, "a.npy: no room");
    case FAILS_LONG:
        return ics_error_set(error, ICESTREAM_E_INPUT, "%s", text);
    case ICS_KILLED:
        raise(SIGKILL);
        break;
    case EXITS:
        _exit(3);
    case EXITS_AS_IF_DONE:
        _exit(0);
    }
    return ICESTREAM_OK;
}

START_TEST(ways_to_end)
{
    static const struct {
        int status;
        const char *says;
    } expected[] = {
        [SUCCEEDS] = {ICESTREAM_OK, ""},
        [FAILS] = {ICESTREAM_E_OUTPUT, "a.npy: no room"},
        [FAILS_LONG] = {ICESTREAM_E_INPUT, "xxxx"},
        [ICS_KILLED] = {ICESTREAM_E_INPUT,
                        "a.h5: the library that reads such files crashed (Killed)"},
        [EXITS] = {ICESTREAM_E_INPUT,
                   "a.h5: the library that reads such files ended the process (status "
                   "3)"},
        [EXITS_AS_IF_DONE] = {ICESTREAM_E_INPUT, "ended the process (status 0)"},
    };
    int what = _i;
    icestream_error error = {.text = ""};
    ck_assert_int_eq(ics_contained_check(work, &what, "a.h5", &error), expected[_i].status);
    ck_assert_int_eq(what, _i);
    ck_assert_int_eq(error.status, expected[_i].status);
    ck_assert_msg(strstr(error.text, expected[_i].says) != NULL, "%s", error.text);
    ck_assert_int_eq(error.cause, _i == FAILS ? 28 : 0);
    if (_i == FAILS_LONG) {
        ck_assert_uint_eq(strlen(error.text), 5999);
    }
}
END_TEST

ICS_TEST_MAIN("contained")
{
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, ways_to_end, SUCCEEDS, EXITS_AS_IF_DONE + 1);
    suite_add_tcase(suite, all);
}
