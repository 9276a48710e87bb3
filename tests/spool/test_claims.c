/* Promises of claims.h: which worker gets which file, in which order, and which files become work.
 * The workers are several claims in this process. How to join: see claims_place.h.
 * test_claims_ends.c has the ends of claims, test_claims_lease.c leases that expire, and
 * test_claims_crash.c workers that are killed. */
#include "tests/spool/claims_place.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* ---- files that are in the folder ------------------------------------------------------------ */

/* A folder that has not changed for some time is not scanned again. No file is missed because of
 * this: neither a new file nor a file whose time is older than that of the folder. */
START_TEST(test_files_added_after_a_long_pause)
{
    claims_add(&place, "done.npy", "done");
    ics_claims claims = claims_worker(&place, "w", 60);
    ics_claim claim = claims_take(&claims, "done.npy");
    ck_assert(claims_done(&claims, &claim, ICS_AFTER_KEEP));
    const struct timespec long_ago[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    ck_assert_int_eq(utimensat(AT_FDCWD, place.input, long_ago, 0), 0);
    for (int look = 0; look < 3; ++look) {
        claims_take_none(&claims);
    }
    claims_add(&place, "new.npy", "new");
    claim = claims_take(&claims, "new.npy");
    ck_assert(claims_done(&claims, &claim, ICS_AFTER_KEEP));
    claims_take_none(&claims);
    claims_add(&place, "newer.npy", "newer"); /* in the same second */
    claim = claims_take(&claims, "newer.npy");
    ck_assert(claims_done(&claims, &claim, ICS_AFTER_KEEP));
    ics_claims_destroy(&claims);
}
END_TEST

START_TEST(test_oldest_first)
{
    claims_add(&place, "c.npy", "first");
    claims_add(&place, "a.npy", "second one");
    claims_add(&place, "b.npy", "third");
    struct stat about;
    char path[CLAIMS_PATH];
    ck_assert_int_eq(stat(claims_path(&place, "a.npy", path), &about), 0);
    ics_claims claims = claims_worker(&place, "w", 60);
    claims_assert_counts(&place, &claims, (claims_counts){.waiting = 3});
    ics_claim first = claims_take(&claims, "c.npy"), rest[5];
    size_t count;
    ck_assert_int_eq(ics_claims_take(&claims, 5, rest, &count, NULL), ICESTREAM_OK);
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(rest[0].name, "a.npy");
    ck_assert_str_eq(rest[1].name, "b.npy");
    ck_assert_uint_eq(rest[0].bytes, strlen("second one"));
    ck_assert_uint_eq(rest[0].attempt, 1);
    ck_assert_ptr_null(rest[0].refusal);
    ck_assert_double_eq_tol(
        rest[0].arrived, (double)about.st_ctim.tv_sec + 1e-9 * (double)about.st_ctim.tv_nsec, 1e-6);
    ck_assert_str_eq(rest[0].path, claims_path(&place, ".icestream/claimed/w/1~a.npy", path));
    ck_assert(!claims_exists(&place, "a.npy"));
    claims_take_none(&claims);
    claims_assert_counts(&place, &claims, (claims_counts){.claimed = 3});
    ck_assert(claims_done(&claims, &first, ICS_AFTER_DELETE));
    ck_assert(claims_done(&claims, &rest[0], ICS_AFTER_DELETE));
    ck_assert(claims_done(&claims, &rest[1], ICS_AFTER_DELETE));
    claims_assert_counts(&place, &claims, (claims_counts){0});
    ics_claims_destroy(&claims);
}
END_TEST

START_TEST(test_files_of_the_same_time_by_name)
{
    /* The clock of the file system advances every few ms, so most files have the same time. */
    char path[CLAIMS_PATH], name[16];
    for (unsigned i = 30; i-- > 0;) {
        snprintf(name, sizeof name, "%02u.npy", i);
        scratch_write(claims_path(&place, name, path), "x", 1);
    }
    ics_claims claims = claims_worker(&place, "w", 60);
    ics_claim taken[30];
    size_t count;
    ck_assert_int_eq(ics_claims_take(&claims, 30, taken, &count, NULL), ICESTREAM_OK);
    ck_assert_uint_eq(count, 30);
    for (size_t i = 0; i < count; ++i) {
        const ics_claim *left = &taken[i > 0 ? i - 1 : 0], *right = &taken[i];
        ck_assert(left->arrived < right->arrived ||
                  (left->arrived == right->arrived && strcmp(left->name, right->name) <= 0));
    }
    for (size_t i = 0; i < count; ++i) {
        ck_assert(claims_give_back(&claims, &taken[i]));
    }
    ck_assert_uint_eq(claims_count(&place, "."), 30);
    ics_claims_destroy(&claims);
}
END_TEST

/* The folder of a listener: a newer file with an earlier name comes next, also if older files wait.
 */
START_TEST(test_order_of_names)
{
    const char *const order[] = {"1.npy", "2.npy", "3.npy", "4.npy", "5.npy"};
    place.options.by_name = true;
    claims_add(&place, "5.npy", "x");
    claims_add(&place, "4.npy", "x");
    claims_add(&place, "1.npy", "x");
    ics_claims claims = claims_worker(&place, "w", 60);
    for (size_t i = 0; i < sizeof order / sizeof *order; ++i) {
        ics_claim claim = claims_take(&claims, order[i]);
        if (i == 0) {
            claims_add(&place, "3.npy", "x");
            claims_add(&place, "2.npy", "x");
        }
        ck_assert(claims_done(&claims, &claim, ICS_AFTER_DELETE));
    }
    claims_take_none(&claims);
    ics_claims_destroy(&claims);
}
END_TEST

START_TEST(test_names_that_are_never_claimed)
{
    const char *const names[] = {".hidden.npy", "a.npy.part", "b.npy.tmp", "readme.txt"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        claims_add(&place, names[i], "x");
    }
    ics_claims claims = claims_worker(&place, "w", 60);
    claims_take_none(&claims);
    ics_claims_destroy(&claims);
    place.options.pattern = NULL;
    claims = claims_worker(&place, "w", 60);
    ics_claim claim = claims_take(&claims, "readme.txt");
    claims_take_none(&claims);
    ck_assert_uint_eq(place.notes, 0);
    ck_assert(claims_give_back(&claims, &claim));
    ics_claims_destroy(&claims);
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        ck_assert(claims_exists(&place, names[i]));
    }
}
END_TEST

