/* Promises of watch.h: the watch asks for a scan, a look, when files come, not more often than
 * configured, and also if the
 * folder disappears or the kernel cannot watch it. How to join: call start(), change the folder,
 * and wait with wait_looks() or wait_reports(). A timer of 30 s fails a test that waits in vain. */
#include "pipeline/production/source/watch.h"
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

enum { PATIENCE = 30000 /* (ms) */, HISTORY = 4096 };

typedef struct watching {
    scratch place;
    char folder[SCRATCH_PATH];
    uv_loop_t loop;
    uv_timer_t patience;
    ics_watch *watch;
    unsigned looks, reports;
    uint64_t times[HISTORY]; /* the times (ms, clock of the loop) of the looks */
    icestream_error report;  /* the last report */
    bool close_in_look;
} watching;

static void on_look(void *user)
{
    watching *self = user;
    self->times[self->looks++ % HISTORY] = uv_now(&self->loop);
    if (self->close_in_look) {
        ics_watch_close(self->watch);
        self->watch = NULL;
    }
}

static void on_report(void *user, const icestream_error *what)
{
    watching *self = user;
    self->reports++;
    self->report = *what;
}

static void out_of_patience(uv_timer_t *timer)
{
    (void)timer;
    ck_abort_msg("waited in vain");
}

/* What every test has. */
static watching *test;

static void open_watching(void)
{
    test = calloc(1, sizeof *test);
    ck_assert_ptr_nonnull(test);
    test->place = scratch_create();
    scratch_path(&test->place, "in", test->folder);
    ck_assert_int_eq(mkdir(test->folder, 0700), 0);
    ck_assert_int_eq(uv_loop_init(&test->loop), 0);
    ck_assert_int_eq(uv_timer_init(&test->loop, &test->patience), 0);
    uv_timer_start(&test->patience, out_of_patience, PATIENCE, 0);
}

static void start(const char *pattern, double scan)
{
    const ics_watch_options options = {test->folder, pattern, scan};
    const ics_watch_events events = {on_look, on_report, test};
    ck_assert_int_eq(ics_watch_create(&test->loop, &options, &events, &test->watch, NULL),
                     ICESTREAM_OK);
    ics_watch_start(test->watch);
}

static void close_watching(void)
{
    ics_watch_close(test->watch);
    uv_close((uv_handle_t *)&test->patience, NULL);
    ck_assert_int_eq(uv_run(&test->loop, UV_RUN_DEFAULT), 0);
    ck_assert_int_eq(uv_loop_close(&test->loop), 0);
    scratch_remove(&test->place);
    free(test);
}

static void wait_looks(unsigned looks)
{
    while (test->looks < looks) {
        uv_run(&test->loop, UV_RUN_ONCE);
    }
}

static void wait_reports(unsigned reports)
{
    while (test->reports < reports) {
        uv_run(&test->loop, UV_RUN_ONCE);
    }
}

/* Puts a file with its final name into the folder, as other programs do. */
static void drop_file(const char *name)
{
    char path[2 * SCRATCH_PATH];
    snprintf(path, sizeof path, "%s/%s", test->folder, name);
    scratch_write(path, "x", 1);
}

static void stop_timer(uv_timer_t *timer)
{
    *(bool *)timer->data = true;
}

/* Runs the loop for a time in which nothing should happen. */
static void run_for(uint64_t milliseconds)
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
    start("*.steps.npy", 3600);
    wait_looks(1);
    drop_file("a.steps.npy");
    wait_looks(2);

    char from[2 * SCRATCH_PATH], to[2 * SCRATCH_PATH];
    drop_file("b.part");
    snprintf(from, sizeof from, "%s/b.part", test->folder);
    snprintf(to, sizeof to, "%s/b.steps.npy", test->folder);
    unsigned before = test->looks;
    ck_assert_int_eq(rename(from, to), 0);
    wait_looks(before + 1);
    ck_assert_uint_eq(test->reports, 0);
}
END_TEST

START_TEST(test_many_files_make_few_looks)
{
    start("*.steps.npy", 3600);
    wait_looks(1);
    for (int i = 0; i < 500; ++i) {
        char name[32];
        snprintf(name, sizeof name, "%03d.steps.npy", i);
        drop_file(name);
        uv_run(&test->loop, UV_RUN_NOWAIT);
    }
    drop_file("last.steps.npy");
    wait_looks(test->looks + 1); /* after the last file */
    for (unsigned i = 1; i < test->looks; ++i) {
        ck_assert_uint_ge(test->times[i] - test->times[i - 1], 50);
    }
}
END_TEST

START_TEST(test_other_names_do_not_matter)
{
    start("*.steps.npy", 3600);
    wait_looks(1);
    run_for(100); /* events from the start may still come */
    unsigned before = test->looks;
    drop_file("a.steps.npy.part");
    drop_file("journal");
    run_for(200);
    ck_assert_uint_eq(test->looks, before);

    /* This number of events may overflow the queue of the kernel, so the watch looks. */
    for (int i = 0; i < 2000; ++i) {
        drop_file("journal"); /* makes several events */
        uv_run(&test->loop, UV_RUN_NOWAIT);
    }
    wait_looks(before + 1);
}
END_TEST

START_TEST(test_scans_without_events)
{
    start("*.steps.npy", 0.05);
    wait_looks(5);
    ck_assert_uint_eq(test->reports, 0);
}
END_TEST

