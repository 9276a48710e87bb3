/* icestream_run on a folder of claimed files: results of the files, lost claims, and a disk that is
 * full for a while. */
#include "pipeline/icestream.h"
#include "tests/support/run_folder.h"
#include "tests/support/test_main.h"

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

enum { PATIENCE = 20000 /* times 10 ms, for what takes less than seconds */ };

/* A run in a thread; steps/ is the folder that it claims from. */
typedef struct service {
    run_folder place;
    const char *sets[4]; /* more settings, up to a NULL */
    char journal[SCRATCH_PATH];
    pthread_t thread;
    int status;
} service;

static void open_service(service *made)
{
    *made = (service){.place = run_folder_open()};
    scratch_path(&made->place.folder, "journal", made->journal);
}

static int run_once(service *made, bool watch)
{
    char source[2 * SCRATCH_PATH], sink[2 * SCRATCH_PATH], journal[2 * SCRATCH_PATH];
    snprintf(source, sizeof source, "source.directory=%s", made->place.steps);
    snprintf(sink, sizeof sink, "sink.directory=%s", made->place.hits);
    snprintf(journal, sizeof journal, "sink.journal=%s", made->journal);
    const char *all[16] = {source,
                           sink,
                           journal,
                           "source.worker=w",
                           "source.scan=0.1",
                           "device.backend=cpu",
                           "device.threads=2",
                           watch ? "source.watch=true" : "source.watch=false"};
    size_t count = 8;
    for (size_t i = 0; made->sets[i] != NULL; ++i) {
        all[count++] = made->sets[i];
    }
    icestream_config *config = NULL;
    ck_assert_msg(icestream_config_load(NULL, all, count, &config, &made->place.error) ==
                      ICESTREAM_OK,
                  "%s", made->place.error.text);
    int status = icestream_run(config, &made->place.options, &made->place.error);
    icestream_config_destroy(config);
    return status;
}

static void *watch(void *user)
{
    service *made = user;
    made->status = run_once(made, true);
    return NULL;
}

static void start_watching(service *made)
{
    ck_assert_int_eq(pthread_create(&made->thread, NULL, watch, made), 0);
}

static int stop_watching(service *made)
{
    ck_assert_int_eq(pthread_kill(made->thread, SIGTERM), 0);
    ck_assert_int_eq(pthread_join(made->thread, NULL), 0);
    return made->status;
}

