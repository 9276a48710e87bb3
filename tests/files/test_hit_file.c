/* Promise: a hit file has the bytes of files.md 4.1, in whatever portions its rows arrive, is read
 * back by us and by NumPy, and each bad row is refused with its place. To join: a new check of a
 * row is a row of `bad_rows`. */
#include "tests/files/hit_files.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* ---- layout --------------------------------------------------------------------------------- */

START_TEST(hit_file_has_the_normative_bytes)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    write_three(scratch_path(&place, "a.hits.npy", path));
    size_t size;
    unsigned char *bytes = scratch_read(path, &size);
    ck_assert_mem_eq(bytes, "\x93NUMPY\x01\x00\xf6\x03{'shape': (                   3,), ", 45);
    /* The third row, field by field as in the table of files.md 4.1. */
    ck_assert_mem_eq(bytes + HEADER + 128,
                     "\x05\0\0\0\0\0\0\0"               /* 0 event_id u8 */
                     "\0\0\0\0\0\x42\x8f\x40"           /* 8 t f8: 1000.25 */
                     "\xcd\xcc\xcc\x3d\0\0\0\0\0\0\0\0" /* 16 x y z */
                     "\0\0\0\0\0\0\0\0\0\0\x80\xbf"     /* 28 dx dy dz */
                     "\0\0\xc8\x43"                     /* 40 wavelength: 400 */
                     "\0\0\xc0\x3f"                     /* 44 weight: 1.5 */
                     "\x09\0\0\0"                       /* 48 step_id */
                     "\x07\0\0\0"                       /* 52 photon_id */
                     "\x3f\0\x14\0"                     /* 56 string, 58 module */
                     "\xff\xff\x0c\0",                  /* 60 pmt, 62 scatters */
                     64);
    ck_assert_int_eq(bytes[HEADER + 192], '{');
    ck_assert_mem_eq(bytes + size - 32, "\xc0\x04\0\0\0\0\0\0", 8); /* JSON at 1024 + 192 */
    ck_assert_uint_eq(bytes[size - 24] + 256u * bytes[size - 23], size - 32 - 192 - HEADER);
    ck_assert_mem_eq(bytes + size - 12, "\x01\0\0\0ISTRAIL1", 12);
    free(bytes);
    scratch_remove(&place);
}
END_TEST

START_TEST(hit_file_is_read_back)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    ics_hit_reader *reader = NULL;
    icestream_hit hits[8];
    icestream_error error;
    icestream_account account;
    size_t got;
    write_three(scratch_path(&place, "a.hits.npy", path));
    ck_assert_int_eq(ics_hit_reader_open(path, true, &reader, &error), 0);
    ck_assert_uint_eq(ics_hit_reader_rows(reader), 3);
    ck_assert_int_eq(ics_hit_reader_read(reader, hits, 8, &got, &error), 0);
    ck_assert_uint_eq(got, 3);
    ck_assert_uint_eq(hits[2].photon_id, 7);
    ck_assert_int_eq(ics_hit_reader_read(reader, hits, 8, &got, &error), 0);
    ck_assert_uint_eq(got, 0);
    const json_t *metadata = ics_hit_reader_metadata(reader);
    ck_assert_str_eq(json_string_value(json_object_get(metadata, "seed")), "18446744073709551615");
    ck_assert(ics_metadata_account(metadata, &account));
    ck_assert_mem_eq(&account, &closed, sizeof closed);
    ics_hit_reader_destroy(reader);
    scratch_remove(&place);
}
END_TEST

