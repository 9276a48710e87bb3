/* Promise: the metadata of a hit file keep a photon account that closes, the maths and the origin,
 * and --resume accepts a file only if its origin is the same and its bytes are whole. To join: a
 * new part of the origin is one more of the `others` in both tests that have them. */
#include "tests/files/hit_files.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>

START_TEST(account_must_close)
{
    json_t *metadata = make_metadata(&origin, NULL);
    icestream_account account = closed, read;
    icestream_error error;
    ck_assert(ics_metadata_account_closes(&account));
    ck_assert(!ics_metadata_account(metadata, &read));
    account.absorbed = 61;
    ck_assert(!ics_metadata_account_closes(&account));
    ck_assert_int_eq(ics_metadata_set_account(metadata, &account, &error), ICESTREAM_E_FAILED);
    ck_assert_ptr_nonnull(
        strstr(error.text, "found 100 created and 61 absorbed, 3 detected, 36 left, 1"));
    /* Sums that overflow do not close. */
    account = (icestream_account){.created = 1, .absorbed = UINT64_MAX, .detected = 2};
    ck_assert(!ics_metadata_account_closes(&account));
    account = (icestream_account){.created = UINT64_MAX, .absorbed = UINT64_MAX};
    ck_assert_int_eq(ics_metadata_set_account(metadata, &account, &error), ICESTREAM_E_FAILED);
    ck_assert_ptr_nonnull(strstr(error.text, "created: found 18446744073709551615, expected less"));
    ck_assert_int_eq(ics_metadata_set_account(metadata, &closed, &error), 0);
    json_object_set_new(json_object_get(metadata, "account"), "left", json_integer(-9));
    ck_assert(!ics_metadata_account(metadata, &read));
    json_decref(metadata);
}
END_TEST

START_TEST(maths_are_named_in_the_metadata)
{
    static const struct {
        ics_maths_used maths;
        const char *word;
    } all[] = {
        {ICS_MATHS_PORTABLE, "portable"}, {ICS_MATHS_FAST, "fast"}, {ICS_MATHS_MIXED, "mixed"}};
    json_t *metadata = make_metadata(&origin, NULL);
    ck_assert_int_eq(ics_metadata_maths(metadata), ICS_MATHS_NONE);
    ck_assert_int_eq(ics_metadata_set_maths(metadata, ICS_MATHS_NONE, NULL), ICESTREAM_OK);
    ck_assert_ptr_null(json_object_get(metadata, "math"));
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        ck_assert_int_eq(ics_metadata_set_maths(metadata, all[i].maths, NULL), ICESTREAM_OK);
        ck_assert_str_eq(json_string_value(json_object_get(metadata, "math")), all[i].word);
        ck_assert_int_eq(ics_metadata_maths(metadata), all[i].maths);
    }
    json_object_set_new(metadata, "math", json_string("slow"));
    ck_assert_int_eq(ics_metadata_maths(metadata), ICS_MATHS_NONE);
    json_object_set_new(metadata, "math", json_integer(1));
    ck_assert_int_eq(ics_metadata_maths(metadata), ICS_MATHS_NONE);
    json_decref(metadata);
}
END_TEST

START_TEST(settings_are_the_origin_without_the_input)
{
    json_t *same = make_metadata(&origin, NULL);
    ics_metadata_origin others[6] = {origin, origin, origin, origin, origin, origin};
    others[0].seed = 1;
    others[1].configuration = "c1";
    others[2].ice = "other";
    others[3].detector = NULL;
    others[4].input = "other";
    others[5].input = NULL;
    for (int i = 0; i < 6; ++i) {
        json_t *other = make_metadata(&others[i], NULL);
        ck_assert_msg(ics_metadata_same_settings(same, other) == (i > 3), "case %d", i);
        ck_assert_msg(ics_metadata_same_settings(other, same) == (i > 3), "case %d", i);
        json_decref(other);
    }
    ck_assert(!ics_metadata_same_settings(NULL, same));
    ck_assert(!ics_metadata_same_settings(NULL, NULL));
    json_decref(same);
}
END_TEST

static bool matches(const char *path, const json_t *expected, bool thorough)
{
    ics_hit_verdict verdict;
    icestream_error why, error;
    ck_assert_int_eq(ics_hit_check_judge(path, expected, thorough, &verdict, &why, &error), 0);
    return verdict == ICS_HITS_MATCH;
}

START_TEST(matching_files_are_recognised)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    write_three(scratch_path(&place, "a.hits.npy", path));
    json_t *same = make_metadata(&origin, NULL);
    for (int thorough = 0; thorough < 2; ++thorough) {
        ck_assert(matches(path, same, thorough));
    }
    ics_metadata_origin others[6] = {origin, origin, origin, origin, origin, origin};
    others[0].seed = 1;
    others[1].configuration = "c1";
    others[2].ice = "other";
    others[3].detector = "other";
    others[4].input = "other";
    others[5].input = NULL;
    for (int i = 0; i < 6; ++i) {
        json_t *other = make_metadata(&others[i], NULL);
        ck_assert_msg(!matches(path, other, true), "case %d", i);
        json_decref(other);
    }
    /* Only the thorough check finds a flipped bit in the rows. */
    size_t size;
    unsigned char *bytes = scratch_read(path, &size);
    bytes[HEADER + 62] ^= 1;
    scratch_write(path, bytes, size);
    ck_assert(matches(path, same, false));
    ck_assert(!matches(path, same, true));
    scratch_write(path, bytes, size - 1);
    ck_assert(!matches(path, same, false));
    ck_assert(!matches(scratch_path(&place, "none", path), same, false));
    free(bytes);
    json_decref(same);
    scratch_remove(&place);
}
END_TEST

ICS_TEST_MAIN("hit_metadata")
{
    TCase *metadata = tcase_create("metadata");
    tcase_add_test(metadata, account_must_close);
    tcase_add_test(metadata, maths_are_named_in_the_metadata);
    tcase_add_test(metadata, settings_are_the_origin_without_the_input);
    tcase_add_test(metadata, matching_files_are_recognised);
    suite_add_tcase(suite, metadata);
}
