/* Promises of claims.h: which worker gets which file, how claims end, and what happens to files
 * that change or that are no step files. The workers are several claims in this process.
 * test_claims_lease.c has workers whose lease expires, test_claims_crash.c workers that are killed.
 */
#include "tests/support/claims_folder.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static claims_folder place;

static void set_up(void)
{
    claims_folder_open(&place);
}

static void tear_down(void)
{
    claims_folder_close(&place);
}

/* ---- taking ---------------------------------------------------------------------------------- */

/* A folder that has not changed for some time is not scanned again. No file is missed because of
 * this: neither a new file nor a file whose time is older than that of the folder. */
START_TEST(test_still_folder)
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
    claims_assert_counts(&claims, (ics_claims_counts){.waiting = 3});
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
    claims_assert_counts(&claims, (ics_claims_counts){.mine = 3});
    ck_assert(claims_done(&claims, &first, ICS_AFTER_DELETE));
    ck_assert(claims_done(&claims, &rest[0], ICS_AFTER_DELETE));
    ck_assert(claims_done(&claims, &rest[1], ICS_AFTER_DELETE));
    claims_assert_counts(&claims, (ics_claims_counts){0});
    ics_claims_destroy(&claims);
}
END_TEST

START_TEST(test_same_time_by_name)
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

START_TEST(test_names_that_are_no_work)
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

START_TEST(test_workers_share)
{
    claims_add(&place, "a.npy", "a");
    claims_add(&place, "b.npy", "b");
    claims_add(&place, "c.npy", "c");
    ics_claims one = claims_worker(&place, "one", 60), two = claims_worker(&place, "two", 60);
    ics_claim a = claims_take(&one, "a.npy"), b = claims_take(&two, "b.npy");
    ics_claim c = claims_take(&one, "c.npy"); /* b.npy is in the list of `one` */
    claims_take_none(&one);
    claims_take_none(&two);
    claims_assert_counts(&one, (ics_claims_counts){.mine = 2, .others = 1});
    ck_assert(claims_hold(&one, &a));
    ck_assert(claims_done(&one, &a, ICS_AFTER_MOVE));
    ck_assert(claims_done(&two, &b, ICS_AFTER_MOVE));
    ck_assert(claims_done(&one, &c, ICS_AFTER_MOVE));
    claims_assert_counts(&two, (ics_claims_counts){.done = 3});
    ics_claims_destroy(&one);
    ics_claims_destroy(&two);
    ck_assert_uint_eq(claims_count(&place, ".icestream/claimed"), 0);
    ck_assert_uint_eq(claims_count(&place, ".icestream/locks"), 0);
}
END_TEST

START_TEST(test_files_that_change_before_they_are_taken)
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

/* ---- the ends of claims ---------------------------------------------------------------------- */

START_TEST(test_kept_files_are_done_once)
{
    char path[CLAIMS_PATH];
    claims_add(&place, "a.npy", "a");
    ics_claims one = claims_worker(&place, "one", 60), two = claims_worker(&place, "two", 60);
    ics_claim claim = claims_take(&one, "a.npy");
    ck_assert(claims_done(&one, &claim, ICS_AFTER_KEEP));
    claims_assert_text(&place, "a.npy", "a");
    claims_take_none(&one);
    claims_take_none(&two);
    claims_assert_counts(&two, (ics_claims_counts){.done = 1});
    ics_claims_destroy(&one);
    one = claims_worker(&place, "one", 60);
    claims_take_none(&one);

    claims_add(&place, "a.npy", "a"); /* another file that looks the same */
    claim = claims_take(&two, "a.npy");
    ck_assert(claims_done(&two, &claim, ICS_AFTER_KEEP));
    claims_take_none(&one);
    FILE *file = fopen(claims_path(&place, "a.npy", path), "a"); /* the same file, longer */
    ck_assert_int_eq(fputs("bc", file), 1);
    ck_assert_int_eq(fclose(file), 0);
    claim = claims_take(&one, "a.npy");
    ck_assert_uint_eq(claim.bytes, 3);
    ck_assert(claims_done(&one, &claim, ICS_AFTER_KEEP));
    claims_take_none(&one);
    claims_take_none(&two);
    ics_claims_destroy(&one);
    ics_claims_destroy(&two);
}
END_TEST

