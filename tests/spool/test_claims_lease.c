/* Promises of claims.h for leases: claims of a worker without heartbeats go to other workers, a
 * name belongs to one living process, and folders in which files cannot be claimed are explained.
 * The workers are several claims in this process, and claims_age_lease() makes their leases old.
 * How to join: see claims_place.h. test_claims_crash.c has workers that are killed. */
#include "tests/spool/claims_place.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- leases ---------------------------------------------------------------------------------- */

START_TEST(test_expired_claims_are_taken_over)
{
    claims_add(&place, "a.npy", "a");
    claims_add(&place, "b.npy", "b");
    ics_claims one = claims_worker(&place, "one", 60);
    ics_claim a = claims_take(&one, "a.npy"), b = claims_take(&one, "b.npy");
    ics_claims two = claims_worker(&place, "two", 3600);
    claims_take_none(&two);
    ics_claims_destroy(&two);
    claims_age_lease(&place, "one", 20);
    two = claims_worker(&place, "two", 3600);
    claims_take_none(&two); /* the lease of `one` decides */
    ics_claims_destroy(&two);
    claims_age_lease(&place, "one", 61);
    two = claims_worker(&place, "two", 3600);
    ics_claim mine = claims_take(&two, "a.npy");
    ck_assert_uint_eq(mine.attempt, 2);
    claims_assert_text(&place, ".icestream/claimed/two/2~a.npy", "a");

    /* `one` continues. */
    ck_assert(!claims_hold(&one, &a));
    ck_assert(claims_hold(&one, &b));
    size_t lost = 0;
    ck_assert_int_eq(ics_claims_extend(&one, &lost, NULL), ICESTREAM_OK);
    ck_assert_uint_eq(lost, 1);
    claims_take_none(&two); /* b.npy has been saved */
    ck_assert(!claims_done(&one, &a, ICS_AFTER_DELETE));
    ck_assert(claims_done(&one, &b, ICS_AFTER_MOVE));
    ck_assert(claims_done(&two, &mine, ICS_AFTER_MOVE));
    claims_assert_counts(&place, &one, (claims_counts){.done = 2});
    ics_claims_destroy(&one);
    ics_claims_destroy(&two);
}
END_TEST

START_TEST(test_a_pipe_as_lease_is_no_lease)
{
    char path[CLAIMS_PATH];
    icestream_error error = {.status = ICESTREAM_OK};
    size_t lost = 0;
    ics_claims one = claims_worker(&place, "one", 60);
    claims_path(&place, ".icestream/claimed/one/.lease", path);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    /* Without a reader, opening the pipe to write would not return. */
    ck_assert_int_ne(ics_claims_extend(&one, &lost, &error), ICESTREAM_OK);
    ck_assert_ptr_nonnull(strstr(error.text, strerror(ENXIO)));
    ics_claims_destroy(&one);
}
END_TEST