START_TEST(test_things_that_are_no_files)
{
    char path[CLAIMS_PATH], name[256];
    ics_claims claims = claims_worker(&place, "w", 60);
    ck_assert_int_eq(mkdir(claims_path(&place, "folder.npy", path), 0777), 0);
    claims_take_none(&claims);
    ck_assert_ptr_nonnull(strstr(place.note, "folder.npy: found a folder"));
    ck_assert_int_eq(mkfifo(claims_path(&place, "pipe.npy", path), 0666), 0);
    claims_take_none(&claims);
    ck_assert_ptr_nonnull(strstr(place.note, "pipe.npy: found a pipe"));
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s",
             claims_path(&place, "socket.npy", path));
    int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(descriptor, (struct sockaddr *)&address, sizeof address), 0);
    claims_take_none(&claims);
    ck_assert_ptr_nonnull(strstr(place.note, "socket.npy: found a socket"));
    ck_assert_int_eq(symlink("nowhere", claims_path(&place, "link.npy", path)), 0);
    claims_take_none(&claims);
    ck_assert_ptr_nonnull(strstr(place.note, "link.npy: found a link that leads nowhere"));
    ck_assert_int_eq(symlink("loop.npy", claims_path(&place, "loop.npy", path)), 0);
    claims_take_none(&claims);
    ck_assert_ptr_nonnull(strstr(place.note, "loop.npy: "));
    memset(name, 'x', sizeof name);
    strcpy(name + ICS_CLAIM_NAME_MAX - 3, ".npy");
    claims_add(&place, name, "x");
    claims_take_none(&claims);
    ck_assert_ptr_nonnull(strstr(place.note, "found a name of 240 bytes"));
    /* Each is noted once, all stay where they are, and other files are claimed. */
    claims_add(&place, name + 1, "x");
    ics_claim claim = claims_take(&claims, name + 1);
    ck_assert_uint_eq(place.notes, 6);
    ck_assert_uint_eq(claims_count(&place, "."), 6);
    ck_assert(claims_fail(&claims, &claim, "too good"));
    ics_claims_destroy(&claims);
    close(descriptor);
}
END_TEST

