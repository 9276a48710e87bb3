/* icestream_run gives the handlers of signals back to the program that calls it. What a signal does
 * to a run is shown by tests/cli/run/test_interrupt.sh, and signals at its end by
 * tests/faults/late_signals.py. */
#include "tests/run/run_place.h"

#include <check.h>
#include <signal.h>

static void count_signal(int number)
{
    (void)number;
}

/* A program that runs icestream_run has its own handlers again, and what it had for the other
 * signals. */
START_TEST(test_dispositions_come_back)
{
    const struct sigaction own = {.sa_handler = count_signal};
    struct sigaction now, before;
    ck_assert_int_eq(sigaction(SIGINT, NULL, &before), 0);
    ck_assert_int_eq(sigaction(SIGTERM, &own, NULL), 0);
    ck_assert_int_eq(sigaction(SIGUSR1, &(struct sigaction){.sa_handler = SIG_IGN}, NULL), 0);
    run_folder_bright_steps(&place, "small.npy", 0, 1, 100);
    run_well(NULL, NULL);
    ck_assert_int_eq(sigaction(SIGTERM, NULL, &now), 0);
    ck_assert(now.sa_handler == count_signal);
    ck_assert_int_eq(sigaction(SIGUSR1, NULL, &now), 0);
    ck_assert(now.sa_handler == SIG_IGN);
    ck_assert_int_eq(sigaction(SIGINT, NULL, &now), 0);
    ck_assert(now.sa_handler == before.sa_handler);
}
END_TEST

ICS_TEST_MAIN("run_signals")
{
    TCase *tests = tcase_create("run_signals");
    tcase_add_checked_fixture(tests, open_place, close_place);
    tcase_add_test(tests, test_dispositions_come_back);
    suite_add_tcase(suite, tests);
}
