/* Claims of processes that are killed: before every single system call of a script that does
 * everything, and at random moments while several work side by side. */
#include "tests/support/claims_folder.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static claims_folder place;

static void set_up(void)
{
    claims_folder_open(&place);
}

/* In memory, if there is such a folder: what is on the medium when is no matter to killed
 * processes, and hundreds of rounds that wait for it are. */
static void set_up_in_memory(void)
{
    if (access("/dev/shm", R_OK | W_OK | X_OK) == 0) {
        ck_assert_int_eq(setenv("TMPDIR", "/dev/shm", 1), 0);
    }
    set_up();
}

static void tear_down(void)
{
    claims_folder_close(&place);
}

static void *shared_memory(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(memory != MAP_FAILED);
    return memory;
}

/* ---- killed before every system call --------------------------------------------------------- */

/* What the script does with its files, and how far it came. */
enum { KEPT, MOVED, DELETED, FAILED, GIVEN_BACK, ADOPTED, SCRIPT_FILES };
static const char *const script_names[SCRIPT_FILES] = {"kept.npy",   "moved.npy", "deleted.npy",
                                                       "failed.npy", "given.npy", "adopted.npy"};

typedef struct script_progress {
    bool ended[SCRIPT_FILES]; /* the call that ends the work has returned */
    bool put;
} script_progress;

/* Six files, of which one is a dead worker's, and one that will be put. */
static void prepare_script(char put_path[SCRATCH_PATH])
{
    char path[CLAIMS_PATH];
    for (int i = 0; i < SCRIPT_FILES; ++i) {
        scratch_write(claims_path(&place, script_names[i], path), script_names[i],
                      strlen(script_names[i]));
    }
    scratch_write(scratch_path(&place.folder, "put.npy", put_path), "put.npy", 7);
    static const char *const folders[] = {"", "/claimed", "/claimed/dead"};
    for (size_t i = 0; i < 3; ++i) {
        char name[64], from[CLAIMS_PATH];
        snprintf(name, sizeof name, ".icestream%s", folders[i]);
        ck_assert_int_eq(mkdir(claims_path(&place, name, path), 0777), 0);
        if (i == 2) {
            ck_assert_int_eq(
                rename(claims_path(&place, "adopted.npy", from),
                       claims_path(&place, ".icestream/claimed/dead/1~adopted.npy", path)),
                0);
        }
    }
}

/* Runs in a process of its own. */
static void run_script(const char *put_path, volatile script_progress *progress)
{
    is_claims claims = claims_worker(&place, "script", 60);
    is_claim taken[SCRIPT_FILES];
    size_t count;
    ck_assert_int_eq(is_claims_take(&claims, SCRIPT_FILES, taken, &count, NULL), IS_OK);
    ck_assert_uint_eq(count, SCRIPT_FILES);
    ck_assert_int_eq(is_claims_extend(&claims, NULL, NULL), IS_OK);
    for (size_t i = 0; i < count; ++i) {
        static const is_after ways[] = {IS_AFTER_KEEP, IS_AFTER_MOVE, IS_AFTER_DELETE};
        int which = 0;
        while (strcmp(taken[i].name, script_names[which]) != 0) {
            which++;
        }
        bool held = which <= DELETED      ? claims_done(&claims, &taken[i], ways[which])
                    : which == FAILED     ? claims_fail(&claims, &taken[i], "bad")
                    : which == GIVEN_BACK ? claims_give_back(&claims, &taken[i])
                                          : claims_done(&claims, &taken[i], IS_AFTER_KEEP);
        ck_assert(held);
        progress->ended[which] = which != GIVEN_BACK;
    }
    ck_assert_int_eq(is_claims_put(&claims, put_path, NULL, NULL), IS_OK);
    progress->put = true;
    is_claims_destroy(&claims);
}

/* Lets the script go until it is about to make its n-th system call, and kills it there. False: it
 * has ended before, well. */