START_TEST(test_done_by_another_since_the_look)
{
    char path[CLAIMS_PATH];
    struct stat before, after;
    claims_add(&place, "a.npy", "a");
    claims_add(&place, "b.npy", "b");
    ics_claims one = claims_worker(&place, "one", 60), two = claims_worker(&place, "two", 60);
    ics_claim a = claims_take(&one, "a.npy"), b = claims_take(&two, "b.npy");
    ck_assert(claims_done(&two, &b, ICS_AFTER_KEEP));
    ck_assert_int_eq(stat(claims_path(&place, "b.npy", path), &before), 0);
    claims_take_none(&one); /* the file is in its list, and it does not claim the file */
    ck_assert_int_eq(stat(path, &after), 0);
    ck_assert_mem_eq(&before.st_ctim, &after.st_ctim, sizeof before.st_ctim);
    ck_assert(claims_done(&one, &a, ICS_AFTER_KEEP));
    ics_claims_destroy(&one);
    ics_claims_destroy(&two);
}
END_TEST

static bool no_results(void *user, const char *name)
{
    (void)user;
    return strcmp(name, "b.npy") == 0;
}

START_TEST(test_marks_that_do_not_count)
{
    claims_add(&place, "a.npy", "a");
    claims_add(&place, "b.npy", "b");
    ics_claims claims = claims_worker(&place, "w", 60);
    ics_claim a = claims_take(&claims, "a.npy"), b = claims_take(&claims, "b.npy");
    ck_assert(claims_done(&claims, &a, ICS_AFTER_KEEP));
    ck_assert(claims_done(&claims, &b, ICS_AFTER_KEEP));
    claims_take_none(&claims);
    ics_claims_destroy(&claims);

    place.options.has_results = no_results;
    claims = claims_worker(&place, "w", 60);
    a = claims_take(&claims, "a.npy");
    claims_take_none(&claims);
    ck_assert(claims_done(&claims, &a, ICS_AFTER_KEEP));
    ics_claims_destroy(&claims);

    place.options.has_results = NULL;
    char path[CLAIMS_PATH];
    scratch_write(claims_path(&place, ".icestream/marks/a.npy", path), "{\"bytes\":", 9);
    claims = claims_worker(&place, "w", 60);
    a = claims_take(&claims, "a.npy"); /* an incomplete mark does not count */
    claims_take_none(&claims);
    ck_assert(claims_done(&claims, &a, ICS_AFTER_KEEP));
    ics_claims_destroy(&claims);

    place.options.forget = true;
    claims = claims_worker(&place, "w", 60);
    claims_assert_counts(&claims, (ics_claims_counts){.waiting = 2});
    ics_claims_destroy(&claims);
}
END_TEST

START_TEST(test_moved_files_are_never_overwritten)
{
    ics_claims claims = claims_worker(&place, "w", 60);
    for (int i = 0; i < 3; ++i) {
        claims_add(&place, "a.npy", i == 0 ? "one" : i == 1 ? "two" : "three");
        ics_claim claim = claims_take(&claims, "a.npy");
        ck_assert(claims_done(&claims, &claim, ICS_AFTER_MOVE));
    }
    claims_assert_text(&place, ".icestream/done/a.npy", "one");
    claims_assert_text(&place, ".icestream/done/a.npy.2", "two");
    claims_assert_text(&place, ".icestream/done/a.npy.3", "three");
    claims_assert_counts(&claims, (ics_claims_counts){.done = 3});
    ics_claims_destroy(&claims);
}
END_TEST

START_TEST(test_bad_files_are_set_aside)
{
    ics_claims claims = claims_worker(&place, "w", 60);
    for (int i = 0; i < 2; ++i) {
        claims_add(&place, "a.npy", i == 0 ? "bad" : "worse");
        ics_claim claim = claims_take(&claims, "a.npy");
        ck_assert(claims_fail(&claims, &claim, i == 0 ? "row 1: bad" : "row 2: worse\n"));
    }
    claims_assert_text(&place, "quarantine/a.npy", "bad");
    claims_assert_text(&place, "quarantine/a.npy.reason", "row 1: bad\n");
    claims_assert_text(&place, "quarantine/a.npy.2", "worse");
    claims_assert_text(&place, "quarantine/a.npy.2.reason", "row 2: worse\n");
    claims_take_none(&claims);
    claims_assert_counts(&claims, (ics_claims_counts){.quarantined = 2});
    ics_claims_destroy(&claims);
}
END_TEST

