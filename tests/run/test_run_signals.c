/* icestream_run that is stopped by SIGINT or SIGTERM: the first signal lets the run finish what it
 * computes, the second signal ends it at once, and --resume continues. How to join: a test has an
 * empty folder `place`; write step files with much work into it and call run_interrupted(). */
#include "tests/run/run_place.h"

#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What a thread needs that sends signals to this process. */
typedef struct signaller {
    int pipe[2]; /* the log of the run */
    int number;  /* the signal */
    bool twice;
} signaller;

/* Reads the log up to the end of `text`. Returns false if the run ended before. */
static bool await_text(int progress, const char *text)
{
    char byte;
    size_t matched = 0;
    while (text[matched] != 0 && read(progress, &byte, 1) == 1) {
        matched = byte == text[matched] ? matched + 1 : byte == text[0];
    }
    return text[matched] == 0;
}

/* Sends the signal when the log shows that the run has begun, and again if `twice`. */
static void *send_signals(void *argument)
{
    signaller *self = argument;
    char byte;
    if (await_text(self->pipe[0], "icestream")) {
        if (self->twice) {
            usleep(500000); /* if no batch is being computed, the first signal ends the run */
        }
        kill(getpid(), self->number);
        /* Equal signals within half a second count as one. */
        if (self->twice && await_text(self->pipe[0], "stopping")) {
            usleep(600000);
            kill(getpid(), self->number);
        }
    }
    /* Reads the rest of the log, because the run would wait if the pipe were full. */
    while (read(self->pipe[0], &byte, 1) == 1) {
    }
    return NULL;
}

/* Runs the step files, which are minutes of work, and stops the run at its start. Returns the
 * status of the run. */
static int run_interrupted(int number, bool twice, const char *batch)
{
    signaller self = {.number = number, .twice = twice};
    ck_assert_int_eq(pipe(self.pipe), 0);
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, send_signals, &self), 0);
    place.options.progress = fdopen(self.pipe[1], "w");
    ck_assert_ptr_nonnull(place.options.progress);
    int status = run_cpu(batch, NULL);
    fclose(place.options.progress);
    place.options.progress = NULL;
    pthread_join(thread, NULL);
    close(self.pipe[0]);
    return status;
}

START_TEST(test_first_signal_finishes_batches)
{
    run_folder_bright_steps(&place, "1-small.npy", 0, 1, 100);
    run_folder_bright_steps(&place, "2-large.npy", 0, 100, 10000000);
    ck_assert_int_eq(run_interrupted(SIGTERM, false, "graph.batch=20000"), ICESTREAM_E_TERMINATED);
    ck_assert_ptr_nonnull(strstr(place.error.text, "left (--resume continues)"));
    ck_assert(!run_folder_has_hits(&place, "2-large.hits.npy"));
    ck_assert(!run_folder_has_hits(&place, "2-large.hits.npy.part"));
    ck_assert(!run_folder_has_hits(&place, "1-small.hits.npy.part"));

    /* A later run with --resume makes the hit files that are missing. */
    run_folder_bright_steps(&place, "2-large.npy", 0, 100, 100);
    place.options.resume = true;
    ck_assert_msg(run_cpu(NULL, NULL) == ICESTREAM_OK, "%s", place.error.text);
    ck_assert(run_folder_has_hits(&place, "1-small.hits.npy"));
    ck_assert(run_folder_has_hits(&place, "2-large.hits.npy"));
}
END_TEST

START_TEST(test_second_signal_ends_at_once)
{
    run_folder_bright_steps(&place, "large.npy", 0, 100, 10000000);
    /* A batch takes minutes: without the second signal the test would reach its time limit. */
    ck_assert_int_eq(run_interrupted(SIGINT, true, "graph.batch=1000000000"),
                     ICESTREAM_E_INTERRUPTED);
    ck_assert(!run_folder_has_hits(&place, "large.hits.npy"));
    ck_assert(!run_folder_has_hits(&place, "large.hits.npy.part"));
    ck_assert(run_folder_has_hits(&place, "summary.json"));
}
END_TEST

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

/* A process that ends with the result of the run: a late signal changes nothing. */
START_TEST(test_late_signals_are_ignored)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGUSR1, SIGHUP};
    run_folder_bright_steps(&place, "small.npy", 0, 1, 100);
    place.options.ends_process = true;
    run_well(NULL, NULL);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
        ck_assert_int_eq(kill(getpid(), numbers[i]), 0);
    }
}
END_TEST

ICS_TEST_MAIN("run_signals")
{
    TCase *tests = tcase_create("run_signals");
    tcase_add_checked_fixture(tests, open_place, close_place);
    tcase_add_test(tests, test_first_signal_finishes_batches);
    tcase_add_test(tests, test_second_signal_ends_at_once);
    tcase_add_test(tests, test_dispositions_come_back);
    tcase_add_test(tests, test_late_signals_are_ignored);
    suite_add_tcase(suite, tests);
}
