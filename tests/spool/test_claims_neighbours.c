/* Promises of claims.h for workers of one machine: when the process of a worker has ended, another
 * worker takes over its files at once, and not when it cannot know that. A lease that is dated in
 * the future keeps no file. The other worker is a child process, which waits until it is killed.
 * How to join: see claims_place.h. */
#include "tests/spool/claims_place.h"

#include <check.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LEASE = 3600 }; /* s: longer than any test */

/* Starts a process with a worker `one`, which holds a.npy. */
static pid_t start_one(void)
{
    int ready[2];
    char byte = 0;
    claims_add(&place, "a.npy", "a");
    ck_assert_int_eq(pipe(ready), 0);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        ics_claims one = claims_worker(&place, "one", LEASE);
        claims_take(&one, "a.npy");
        ssize_t put = write(ready[1], "x", 1);
        while (put == 1) {
            pause();
        }
        _exit(1);
    }
    close(ready[1]);
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return child;
}

static void kill_one(pid_t child)
{
    int status = 0;
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
}

/* Replaces a text in the lease of `one`. */
static void change_lease(const char *key, json_t *value)
{
    char path[CLAIMS_PATH];
    claims_path(&place, ".icestream/claimed/one/.lease", path);
    json_t *lease = json_load_file(path, 0, NULL);
    ck_assert_int_eq(json_object_set_new(lease, key, value), 0);
    ck_assert_int_eq(json_dump_file(lease, path, 0), 0);
    json_decref(lease);
}

START_TEST(test_files_of_a_killed_neighbour)
{
    ics_claims two = claims_worker(&place, "two", LEASE);
    const pid_t child = start_one();
    claims_take_none(&two); /* `one` lives */
    kill_one(child);
    ics_claim claim = claims_take(&two, "a.npy");
    ck_assert_uint_eq(claim.attempt, 2);
    ck_assert(claims_done(&two, &claim, ICS_AFTER_DELETE));
    claims_take_none(&two);
    ck_assert(!claims_exists(&place, ".icestream/claimed/one"));
    ics_claims_destroy(&two);
}
END_TEST

/* A zombie is a process that has ended. Its number cannot be used again before its parent has
 * waited for it. */
START_TEST(test_a_zombie_has_ended)
{
    ics_claims two = claims_worker(&place, "two", LEASE);
    const pid_t child = start_one();
    siginfo_t about;
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitid(P_PID, (id_t)child, &about, WEXITED | WNOWAIT), 0);
    ics_claim claim = claims_take(&two, "a.npy");
    ck_assert(claims_done(&two, &claim, ICS_AFTER_DELETE));
    ics_claims_destroy(&two);
    waitpid(child, NULL, 0);
}
END_TEST

/* The number of the process belongs to another process by now. */
START_TEST(test_a_number_that_is_used_again)
{
    const pid_t child = start_one();
    kill_one(child);
    change_lease("pid", json_integer(getpid()));
    change_lease("start", json_integer(1));
    ics_claims two = claims_worker(&place, "two", LEASE);
    ics_claim claim = claims_take(&two, "a.npy");
    ck_assert(claims_done(&two, &claim, ICS_AFTER_DELETE));
    ics_claims_destroy(&two);
}
END_TEST

/* In another PID namespace or after another boot the number says nothing, and the lease decides. */
START_TEST(test_a_process_of_another_space)
{
    static const char *const spaces[] = {"", "0000 pid:[1] time:[2]"};
    const pid_t child = start_one();
    kill_one(child);
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; ++i) {
        change_lease("space", json_string(spaces[i]));
        ics_claims two = claims_worker(&place, "two", LEASE);
        claims_take_none(&two);
        ics_claims_destroy(&two);
    }
}
END_TEST

/* A living process keeps its lock, whatever its lease says about the process. */
START_TEST(test_a_process_that_holds_its_lock)
{
    const pid_t child = start_one();
    change_lease("start", json_integer(1));
    ics_claims two = claims_worker(&place, "two", LEASE);
    claims_take_none(&two);
    kill_one(child);
    ics_claim claim = claims_take(&two, "a.npy");
    ck_assert(claims_done(&two, &claim, ICS_AFTER_DELETE));
    ics_claims_destroy(&two);
}
END_TEST

/* The clock of the file system was set back by two leases, and the worker is on another machine. */
START_TEST(test_a_lease_in_the_future)
{
    const pid_t child = start_one();
    change_lease("space", json_string("elsewhere"));
    claims_age_lease(&place, "one", -2.0 * LEASE);
    ics_claims two = claims_worker(&place, "two", LEASE);
    claims_take_none(&two); /* its lock shows that it lives */
    ck_assert_ptr_nonnull(strstr(place.note, "its process lives and keeps its step files"));
    ics_claims_destroy(&two);
    kill_one(child);
    claims_age_lease(&place, "one", -0.5 * LEASE);
    two = claims_worker(&place, "two", LEASE);
    claims_take_none(&two); /* within a lease the clock decides */
    ics_claims_destroy(&two);
    claims_age_lease(&place, "one", -2.0 * LEASE);
    two = claims_worker(&place, "two", LEASE);
    ics_claim claim = claims_take(&two, "a.npy");
    ck_assert_ptr_nonnull(strstr(place.note, "worker one (process "));
    ck_assert_ptr_nonnull(strstr(place.note, "s in the future, expected at most 3600 s: the clock "
                                             "of the file system was set back; its step files are "
                                             "taken over"));
    ck_assert(claims_done(&two, &claim, ICS_AFTER_DELETE));
    ics_claims_destroy(&two);
}
END_TEST

ICS_TEST_MAIN("claims of neighbours")
{
    TCase *folder = tcase_create("folder");
    tcase_add_checked_fixture(folder, open_place, close_place);
    tcase_add_test(folder, test_files_of_a_killed_neighbour);
    tcase_add_test(folder, test_a_zombie_has_ended);
    tcase_add_test(folder, test_a_number_that_is_used_again);
    tcase_add_test(folder, test_a_process_of_another_space);
    tcase_add_test(folder, test_a_process_that_holds_its_lock);
    tcase_add_test(folder, test_a_lease_in_the_future);
    suite_add_tcase(suite, folder);
}
