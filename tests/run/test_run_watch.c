/* icestream_run on a folder of claimed files: results of the files, lost claims, and a disk that is
 * full for a while. How to join: a test has an empty folder `place`; write step files into it, call
 * run_once(), or start_watching() and stop_watching(), and look at the journal and the summary. */
#include "tests/run/run_place.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
    PATIENCE = 20000 /* (10 ms): the longest wait for something that takes less than seconds */
};

/* The run of a test. It claims from steps/. */
static struct {
    const char *sets[4]; /* more settings, up to a NULL */
    char journal[SCRATCH_PATH];
    pthread_t thread; /* of start_watching() */
    int status;       /* of the run in the thread */
    bool has_disk;    /* hits/ is a mounted file system */
} service;

static void set_up(void)
{
    open_place();
    scratch_path(&place.folder, "journal", service.journal);
}

static void tear_down(void)
{
    if (service.has_disk) {
        umount2(place.hits, MNT_DETACH);
    }
    close_place();
}

static int run_once(bool watch)
{
    char source[2 * SCRATCH_PATH], sink[2 * SCRATCH_PATH], journal[2 * SCRATCH_PATH];
    snprintf(source, sizeof source, "source.directory=%s", place.steps);
    snprintf(sink, sizeof sink, "sink.directory=%s", place.hits);
    snprintf(journal, sizeof journal, "sink.journal=%s", service.journal);
    const char *all[16] = {source,
                           sink,
                           journal,
                           "source.worker=w",
                           "source.scan=0.1",
                           "device.backend=cpu",
                           "device.threads=2",
                           watch ? "source.watch=true" : "source.watch=false"};
    size_t count = 8;
    for (size_t i = 0; service.sets[i] != NULL; ++i) {
        all[count++] = service.sets[i];
    }
    icestream_config *config = NULL;
    ck_assert_msg(icestream_config_load(NULL, all, count, &config, &place.error) == ICESTREAM_OK,
                  "%s", place.error.text);
    int status = icestream_run(config, &place.options, &place.error);
    icestream_config_destroy(config);
    return status;
}

static void *watch(void *user)
{
    (void)user;
    service.status = run_once(true);
    return NULL;
}

static void start_watching(void)
{
    ck_assert_int_eq(pthread_create(&service.thread, NULL, watch, NULL), 0);
}

static int stop_watching(void)
{
    ck_assert_int_eq(pthread_kill(service.thread, SIGTERM), 0);
    ck_assert_int_eq(pthread_join(service.thread, NULL), 0);
    return service.status;
}