static bool kill_before_call(unsigned n, const char *put_path, bool as_nfs,
                             volatile script_progress *progress)
{
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        ck_assert(!as_nfs || claims_forbid_noreplace());
        ck_assert_int_eq(ptrace(PTRACE_TRACEME, 0, NULL, NULL), 0);
        ck_assert_int_eq(raise(SIGSTOP), 0);
        run_script(put_path, progress);
        _exit(0);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSTOPPED(status));
    /* Every call stops it twice: before and after. */
    for (unsigned stops = 0; stops < 2 * n - 1; ++stops) {
        ck_assert_int_eq(ptrace(PTRACE_SYSCALL, child, NULL, NULL), 0);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        if (!WIFSTOPPED(status)) {
            ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d", status);
            return false;
        }
    }
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status));
    return true;
}

/* Another worker finds everything that is left and moves it to done/. */
static void finish_after_crash(const script_progress *progress)
{
    if (claims_exists(&place, ".icestream/claimed/script/.lease")) {
        claims_age_lease(&place, "script", 100);
    }
    is_claims claims = claims_worker(&place, "heir", 60);
    is_claim claim;
    size_t count = 1;
    while (count > 0) {
        is_error error;
        ck_assert_msg(is_claims_take(&claims, 1, &claim, &count, &error) == IS_OK, "%s",
                      error.text);
        if (count == 0) {
            break;
        }
        for (int i = 0; i < SCRIPT_FILES; ++i) {
            ck_assert_msg(!progress->ended[i] || strcmp(claim.name, script_names[i]) != 0,
                          "%s is done twice", claim.name);
        }
        ck_assert(claims_done(&claims, &claim, IS_AFTER_MOVE));
    }
    is_claims_destroy(&claims);
}

/* Every file is at exactly one place, whole. */
static void check_places(const script_progress *progress, const char *put_path)
{
    ck_assert_uint_eq(claims_count(&place, ".icestream/claimed"), 0);
    ck_assert_uint_eq(claims_count(&place, ".icestream/locks"), 0);
    for (int i = 0; i < SCRIPT_FILES; ++i) {
        static const char *const folders[] = {"", ".icestream/done/", "quarantine/"};
        char name[SCRATCH_PATH];
        unsigned places = 0;
        for (size_t j = 0; j < 3; ++j) {
            snprintf(name, sizeof name, "%s%s", folders[j], script_names[i]);
            if (claims_exists(&place, name)) {
                claims_assert_text(&place, name, script_names[i]);
                places++;
            }
            snprintf(name, sizeof name, "%s%s.2", folders[j], script_names[i]);
            ck_assert_msg(!claims_exists(&place, name), "%s", name);
        }
        bool gone = i == DELETED && places == 0; /* unlinked, perhaps before the call returned */
        ck_assert_msg(places == 1 || gone, "%s is at %u places", script_names[i], places);
        bool kept = (i == KEPT || i == ADOPTED) && progress->ended[i];
        ck_assert(!kept || claims_exists(&place, script_names[i]));
    }
    if (claims_exists(&place, "quarantine/failed.npy")) {
        claims_assert_text(&place, "quarantine/failed.npy.reason", "bad\n");
    }
    bool put = access(put_path, F_OK) != 0;
    ck_assert(put || !progress->put);
    ck_assert_int_eq(claims_exists(&place, ".icestream/done/put.npy"), put);
}

static void kill_everywhere(bool as_nfs)
{
    script_progress *progress = shared_memory(sizeof *progress);
    bool killed = true;
    unsigned calls = 0;
    while (killed) {
        claims_folder_close(&place);
        claims_folder_open(&place);
        char put_path[SCRATCH_PATH];
        prepare_script(put_path);
        *progress = (script_progress){.put = false};
        killed = kill_before_call(++calls, put_path, as_nfs, progress);
        /* Where link and unlink do what one rename does elsewhere, the file that is to be put may
         * be left with both names, of which only that in the folder counts. */
        struct stat about;
        if (as_nfs && stat(put_path, &about) == 0 && about.st_nlink == 2) {
            ck_assert_int_eq(unlink(put_path), 0);
        }
        finish_after_crash(progress);
        check_places(progress, put_path);
    }
    /* The script was never cut short: it has made as many calls as there were rounds. */
    printf("killed before each of %u system calls\n", calls - 1);
    ck_assert_uint_gt(calls, 100);
    ck_assert(progress->put);
    ck_assert_int_eq(munmap(progress, sizeof *progress), 0);
}

START_TEST(test_killed_before_every_call)
{
    kill_everywhere(false);
}
END_TEST

