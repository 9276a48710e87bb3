/* Watching a folder: looks when something comes, not more often than asked for, and also where the
 * folder goes away, or the kernel does not help. Tests wait for what they expect, and a timer of
 * 30 s fails those that wait in vain. */
#include "pipeline/source/watch.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATIENCE = 30000, HISTORY = 4096 };

typedef struct watching {
    scratch place;
    char folder[SCRATCH_PATH];
    uv_loop_t loop;
    uv_timer_t patience;
    ics_watch *watch;
    unsigned looks, reports;
    uint64_t times[HISTORY]; /* of looks, by the loop's clock, ms */
    icestream_error report;  /* the last one */
    bool close_in_look;
} watching;

static void on_look(void *user)
{
    watching *test = user;
    test->times[test->looks++ % HISTORY] = uv_now(&test->loop);
    if (test->close_in_look) {
        ics_watch_close(test->watch);
        test->watch = NULL;
    }
}

static void on_report(void *user, const icestream_error *what)
{
    watching *test = user;
    test->reports++;
    test->report = *what;
}

static void out_of_patience(uv_timer_t *timer)
{
    (void)timer;
    ck_abort_msg("waited in vain");
}

static watching *open_watching(void)
{
    watching *test = calloc(1, sizeof *test);
    ck_assert_ptr_nonnull(test);
    test->place = scratch_create();
    scratch_path(&test->place, "in", test->folder);
    ck_assert_int_eq(mkdir(test->folder, 0700), 0);
    ck_assert_int_eq(uv_loop_init(&test->loop), 0);
    ck_assert_int_eq(uv_timer_init(&test->loop, &test->patience), 0);
    uv_timer_start(&test->patience, out_of_patience, PATIENCE, 0);
    return test;
}

static void start(watching *test, const char *pattern, double scan)
{
    const ics_watch_options options = {test->folder, pattern, scan};
    const ics_watch_events events = {on_look, on_report, test};
    ck_assert_int_eq(ics_watch_create(&test->loop, &options, &events, &test->watch, NULL),
                     ICESTREAM_OK);
    ics_watch_start(test->watch);
}

static void close_watching(watching *test)
{
    ics_watch_close(test->watch);
    uv_close((uv_handle_t *)&test->patience, NULL);
    ck_assert_int_eq(uv_run(&test->loop, UV_RUN_DEFAULT), 0);
    ck_assert_int_eq(uv_loop_close(&test->loop), 0);
    scratch_remove(&test->place);
    free(test);
}

static void wait_looks(watching *test, unsigned looks)
{
    while (test->looks < looks) {
        uv_run(&test->loop, UV_RUN_ONCE);
    }
}

static void wait_reports(watching *test, unsigned reports)
{
    while (test->reports < reports) {
        uv_run(&test->loop, UV_RUN_ONCE);
    }
}

/* A file under its final name, as others put it there. */
static void drop_file(const watching *test, const char *name)
{
    char path[2 * SCRATCH_PATH];
    snprintf(path, sizeof path, "%s/%s", test->folder, name);
    scratch_write(path, "x", 1);
}

static void stop_timer(uv_timer_t *timer)
{
    *(bool *)timer->data = true;
}

/* Lets the loop run for a while in which nothing should happen. */
static void run_for(watching *test, uint64_t milliseconds)
{
    bool over = false;
    uv_timer_t timer;
    uv_timer_init(&test->loop, &timer);
    timer.data = &over;
    uv_timer_start(&timer, stop_timer, milliseconds, 0);
    while (!over) {
        uv_run(&test->loop, UV_RUN_ONCE);
    }
    uv_close((uv_handle_t *)&timer, NULL);
    uv_run(&test->loop, UV_RUN_NOWAIT);
}

START_TEST(test_looks_at_start_and_when_a_file_comes)
{
    watching *test = open_watching();
    start(test, "*.steps.npy", 3600);
    wait_looks(test, 1);
    drop_file(test, "a.steps.npy");
    wait_looks(test, 2);

    char from[2 * SCRATCH_PATH], to[2 * SCRATCH_PATH];
    drop_file(test, "b.part");
    snprintf(from, sizeof from, "%s/b.part", test->folder);
    snprintf(to, sizeof to, "%s/b.steps.npy", test->folder);
    unsigned before = test->looks;
    ck_assert_int_eq(rename(from, to), 0);
    wait_looks(test, before + 1);
    ck_assert_uint_eq(test->reports, 0);
    close_watching(test);
}
END_TEST