static void wait_a_moment(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

static void wait_for_file(const char *path)
{
    struct stat about;
    for (int tries = 0; lstat(path, &about) != 0; ++tries) {
        ck_assert_msg(tries < PATIENCE, "%s does not come", path);
        wait_a_moment();
    }
}

/* Lines of the journal that have this event. */
static int count_events(const service *made, const char *event)
{
    char line[16384], wanted[64];
    int count = 0;
    snprintf(wanted, sizeof wanted, "\"event\":\"%s\"", event);
    FILE *file = fopen(made->journal, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        count += strstr(line, wanted) != NULL;
    }
    if (file != NULL) {
        fclose(file);
    }
    return count;
}

static void wait_for_event(const service *made, const char *event, int count)
{
    for (int tries = 0; count_events(made, event) < count; ++tries) {
        ck_assert_msg(tries < PATIENCE, "%s does not come", event);
        wait_a_moment();
    }
}

/* The path of a file that the worker claimed for the first time. */
static const char *claimed_path(const service *made, const char *name, char path[2 * SCRATCH_PATH])
{
    snprintf(path, 2 * SCRATCH_PATH, "%s/.icestream/claimed/w/1~%s", made->place.steps, name);
    return path;
}

/* Moves the claims of this worker away, as another worker does that found them expired. */
static void steal(const service *made, const char *name)
{
    char from[2 * SCRATCH_PATH], to[SCRATCH_PATH];
    claimed_path(made, name, from);
    wait_for_file(from);
    ck_assert_int_eq(rename(from, scratch_path(&made->place.folder, "stolen", to)), 0);
}

static json_int_t counted(const service *made, const char *name)
{
    json_t *summary = run_folder_summary(&made->place);
    json_int_t count = run_folder_count(summary, "file_counts", name);
    json_decref(summary);
    return count;
}

static bool exists(const char *folder, const char *name)
{
    char path[2 * SCRATCH_PATH];
    return access(run_folder_path(folder, name, path), F_OK) == 0;
}

/* Makes a file that takes long to compute, so that the test can act meanwhile. */
static void put_long_file(const service *made, const char *name)
{
    run_folder_bright_steps(&made->place, name, 0, 400, 10000);
}

/* ---- tests ----------------------------------------------------------------------------------- */

START_TEST(test_claimed_files_become_hits_once)
{
    service made;
    open_service(&made);
    for (int i = 0; i < 20; ++i) {
        char name[32];
        snprintf(name, sizeof name, "%02d.steps.npy", i);
        run_folder_bright_steps(&made.place, name, 0, 4, 100);
    }
    char path[2 * SCRATCH_PATH];
    scratch_write(run_folder_path(made.place.steps, "bad.steps.npy", path), "bad", 3);
    ck_assert_msg(run_once(&made, false) == ICESTREAM_E_INPUT, "%s", made.place.error.text);
    ck_assert(run_folder_has_hits(&made.place, "00.hits.npy"));
    ck_assert(run_folder_has_hits(&made.place, "19.hits.npy"));
    ck_assert(exists(made.place.hits, "quarantine/bad.steps.npy"));
    ck_assert(exists(made.place.hits, "quarantine/bad.steps.npy.reason"));
    ck_assert_int_eq(counted(&made, "done"), 20);
    ck_assert_int_eq(counted(&made, "set_aside"), 1);
    ck_assert_int_eq(counted(&made, "left"), 0);
    ck_assert_int_eq(count_events(&made, "claimed"), 21);
    ck_assert_int_eq(count_events(&made, "done"), 20);
    ck_assert_int_eq(count_events(&made, "quarantined"), 1);
    /* They are where they were, with marks. */
    ck_assert(exists(made.place.steps, "00.steps.npy"));
    ck_assert_int_eq(run_once(&made, false), ICESTREAM_OK);
    ck_assert_int_eq(counted(&made, "done"), 0);
    ck_assert_int_eq(count_events(&made, "claimed"), 21);
    run_folder_close(&made.place);
}
END_TEST

START_TEST(test_finished_by_somebody_who_was_killed)
{
    service made;
    open_service(&made);
    run_folder_bright_steps(&made.place, "a.steps.npy", 0, 4, 100);
    ck_assert_int_eq(run_once(&made, false), ICESTREAM_OK);
    /* Without the mark it looks as if he came to the hits only. */
    char path[2 * SCRATCH_PATH];
    ck_assert_int_eq(
        unlink(run_folder_path(made.place.steps, ".icestream/marks/a.steps.npy", path)), 0);
    made.sets[0] = "source.after=delete";
    ck_assert_int_eq(run_once(&made, false), ICESTREAM_OK);
    ck_assert_int_eq(counted(&made, "skipped"), 1);
    ck_assert_int_eq(count_events(&made, "done"), 1);
    ck_assert_int_eq(count_events(&made, "skipped"), 1);
    ck_assert(!exists(made.place.steps, "a.steps.npy"));
    run_folder_close(&made.place);
}
END_TEST

START_TEST(test_hits_of_another_input_stay)
{
    service made;
    open_service(&made);
    run_folder_bright_steps(&made.place, "a.steps.npy", 0, 4, 100);
    ck_assert_int_eq(run_once(&made, false), ICESTREAM_OK);
    char path[2 * SCRATCH_PATH];
    size_t size = 0, after_size = 0;
    unsigned char *before =
        scratch_read(run_folder_path(made.place.hits, "a.hits.npy", path), &size);
    run_folder_bright_steps(&made.place, "a.steps.npy", 7, 4, 100);
    ck_assert_int_eq(run_once(&made, false), ICESTREAM_E_INPUT);
    unsigned char *after = scratch_read(path, &after_size);
    ck_assert_uint_eq(size, after_size);
    ck_assert_mem_eq(before, after, size);
    free(before);
    free(after);
    ck_assert(exists(made.place.hits, "quarantine/a.steps.npy.reason"));
    run_folder_close(&made.place);
}
END_TEST

START_TEST(test_lost_claim_is_no_fault)
{
    service made;
    open_service(&made);
    put_long_file(&made, "long.steps.npy");
    start_watching(&made);
    steal(&made, "long.steps.npy");
    wait_for_event(&made, "failed", 1);
    /* The worker goes on, and a new file of that name is new work for it. */
    run_folder_bright_steps(&made.place, "long.steps.npy", 0, 4, 100);
    wait_for_event(&made, "done", 1);
    ck_assert_msg(stop_watching(&made) == ICESTREAM_E_TERMINATED, "%s", made.place.error.text);
    ck_assert_int_eq(counted(&made, "lost"), 1);
    ck_assert_int_eq(counted(&made, "done"), 1);
    ck_assert_int_eq(counted(&made, "set_aside"), 0);
    ck_assert_int_eq(counted(&made, "left"), 0);
    ck_assert(!exists(made.place.hits, "quarantine"));
    run_folder_close(&made.place);
}
END_TEST

START_TEST(test_output_that_came_meanwhile)
{
    service made;
    open_service(&made);
    run_folder_bright_steps(&made.place, "other.steps.npy", 0, 4, 100);
    ck_assert_int_eq(run_once(&made, false), ICESTREAM_OK);
    put_long_file(&made, "long.steps.npy");
    start_watching(&made);
    char claimed[2 * SCRATCH_PATH], from[2 * SCRATCH_PATH], to[2 * SCRATCH_PATH];
    wait_for_file(claimed_path(&made, "long.steps.npy", claimed));
    /* Whether it is found when the file is checked or when its hits are written: the file is set
     * aside, what is there stays, and the run goes on. */
    ck_assert_int_eq(rename(run_folder_path(made.place.hits, "other.hits.npy", from),
                            run_folder_path(made.place.hits, "long.hits.npy", to)),
                     0);
    wait_for_event(&made, "quarantined", 1);
    run_folder_bright_steps(&made.place, "next.steps.npy", 0, 4, 100);
    char next[2 * SCRATCH_PATH];
    wait_for_file(run_folder_path(made.place.hits, "next.hits.npy", next));
    ck_assert_msg(stop_watching(&made) == ICESTREAM_E_TERMINATED, "%s", made.place.error.text);
    ck_assert_int_eq(counted(&made, "set_aside"), 1);
    size_t count = 0;
    icestream_hit *hits = run_folder_hits(&made.place, "long.hits.npy", &count);
    for (size_t i = 0; i < count; ++i) {
        ck_assert_uint_lt(hits[i].step_id, 4);
    }
    free(hits);
    run_folder_close(&made.place);
}
END_TEST

START_TEST(test_signal_gives_claims_back)
{
    service made;
    open_service(&made);
    put_long_file(&made, "long.steps.npy");
    put_long_file(&made, "longer.steps.npy");
    start_watching(&made);
    char claimed[2 * SCRATCH_PATH];
    wait_for_file(claimed_path(&made, "longer.steps.npy", claimed));
    ck_assert_int_eq(stop_watching(&made), ICESTREAM_E_TERMINATED);
    ck_assert_int_ge(counted(&made, "left"), 1);
    ck_assert(exists(made.place.steps, "longer.steps.npy"));
    ck_assert(!exists(made.place.steps, ".icestream/claimed/w"));
    run_folder_close(&made.place);
}
END_TEST

/* ---- a full disk ----------------------------------------------------------------------------- */

/* Makes hits/ a small file system of its own and fills it. False, with a message: not allowed. */
static bool fill_disk(service *made, char filler[2 * SCRATCH_PATH])
{
    ck_assert_int_eq(mkdir(made->place.hits, 0777), 0);
    if (mount("tmpfs", made->place.hits, "tmpfs", 0, "size=256k") != 0) {
        printf("no file system can be mounted: %s; the test of full disks is left out\n",
               strerror(errno));
        return false;
    }
    static const char zeros[4096];
    FILE *file = fopen(run_folder_path(made->place.hits, "filler", filler), "we");
    ck_assert_ptr_nonnull(file);
    setbuf(file, NULL);
    while (fwrite(zeros, 1, sizeof zeros, file) == sizeof zeros) {
    }
    ck_assert_int_eq(errno, ENOSPC);
    fclose(file);
    return true;
}

static void close_disk(service *made)
{
    umount2(made->place.hits, MNT_DETACH);
    run_folder_close(&made->place);
}

START_TEST(test_full_disk_pauses)
{
    service made;
    char filler[2 * SCRATCH_PATH], hits[2 * SCRATCH_PATH];
    open_service(&made);
    if (fill_disk(&made, filler)) {
        for (int i = 0; i < 5; ++i) {
            char name[32];
            snprintf(name, sizeof name, "%d.steps.npy", i);
            run_folder_bright_steps(&made.place, name, 0, 20, 100);
        }
        start_watching(&made);
        wait_for_event(&made, "paused", 1);
        unlink(filler);
        wait_for_event(&made, "resumed", 1);
        wait_for_event(&made, "done", 5);
        wait_for_file(run_folder_path(made.place.hits, "4.hits.npy", hits));
        ck_assert_int_eq(stop_watching(&made), ICESTREAM_E_TERMINATED);
        ck_assert_int_eq(counted(&made, "done"), 5);
        ck_assert_int_eq(counted(&made, "left"), 0);
        ck_assert_int_eq(count_events(&made, "resumed"), count_events(&made, "paused"));
    }
    close_disk(&made);
}
END_TEST

START_TEST(test_signal_in_a_pause)
{
    service made;
    char filler[2 * SCRATCH_PATH];
    open_service(&made);
    made.place.options.summary_path = "/dev/null";
    if (fill_disk(&made, filler)) {
        run_folder_bright_steps(&made.place, "a.steps.npy", 0, 20, 100);
        start_watching(&made);
        wait_for_event(&made, "paused", 1);
        ck_assert_msg(stop_watching(&made) == ICESTREAM_E_TERMINATED, "%s", made.place.error.text);
        ck_assert(exists(made.place.steps, "a.steps.npy"));
        unlink(filler);
        ck_assert_int_eq(run_once(&made, false), ICESTREAM_OK);
        ck_assert(run_folder_has_hits(&made.place, "a.hits.npy"));
    }
    close_disk(&made);
}
END_TEST

START_TEST(test_pause_ends_with_who_caused_it)
{
    service made;
    char filler[2 * SCRATCH_PATH];
    open_service(&made);
    made.place.options.summary_path = "/dev/null";
    if (fill_disk(&made, filler)) {
        run_folder_bright_steps(&made.place, "a.steps.npy", 0, 20, 100);
        start_watching(&made);
        wait_for_event(&made, "paused", 1);
        steal(&made, "a.steps.npy"); /* nobody waits for room any more */
        wait_for_event(&made, "resumed", 1);
        wait_for_event(&made, "failed", 1);
        ck_assert_msg(stop_watching(&made) == ICESTREAM_E_TERMINATED, "%s", made.place.error.text);
    }
    close_disk(&made);
}
END_TEST

START_TEST(test_fail_fast)
{
    service made;
    char filler[2 * SCRATCH_PATH];
    open_service(&made);
    made.place.options.summary_path = "/dev/null";
    made.place.options.fail_fast = true;
    if (fill_disk(&made, filler)) {
        run_folder_bright_steps(&made.place, "a.steps.npy", 0, 20, 100);
        ck_assert_int_eq(run_once(&made, true), ICESTREAM_E_OUTPUT);
        ck_assert_ptr_nonnull(strstr(made.place.error.text, "No space left"));
        ck_assert_int_eq(count_events(&made, "paused"), 0);
        ck_assert(exists(made.place.steps, "a.steps.npy"));
    }
    close_disk(&made);
}
END_TEST

ICS_TEST_MAIN("run_watch")
{
    TCase *tests = tcase_create("run_watch");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, test_claimed_files_become_hits_once);
    tcase_add_test(tests, test_finished_by_somebody_who_was_killed);
    tcase_add_test(tests, test_hits_of_another_input_stay);
    tcase_add_test(tests, test_lost_claim_is_no_fault);
    tcase_add_test(tests, test_output_that_came_meanwhile);
    tcase_add_test(tests, test_signal_gives_claims_back);
    tcase_add_test(tests, test_full_disk_pauses);
    tcase_add_test(tests, test_signal_in_a_pause);
    tcase_add_test(tests, test_pause_ends_with_who_caused_it);
    tcase_add_test(tests, test_fail_fast);
    suite_add_tcase(suite, tests);
}