/* The bytes do not depend on how many rows are appended at a time. */
START_TEST(bytes_do_not_depend_on_how_rows_arrive)
{
    enum { COUNT = 40000 };
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    icestream_hit *hits = malloc(COUNT * sizeof *hits);
    icestream_error error = {.text = ""};
    size_t whole_size, drops_size;
    ck_assert_ptr_nonnull(hits);
    for (uint32_t i = 0; i < COUNT; ++i) {
        hits[i] = good_hit(i);
    }
    ck_assert_int_eq(
        write_hits(scratch_path(&place, "whole", path), hits, COUNT, NULL, false, &error), 0);
    unsigned char *whole = scratch_read(path, &whole_size);
    ics_table_writer *writer = NULL;
    scratch_path(&place, "drops", path);
    ck_assert_int_eq(ics_table_writer_create(path, ics_layout_hits(), false, &writer, &error), 0);
    for (size_t at = 0, step = 1; at < COUNT; at += step, step = step * 5 % 20011) {
        step = step < COUNT - at ? step : COUNT - at;
        ck_assert_int_eq(ics_table_writer_append(writer, hits + at, step, &error), 0);
    }
    ck_assert_uint_eq(ics_table_writer_rows(writer), COUNT);
    ck_assert_int_eq(ics_table_writer_commit(writer, NULL, &error), 0);
    ics_table_writer_destroy(writer);
    unsigned char *drops = scratch_read(path, &drops_size);
    ck_assert_uint_eq(whole_size, drops_size);
    ck_assert_mem_eq(whole, drops, whole_size);
    free(drops);
    free(whole);
    free(hits);
    scratch_remove(&place);
}
END_TEST

START_TEST(hits_are_read_by_numpy)
{
    if (!scratch_has_numpy()) {
        return;
    }
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    write_three(scratch_path(&place, "a.hits.npy", path));
    static const char program[] =
        "import numpy as n, sys, json, struct\n"
        "h = n.load(sys.argv[1])\n"
        "assert len(h) == 3 and h.dtype.itemsize == 64\n"
        "assert h['t'][1] == 1000.25 and h['pmt'][0] == -1 and list(h['photon_id']) == [0, 1, 7]\n"
        "b = open(sys.argv[1], 'rb').read()\n"
        "offset, length, crc, version = struct.unpack('<QQII', b[-32:-8])\n"
        "m = json.loads(b[offset:offset + length])\n"
        "assert version == 1 and m['rows'] == 3 and m['units']['wavelength'] == 'nm'\n"
        "a = m['account']\n"
        "assert a['created'] == a['absorbed'] + a['detected'] + a['left'] + a['stopped']\n"
        "assert m['seed'] == str(2**64 - 1) and m['digests']['ice'] == '1ce'\n";
    ck_assert_int_eq(scratch_python(program, path, NULL), 0);
    scratch_remove(&place);
}
END_TEST

/* ---- order and ranges ----------------------------------------------------------------------- */

static const struct {
    size_t offset;
    const char *bytes;
    size_t size;
    const char *expected;
} bad_rows[] = {
    {8, "\0\0\0\0\0\0\xf8\x7f", 8, "row 2, field t: found nan, expected a finite value"},
    {16, "\0\0\x80\x7f", 4, "row 2, field x: found inf, expected a finite value"},
    {20, "\0\0\xc0\x7f", 4, "row 2, field y: found nan"},
    {24, "\0\0\xc0\x7f", 4, "row 2, field z: found nan"},
    {28, "\0\0\xc0\x7f", 4, "row 2, field dx: found nan, expected part of a unit vector"},
    {32, "\0\0\x00\x40", 4, "row 2, field dy: found 2, expected part of a unit vector"},
    {36, "\0\0\0\0", 4, "row 2, fields dx, dy, dz: found a vector of length 0, expected 1"},
    {40, "\0\0\0\0", 4, "row 2, field wavelength: found 0, expected 250 to 700 nm"},
    {44, "\0\0\x80\xbf", 4, "row 2, field weight: found -1, expected a finite value >= 0"},
    {60, "\xfe\xff", 2,
     "row 2, field pmt: found -2, expected -1 (a photon), or 0 to 1022 (the PMT of"},
    {0, "\x04", 1, "row 2: found a hit that belongs before the previous one"},
    {48, "\x08", 1, "row 2: found a hit that belongs before the previous one"},
    {52, "\0", 1, "row 2: found a hit that belongs before the previous one"},
    {62, "\x0d", 1, "rows 0 to 16383: found CRC-32C"},
};

START_TEST(bad_hits_are_refused)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    size_t size;
    icestream_error error;
    write_three(scratch_path(&place, "a.hits.npy", path));
    unsigned char *bytes = scratch_read(path, &size), *damaged = malloc(size);
    ck_assert_ptr_nonnull(damaged);
    for (size_t i = 0; i < sizeof bad_rows / sizeof *bad_rows; ++i) {
        memcpy(damaged, bytes, size);
        memcpy(damaged + HEADER + 128 + bad_rows[i].offset, bad_rows[i].bytes, bad_rows[i].size);
        scratch_write(path, damaged, size);
        ck_assert_int_eq(read_checked(path, &error), ICESTREAM_E_INPUT);
        ck_assert_msg(strstr(error.text, bad_rows[i].expected) != NULL, "found '%s', expected '%s'",
                      error.text, bad_rows[i].expected);
    }
    free(damaged);
    free(bytes);
    scratch_remove(&place);
}
END_TEST