START_TEST(test_killed_before_every_call_as_on_nfs)
{
    kill_everywhere(true);
}
END_TEST

/* ---- several at work, killed and stopped at random ------------------------------------------- */

enum { WORKERS = 4, FILES = 240, EVENTS = 60 };
static const double short_lease = 0.3; /* s */

typedef struct file_record {
    _Atomic unsigned begun;    /* times that a worker got it */
    _Atomic unsigned finished; /* times that a worker was told that it was his when he ended it */
} file_record;

typedef struct crowd {
    file_record files[FILES];
    _Atomic bool all_there; /* no more files come */
    _Atomic unsigned lost;  /* claims that `holds` denied */
} crowd;

static crowd *shared;

static void name_file(char name[32], unsigned number)
{
    snprintf(name, 32, "%03u.npy", number);
}

static void pause_ms(double ms)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)(1e6 * ms)}, NULL);
}

static void work_on(const is_claims *claims, is_claim *claim, is_after after, uint64_t *random)
{
    file_record *record = &shared->files[atoi(claim->name)];
    ck_assert_ptr_null(claim->refusal);
    ck_assert_int_eq(is_claims_extend(claims, NULL, NULL), IS_OK);
    atomic_fetch_add(&record->begun, 1);
    pause_ms(test_between(random, 0.0, 30.0));
    /* What holds says is what the end finds, unless the worker is stopped between the two, or was
     * silent before: so the other way round is what cannot be. */
    bool held = claims_hold(claims, claim);
    struct stat about;
    ck_assert(held || lstat(claim->path, &about) != 0);
    bool ended = claims_done(claims, claim, after);
    ck_assert(held || !ended);
    atomic_fetch_add(&shared->lost, held ? 0 : 1);
    atomic_fetch_add(&record->finished, ended ? 1 : 0);
}

/* Works until there is nothing left anywhere, in a process of its own. */
static void be_worker(unsigned number, unsigned life, is_after after)
{
    char name[64];
    uint64_t random = 1 + 1000 * number + life;
    /* Half of them come back under their name, half as somebody else. */
    snprintf(name, sizeof name, number % 2 == 0 ? "worker-%u" : "worker-%u-%u", number, life);
    is_claims claims = claims_worker(&place, name, short_lease);
    for (;;) {
        bool all_there = atomic_load(&shared->all_there);
        is_claim taken[3];
        is_error error;
        size_t count;
        ck_assert_msg(is_claims_take(&claims, 3, taken, &count, &error) == IS_OK, "%s", error.text);
        for (size_t i = 0; i < count; ++i) {
            work_on(&claims, &taken[i], after, &random);
        }
        is_claims_counts counts;
        ck_assert_int_eq(is_claims_stat(&claims, &counts, &error), IS_OK);
        if (all_there && counts.waiting + counts.mine + counts.others == 0) {
            break;
        }
        pause_ms(count == 0 ? 5.0 : 0.0);
    }
    is_claims_destroy(&claims);
}

static pid_t start_worker(unsigned number, unsigned life, is_after after)
{
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        be_worker(number, life, after);
        _exit(0);
    }
    return child;
}

/* Drops the files one by one, as another program does. */
static pid_t start_producer(void)
{
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        for (unsigned i = 0; i < FILES; ++i) {
            char name[32], part[64], from[CLAIMS_PATH], to[CLAIMS_PATH];
            name_file(name, i);
            snprintf(part, sizeof part, "%s.part", name);
            scratch_write(claims_path(&place, part, from), name, strlen(name));
            ck_assert_int_eq(rename(from, claims_path(&place, name, to)), 0);
            pause_ms(8.0);
        }
        atomic_store(&shared->all_there, true);
        _exit(0);
    }
    return child;
}

static void wait_for_good_end(pid_t child)
{
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d", status);
}

/* A worker is killed and comes back, or is stopped for longer than its lease. The pauses are those
 * of a storm, nothing depends on how long they really are. */
