/* Writing files so that a name means a complete file; hit files, their order, origin and account.
 */
#include "pipeline/files/hit_reader.h"
#include "pipeline/files/output.h"
#include "pipeline/files/table_writer.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { HEADER = 1024 };

static icestream_hit good_hit(uint32_t photon)
{
    return (icestream_hit){.event_id = 5,
                           .t = 1000.25,
                           .x = 0.1f,
                           .dz = -1,
                           .wavelength = 400,
                           .weight = 1.5f,
                           .step_id = 9,
                           .photon_id = photon,
                           .string = 63,
                           .module = 20,
                           .pmt = -1,
                           .scatters = 12};
}

static const icestream_account closed = {.created = 100,
                                         .absorbed = 60,
                                         .detected = 30,
                                         .left = 9,
                                         .stopped = 1,
                                         .hits = 3,
                                         .bounces = 1234};
static const ics_metadata_origin origin = {
    .seed = UINT64_MAX, .configuration = "c0", .ice = "1ce", .detector = "de", .input = "1b"};

static json_t *make_metadata(const ics_metadata_origin *from, const icestream_account *account)
{
    json_t *metadata = NULL;
    icestream_error error = {.text = ""};
    ck_assert_msg(ics_metadata_create(from, &metadata, &error) == 0, "%s", error.text);
    if (account != NULL) {
        ck_assert_msg(ics_metadata_set_account(metadata, account, &error) == 0, "%s", error.text);
    }
    return metadata;
}

static int write_hits(const char *path, const icestream_hit *hits, size_t count,
                      const json_t *metadata, bool force, icestream_error *error)
{
    ics_table_writer *writer = NULL;
    int status = ics_table_writer_create(path, ics_layout_hits(), force, &writer, error);
    if (!status) {
        status = ics_table_writer_append(writer, hits, count, error);
    }
    if (!status) {
        status = ics_table_writer_commit(writer, metadata, error);
    }
    ics_table_writer_destroy(writer);
    return status;
}

static void write_three(const char *path)
{
    const icestream_hit hits[3] = {good_hit(0), good_hit(1), good_hit(7)};
    icestream_error error = {.text = ""};
    json_t *metadata = make_metadata(&origin, &closed);
    ck_assert_msg(write_hits(path, hits, 3, metadata, true, &error) == 0, "%s", error.text);
    json_decref(metadata);
}

/* ---- layout --------------------------------------------------------------------------------- */

START_TEST(hit_file_has_the_normative_bytes)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    write_three(scratch_path(&place, "a.hits.npy", path));
    size_t size;
    unsigned char *bytes = scratch_read(path, &size);
    ck_assert_mem_eq(bytes, "\x93NUMPY\x01\x00\xf6\x03{'shape': (                   3,), ", 45);
    /* The third row, field by field as the table of files.md 4.1 says. */
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

/* Appends of any size give the same bytes: rows arrive in blocks and in drops. */
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

static int read_checked(const char *path, icestream_error *error)
{
    ics_hit_reader *reader = NULL;
    icestream_hit hits[2];
    size_t got = 1;
    *error = (icestream_error){.text = ""};
    int status = ics_hit_reader_open(path, true, &reader, error);
    while (!status && got > 0) {
        status = ics_hit_reader_read(reader, hits, 2, &got, error);
    }
    ics_hit_reader_destroy(reader);
    return status;
}

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
    {40, "\0\0\0\0", 4, "row 2, field wavelength: found 0, expected a finite value > 0"},
    {44, "\0\0\x80\xbf", 4, "row 2, field weight: found -1, expected a finite value >= 0"},
    {60, "\xfe\xff", 2, "row 2, field pmt: found -2, expected -1 or more"},
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
    high.t = -1; /* does not count */
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

/* ---- metadata ------------------------------------------------------------------------------- */

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
        strstr(error.text, "found 100 created and 61 absorbed, 30 detected, 9 left, 1"));
    /* Sums that wrap around do not close. */
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