static void wait_a_moment(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

static void wait_for_file(const char *path)
{
    struct stat about;
    for (int tries = 0; lstat(path, &about) != 0; ++tries) {
        ck_assert_msg(tries < PATIENCE, "%s did not come", path);
        wait_a_moment();
    }
}

/* The number of lines of the journal that have this event. */
static int count_events(const char *event)
{
    char line[16384], wanted[64];
    int count = 0;
    snprintf(wanted, sizeof wanted, "\"event\":\"%s\"", event);
    FILE *file = fopen(service.journal, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        count += strstr(line, wanted) != NULL;
    }
    if (file != NULL) {
        fclose(file);
    }
    return count;
}

static void wait_for_event(const char *event, int count)
{
    for (int tries = 0; count_events(event) < count; ++tries) {
        ck_assert_msg(tries < PATIENCE, "%s did not come", event);
        wait_a_moment();
    }
}

/* The path of a file that the worker claimed for the first time. */
static const char *claimed_path(const char *name, char path[2 * SCRATCH_PATH])
{
    snprintf(path, 2 * SCRATCH_PATH, "%s/.icestream/claimed/w/1~%s", place.steps, name);
    return path;
}

/* Moves a claimed file away, as another worker does when the lease has expired. */
static void steal(const char *name)
{
    char from[2 * SCRATCH_PATH], to[SCRATCH_PATH];
    claimed_path(name, from);
    wait_for_file(from);
    ck_assert_int_eq(rename(from, scratch_path(&place.folder, "stolen", to)), 0);
}

/* Adds a step file that takes long to compute, so that the test can act during the run. A photon
 * takes several times as long with a sanitizer. */
static void put_long_file(const char *name)
{
#if defined(ICE_KEEP_CALLS)
    const uint32_t photons = 2000;
#else
    const uint32_t photons = 10000;
#endif
    run_folder_bright_steps(&place, name, 0, 400, photons);
}

/* ---- tests ----------------------------------------------------------------------------------- */

START_TEST(test_claimed_files_become_hits_once)
{
    for (int i = 0; i < 20; ++i) {
        char name[32];
        snprintf(name, sizeof name, "%02d.steps.npy", i);
        run_folder_bright_steps(&place, name, 0, 4, 100);
    }
    char path[2 * SCRATCH_PATH];
    scratch_write(run_folder_path(place.steps, "bad.steps.npy", path), "bad", 3);
    ck_assert_msg(run_once(false) == ICESTREAM_E_INPUT, "%s", place.error.text);
    ck_assert(run_folder_has_hits(&place, "00.hits.npy"));
    ck_assert(run_folder_has_hits(&place, "19.hits.npy"));
    ck_assert(run_folder_exists(place.hits, "quarantine/bad.steps.npy"));
    ck_assert(run_folder_exists(place.hits, "quarantine/bad.steps.npy.reason"));
    ck_assert_int_eq(run_folder_files(&place, "done"), 20);
    ck_assert_int_eq(run_folder_files(&place, "set_aside"), 1);
    ck_assert_int_eq(run_folder_files(&place, "left"), 0);
    ck_assert_int_eq(count_events("claimed"), 21);
    ck_assert_int_eq(count_events("done"), 20);
    ck_assert_int_eq(count_events("quarantined"), 1);
    /* The step files have stayed in the folder, and their marks keep them from being claimed again.
     */
    ck_assert(run_folder_exists(place.steps, "00.steps.npy"));
    ck_assert_int_eq(run_once(false), ICESTREAM_OK);
    ck_assert_int_eq(run_folder_files(&place, "done"), 0);
    ck_assert_int_eq(count_events("claimed"), 21);
}
END_TEST

START_TEST(test_worker_killed_after_its_hits)
{
    run_folder_bright_steps(&place, "a.steps.npy", 0, 4, 100);
    ck_assert_int_eq(run_once(false), ICESTREAM_OK);
    /* Without its mark the file looks as if its worker was killed after it had written the hits. */
    char path[2 * SCRATCH_PATH];
    ck_assert_int_eq(unlink(run_folder_path(place.steps, ".icestream/marks/a.steps.npy", path)), 0);
    service.sets[0] = "source.after=delete";
    ck_assert_int_eq(run_once(false), ICESTREAM_OK);
    ck_assert_int_eq(run_folder_files(&place, "skipped"), 1);
    ck_assert_int_eq(count_events("done"), 1);
    ck_assert_int_eq(count_events("skipped"), 1);
    ck_assert(!run_folder_exists(place.steps, "a.steps.npy"));
}
END_TEST

START_TEST(test_hits_of_another_step_file_stay)
{
    run_folder_bright_steps(&place, "a.steps.npy", 0, 4, 100);
    ck_assert_int_eq(run_once(false), ICESTREAM_OK);
    char path[2 * SCRATCH_PATH];
    size_t size = 0, after_size = 0;
    unsigned char *before = scratch_read(run_folder_path(place.hits, "a.hits.npy", path), &size);
    run_folder_bright_steps(&place, "a.steps.npy", 7, 4, 100);
    ck_assert_int_eq(run_once(false), ICESTREAM_E_INPUT);
    unsigned char *after = scratch_read(path, &after_size);
    ck_assert_uint_eq(size, after_size);
    ck_assert_mem_eq(before, after, size);
    free(before);
    free(after);
    ck_assert(run_folder_exists(place.hits, "quarantine/a.steps.npy.reason"));
}
END_TEST

START_TEST(test_a_lost_claim_is_no_error)
{
    put_long_file("long.steps.npy");
    start_watching();
    steal("long.steps.npy");
    wait_for_event("failed", 1);
    /* The worker continues, and claims a new file of that name. */
    run_folder_bright_steps(&place, "long.steps.npy", 0, 4, 100);
    wait_for_event("done", 1);
    ck_assert_msg(stop_watching() == ICESTREAM_E_TERMINATED, "%s", place.error.text);
    ck_assert_int_eq(run_folder_files(&place, "lost"), 1);
    ck_assert_int_eq(run_folder_files(&place, "done"), 1);
    ck_assert_int_eq(run_folder_files(&place, "set_aside"), 0);
    ck_assert_int_eq(run_folder_files(&place, "left"), 0);
    ck_assert(!run_folder_exists(place.hits, "quarantine"));
}
END_TEST

START_TEST(test_hit_file_that_appears_during_the_run)
{
    run_folder_bright_steps(&place, "other.steps.npy", 0, 4, 100);
    ck_assert_int_eq(run_once(false), ICESTREAM_OK);
    put_long_file("long.steps.npy");
    start_watching();
    char claimed[2 * SCRATCH_PATH], from[2 * SCRATCH_PATH], to[2 * SCRATCH_PATH];
    wait_for_file(claimed_path("long.steps.npy", claimed));
    /* The run finds the other hit file when it checks the step file or when it writes its hits. In
     * both cases the step file is quarantined, the other hit file stays, and the run continues. */
    ck_assert_int_eq(rename(run_folder_path(place.hits, "other.hits.npy", from),
                            run_folder_path(place.hits, "long.hits.npy", to)),
                     0);
    wait_for_event("quarantined", 1);
    run_folder_bright_steps(&place, "next.steps.npy", 0, 4, 100);
    char next[2 * SCRATCH_PATH];
    wait_for_file(run_folder_path(place.hits, "next.hits.npy", next));
    ck_assert_msg(stop_watching() == ICESTREAM_E_TERMINATED, "%s", place.error.text);
    ck_assert_int_eq(run_folder_files(&place, "set_aside"), 1);
    size_t count = 0;
    icestream_hit *hits = run_folder_hits(&place, "long.hits.npy", &count);
    for (size_t i = 0; i < count; ++i) {
        ck_assert_uint_lt(hits[i].step_id, 4);
    }
    free(hits);
}
END_TEST

START_TEST(test_a_signal_returns_the_claims)
{
    put_long_file("long.steps.npy");
    put_long_file("longer.steps.npy");
    start_watching();
    char claimed[2 * SCRATCH_PATH];
    wait_for_file(claimed_path("longer.steps.npy", claimed));
    ck_assert_int_eq(stop_watching(), ICESTREAM_E_TERMINATED);
    ck_assert_int_ge(run_folder_files(&place, "left"), 1);
    ck_assert(run_folder_exists(place.steps, "longer.steps.npy"));
    ck_assert(!run_folder_exists(place.steps, ".icestream/claimed/w"));
}
END_TEST

/* ---- a full disk ----------------------------------------------------------------------------- */

/* Mounts a small file system at hits/ and fills it. Returns false, after a message, if this process
 * may not mount. */
static bool fill_disk(char filler[2 * SCRATCH_PATH])
{
    ck_assert_int_eq(mkdir(place.hits, 0777), 0);
    if (mount("tmpfs", place.hits, "tmpfs", 0, "size=256k") != 0) {
        test_skip("this test cannot mount a file system: %s", strerror(errno));
        return false;
    }
    service.has_disk = true;
    static const char zeros[4096];
    FILE *file = fopen(run_folder_path(place.hits, "filler", filler), "we");
    ck_assert_ptr_nonnull(file);
    setbuf(file, NULL);
    while (fwrite(zeros, 1, sizeof zeros, file) == sizeof zeros) {
    }
    ck_assert_int_eq(errno, ENOSPC);
    fclose(file);
    return true;
}

/* Begins a run with one step file that waits for room. Returns false if this process may not mount.
 */
static bool start_paused(char filler[2 * SCRATCH_PATH])
{
    place.options.summary_path = "/dev/null";
    if (!fill_disk(filler)) {
        return false;
    }
    run_folder_bright_steps(&place, "a.steps.npy", 0, 20, 100);
    start_watching();
    wait_for_event("paused", 1);
    return true;
}

START_TEST(test_full_disk_pauses)
{
    char filler[2 * SCRATCH_PATH], hits[2 * SCRATCH_PATH];
    if (fill_disk(filler)) {
        for (int i = 0; i < 5; ++i) {
            char name[32];
            snprintf(name, sizeof name, "%d.steps.npy", i);
            run_folder_bright_steps(&place, name, 0, 20, 100);
        }
        start_watching();
        wait_for_event("paused", 1);
        unlink(filler);
        wait_for_event("resumed", 1);
        wait_for_event("done", 5);
        wait_for_file(run_folder_path(place.hits, "4.hits.npy", hits));
        ck_assert_int_eq(stop_watching(), ICESTREAM_E_TERMINATED);
        ck_assert_int_eq(run_folder_files(&place, "done"), 5);
        ck_assert_int_eq(run_folder_files(&place, "left"), 0);
        ck_assert_int_eq(count_events("resumed"), count_events("paused"));
    }
}
END_TEST

START_TEST(test_a_signal_ends_a_pause)
{
    char filler[2 * SCRATCH_PATH];
    if (start_paused(filler)) {
        ck_assert_msg(stop_watching() == ICESTREAM_E_TERMINATED, "%s", place.error.text);
        ck_assert(run_folder_exists(place.steps, "a.steps.npy"));
        unlink(filler);
        ck_assert_int_eq(run_once(false), ICESTREAM_OK);
        ck_assert(run_folder_has_hits(&place, "a.hits.npy"));
    }
}
END_TEST

START_TEST(test_a_pause_ends_when_its_claim_is_lost)
{
    char filler[2 * SCRATCH_PATH];
    if (start_paused(filler)) {
        steal("a.steps.npy"); /* no file waits for room any more */
        wait_for_event("resumed", 1);
        wait_for_event("failed", 1);
        ck_assert_msg(stop_watching() == ICESTREAM_E_TERMINATED, "%s", place.error.text);
    }
}
END_TEST

/* The time limit comes before the first look. An empty folder is no work that is left. */
START_TEST(test_a_time_limit_leaves_no_work_in_an_empty_folder)
{
    place.options.time_limit = 1e-6;
    ck_assert_int_eq(run_once(true), ICESTREAM_OK);
    run_folder_bright_steps(&place, "a.steps.npy", 0, 20, 100);
    ck_assert_int_eq(run_once(true), ICESTREAM_E_UNFINISHED);
    ck_assert(run_folder_exists(place.steps, "a.steps.npy"));
}
END_TEST

ICS_TEST_MAIN("run_watch")
{
    TCase *tests = tcase_create("run_watch");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, test_claimed_files_become_hits_once);
    tcase_add_test(tests, test_worker_killed_after_its_hits);
    tcase_add_test(tests, test_hits_of_another_step_file_stay);
    tcase_add_test(tests, test_a_lost_claim_is_no_error);
    tcase_add_test(tests, test_hit_file_that_appears_during_the_run);
    tcase_add_test(tests, test_a_signal_returns_the_claims);
    tcase_add_test(tests, test_a_time_limit_leaves_no_work_in_an_empty_folder);
    tcase_add_test(tests, test_full_disk_pauses);
    tcase_add_test(tests, test_a_signal_ends_a_pause);
    tcase_add_test(tests, test_a_pause_ends_when_its_claim_is_lost);
    suite_add_tcase(suite, tests);
}