START_TEST(test_given_back_is_as_new)
{
    claims_add(&place, "a.npy", "a");
    ics_claims one = claims_worker(&place, "one", 60), two = claims_worker(&place, "two", 60);
    ics_claim claim = claims_take(&one, "a.npy");
    ics_claim copy = claim;
    copy.name = copy.path = copy.refusal = NULL;
    ck_assert(claims_give_back(&one, &claim));
    bool held = true;
    ck_assert_int_eq(ics_claims_done(&one, &copy, ICS_AFTER_DELETE, &held, NULL), ICESTREAM_OK);
    ck_assert(!held); /* ended already */
    claim = claims_take(&two, "a.npy");
    ck_assert_uint_eq(claim.attempt, 1);
    ck_assert(claims_done(&two, &claim, ICS_AFTER_MOVE));
    ics_claims_destroy(&one);
    ics_claims_destroy(&two);
}
END_TEST

START_TEST(test_newer_file_of_a_name_at_work)
{
    claims_add(&place, "a.npy", "old");
    ics_claims one = claims_worker(&place, "one", 60), two = claims_worker(&place, "two", 60);
    ics_claim claim = claims_take(&one, "a.npy");
    claims_add(&place, "a.npy", "new");
    claims_take_none(&one); /* its output has the same name */
    claims_take_none(&two);
    ck_assert(claims_done(&one, &claim, ICS_AFTER_KEEP));
    claims_assert_text(&place, "a.npy", "new");
    claims_assert_text(&place, ".icestream/done/a.npy", "old");
    claim = claims_take(&two, "a.npy");
    claims_add(&place, "a.npy", "newest");
    ck_assert(claims_give_back(&two, &claim)); /* no worker has finished it, so it must be kept */
    claim = claims_take(&two, "a.npy");
    ck_assert_uint_eq(claim.attempt, 2);
    ck_assert_uint_eq(claim.bytes, 3);
    ck_assert(claims_done(&two, &claim, ICS_AFTER_DELETE));
    claim = claims_take(&two, "a.npy");
    ck_assert_uint_eq(claim.bytes, 6);
    ck_assert(claims_done(&two, &claim, ICS_AFTER_DELETE));
    ics_claims_destroy(&one);
    ics_claims_destroy(&two);
}
END_TEST

START_TEST(test_written_over_while_at_work)
{
    static const ics_after ways[] = {ICS_AFTER_KEEP, ICS_AFTER_MOVE, ICS_AFTER_DELETE};
    ics_claims claims = claims_worker(&place, "w", 60);
    for (size_t i = 0; i < 3; ++i) {
        claims_add(&place, "a.npy", "a");
        ics_claim claim = claims_take(&claims, "a.npy");
        FILE *file = fopen(claim.path, "a");
        ck_assert_int_eq(fputs("bc", file), 1);
        ck_assert_int_eq(fclose(file), 0);
        ck_assert(claims_done(&claims, &claim, ways[i]));
        ck_assert_ptr_nonnull(strstr(place.note, "was written over"));
        claims_assert_text(&place, "a.npy", "abc");
        claim = claims_take(&claims, "a.npy");
        ck_assert_uint_eq(claim.bytes, 3);
        ck_assert(claims_done(&claims, &claim, ICS_AFTER_DELETE));
    }
    ics_claims_destroy(&claims);
}
END_TEST

START_TEST(test_claimed_file_is_removed)
{
    claims_add(&place, "a.npy", "a");
    ics_claims claims = claims_worker(&place, "w", 60);
    ics_claim claim = claims_take(&claims, "a.npy");
    ck_assert(claims_hold(&claims, &claim));
    ck_assert_int_eq(unlink(claim.path), 0);
    size_t lost = 0;
    ck_assert_int_eq(ics_claims_extend(&claims, &lost, NULL), ICESTREAM_OK);
    ck_assert_uint_eq(lost, 1);
    ck_assert(!claims_hold(&claims, &claim));
    claims_add(&place, "a.npy", "b");
    claims_take_none(&claims); /* the old claim of that name has not been ended */
    ck_assert(!claims_fail(&claims, &claim, "gone"));
    ck_assert(!claims_exists(&place, "quarantine/a.npy.reason"));
    claim = claims_take(&claims, "a.npy");
    ck_assert(claims_done(&claims, &claim, ICS_AFTER_MOVE));
    ics_claims_destroy(&claims);
}
END_TEST