START_TEST(test_short_leases_among_long_ones)
{
    /* In real time: the lease of `one` expires, the lease of `two` does not. */
    claims_add(&place, "a.npy", "a");
    claims_add(&place, "b.npy", "b");
    ics_claims one = claims_worker(&place, "one", 0.2), two = claims_worker(&place, "two", 3600);
    ics_claim a = claims_take(&one, "a.npy"), mine[2];
    size_t count = 0, more;
    while (count < 2) {
        ck_assert_int_eq(ics_claims_take(&two, 2 - count, mine + count, &more, NULL), ICESTREAM_OK);
        count += more;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    ck_assert_str_ne(mine[0].name, mine[1].name);
    const ics_claim *over = &mine[strcmp(mine[0].name, "a.npy") == 0 ? 0 : 1];
    ck_assert_str_eq(over->name, "a.npy");
    ck_assert_uint_eq(over->attempt, 2);
    ck_assert(!claims_exists(&place, ".icestream/claimed/one"));
    ck_assert(!claims_give_back(&one, &a));
    /* `one` has lost its claim, but it can still claim files. */
    claims_add(&place, "c.npy", "c");
    a = claims_take(&one, "c.npy");
    ck_assert(claims_done(&one, &a, ICS_AFTER_DELETE));
    ck_assert(claims_done(&two, &mine[0], ICS_AFTER_DELETE));
    ck_assert(claims_done(&two, &mine[1], ICS_AFTER_DELETE));
    ics_claims_destroy(&one);
    ics_claims_destroy(&two);
    ck_assert_uint_eq(claims_count(&place, ".icestream/claimed"), 0);
}
END_TEST

START_TEST(test_lost_and_claimed_again)
{
    /* A worker loses a file and claims it again: the new claim does not make the old one valid. */
    claims_add(&place, "a.npy", "a");
    ics_claims one = claims_worker(&place, "one", 60);
    ics_claim old = claims_take(&one, "a.npy");
    claims_age_lease(&place, "one", 100);
    ics_claims two = claims_worker(&place, "two", 60);
    ics_claim other = claims_take(&two, "a.npy");
    ck_assert(claims_give_back(&two, &other));
    claims_take_none(&one);
    ck_assert(!claims_hold(&one, &old));
    ck_assert(!claims_done(&one, &old, ICS_AFTER_DELETE));
    ics_claim again = claims_take(&one, "a.npy");
    ck_assert(claims_hold(&one, &again));
    ck_assert(claims_done(&one, &again, ICS_AFTER_DELETE));
    ics_claims_destroy(&one);
    ics_claims_destroy(&two);
}
END_TEST

START_TEST(test_restart_under_the_same_name)
{
    claims_add(&place, "a.npy", "a");
    claims_add(&place, "b.npy", "b");
    ics_claims claims = claims_worker(&place, "w", 3600);
    ics_claim a = claims_take(&claims, "a.npy");
    ics_claims_destroy(&claims);
    ics_claims_claim_free(&a);
    claims = claims_worker(&place, "w", 3600);
    a = claims_take(&claims, "a.npy");
    ics_claim b = claims_take(&claims, "b.npy");
    ck_assert_uint_eq(a.attempt, 2);
    ck_assert_uint_eq(b.attempt, 1);
    claims_take_none(&claims);
    ck_assert(claims_done(&claims, &a, ICS_AFTER_DELETE));
    ck_assert(claims_done(&claims, &b, ICS_AFTER_DELETE));
    ics_claims_destroy(&claims);
}
END_TEST

START_TEST(test_a_file_is_refused_after_its_attempts)
{
    claims_add(&place, "a.npy", "a");
    place.options.attempts = 2;
    ics_claim claim;
    for (unsigned attempt = 1; attempt <= 3; ++attempt) {
        const char *const names[] = {"one", "two", "three"};
        ics_claims claims = claims_worker(&place, names[attempt - 1], 60);
        claim = claims_take(&claims, "a.npy");
        ck_assert_uint_eq(claim.attempt, attempt);
        ck_assert_int_eq(claim.refusal != NULL, attempt == 3);
        if (attempt < 3) {
            ics_claims_destroy(&claims);
            ics_claims_claim_free(&claim);
            continue;
        }
        ck_assert_ptr_nonnull(strstr(claim.refusal, "begun 2 times by workers that ended"));
        ck_assert_ptr_nonnull(strstr(claim.refusal, "worker two"));
        ck_assert(claims_fail(&claims, &claim, claim.refusal));
        ics_claims_destroy(&claims);
    }
    ck_assert(claims_exists(&place, "quarantine/a.npy.reason"));
    claims_assert_text(&place, "quarantine/a.npy", "a");
}
END_TEST

START_TEST(test_two_processes_of_one_name)
{
    ics_claims one = claims_worker(&place, "w", 60), two;
    icestream_error error;
    ck_assert_int_eq(ics_claims_create(&place.options, &two, &error), ICESTREAM_E_FAILED);
    ck_assert_ptr_nonnull(strstr(error.text, "the worker name 'w' belongs to process"));
    ck_assert_ptr_nonnull(strstr(error.text, "source.worker"));
    ics_claims_destroy(&two);
    claims_add(&place, "a.npy", "a");
    ics_claim claim = claims_take(&one, "a.npy"); /* the refused worker has changed nothing */
    ck_assert(claims_done(&one, &claim, ICS_AFTER_DELETE));
    ics_claims_destroy(&one);

    /* A worker on another machine, whose lock is not visible here. */
    char path[CLAIMS_PATH];
    static const char lease[] = "{\"host\":\"elsewhere\",\"pid\":7,\"lease_s\":60.0}";
    ck_assert_int_eq(mkdir(claims_path(&place, ".icestream/claimed/w", path), 0777), 0);
    scratch_write(claims_path(&place, ".icestream/claimed/w/.lease", path), lease, strlen(lease));
    ck_assert_int_eq(ics_claims_create(&place.options, &two, &error), ICESTREAM_E_FAILED);
    ck_assert_ptr_nonnull(strstr(error.text, "process 7 on elsewhere"));
    ck_assert_ptr_nonnull(strstr(error.text, "wait"));
    claims_age_lease(&place, "w", 61);
    one = claims_worker(&place, "w", 60);
    ics_claims_destroy(&one);
}
END_TEST

START_TEST(test_worker_killed_after_the_mark)
{
    /* The state after a worker was killed between the mark and the move back. Both names exist if
     * it was killed between link and unlink, on a file system without RENAME_NOREPLACE. */
    char claimed[CLAIMS_PATH], path[CLAIMS_PATH];
    for (int both = 0; both < 2; ++both) {
        claims_add(&place, "a.npy", "a");
        ics_claims claims = claims_worker(&place, "one", 60);
        ics_claim claim = claims_take(&claims, "a.npy");
        ck_assert(claims_done(&claims, &claim, ICS_AFTER_KEEP));
        ics_claims_destroy(&claims);
        claims_path(&place, ".icestream/claimed/one", claimed);
        ck_assert_int_eq(mkdir(claimed, 0777), 0);
        claims_path(&place, ".icestream/claimed/one/1~a.npy", claimed);
        claims_path(&place, "a.npy", path);
        ck_assert_int_eq(both ? link(path, claimed) : rename(path, claimed), 0);
        claims = claims_worker(&place, both ? "one" : "two", 60);
        claims_take_none(&claims);
        claims_assert_text(&place, "a.npy", "a");
        claims_assert_counts(&place, &claims, (claims_counts){.done = 1});
        ics_claims_destroy(&claims);
        ck_assert_uint_eq(claims_count(&place, ".icestream/claimed"), 0);
    }
}
END_TEST

/* ---- folders in which files cannot be claimed ------------------------------------------------ */

static void refuse(int status, const char *text)
{
    ics_claims claims;
    icestream_error error = {.text = ""};
    ck_assert_int_eq(ics_claims_create(&place.options, &claims, &error), status);
    ck_assert_msg(strstr(error.text, text) != NULL, "%s", error.text);
    ck_assert_ptr_null(claims.self);
    ics_claims_destroy(&claims);
}

START_TEST(test_refused_options)
{
    char path[CLAIMS_PATH], text[PATH_MAX];
    static const char *const names[] = {"", ".w", "a/b", ".."};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        place.options.worker = names[i];
        refuse(ICESTREAM_E_CONFIG, "source.worker: found");
    }
    place.options.worker = "w";
    place.options.lease = 0.0;
    refuse(ICESTREAM_E_CONFIG, "source.lease: found 0");
    place.options.lease = 1.0;
    place.options.directory = claims_path(&place, "none", path);
    refuse(ICESTREAM_E_CONFIG, "No such file or directory; source.directory");
    claims_add(&place, "none", "a file");
    refuse(ICESTREAM_E_CONFIG, "found a file, expected a folder with step files");
    place.options.directory = place.input;
    place.options.spool = path; /* the file */
    refuse(ICESTREAM_E_OUTPUT, "cannot create this folder of the spool");
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    place.options.spool = text;
    refuse(ICESTREAM_E_CONFIG, "must have fewer than");
    /* Not even root makes a folder in sysfs. */
    struct statfs about;
    if (statfs("/sys/kernel", &about) != 0 || about.f_type != SYSFS_MAGIC) {
        test_skip("no sysfs at /sys: the folder that cannot be written");
        return;
    }
    place.options.spool = "/sys/kernel";
    refuse(ICESTREAM_E_OUTPUT, "/sys/kernel/");
}
END_TEST