START_TEST(maths_have_a_word)
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

START_TEST(matching_files_are_recognised)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    icestream_error error;
    bool matches;
    write_three(scratch_path(&place, "a.hits.npy", path));
    json_t *same = make_metadata(&origin, NULL);
    for (int thorough = 0; thorough < 2; ++thorough) {
        ck_assert_int_eq(ics_hit_file_matches(path, same, thorough, &matches, &error), 0);
        ck_assert(matches);
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
        ck_assert_int_eq(ics_hit_file_matches(path, other, true, &matches, &error), 0);
        ck_assert_msg(!matches, "case %d", i);
        json_decref(other);
    }
    /* A flipped bit in the rows is only seen by the thorough look. */
    size_t size;
    unsigned char *bytes = scratch_read(path, &size);
    bytes[HEADER + 62] ^= 1;
    scratch_write(path, bytes, size);
    ck_assert_int_eq(ics_hit_file_matches(path, same, false, &matches, &error), 0);
    ck_assert(matches);
    ck_assert_int_eq(ics_hit_file_matches(path, same, true, &matches, &error), 0);
    ck_assert(!matches);
    scratch_write(path, bytes, size - 1);
    ck_assert_int_eq(ics_hit_file_matches(path, same, false, &matches, &error), 0);
    ck_assert(!matches);
    ck_assert_int_eq(
        ics_hit_file_matches(scratch_path(&place, "none", path), same, false, &matches, &error), 0);
    ck_assert(!matches);
    free(bytes);
    json_decref(same);
    scratch_remove(&place);
}
END_TEST

/* ---- commit --------------------------------------------------------------------------------- */

START_TEST(name_appears_with_the_commit)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    ics_table_writer *writer = NULL;
    icestream_error error;
    const icestream_hit hit = good_hit(0);
    scratch_path(&place, "a.hits.npy", path);
    ck_assert_int_eq(ics_table_writer_create(path, ics_layout_hits(), false, &writer, &error), 0);
    ck_assert_int_eq(ics_table_writer_append(writer, &hit, 1, &error), 0);
    ck_assert(scratch_exists(&place, "a.hits.npy.part"));
    ck_assert(!scratch_exists(&place, "a.hits.npy"));
    ck_assert_int_eq(ics_table_writer_commit(writer, NULL, &error), 0);
    ck_assert(!scratch_exists(&place, "a.hits.npy.part"));
    ck_assert(scratch_exists(&place, "a.hits.npy"));
    ics_table_writer_destroy(writer);
    ck_assert(scratch_exists(&place, "a.hits.npy"));
    /* An abandoned one leaves nothing. */
    scratch_path(&place, "b.hits.npy", path);
    ck_assert_int_eq(ics_table_writer_create(path, ics_layout_hits(), false, &writer, &error), 0);
    ics_table_writer_destroy(writer);
    ck_assert(!scratch_exists(&place, "b.hits.npy.part"));
    ck_assert(!scratch_exists(&place, "b.hits.npy"));
    scratch_remove(&place);
}
END_TEST

START_TEST(existing_file_is_kept_without_force)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    ics_table_writer *writer = NULL;
    icestream_error error;
    size_t size;
    scratch_write(scratch_path(&place, "a.hits.npy", path), "precious", 8);
    ck_assert_int_eq(ics_table_writer_create(path, ics_layout_hits(), false, &writer, &error),
                     ICESTREAM_E_OUTPUT);
    ck_assert_int_eq(icestream_status_exit(error.status), 74);
    ck_assert_ptr_nonnull(strstr(error.text, "a.hits.npy: found an existing file, expected none"));
    ck_assert(!scratch_exists(&place, "a.hits.npy.part"));
    write_three(path); /* with force */
    ck_assert_int_eq(read_checked(path, &error), 0);
    /* A file that appears while we write is kept, too. */
    scratch_path(&place, "b.hits.npy", path);
    ck_assert_int_eq(ics_table_writer_create(path, ics_layout_hits(), false, &writer, &error), 0);
    scratch_write(path, "precious", 8);
    ck_assert_int_eq(ics_table_writer_commit(writer, NULL, &error), ICESTREAM_E_OUTPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "found an existing file"));
    ics_table_writer_destroy(writer);
    unsigned char *bytes = scratch_read(path, &size);
    ck_assert_uint_eq(size, 8);
    ck_assert_mem_eq(bytes, "precious", 8);
    ck_assert(!scratch_exists(&place, "b.hits.npy.part"));
    free(bytes);
    scratch_remove(&place);
}
END_TEST