/* ---- new work -------------------------------------------------------------------------------- */

static int put(const ics_claims *claims, const char *file, const char *name, icestream_error *error)
{
    char path[SCRATCH_PATH];
    return ics_claims_put(claims, scratch_path(&place.folder, file, path), name, error);
}

START_TEST(test_put)
{
    char path[SCRATCH_PATH];
    icestream_error error;
    ics_claims claims = claims_worker(&place, "w", 60);
    scratch_write(scratch_path(&place.folder, "a.npy", path), "a", 1);
    ck_assert_int_eq(put(&claims, "a.npy", NULL, &error), ICESTREAM_OK);
    ck_assert(!scratch_exists(&place.folder, "a.npy"));
    scratch_write(path, "b", 1);
    ck_assert_int_eq(put(&claims, "a.npy", NULL, &error), ICESTREAM_E_OUTPUT);
    ck_assert_int_eq(error.cause, EEXIST);
    ck_assert_ptr_nonnull(strstr(error.text, "a file of that name waits there"));
    claims_assert_text(&place, "a.npy", "a");
    ck_assert_int_eq(put(&claims, "a.npy", "b.npy", &error), ICESTREAM_OK);
    claims_assert_text(&place, "b.npy", "b");

    scratch_write(path, "c", 1);
    const char *const bad[] = {"c.txt", ".c.npy", "c.npy.part", "", "d/c.npy"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        ck_assert_int_eq(put(&claims, "a.npy", bad[i], &error), ICESTREAM_E_OUTPUT);
        ck_assert_ptr_nonnull(strstr(error.text, "cannot be added to"));
    }
    ck_assert(scratch_exists(&place.folder, "a.npy"));
    ck_assert_int_eq(put(&claims, "none.npy", NULL, &error), ICESTREAM_E_OUTPUT);
    ck_assert_int_eq(put(&claims, "in", "in.npy", &error), ICESTREAM_E_OUTPUT);
    ics_claims_destroy(&claims);
}
END_TEST

START_TEST(test_put_again_is_work_again)
{
    char from[CLAIMS_PATH], to[SCRATCH_PATH];
    ics_claims claims = claims_worker(&place, "w", 60);
    claims_add(&place, "a.npy", "a");
    ics_claim claim = claims_take(&claims, "a.npy");
    ck_assert(claims_done(&claims, &claim, ICS_AFTER_KEEP));
    ck_assert_int_eq(
        rename(claims_path(&place, "a.npy", from), scratch_path(&place.folder, "a.npy", to)), 0);
    ck_assert_int_eq(put(&claims, "a.npy", NULL, NULL), ICESTREAM_OK);
    claim = claims_take(&claims, "a.npy");
    ck_assert(claims_done(&claims, &claim, ICS_AFTER_KEEP));
    claims_take_none(&claims);
    ics_claims_destroy(&claims);
}
END_TEST

ICS_TEST_MAIN("claims")
{
    TCase *tests = tcase_create("folder");
    tcase_set_timeout(tests, 300);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, test_still_folder);
    tcase_add_test(tests, test_oldest_first);
    tcase_add_test(tests, test_same_time_by_name);
    tcase_add_test(tests, test_names_that_are_no_work);
    tcase_add_test(tests, test_things_that_are_no_files);
    tcase_add_test(tests, test_workers_share);
    tcase_add_test(tests, test_files_that_change_before_they_are_taken);
    tcase_add_test(tests, test_links);
    tcase_add_test(tests, test_kept_files_are_done_once);
    tcase_add_test(tests, test_done_by_another_since_the_look);
    tcase_add_test(tests, test_marks_that_do_not_count);
    tcase_add_test(tests, test_moved_files_are_never_overwritten);
    tcase_add_test(tests, test_bad_files_are_set_aside);
    tcase_add_test(tests, test_given_back_is_as_new);
    tcase_add_test(tests, test_newer_file_of_a_name_at_work);
    tcase_add_test(tests, test_written_over_while_at_work);
    tcase_add_test(tests, test_claimed_file_is_removed);
    tcase_add_test(tests, test_put);
    tcase_add_test(tests, test_put_again_is_work_again);
    suite_add_tcase(suite, tests);
}
