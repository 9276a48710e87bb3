/* Promise: the metadata of a hit file keep a photon account that closes, the maths and the origin,
 * and --resume accepts a file only if its origin is the same and its bytes are whole. To join: a
 * new part of the origin is one more row of `others`. */
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

/* Other origins: the last two differ in the input alone. */
static const ics_metadata_origin others[] = {
    {.seed = 1, .configuration = "c0", .ice = "1ce", .detector = "de", .input = "1b"},
    {.seed = UINT64_MAX, .configuration = "c1", .ice = "1ce", .detector = "de", .input = "1b"},
    {.seed = UINT64_MAX, .configuration = "c0", .ice = "other", .detector = "de", .input = "1b"},
    {.seed = UINT64_MAX, .configuration = "c0", .ice = "1ce", .input = "1b"},
    {.seed = UINT64_MAX, .configuration = "c0", .ice = "1ce", .detector = "de", .input = "other"},
    {.seed = UINT64_MAX, .configuration = "c0", .ice = "1ce", .detector = "de"}};

/* Whether --resume accepts the file. */
static bool matches(const char *path, const json_t *expected, bool thorough)
{
    ics_hit_verdict verdict;
    icestream_error why, error;
    ck_assert_int_eq(ics_hit_check_judge(path, expected, thorough, &verdict, &why, &error), 0);
    return verdict == ICS_HITS_MATCH;
}

START_TEST(another_origin_is_noticed)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    json_t *same = make_metadata(&origin, NULL), *other = make_metadata(&others[_i], NULL);
    write_three(scratch_path(&place, "a.hits.npy", path));
    ck_assert(!matches(path, other, true));
    ck_assert(ics_metadata_same_settings(same, other) == (_i > 3));
    ck_assert(ics_metadata_same_settings(other, same) == (_i > 3));
    ck_assert(!ics_metadata_same_settings(NULL, same));
    ck_assert(!ics_metadata_same_settings(NULL, NULL));
    json_decref(other);
    json_decref(same);
    scratch_remove(&place);
}
END_TEST

START_TEST(matching_files_are_recognised)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    size_t size;
    json_t *same = make_metadata(&origin, NULL);
    write_three(scratch_path(&place, "a.hits.npy", path));
    ck_assert(matches(path, same, false) && matches(path, same, true));
    /* Only the thorough check finds a flipped bit in the rows. */
    unsigned char *bytes = scratch_read(path, &size);
    bytes[HEADER + 62] ^= 1;
    scratch_write(path, bytes, size);
    ck_assert(matches(path, same, false) && !matches(path, same, true));
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
    tcase_add_loop_test(metadata, another_origin_is_noticed, 0, COUNT(others));
    tcase_add_test(metadata, matching_files_are_recognised);
    suite_add_tcase(suite, metadata);
}