START_TEST(one_output_has_one_writer)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    ics_table_writer *first = NULL, *second = NULL;
    icestream_error error;
    scratch_path(&place, "a.hits.npy", path);
    ck_assert_int_eq(ics_table_writer_create(path, ics_layout_hits(), true, &first, &error), 0);
    ck_assert_int_eq(ics_table_writer_create(path, ics_layout_hits(), true, &second, &error),
                     ICESTREAM_E_OUTPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "found another process writing it"));
    ck_assert_ptr_null(second);
    ck_assert(scratch_exists(&place, "a.hits.npy.part")); /* the first one's */
    ck_assert_int_eq(ics_table_writer_commit(first, NULL, &error), 0);
    ics_table_writer_destroy(first);
    ck_assert_int_eq(ics_table_writer_create(path, ics_layout_hits(), true, &second, &error), 0);
    ics_table_writer_destroy(second);
    scratch_remove(&place);
}
END_TEST

START_TEST(what_a_killed_writer_left_is_overwritten)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH], part[SCRATCH_PATH];
    char *junk = calloc(1, 100000);
    icestream_error error;
    ck_assert_ptr_nonnull(junk);
    scratch_write(scratch_path(&place, "a.hits.npy.part", part), junk, 100000);
    write_three(scratch_path(&place, "a.hits.npy", path));
    ck_assert_int_eq(read_checked(path, &error), 0);
    ck_assert(!scratch_exists(&place, "a.hits.npy.part"));
    free(junk);
    scratch_remove(&place);
}
END_TEST

/* As after a kill between link and unlink, on file systems where that is how files get names. */
START_TEST(second_name_of_a_finished_file_is_not_written_to)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH], part[SCRATCH_PATH];
    ics_table_writer *writer = NULL;
    icestream_error error;
    write_three(scratch_path(&place, "a.hits.npy", path));
    ck_assert_int_eq(link(path, scratch_path(&place, "a.hits.npy.part", part)), 0);
    ck_assert_int_eq(ics_table_writer_create(path, ics_layout_hits(), true, &writer, &error), 0);
    ck_assert(scratch_exists(&place, "a.hits.npy.part"));
    ck_assert_int_eq(read_checked(path, &error), 0);
    ics_table_writer_destroy(writer);
    ck_assert_int_eq(read_checked(path, &error), 0);
    scratch_remove(&place);
}
END_TEST

START_TEST(what_a_killed_writer_left_is_removed)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH], part[SCRATCH_PATH];
    ics_table_writer *writer = NULL;
    icestream_error error;
    write_three(scratch_path(&place, "a.hits.npy", path));
    ck_assert_int_eq(ics_output_clean(path, &error), 0);
    ck_assert_int_eq(link(path, scratch_path(&place, "a.hits.npy.part", part)), 0);
    ck_assert_int_eq(ics_output_clean(path, &error), 0);
    ck_assert(!scratch_exists(&place, "a.hits.npy.part"));
    ck_assert_int_eq(read_checked(path, &error), 0);
    /* That of a writer at work stays. */
    ck_assert_int_eq(ics_table_writer_create(path, ics_layout_hits(), true, &writer, &error), 0);
    ck_assert_int_eq(ics_output_clean(path, &error), 0);
    ck_assert(scratch_exists(&place, "a.hits.npy.part"));
    ics_table_writer_destroy(writer);
    scratch_remove(&place);
}
END_TEST