START_TEST(test_spool_in_another_folder)
{
    /* A spool next to the input folder is allowed, one on another file system is not. */
    char path[SCRATCH_PATH];
    place.options.spool = scratch_path(&place.folder, "spool", path);
    claims_add(&place, "a.npy", "a");
    ics_claims claims = claims_worker(&place, "w", 60);
    ics_claim claim = claims_take(&claims, "a.npy");
    ck_assert(claims_done(&claims, &claim, ICS_AFTER_MOVE));
    ck_assert(scratch_exists(&place.folder, "spool/done/a.npy"));
    ck_assert(!claims_exists(&place, ".icestream"));
    ics_claims_destroy(&claims);
    scratch far;
    if (!scratch_create_elsewhere(&place.folder, &far)) {
        return;
    }
    place.options.spool = far.folder;
    refuse(ICESTREAM_E_CONFIG, "on another file system than the input folder");
    /* A quarantine on another file system gets only the reasons. */
    place.options.spool = NULL;
    place.options.quarantine = far.folder;
    claims_add(&place, "b.npy", "b");
    claims = claims_worker(&place, "w", 60);
    claim = claims_take(&claims, "b.npy");
    ck_assert(claims_fail(&claims, &claim, "bad"));
    claims_assert_text(&place, ".icestream/quarantine/b.npy", "b");
    ck_assert(scratch_exists(&far, "b.npy.reason"));
    ck_assert(!scratch_exists(&far, "b.npy"));
    claims_assert_counts(&place, &claims, (claims_counts){.quarantined = 1});
    ics_claims_destroy(&claims);
    scratch_remove(&far);
}
END_TEST

static void remove_folder(const char *path)
{
    scratch folder = {.folder = ""};
    snprintf(folder.folder, sizeof folder.folder, "%.200s", path);
    scratch_remove(&folder);
}