START_TEST(hits_are_ordered_by_identity)
{
    icestream_hit low = good_hit(3), high = low;
    ck_assert_int_eq(ics_hit_compare(&low, &high), 0);
    high.t = -1; /* the time is no part of the identity */
    ck_assert_int_eq(ics_hit_compare(&low, &high), 0);
    high.module = 21;
    ck_assert_int_lt(ics_hit_compare(&low, &high), 0);
    low.string = 64;
    ck_assert_int_gt(ics_hit_compare(&low, &high), 0);
    high.photon_id = 4;
    ck_assert_int_lt(ics_hit_compare(&low, &high), 0);
    low.step_id = 0xffffffffu;
    ck_assert_int_gt(ics_hit_compare(&low, &high), 0);
    high.event_id = UINT64_MAX;
    ck_assert_int_lt(ics_hit_compare(&low, &high), 0);
}
END_TEST

/* What files.md 4.4 asks of the rows together and of the account. */
START_TEST(files_that_cannot_be_true_are_refused)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    icestream_error error;
    scratch_path(&place, "a.hits.npy", path);
    const icestream_account continuing = {
        .created = 100, .absorbed = 60, .left = 39, .stopped = 1, .hits = 3, .bounces = 9};
    icestream_account more = closed, wide = closed;
    more.detected = 4;
    more.left = 35;
    wide.detected = 2; /* of three photons with a hit, two hit the module at its true size */
    wide.left = 37;
    const struct {
        icestream_hit second; /* between photon 0 and photon 7 */
        const icestream_account *account;
        const char *expected; /* NULL: nothing is wrong */
    } cases[] = {
        {good_hit(1), &closed, NULL},
        {good_hit(0), &closed, "row 1: found photon 0 of event 5, step 9 again, expected one hit"},
        {good_hit(0), &continuing, "row 1: found photon 0 of event 5, step 9 again, expected each"},
        {good_hit(1), &continuing, NULL},
        {good_hit(1), &more, "account.hits: found 3, expected at least 4, the number of detected"},
        {good_hit(1), &wide, NULL},
        {good_hit(0), &wide, "row 1: found photon 0 of event 5, step 9 again, expected each"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const icestream_hit hits[] = {good_hit(0), cases[i].second, good_hit(7)};
        json_t *metadata = make_metadata(&origin, cases[i].account);
        ck_assert_int_eq(write_hits(path, hits, 3, metadata, true, &error), 0);
        const int status = ics_hit_check_file(path, &error);
        ck_assert_int_eq(status, cases[i].expected != NULL ? ICESTREAM_E_INPUT : ICESTREAM_OK);
        ck_assert_msg(cases[i].expected == NULL || strstr(error.text, cases[i].expected) != NULL,
                      "%s", error.text);
        json_decref(metadata);
    }
    icestream_hit late[] = {good_hit(0), good_hit(1), good_hit(2)};
    late[2].t += 2e9;
    json_t *metadata = make_metadata(&origin, &closed);
    ck_assert_int_eq(write_hits(path, late, 3, metadata, true, &error), 0);
    ck_assert_int_eq(ics_hit_check_file(path, &error), ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "row 2, field t: found 2.000001e+09"));
    json_decref(metadata);
    scratch_remove(&place);
}
END_TEST

ICS_TEST_MAIN("hit_file")
{
    TCase *layout = tcase_create("layout");
    tcase_add_test(layout, hit_file_has_the_normative_bytes);
    tcase_add_test(layout, hit_file_is_read_back);
    tcase_add_test(layout, bytes_do_not_depend_on_how_rows_arrive);
    tcase_add_test(layout, hits_are_read_by_numpy);
    suite_add_tcase(suite, layout);
    TCase *order = tcase_create("order and ranges");
    tcase_add_test(order, bad_hits_are_refused);
    tcase_add_test(order, hits_are_ordered_by_identity);
    tcase_add_test(order, files_that_cannot_be_true_are_refused);
    suite_add_tcase(suite, order);
}