START_TEST(places_that_cannot_be_written_are_named)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    ics_table_writer *writer = NULL;
    icestream_error error;
    scratch_path(&place, "missing/a.hits.npy", path);
    ck_assert_int_eq(ics_table_writer_create(path, ics_layout_hits(), true, &writer, &error),
                     ICESTREAM_E_OUTPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "missing/a.hits.npy: cannot create its .part file: No "
                                             "such file or directory"));
    ck_assert_int_eq(mkdir(scratch_path(&place, "folder", path), 0777), 0);
    ck_assert_int_eq(ics_table_writer_create(path, ics_layout_hits(), true, &writer, &error),
                     ICESTREAM_E_OUTPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "found a folder, expected to write a file"));
    ck_assert_int_eq(mkfifo(scratch_path(&place, "pipe.part", path), 0666), 0);
    ck_assert_int_eq(ics_table_writer_create(scratch_path(&place, "pipe", path), ics_layout_hits(),
                                             true, &writer, &error),
                     ICESTREAM_E_OUTPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "found something that is not a file"));
    ck_assert(scratch_exists(&place, "pipe.part")); /* not ours, so it stays */
    ck_assert_int_eq(symlink("elsewhere", scratch_path(&place, "link.part", path)), 0);
    ck_assert_int_eq(ics_table_writer_create(scratch_path(&place, "link", path), ics_layout_hits(),
                                             true, &writer, &error),
                     ICESTREAM_E_OUTPUT);
    ck_assert(!scratch_exists(&place, "elsewhere"));
    scratch_remove(&place);
}
END_TEST

START_TEST(full_disk_is_an_error_and_leaves_nothing)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    icestream_hit *hits = calloc(40000, sizeof *hits);
    icestream_error error;
    ck_assert_ptr_nonnull(hits);
    /* A limit on the size of files fails in the middle of a write, as a full disk does. */
    const struct rlimit limit = {1500000, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert_int_eq(
        write_hits(scratch_path(&place, "a.hits.npy", path), hits, 40000, NULL, false, &error),
        ICESTREAM_E_OUTPUT);
    ck_assert_ptr_nonnull(
        strstr(error.text, "a.hits.npy: cannot write: File too large (after 1500000"));
    ck_assert(!scratch_exists(&place, "a.hits.npy"));
    ck_assert(!scratch_exists(&place, "a.hits.npy.part"));
    free(hits);
    scratch_remove(&place);
}
END_TEST

/* ---- messages ------------------------------------------------------------------------------- */

START_TEST(message_to_a_full_device_or_closed_pipe_is_an_error)
{
    const icestream_hit hit = good_hit(0);
    icestream_error error;
    int ends[2];
    int full = open("/dev/full", O_WRONLY);
    if (full >= 0) {
        ck_assert_int_eq(ics_table_message_write(full, "full", ics_layout_hits(), &hit, 1, &error),
                         ICESTREAM_E_OUTPUT);
        ck_assert_str_eq(
            error.text,
            "full: cannot write: No space left on device (after 0 bytes of the message)");
        close(full);
    }
    ck_assert_int_eq(pipe(ends), 0);
    close(ends[0]);
    ck_assert_int_eq(ics_table_message_write(ends[1], "pipe", ics_layout_hits(), &hit, 1, &error),
                     ICESTREAM_E_OUTPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "pipe: cannot write: the reader has gone"));
    close(ends[1]);
    sigset_t blocked;
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    ck_assert_int_eq(sigismember(&blocked, SIGPIPE), 0);
}
END_TEST

/* A slow reader at a descriptor that does not wait gets every byte. */
START_TEST(message_waits_for_a_slow_reader)
{
    enum { COUNT = 20000 };
    icestream_hit *hits = calloc(COUNT, sizeof *hits);
    icestream_error error;
    int ends[2];
    ck_assert_ptr_nonnull(hits);
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        static unsigned char bytes[65536];
        size_t total = 0;
        ssize_t count;
        close(ends[1]);
        while ((count = read(ends[0], bytes, sizeof bytes)) > 0) {
            total += (size_t)count;
        }
        _exit(total == HEADER + 64 * COUNT ? 0 : 1);
    }
    close(ends[0]);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    ck_assert_int_eq(
        ics_table_message_write(ends[1], "pipe", ics_layout_hits(), hits, COUNT, &error), 0);
    close(ends[1]);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    free(hits);
}
END_TEST

