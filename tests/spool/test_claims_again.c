/* Promises of claims.h when the shared folder is removed and made again while workers live: no
 * worker takes claims of another living worker. How to join: see claims_place.h. */
#include "base/disk.h"
#include "tests/spool/claims_place.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LEASE = 3600 }; /* s: longer than any test */

static void remove_text(const char *name)
{
    char path[CLAIMS_PATH];
    ck_assert_int_eq(unlink(claims_path(&place, name, path)), 0);
}

/* Removes the empty spool of the workers `one` and `two`, as `rm -rf` does. */
static void remove_spool(void)
{
    static const char *const files[] = {".icestream/claimed/one/.lease",
                                        ".icestream/claimed/two/.lease", ".icestream/locks/one",
                                        ".icestream/locks/two"};
    static const char *const folders[] = {
        ".icestream/claimed/one", ".icestream/claimed/two", ".icestream/claimed", ".icestream/done",
        ".icestream/marks",       ".icestream/locks",       ".icestream"};
    char path[CLAIMS_PATH];
    for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
        remove_text(files[i]);
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; ++i) {
        ck_assert_int_eq(rmdir(claims_path(&place, folders[i], path)), 0);
    }
}

/* Whether a process holds the lock on the name of a worker. */
static bool is_locked(const char *worker)
{
    char name[CLAIMS_PATH], path[CLAIMS_PATH];
    snprintf(name, sizeof name, ".icestream/locks/%s", worker);
    const int lock = ics_disk_lock(claims_path(&place, name, path));
    if (lock >= 0) {
        ics_disk_unlock(path, lock);
    }
    return lock < 0 && errno == EWOULDBLOCK;
}

static void set_age(const char *name, time_t seconds)
{
    char path[CLAIMS_PATH];
    const struct timespec then = {.tv_sec = time(NULL) - seconds};
    ck_assert_int_eq(
        utimensat(AT_FDCWD, claims_path(&place, name, path), (struct timespec[]){then, then}, 0),
        0);
}

/* The first worker that looks makes the spool again. Every worker must lock its name there, because
 * the file that it had locked is gone. */
START_TEST(test_every_worker_locks_its_name_again)
{
    ics_claims one = claims_worker(&place, "one", LEASE);
    ics_claims two = claims_worker(&place, "two", LEASE);
    remove_spool();
    claims_take_none(&one);
    ck_assert(is_locked("one"));
    claims_take_none(&two);
    ck_assert(is_locked("two"));
    claims_add(&place, "a.npy", "a");
    ics_claim claim = claims_take(&two, "a.npy");
    claims_take_none(&one);
    ck_assert(claims_done(&two, &claim, ICS_AFTER_KEEP));
    ics_claims_destroy(&one);
    ics_claims_destroy(&two);
}
END_TEST

/* Workers look for dead ones again at once if the folder of claims has changed, and else after a
 * pause. */
static void change_claimed(void)
{
    static int age;
    set_age(".icestream/claimed", ++age);
}

/* A worker has no lease while it makes its folder again. The lock on its name shows that it lives.
 */
START_TEST(test_a_locked_worker_without_a_lease_keeps_its_claims)
{
    ics_claims one = claims_worker(&place, "one", LEASE);
    ics_claims two = claims_worker(&place, "two", LEASE);
    claims_add(&place, "a.npy", "a");
    ics_claim claim = claims_take(&one, "a.npy");
    remove_text(".icestream/claimed/one/.lease");
    set_age(".icestream/claimed/one", 60);
    change_claimed();
    claims_take_none(&two);
    ck_assert_uint_eq(claims_count(&place, ".icestream/claimed/one"), 1);
    ck_assert(claims_hold(&one, &claim));
    ck_assert(claims_done(&one, &claim, ICS_AFTER_KEEP));
    ics_claims_destroy(&one);
    ics_claims_destroy(&two);
}
END_TEST

/* While a spool is being removed, lock and lease of a living worker may be gone before its claims.
 * The worker that has just been seen alive keeps them, until its folder has been quiet for some
 * time. */
START_TEST(test_claims_that_are_being_removed_are_left)
{
    ics_claims one = claims_worker(&place, "one", LEASE);
    ics_claims two = claims_worker(&place, "two", LEASE);
    claims_add(&place, "a.npy", "a");
    ics_claim claim = claims_take(&one, "a.npy");
    claims_take_none(&two);
    remove_text(".icestream/locks/one");
    remove_text(".icestream/claimed/one/.lease");
    for (int look = 0; look < 2; ++look) {
        change_claimed();
        claims_take_none(&two);
    }
    ck_assert(claims_hold(&one, &claim));
    set_age(".icestream/claimed/one", 60);
    change_claimed();
    ics_claim taken = claims_take(&two, "a.npy");
    ck_assert_uint_eq(taken.attempt, 2);
    ck_assert(!claims_hold(&one, &claim));
    ck_assert(claims_done(&two, &taken, ICS_AFTER_KEEP));
    ck_assert(!claims_done(&one, &claim, ICS_AFTER_KEEP));
    ics_claims_destroy(&one);
    ics_claims_destroy(&two);
}
END_TEST

ICS_TEST_MAIN("claims in a folder that is made again")
{
    TCase *tests = tcase_create("again");
    tcase_add_checked_fixture(tests, open_place, close_place);
    tcase_add_test(tests, test_every_worker_locks_its_name_again);
    tcase_add_test(tests, test_a_locked_worker_without_a_lease_keeps_its_claims);
    tcase_add_test(tests, test_claims_that_are_being_removed_are_left);
    suite_add_tcase(suite, tests);
}