START_TEST(test_folder_is_removed_and_created_again)
{
    char away[SCRATCH_PATH];
    start("*.steps.npy", 0.1);
    wait_looks(1);
    for (unsigned round = 0; round < 3; ++round) {
        if (round == 1) {
            ck_assert_int_eq(rename(test->folder, scratch_path(&test->place, "away", away)), 0);
        } else {
            ck_assert_int_eq(rmdir(test->folder), 0);
        }
        wait_reports(2 * round + 1);
        ck_assert_int_eq(test->report.status, ICESTREAM_E_INPUT);
        ck_assert_ptr_nonnull(strstr(test->report.text, test->folder));
        ck_assert_ptr_nonnull(strstr(test->report.text, "cannot watch the folder: no such file"));
        unsigned before = test->looks;
        run_for(350); /* some scans: no further report, and no look */
        ck_assert_uint_eq(test->reports, 2 * round + 1);
        ck_assert_uint_eq(test->looks, before);

        ck_assert_int_eq(mkdir(test->folder, 0700), 0);
        wait_reports(2 * round + 2);
        ck_assert_int_eq(test->report.status, ICESTREAM_OK);
        wait_looks(before + 1);
    }
    /* Something else has the name of the folder. */
    ck_assert_int_eq(rmdir(test->folder), 0);
    scratch_write(test->folder, "x", 1);
    wait_reports(7);
    ck_assert_ptr_nonnull(strstr(test->report.text, "cannot watch the folder: "));
}
END_TEST

/* The folder is removed and created again between two scans; the new folder may have the inode of
 * the old one. The kernel reports that the old folder was removed, so the next look does not wait
 * for the next scan. */
START_TEST(test_folder_replaced_between_scans)
{
    start("*.steps.npy", 3600);
    wait_looks(1);
    for (int round = 0; round < 5; ++round) {
        unsigned before = test->looks;
        ck_assert_int_eq(rmdir(test->folder), 0);
        ck_assert_int_eq(mkdir(test->folder, 0700), 0);
        wait_looks(before + 1);
        run_for(100);
        before = test->looks;
        drop_file("a.steps.npy");
        wait_looks(before + 1);
        char path[2 * SCRATCH_PATH];
        snprintf(path, sizeof path, "%s/a.steps.npy", test->folder);
        ck_assert_int_eq(unlink(path), 0);
    }
    ck_assert_uint_eq(test->reports, 0);
}
END_TEST

START_TEST(test_missing_at_start)
{
    ck_assert_int_eq(rmdir(test->folder), 0);
    strcat(test->folder, "//"); /* slashes at the end are not part of the name */
    start(NULL, 0.05);
    wait_reports(1);
    ck_assert_int_eq(test->report.status, ICESTREAM_E_INPUT);
    ck_assert_uint_eq(test->looks, 0);
    ck_assert_int_eq(mkdir(test->folder, 0700), 0);
    wait_reports(2);
    wait_looks(1);
}
END_TEST

/* Without inotify the watch looks only at the configured times, and it reports this once. */
START_TEST(test_no_inotify)
{
    struct rlimit before, none;
    /* This process may open no further descriptor, so it gets no inotify instance. */
    int lowest_free = open("/dev/null", O_RDONLY);
    ck_assert_int_ge(lowest_free, 0);
    close(lowest_free);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = (rlim_t)lowest_free;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    start("*.steps.npy", 0.05);
    wait_looks(4);
    ck_assert_uint_eq(test->reports, 1);
    ck_assert_int_eq(test->report.status, ICESTREAM_E_FAILED);
    ck_assert_ptr_nonnull(strstr(test->report.text, "the kernel cannot report new files"));
    ck_assert_ptr_nonnull(strstr(test->report.text, "fs.inotify.max_user_instances"));

    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    wait_reports(2);
    ck_assert_int_eq(test->report.status, ICESTREAM_OK);
}
END_TEST

/* Between scans the loop wakes up only for events. */
START_TEST(test_idle_costs_nothing)
{
    struct rusage before, after;
    start("*.steps.npy", 3600);
    wait_looks(1);
    run_for(100);
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
    uv_run(&test->loop, UV_RUN_NOWAIT); /* ends the timer, which is a variable of this test */
}
END_TEST

START_TEST(test_closing_at_any_time)
{
    start(NULL, 3600); /* the first request of the watch is still running */
    ics_watch_close(test->watch);
    test->watch = NULL;
    run_for(20);
    ck_assert_uint_eq(test->looks, 0);

    test->close_in_look = true;
    start(NULL, 0.05);
    wait_looks(1);
    drop_file("a.steps.npy");
    run_for(200);
    ck_assert_uint_eq(test->looks, 1);

    const ics_watch_options options = {test->folder, NULL, 1};
    const ics_watch_events events = {on_look, on_report, test};
    ck_assert_int_eq(ics_watch_create(&test->loop, &options, &events, &test->watch, NULL),
                     ICESTREAM_OK);
    ics_watch_close(NULL); /* and `watch`, never started, below */
}
END_TEST

ICS_TEST_MAIN("watch")
{
    TCase *tests = tcase_create("watch");
    tcase_add_checked_fixture(tests, open_watching, close_watching);
    tcase_add_test(tests, test_looks_at_start_and_when_a_file_comes);
    tcase_add_test(tests, test_many_files_make_few_looks);
    tcase_add_test(tests, test_other_names_do_not_matter);
    tcase_add_test(tests, test_scans_without_events);
    tcase_add_test(tests, test_folder_is_removed_and_created_again);
    tcase_add_test(tests, test_folder_replaced_between_scans);
    tcase_add_test(tests, test_missing_at_start);
    tcase_add_test(tests, test_no_inotify);
    tcase_add_test(tests, test_idle_costs_nothing);
    tcase_add_test(tests, test_closing_at_any_time);
    suite_add_tcase(suite, tests);
}
