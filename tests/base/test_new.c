/* Promise of new.h: what is small and cannot be had ends the process with one line and an exit
 * status. How to join: add a request that fails to `ask`. */
#include "base/icestream_error.h"
#include "base/new.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void ask(int request)
{
    switch (request) {
    case 0:
        ics_new_made(NULL);
        break;
    case 1:
        ics_new_item(NULL, NULL);
        break;
    default:
        ics_new_fail();
    }
}

START_TEST(without_memory_the_process_ends)
{
    char said[64] = "";
    int ends[2], status = 0;
    ck_assert_int_eq(pipe(ends), 0);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        ask(_i);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_gt(read(ends[0], said, sizeof said - 1), 0);
    ck_assert_str_eq(said, "icestream: out of memory\n");
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), icestream_status_exit(ICESTREAM_E_MEMORY));
}
END_TEST

START_TEST(what_is_there_is_right)
{
    int *numbers = ICS_NEW_ARRAY(int, 3);
    ck_assert_int_eq(numbers[0] | numbers[1] | numbers[2], 0);
    numbers[2] = 7;
    numbers = ics_new_size(numbers, 1000, sizeof *numbers);
    ck_assert_int_eq(numbers[2], 7);
    char *copy = ics_new_copy("text"), *made = ics_new_text("%s %d", copy, 5);
    ck_assert_str_eq(made, "text 5");
    ck_assert_ptr_null(ics_new_copy(NULL));
    free(made);
    free(copy);
    free(numbers);
}
END_TEST

ICS_TEST_MAIN("new")
{
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, without_memory_the_process_ends, 0, 3);
    tcase_add_test(all, what_is_there_is_right);
    suite_add_tcase(suite, all);
}