/* The claims of the worker are lost with the folders. Then the worker continues. */
START_TEST(test_folders_that_vanish)
{
    char path[CLAIMS_PATH];
    ics_claims claims = claims_worker(&place, "w", 60), other;
    claims_add(&place, "a.npy", "a");
    ics_claim claim = claims_take(&claims, "a.npy"), none;
    size_t lost, count;
    icestream_error error;
    remove_folder(claims_path(&place, ".icestream", path));
    ck_assert_int_eq(ics_claims_extend(&claims, &lost, &error), ICESTREAM_OK);
    ck_assert_uint_eq(lost, 1);
    ck_assert(!claims_done(&claims, &claim, ICS_AFTER_KEEP));
    ck_assert(!claims_exists(&place, "a.npy"));

    /* The whole folder is removed, and the spool cannot be made again. */
    remove_folder(place.input);
    ck_assert_int_eq(ics_claims_extend(&claims, &lost, &error), ICESTREAM_E_OUTPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "cannot create this folder of the spool"));
    ck_assert_int_eq(error.cause, ENOENT);
    ck_assert_int_eq(ics_claims_take(&claims, 1, &none, &count, &error), ICESTREAM_E_OUTPUT);
    ck_assert_uint_eq(count, 0);
    ck_assert_int_eq(mkdir(place.input, 0777), 0);
    claims_add(&place, "b.npy", "b");
    claim = claims_take(&claims, "b.npy");
    place.options.worker = "w";
    ck_assert_int_eq(ics_claims_create(&place.options, &other, &error), ICESTREAM_E_FAILED);
    ck_assert(claims_done(&claims, &claim, ICS_AFTER_KEEP));
    ck_assert(claims_exists(&place, "b.npy"));
    ck_assert(claims_exists(&place, ".icestream/marks/b.npy"));
    ics_claims_destroy(&claims);
}
END_TEST

START_TEST(test_without_noreplace_as_on_nfs)
{
    /* Every operation that moves a file to a name that may exist, when rename cannot refuse to
     * replace a file, as on NFS. In a child process, because the limit cannot be removed. */
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child != 0) {
        int status = 0;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
        return;
    }
    ck_assert(claims_forbid_noreplace());
    ics_claims claims = claims_worker(&place, "w", 60);
    ck_assert_int_eq(renameat2(AT_FDCWD, "a", AT_FDCWD, "b", RENAME_NOREPLACE), -1);
    ck_assert_int_eq(errno, EINVAL);
    for (int i = 0; i < 2; ++i) {
        claims_add(&place, "a.npy", "a");
        ics_claim claim = claims_take(&claims, "a.npy");
        ck_assert(claims_give_back(&claims, &claim));
        claim = claims_take(&claims, "a.npy");
        ck_assert(claims_done(&claims, &claim, ICS_AFTER_MOVE));
        claims_add(&place, "b.npy", "b");
        claim = claims_take(&claims, "b.npy");
        ck_assert(claims_done(&claims, &claim, ICS_AFTER_KEEP));
        claims_add(&place, "c.npy", "c");
        claim = claims_take(&claims, "c.npy");
        ck_assert(claims_fail(&claims, &claim, i == 0 ? "bad" : "worse"));
    }
    claims_add(&place, "a.npy", "waits");
    claims_assert_text(&place, "a.npy", "waits");
    ck_assert(claims_exists(&place, ".icestream/done/a.npy.2"));
    ck_assert(claims_exists(&place, "quarantine/c.npy.2.reason"));
    claims_assert_counts(&place, &claims,
                         (claims_counts){.waiting = 1, .done = 3, .quarantined = 2});
    ics_claims_destroy(&claims);
    exit(0);
}
END_TEST

ICS_TEST_MAIN("claims and leases")
{
    TCase *tests = tcase_create("folder");
    tcase_add_checked_fixture(tests, open_place, close_place);
    tcase_add_test(tests, test_expired_claims_are_taken_over);
    tcase_add_test(tests, test_a_pipe_as_lease_is_no_lease);
    tcase_add_test(tests, test_short_leases_among_long_ones);
    tcase_add_test(tests, test_lost_and_claimed_again);
    tcase_add_test(tests, test_restart_under_the_same_name);
    tcase_add_test(tests, test_a_file_is_refused_after_its_attempts);
    tcase_add_test(tests, test_two_processes_of_one_name);
    tcase_add_test(tests, test_worker_killed_after_the_mark);
    tcase_add_test(tests, test_refused_options);
    tcase_add_test(tests, test_spool_in_another_folder);
    tcase_add_test(tests, test_folders_that_vanish);
    tcase_add_test(tests, test_without_noreplace_as_on_nfs);
    suite_add_tcase(suite, tests);
}
