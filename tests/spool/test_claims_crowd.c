/* Promises of claims.h for many workers: several workers share one folder, and are killed and
 * stopped at random while files arrive. No file is lost, and none is finished twice. How to join: a
 * new kind of disturbance goes into disturb(). */
#include "tests/spool/claims_place.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 4, FILES = 240, EVENTS = 60 };
static const double short_lease = 0.3; /* s */

typedef struct file_record {
    _Atomic unsigned begun;    /* how often a worker claimed it */
    _Atomic unsigned finished; /* how often the end of a claim returned *held true */
} file_record;

typedef struct crowd {
    file_record files[FILES];
    _Atomic bool all_there; /* all files have arrived */
    _Atomic unsigned lost;  /* claims for which ics_claims_holds() returned false */
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

static void work_on(const ics_claims *claims, ics_claim *claim, ics_after after, uint64_t *random)
{
    file_record *record = &shared->files[atoi(claim->name)];
    ck_assert_ptr_null(claim->refusal);
    ck_assert_int_eq(ics_claims_extend(claims, NULL, NULL), ICESTREAM_OK);
    atomic_fetch_add(&record->begun, 1);
    pause_ms(test_between(random, 0.0, 30.0));
    /* Between ics_claims_holds() and ics_claims_done() the worker may be stopped and lose its
     * claim. But a claim that was lost before cannot be ended. */
    bool held = claims_hold(claims, claim);
    struct stat about;
    ck_assert(held || lstat(claim->path, &about) != 0);
    bool ended = claims_done(claims, claim, after);
    ck_assert(held || !ended);
    atomic_fetch_add(&shared->lost, held ? 0 : 1);
    atomic_fetch_add(&record->finished, ended ? 1 : 0);
}

/* A worker in a child process: works until no file is left anywhere. */
static void be_worker(unsigned number, unsigned life, ics_after after)
{
    char name[64];
    uint64_t random = 1 + 1000 * number + life;
    /* Half of the workers start again with the same name, half with another name. */
    snprintf(name, sizeof name, number % 2 == 0 ? "worker-%u" : "worker-%u-%u", number, life);
    ics_claims claims = claims_worker(&place, name, short_lease);
    for (;;) {
        bool all_there = atomic_load(&shared->all_there);
        ics_claim taken[3];
        icestream_error error;
        size_t count;
        ck_assert_msg(ics_claims_take(&claims, 3, taken, &count, &error) == ICESTREAM_OK, "%s",
                      error.text);
        for (size_t i = 0; i < count; ++i) {
            work_on(&claims, &taken[i], after, &random);
        }
        ics_claims_counts counts;
        ck_assert_int_eq(ics_claims_stat(&claims, &counts, &error), ICESTREAM_OK);
        if (all_there && counts.waiting + counts.mine + counts.others == 0) {
            break;
        }
        pause_ms(count == 0 ? 5.0 : 0.0);
    }
    ics_claims_destroy(&claims);
}

static pid_t start_worker(unsigned number, unsigned life, ics_after after)
{
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        be_worker(number, life, after);
        _exit(0);
    }
    return child;
}

/* Adds the files one by one, as another program does. */
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

/* Kills a worker and starts it again, or stops it for longer than its lease. The pauses are random;
 * the result does not depend on their lengths. */
static void disturb(pid_t workers[WORKERS], unsigned lives[WORKERS], uint64_t *random,
                    ics_after after)
{
    unsigned which = (unsigned)(test_word(random) % WORKERS);
    int status = 0;
    if (waitpid(workers[which], &status, WNOHANG) != 0) {
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d", status);
        /* It had ended because all files were done. */
        workers[which] = start_worker(which, ++lives[which], after);
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

static void run_crowd(ics_after after, uint64_t seed)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(shared != MAP_FAILED);
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

static void check_crowd(ics_after after)
{
    static const char *const folders[] = {"", ".icestream/done/", NULL};
    unsigned begun = 0;
    for (unsigned i = 0; i < FILES; ++i) {
        char name[32], path[64];
        const file_record *record = &shared->files[i];
        name_file(name, i);
        /* A worker that was killed right after the end of a claim could not count it. */
        ck_assert_msg(record->finished <= 1, "%s was finished %u times", name, record->finished);
        ck_assert_msg(record->begun >= 1, "%s was never begun", name);
        begun += record->begun;
        for (int way = 0; folders[way] != NULL; ++way) {
            snprintf(path, sizeof path, "%s%s", folders[way], name);
            ck_assert_msg(claims_exists(&place, path) == (way == (int)after), "%s", path);
        }
    }
    printf("%u files were begun %u times, %u claims were lost\n", FILES, begun, shared->lost);
    ck_assert_uint_eq(claims_count(&place, ".icestream/done"), after == ICS_AFTER_MOVE ? FILES : 0);
    ck_assert_uint_eq(claims_count(&place, "quarantine"), 0);
    /* Removes folders of workers that were killed when no file was left to take over. */
    ics_claims claims = claims_worker(&place, "last", short_lease);
    while (claims_count(&place, ".icestream/claimed") > 1 ||
           claims_count(&place, ".icestream/locks") > 1) {
        claims_take_none(&claims);
        pause_ms(10.0);
    }
    claims_assert_counts(&claims,
                         (ics_claims_counts){.done = after == ICS_AFTER_DELETE ? 0 : FILES});
    ics_claims_destroy(&claims);
    ck_assert_uint_eq(claims_count(&place, ".icestream/claimed"), 0);
    ck_assert_uint_eq(claims_count(&place, ".icestream/locks"), 0);
    ck_assert_int_eq(munmap(shared, sizeof *shared), 0);
}

START_TEST(test_crowd)
{
    const ics_after after = (ics_after)_i;
    run_crowd(after, 77 + (uint64_t)_i);
    check_crowd(after);
}
END_TEST

ICS_TEST_MAIN("claims of many")
{
    TCase *tests = tcase_create("crowd");
    tcase_add_checked_fixture(tests, open_place, close_place);
    tcase_add_loop_test(tests, test_crowd, ICS_AFTER_KEEP, ICS_AFTER_DELETE + 1);
    suite_add_tcase(suite, tests);
}