static void disturb(pid_t workers[WORKERS], unsigned lives[WORKERS], uint64_t *random,
                    is_after after)
{
    unsigned which = (unsigned)(test_word(random) % WORKERS);
    int status = 0;
    if (waitpid(workers[which], &status, WNOHANG) != 0) {
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d", status);
        workers[which] = start_worker(which, ++lives[which], after); /* all was done for a while */
        return;
    }
    if (test_uniform(random) < 0.2) {
        ck_assert_int_eq(kill(workers[which], SIGSTOP), 0);
        pause_ms(1000.0 * short_lease * test_between(random, 0.8, 2.5));
        ck_assert_int_eq(kill(workers[which], SIGCONT), 0);
        return;
    }
    ck_assert_int_eq(kill(workers[which], SIGKILL), 0);
    ck_assert_int_eq(waitpid(workers[which], &status, 0), workers[which]);
    workers[which] = start_worker(which, ++lives[which], after);
}

static void run_crowd(is_after after, uint64_t seed)
{
    shared = shared_memory(sizeof *shared);
    pid_t workers[WORKERS];
    unsigned lives[WORKERS] = {0};
    uint64_t random = seed;
    pid_t producer = start_producer();
    for (unsigned i = 0; i < WORKERS; ++i) {
        workers[i] = start_worker(i, 0, after);
    }
    for (unsigned i = 0; i < EVENTS; ++i) {
        pause_ms(test_between(&random, 0.0, 40.0));
        disturb(workers, lives, &random, after);
    }
    wait_for_good_end(producer);
    for (unsigned i = 0; i < WORKERS; ++i) {
        wait_for_good_end(workers[i]);
    }
}

static void check_crowd(is_after after)
{
    static const char *const folders[] = {"", ".icestream/done/", NULL};
    unsigned begun = 0;
    for (unsigned i = 0; i < FILES; ++i) {
        char name[32], path[64];
        const file_record *record = &shared->files[i];
        name_file(name, i);
        /* Whoever was killed right after the end could not write it down. */
        ck_assert_msg(record->finished <= 1, "%s was finished %u times", name, record->finished);
        ck_assert_msg(record->begun >= 1, "%s was never begun", name);
        begun += record->begun;
        for (int way = 0; folders[way] != NULL; ++way) {
            snprintf(path, sizeof path, "%s%s", folders[way], name);
            ck_assert_msg(claims_exists(&place, path) == (way == (int)after), "%s", path);
        }
    }
    printf("%u files were begun %u times, %u claims were lost\n", FILES, begun, shared->lost);
    ck_assert_uint_eq(claims_count(&place, ".icestream/done"), after == IS_AFTER_MOVE ? FILES : 0);
    ck_assert_uint_eq(claims_count(&place, "quarantine"), 0);
    /* Folders of those who were killed at the end, when there was nothing more to take over. */
    is_claims claims = claims_worker(&place, "last", short_lease);
    while (claims_count(&place, ".icestream/claimed") > 1 ||
           claims_count(&place, ".icestream/locks") > 1) {
        claims_take_none(&claims);
        pause_ms(10.0);
    }
    claims_assert_counts(&claims, (is_claims_counts){.done = after == IS_AFTER_DELETE ? 0 : FILES});
    is_claims_destroy(&claims);
    ck_assert_uint_eq(claims_count(&place, ".icestream/claimed"), 0);
    ck_assert_uint_eq(claims_count(&place, ".icestream/locks"), 0);
    ck_assert_int_eq(munmap(shared, sizeof *shared), 0);
}

START_TEST(test_crowd)
{
    const is_after after = (is_after)_i;
    run_crowd(after, 77 + (uint64_t)_i);
    check_crowd(after);
}
END_TEST

static Suite *crash_suite(void)
{
    Suite *suite = suite_create("claims and crashes");
    TCase *calls = tcase_create("every call"), *crowds = tcase_create("crowd");
    tcase_set_timeout(calls, 600);
    tcase_add_checked_fixture(calls, set_up_in_memory, tear_down);
    tcase_add_test(calls, test_killed_before_every_call);
    tcase_add_test(calls, test_killed_before_every_call_as_on_nfs);
    suite_add_tcase(suite, calls);
    tcase_set_timeout(crowds, 600);
    tcase_add_checked_fixture(crowds, set_up, tear_down);
    tcase_add_loop_test(crowds, test_crowd, IS_AFTER_KEEP, IS_AFTER_DELETE + 1);
    suite_add_tcase(suite, crowds);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(crash_suite());
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