START_TEST(test_bursts_are_few_looks)
{
    watching *test = open_watching();
    start(test, "*.steps.npy", 3600);
    wait_looks(test, 1);
    for (int i = 0; i < 500; ++i) {
        char name[32];
        snprintf(name, sizeof name, "%03d.steps.npy", i);
        drop_file(test, name);
        uv_run(&test->loop, UV_RUN_NOWAIT);
    }
    drop_file(test, "last.steps.npy");
    wait_looks(test, test->looks + 1); /* after the last file */
    for (unsigned i = 1; i < test->looks; ++i) {
        ck_assert_uint_ge(test->times[i] - test->times[i - 1], 50);
    }
    close_watching(test);
}
END_TEST

START_TEST(test_other_names_do_not_matter)
{
    watching *test = open_watching();
    start(test, "*.steps.npy", 3600);
    wait_looks(test, 1);
    run_for(test, 100); /* what the start may have left */
    unsigned before = test->looks;
    drop_file(test, "a.steps.npy.part");
    drop_file(test, "journal");
    run_for(test, 200);
    ck_assert_uint_eq(test->looks, before);

    /* But so many of them may have hidden others: the kernel's queue is finite. */
    for (int i = 0; i < 2000; ++i) {
        drop_file(test, "journal"); /* opened anew and written: several events */
        uv_run(&test->loop, UV_RUN_NOWAIT);
    }
    wait_looks(test, before + 1);
    close_watching(test);
}
END_TEST

START_TEST(test_scans_without_events)
{
    watching *test = open_watching();
    start(test, "*.steps.npy", 0.05);
    wait_looks(test, 5);
    ck_assert_uint_eq(test->reports, 0);
    close_watching(test);
}
END_TEST

START_TEST(test_folder_goes_and_comes_again)
{
    watching *test = open_watching();
    char away[SCRATCH_PATH];
    start(test, "*.steps.npy", 0.1);
    wait_looks(test, 1);
    for (unsigned round = 0; round < 3; ++round) {
        if (round == 1) {
            ck_assert_int_eq(rename(test->folder, scratch_path(&test->place, "away", away)), 0);
        } else {
            ck_assert_int_eq(rmdir(test->folder), 0);
        }
        wait_reports(test, 2 * round + 1);
        ck_assert_int_eq(test->report.status, ICESTREAM_E_INPUT);
        ck_assert_ptr_nonnull(strstr(test->report.text, test->folder));
        ck_assert_ptr_nonnull(strstr(test->report.text, "cannot watch the folder: no such file"));
        unsigned before = test->looks;
        run_for(test, 350); /* some scans: not told again, and nothing to look at */
        ck_assert_uint_eq(test->reports, 2 * round + 1);
        ck_assert_uint_eq(test->looks, before);

        ck_assert_int_eq(mkdir(test->folder, 0700), 0);
        wait_reports(test, 2 * round + 2);
        ck_assert_int_eq(test->report.status, ICESTREAM_OK);
        wait_looks(test, before + 1);
    }
    /* Something else of that name. */
    ck_assert_int_eq(rmdir(test->folder), 0);
    scratch_write(test->folder, "x", 1);
    wait_reports(test, 7);
    ck_assert_ptr_nonnull(strstr(test->report.text, "cannot watch the folder: "));
    close_watching(test);
}
END_TEST

/* Removed and made again between two scans: the new folder may even have the old one's number. The
 * kernel tells that the old one went, so the next look is there before the next scan. */
START_TEST(test_folder_replaced_between_scans)
{
    watching *test = open_watching();
    start(test, "*.steps.npy", 3600);
    wait_looks(test, 1);
    for (int round = 0; round < 5; ++round) {
        unsigned before = test->looks;
        ck_assert_int_eq(rmdir(test->folder), 0);
        ck_assert_int_eq(mkdir(test->folder, 0700), 0);
        wait_looks(test, before + 1);
        run_for(test, 100);
        before = test->looks;
        drop_file(test, "a.steps.npy");
        wait_looks(test, before + 1);
        char path[2 * SCRATCH_PATH];
        snprintf(path, sizeof path, "%s/a.steps.npy", test->folder);
        ck_assert_int_eq(unlink(path), 0);
    }
    ck_assert_uint_eq(test->reports, 0);
    close_watching(test);
}
END_TEST

