/* Promises of claims.h about the ends of claims: where a file goes when its claim ends, that a kept
 * file is done once, and what happens to files that change while they are claimed. The workers are
 * several claims in this process. How to join: see claims_place.h. */
#include "tests/spool/claims_place.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    claims_assert_counts(&place, &two, (claims_counts){.done = 1});
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

START_TEST(test_finished_by_another_worker_after_the_scan)
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
    claims_assert_counts(&place, &claims, (claims_counts){.waiting = 2});
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
    claims_assert_counts(&place, &claims, (claims_counts){.done = 3});
    ics_claims_destroy(&claims);
}
END_TEST

START_TEST(test_bad_files_are_quarantined)
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
    claims_assert_counts(&place, &claims, (claims_counts){.quarantined = 2});
    ics_claims_destroy(&claims);
}
END_TEST

START_TEST(test_returned_files_are_claimed_again)
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

START_TEST(test_newer_file_with_the_name_of_a_claimed_file)
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

START_TEST(test_claimed_file_is_changed)
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

ICS_TEST_MAIN("ends of claims")
{
    TCase *tests = tcase_create("folder");
    tcase_add_checked_fixture(tests, open_place, close_place);
    tcase_add_test(tests, test_kept_files_are_done_once);
    tcase_add_test(tests, test_finished_by_another_worker_after_the_scan);
    tcase_add_test(tests, test_marks_that_do_not_count);
    tcase_add_test(tests, test_moved_files_are_never_overwritten);
    tcase_add_test(tests, test_bad_files_are_quarantined);
    tcase_add_test(tests, test_returned_files_are_claimed_again);
    tcase_add_test(tests, test_newer_file_with_the_name_of_a_claimed_file);
    tcase_add_test(tests, test_claimed_file_is_changed);
    tcase_add_test(tests, test_claimed_file_is_removed);
    suite_add_tcase(suite, tests);
}