/* ---- kill ----------------------------------------------------------------------------------- */

static void write_until_killed(const char *path, const icestream_hit *hits, size_t count)
{
    icestream_error error;
    for (;;) {
        unlink(path);
        if (write_hits(path, hits, count, NULL, false, &error)) {
            _exit(1);
        }
    }
}

/* Killed at any moment, a writer leaves a complete file or none; the .part is readable, too. */
START_TEST(killed_writer_leaves_a_complete_file_or_none)
{
    enum { COUNT = 20000, KILLS = 40 };
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    icestream_hit *hits = malloc(COUNT * sizeof *hits);
    icestream_error error;
    unsigned state = 20240601;
    int complete = 0, partial = 0;
    ck_assert_ptr_nonnull(hits);
    for (uint32_t i = 0; i < COUNT; ++i) {
        hits[i] = good_hit(i);
    }
    scratch_path(&place, "a.hits.npy", path);
    for (int i = 0; i < KILLS; ++i) {
        pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
            write_until_killed(path, hits, COUNT);
        }
        state = state * 1103515245 + 12345;
        const struct timespec moment = {0, 200000 + (long)(state >> 8) % 20000000};
        nanosleep(&moment, NULL);
        int status;
        ck_assert_int_eq(kill(child, SIGKILL), 0);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFSIGNALED(status));
        partial += scratch_exists(&place, "a.hits.npy.part");
        if (scratch_exists(&place, "a.hits.npy")) {
            ck_assert_msg(read_checked(path, &error) == 0, "%s", error.text);
            ++complete;
        }
    }
    ck_assert_msg(complete + partial > 0, "no writer got anywhere");
    write_three(path); /* and the next writer is not disturbed by what is left */
    free(hits);
    scratch_remove(&place);
}
END_TEST

ICS_TEST_MAIN("hit_file")
{
    TCase *layout = tcase_create("layout");
    tcase_set_timeout(layout, 60);
    tcase_add_test(layout, hit_file_has_the_normative_bytes);
    tcase_add_test(layout, hit_file_is_read_back);
    tcase_add_test(layout, bytes_do_not_depend_on_how_rows_arrive);
    tcase_add_test(layout, hits_are_read_by_numpy);
    tcase_add_test(layout, bad_hits_are_refused);
    tcase_add_test(layout, hits_are_ordered_by_identity);
    tcase_add_test(layout, account_must_close);
    tcase_add_test(layout, maths_have_a_word);
    tcase_add_test(layout, settings_are_the_origin_without_the_input);
    tcase_add_test(layout, matching_files_are_recognised);
    suite_add_tcase(suite, layout);
    TCase *commit = tcase_create("commit");
    tcase_set_timeout(commit, 60);
    tcase_add_test(commit, name_appears_with_the_commit);
    tcase_add_test(commit, existing_file_is_kept_without_force);
    tcase_add_test(commit, one_output_has_one_writer);
    tcase_add_test(commit, second_name_of_a_finished_file_is_not_written_to);
    tcase_add_test(commit, what_a_killed_writer_left_is_removed);
    tcase_add_test(commit, what_a_killed_writer_left_is_overwritten);
    tcase_add_test(commit, places_that_cannot_be_written_are_named);
    tcase_add_test(commit, full_disk_is_an_error_and_leaves_nothing);
    tcase_add_test(commit, message_to_a_full_device_or_closed_pipe_is_an_error);
    tcase_add_test(commit, message_waits_for_a_slow_reader);
    tcase_add_test(commit, killed_writer_leaves_a_complete_file_or_none);
    suite_add_tcase(suite, commit);
}