START_TEST(test_workers_share_a_folder)
{
    claims_add(&place, "a.npy", "a");
    claims_add(&place, "b.npy", "b");
    claims_add(&place, "c.npy", "c");
    ics_claims one = claims_worker(&place, "one", 60), two = claims_worker(&place, "two", 60);
    ics_claim a = claims_take(&one, "a.npy"), b = claims_take(&two, "b.npy");
    ics_claim c = claims_take(&one, "c.npy"); /* b.npy is in the list of `one` */
    claims_take_none(&one);
    claims_take_none(&two);
    claims_assert_counts(&place, &one, (claims_counts){.claimed = 3});
    ck_assert(claims_hold(&one, &a));
    ck_assert(claims_done(&one, &a, ICS_AFTER_MOVE));
    ck_assert(claims_done(&two, &b, ICS_AFTER_MOVE));
    ck_assert(claims_done(&one, &c, ICS_AFTER_MOVE));
    claims_assert_counts(&place, &two, (claims_counts){.done = 3});
    ics_claims_destroy(&one);
    ics_claims_destroy(&two);
    ck_assert_uint_eq(claims_count(&place, ".icestream/claimed"), 0);
    ck_assert_uint_eq(claims_count(&place, ".icestream/locks"), 0);
}
END_TEST

START_TEST(test_files_that_change_before_they_are_claimed)
{
    char path[CLAIMS_PATH];
    claims_add(&place, "a.npy", "a");
    claims_add(&place, "b.npy", "b");
    claims_add(&place, "c.npy", "c");
    claims_add(&place, "d.npy", "d");
    ics_claims claims = claims_worker(&place, "w", 60);
    ics_claim a = claims_take(&claims, "a.npy"); /* the other files are in its list now */
    ck_assert_int_eq(unlink(claims_path(&place, "b.npy", path)), 0);
    ck_assert_int_eq(unlink(claims_path(&place, "c.npy", path)), 0);
    ck_assert_int_eq(mkdir(path, 0777), 0);
    claims_add(&place, "d.npy", "another d");
    ics_claim c = claims_take(&claims, "c.npy");
    ck_assert_str_eq(c.refusal, "c.npy: found something that is not a file, expected a step file");
    ck_assert(claims_fail(&claims, &c, c.refusal));
    claims_assert_text(&place, "quarantine/c.npy.reason",
                       "c.npy: found something that is not a file, expected a step file\n");
    ck_assert(claims_exists(&place, "quarantine/c.npy"));
    ics_claim d = claims_take(&claims, "d.npy");
    ck_assert_uint_eq(d.bytes, strlen("another d"));
    ck_assert(claims_done(&claims, &d, ICS_AFTER_DELETE));
    ck_assert(claims_done(&claims, &a, ICS_AFTER_DELETE));
    ics_claims_destroy(&claims);
}
END_TEST

START_TEST(test_links)
{
    /* The link is claimed. Its target is found from the shared folder, and the target stays. */
    char path[CLAIMS_PATH], file[SCRATCH_PATH];
    scratch_write(scratch_path(&place.folder, "far.npy", file), "far away", 8);
    ck_assert_int_eq(symlink("../far.npy", claims_path(&place, "a.npy", path)), 0);
    ics_claims claims = claims_worker(&place, "w", 60);
    ics_claim claim = claims_take(&claims, "a.npy");
    ck_assert_uint_eq(claim.bytes, 8);
    size_t size;
    free(scratch_read(claim.path, &size));
    ck_assert_uint_eq(size, 8);
    ck_assert(!claims_exists(&place, "a.npy"));
    ck_assert(claims_done(&claims, &claim, ICS_AFTER_KEEP));
    ck_assert(claims_exists(&place, "a.npy"));
    claims_take_none(&claims);
    scratch_write(file, "farther away", 12);
    claim = claims_take(&claims, "a.npy");
    ck_assert_uint_eq(claim.bytes, 12);
    ck_assert(claims_done(&claims, &claim, ICS_AFTER_DELETE));
    ck_assert(!claims_exists(&place, "a.npy"));
    ck_assert(scratch_exists(&place.folder, "far.npy"));
    ics_claims_destroy(&claims);
}
END_TEST

ICS_TEST_MAIN("claims")
{
    TCase *tests = tcase_create("folder");
    tcase_add_checked_fixture(tests, open_place, close_place);
    tcase_add_test(tests, test_files_added_after_a_long_pause);
    tcase_add_test(tests, test_oldest_first);
    tcase_add_test(tests, test_files_of_the_same_time_by_name);
    tcase_add_test(tests, test_order_of_names);
    tcase_add_test(tests, test_names_that_are_never_claimed);
    tcase_add_test(tests, test_things_that_are_no_files);
    tcase_add_test(tests, test_workers_share_a_folder);
    tcase_add_test(tests, test_files_that_change_before_they_are_claimed);
    tcase_add_test(tests, test_links);
    suite_add_tcase(suite, tests);
}
