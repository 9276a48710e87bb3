/* Promise: `icestream info` describes steps and hits in text and in JSON, shows bad values, and
 * with
 * --verify finds every damage. To join: a new line of the report is one more expect_in() in a test
 * info_describes_*, a new check of --verify gets its own damage. */
#include "tests/files/table_files.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Returns the text that icestream_info() writes. The caller frees it. */
static char *info(const char *path, bool verify, bool json, int *status, icestream_error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    *error = (icestream_error){.text = ""};
    *status = icestream_info(path, verify, json, out, error);
    fclose(out);
    return text;
}

/* The file is refused, with these words. */
static void refuse(const char *path, bool verify, const char *says)
{
    int status;
    icestream_error error;
    free(info(path, verify, false, &status, &error));
    ck_assert_int_eq(status, ICESTREAM_E_INPUT);
    expect_in(error.text, says);
}

START_TEST(info_describes_steps)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    int status;
    icestream_error error;
    write_table(scratch_path(&place, "a.steps.npy", path), ics_layout_steps(), ROWS, NULL);
    char *text = info(path, true, false, &status, &error);
    ck_assert_msg(status == 0, "%s", error.text);
    expect_in(text, "a.steps.npy: steps\n");
    expect_in(text, "  rows           20000\n");
    expect_in(text, "  photons        199990000\n"); /* 20000 * 19999 / 2 */
    expect_in(text, "  events         20\n");
    expect_in(text, "  t              -5 .. -5 ns\n");
    expect_in(text, "  x              0 .. 199.990005 m\n");
    expect_in(text, "  producer       icestream " ICESTREAM_VERSION "\n");
    expect_in(text, "  verified: checksums, every field of every row, unique step ids\n");
    free(text);
    scratch_remove(&place);
}
END_TEST

START_TEST(info_describes_hits_as_json)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    int status;
    icestream_error error;
    json_t *metadata = hit_metadata(ROWS);
    write_table(scratch_path(&place, "a.hits.npy", path), ics_layout_hits(), ROWS, metadata);
    json_decref(metadata);
    char *text = info(path, true, true, &status, &error);
    ck_assert_msg(status == 0, "%s", error.text);
    json_t *json = json_loads(text, 0, NULL);
    ck_assert_ptr_nonnull(json);
    ck_assert_str_eq(json_string_value(json_object_get(json, "kind")), "hits");
    ck_assert_int_eq(json_integer_value(json_object_get(json, "rows")), ROWS);
    ck_assert_int_eq(json_integer_value(json_object_get(json, "events")), 40);
    ck_assert(json_is_true(json_object_get(json, "verified")));
    json_t *times = json_object_get(json_object_get(json, "ranges"), "t");
    ck_assert(json_real_value(json_array_get(times, 0)) == 1e6);
    ck_assert(json_real_value(json_array_get(times, 1)) == 1002499.875);
    json_t *stored = json_object_get(json, "metadata");
    ck_assert_str_eq(json_string_value(json_object_get(stored, "seed")), "17");
    ck_assert_ptr_null(json_object_get(json, "photons"));
    json_decref(json);
    free(text);
    text = info(path, true, false, &status, &error);
    expect_in(text, "\"absorbed\": 980000");
    expect_in(text, "order, each hit once, photon account\n");
    free(text);
    scratch_remove(&place);
}
END_TEST

START_TEST(info_describes_empty_files)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    int status;
    icestream_error error;
    write_table(scratch_path(&place, "a.steps.npy", path), ics_layout_steps(), 0, NULL);
    char *text = info(path, true, false, &status, &error);
    ck_assert_int_eq(status, 0);
    expect_in(text, "  rows           0\n");
    expect_in(text, "  events         0\n");
    free(text);
    text = info(path, false, true, &status, &error);
    ck_assert_int_eq(status, 0);
    json_t *json = json_loads(text, 0, NULL);
    json_t *times = json_object_get(json_object_get(json, "ranges"), "t");
    ck_assert(json_is_null(json_array_get(times, 0)));
    json_decref(json);
    free(text);
    scratch_remove(&place);
}
END_TEST

START_TEST(info_verifies_the_account)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    int status;
    icestream_error error;
    scratch_path(&place, "a.hits.npy", path);
    json_t *metadata = hit_metadata(7);
    write_table(path, ics_layout_hits(), 6, metadata);
    refuse(path, true, "account.hits: found 7, expected 6, the number of rows");
    json_object_set_new(json_object_get(metadata, "account"), "left", json_integer(1));
    write_table(path, ics_layout_hits(), 7, metadata);
    refuse(path, true, "account: found 1000000 photons created, expected the sum of");
    free(info(path, false, false, &status, &error)); /* without verify this is no error */
    ck_assert_int_eq(status, 0);
    json_object_del(metadata, "account");
    write_table(path, ics_layout_hits(), 7, metadata);
    refuse(path, true, "account: found none that is complete");
    json_decref(metadata);
    size_t size;
    unsigned char *bytes = scratch_read(path, &size);
    scratch_write(path, bytes, 1024 + 7 * 64);
    free(bytes);
    refuse(path, true, "found no trailer");
    scratch_remove(&place);
}
END_TEST

START_TEST(info_shows_bad_values_and_verify_refuses_them)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    int status;
    icestream_error error;
    size_t size;
    write_table(scratch_path(&place, "a.steps.npy", path), ics_layout_steps(), 3, NULL);
    unsigned char *bytes = scratch_read(path, &size);
    memcpy(bytes + 1024 + 40, "\0\0\0\0\0\0\xf0\x7f", 8); /* t infinite */
    scratch_write(path, bytes, 1024 + 3 * 72);            /* without trailer */
    char *text = info(path, false, false, &status, &error);
    ck_assert_int_eq(status, 0);
    expect_in(text, "t              -5 .. inf ns");
    expect_in(text, "no trailer");
    free(text);
    refuse(path, true, "row 0, field t: found inf");
    scratch_write(path, bytes, size); /* with a trailer that does not fit the rows */
    refuse(path, false, "rows 0 to 14563: found CRC-32C");
    scratch_write(path, "not a table", 11);
    refuse(path, false, "no .npy magic string");
    static const char other[] = "\x93NUMPY\x01\x00\x46\x00{'descr': [('a', '<f4')], "
                                "'fortran_order': False, 'shape': (0,)}         ";
    scratch_write(path, other, 80);
    refuse(path, false, "expected the fields of steps or hits");
    free(bytes);
    scratch_remove(&place);
}
END_TEST

ICS_TEST_MAIN("info")
{
    TCase *about = tcase_create("info");
    tcase_add_test(about, info_describes_steps);
    tcase_add_test(about, info_describes_hits_as_json);
    tcase_add_test(about, info_describes_empty_files);
    tcase_add_test(about, info_verifies_the_account);
    tcase_add_test(about, info_shows_bad_values_and_verify_refuses_them);
    suite_add_tcase(suite, about);
}