START_TEST(test_missing_at_start)
{
    watching *test = open_watching();
    ck_assert_int_eq(rmdir(test->folder), 0);
    strcat(test->folder, "//"); /* slashes at the end are no name */
    start(test, NULL, 0.05);
    wait_reports(test, 1);
    ck_assert_int_eq(test->report.status, ICESTREAM_E_INPUT);
    ck_assert_uint_eq(test->looks, 0);
    ck_assert_int_eq(mkdir(test->folder, 0700), 0);
    wait_reports(test, 2);
    wait_looks(test, 1);
    close_watching(test);
}
END_TEST

/* Without inotify the scans go on, and it is said once. */
START_TEST(test_no_inotify)
{
    watching *test = open_watching();
    struct rlimit before, none;
    /* The suite's process alone: no descriptor more for an inotify instance. */
    int lowest_free = open("/dev/null", O_RDONLY);
    ck_assert_int_ge(lowest_free, 0);
    close(lowest_free);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = (rlim_t)lowest_free;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    start(test, "*.steps.npy", 0.05);
    wait_looks(test, 4);
    ck_assert_uint_eq(test->reports, 1);
    ck_assert_int_eq(test->report.status, ICESTREAM_E_FAILED);
    ck_assert_ptr_nonnull(strstr(test->report.text, "the kernel cannot tell of new files"));
    ck_assert_ptr_nonnull(strstr(test->report.text, "fs.inotify.max_user_instances"));

    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    wait_reports(test, 2);
    ck_assert_int_eq(test->report.status, ICESTREAM_OK);
    close_watching(test);
}
END_TEST

/* Between scans the loop has nothing to do: it wakes up for what comes, and not otherwise. */
START_TEST(test_idle_costs_nothing)
{
    watching *test = open_watching();
    struct rusage before, after;
    start(test, "*.steps.npy", 3600);
    wait_looks(test, 1);
    run_for(test, 100);
    ck_assert_int_eq(getrusage(RUSAGE_SELF, &before), 0);
    unsigned turns = 0;
    bool over = false;
    uv_timer_t timer;
    uv_timer_init(&test->loop, &timer);
    timer.data = &over;
    uv_timer_start(&timer, stop_timer, 500, 0);
    while (!over) {
        uv_run(&test->loop, UV_RUN_ONCE);
        ++turns;
    }
    ck_assert_int_eq(getrusage(RUSAGE_SELF, &after), 0);
    ck_assert_uint_le(turns, 2);
    ck_assert_int_le(after.ru_nvcsw - before.ru_nvcsw, 20);
    uv_close((uv_handle_t *)&timer, NULL);
    close_watching(test);
}
END_TEST

START_TEST(test_closing_at_any_time)
{
    watching *test = open_watching();
    start(test, NULL, 3600); /* its first question is still out */
    ics_watch_close(test->watch);
    test->watch = NULL;
    run_for(test, 20);
    ck_assert_uint_eq(test->looks, 0);

    test->close_in_look = true;
    start(test, NULL, 0.05);
    wait_looks(test, 1);
    drop_file(test, "a.steps.npy");
    run_for(test, 200);
    ck_assert_uint_eq(test->looks, 1);

    const ics_watch_options options = {test->folder, NULL, 1};
    const ics_watch_events events = {on_look, on_report, test};
    ck_assert_int_eq(ics_watch_create(&test->loop, &options, &events, &test->watch, NULL),
                     ICESTREAM_OK);
    ics_watch_close(NULL); /* and `watch`, never started, below */
    close_watching(test);
}
END_TEST

ICS_TEST_MAIN("watch")
{
    TCase *tests = tcase_create("watch");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, test_looks_at_start_and_when_a_file_comes);
    tcase_add_test(tests, test_bursts_are_few_looks);
    tcase_add_test(tests, test_other_names_do_not_matter);
    tcase_add_test(tests, test_scans_without_events);
    tcase_add_test(tests, test_folder_goes_and_comes_again);
    tcase_add_test(tests, test_folder_replaced_between_scans);
    tcase_add_test(tests, test_missing_at_start);
    tcase_add_test(tests, test_no_inotify);
    tcase_add_test(tests, test_idle_costs_nothing);
    tcase_add_test(tests, test_closing_at_any_time);
    suite_add_tcase(suite, tests);
}
