/* Promises: a photon table that is written and read again is the same, equal tables give equal
 * bytes, and each damage of a file is an error that names the file. To join: a new wrong key of the
 * metadata is a row of `wrong_keys`. */
#include "pipeline/photons/table/file.h"
#include "pipeline/photons/table/metadata.h"
#include "tests/support/test_main.h"
#include "tests/table/table_samples.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static char folder[] = "/tmp/icestream-table-XXXXXX";
static char path[64];

static void begin(void)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.npy", folder);
}

static void end(void)
{
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0);
}

static unsigned char *bytes_of(const ics_table *table, size_t *size)
{
    icestream_error error = {.text = ""};
    ck_assert_msg(ics_table_write(table, path, true, &error) == 0, "%s", error.text);
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    unsigned char *bytes = malloc(1 << 20);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

static int read_bytes(const unsigned char *bytes, size_t size, ics_table **out,
                      icestream_error *error)
{
    const int file = memfd_create("table", MFD_CLOEXEC);
    ck_assert_int_eq(write(file, bytes, size), (ssize_t)size);
    const int status = ics_table_read_descriptor(file, "a.npy", out, error);
    close(file);
    return status;
}

START_TEST(a_table_comes_back)
{
    icestream_error error = {.text = ""};
    ics_table *a = sample_table(5, SAMPLE_PART_A, _i == 1), *b = NULL;
    double edges[3] = {0, 1.0 / 3.0, 8};
    a->axes[0].power = 1;
    a->axes[0].edges = malloc(sizeof edges);
    memcpy(a->axes[0].edges, edges, sizeof edges);
    a->facts.seed = UINT64_MAX;
    strcpy(a->facts.ice, SAMPLE_PART_C);
    ck_assert_int_eq(ics_table_add_part(a, SAMPLE_PART_B, &error), 0);
    ck_assert_int_eq(ics_table_write(a, path, false, &error), 0);
    ck_assert_int_eq(ics_table_write(a, path, false, &error), ICESTREAM_E_OUTPUT);
    ck_assert_msg(ics_table_read(path, &b, &error) == 0, "%s", error.text);
    ck_assert(sample_equals(a, b));
    ck_assert_double_eq(b->axes[0].edges[1], edges[1]);
    ck_assert_str_eq(b->facts.ice, SAMPLE_PART_C);
    size_t size = 0, again = 0;
    unsigned char *one = bytes_of(a, &size), *two = bytes_of(b, &again);
    ck_assert_uint_eq(size, again);
    ck_assert_int_eq(memcmp(one, two, size), 0);
    free(one);
    free(two);
    ics_table_destroy(a);
    ics_table_destroy(b);
}
END_TEST

START_TEST(a_checkpoint_comes_back)
{
    icestream_error error = {.text = ""};
    ics_table *a = sample_table(5, SAMPLE_PART_A, true), *b = NULL, *sum;
    a->part_count = 0;
    a->checkpoint = json_pack("{s:s, s:{s:i}}", "photons", "4000000000000000000", "other", "x", 1);
    ck_assert_msg(ics_table_write(a, path, false, &error) == 0, "%s", error.text);
    ck_assert_msg(ics_table_read(path, &b, &error) == 0, "%s", error.text);
    ck_assert(sample_equals(a, b));
    ck_assert(json_equal(a->checkpoint, b->checkpoint));
    /* It adds up with nothing, in either order. */
    sum = sample_table(6, SAMPLE_PART_B, true);
    ck_assert_int_eq(ics_table_add(sum, "sum", b, path, &error), ICESTREAM_E_INPUT);
    ck_assert_ptr_eq(strstr(error.text, path), error.text);
    ck_assert_ptr_nonnull(strstr(error.text, "found a checkpoint of a table that lacks photons"));
    ck_assert_int_eq(ics_table_add(b, path, sum, "sum", &error), ICESTREAM_E_INPUT);
    ck_assert_ptr_eq(strstr(error.text, path), error.text);
    ics_table_destroy(a);
    ics_table_destroy(b);
    ics_table_destroy(sum);
}
END_TEST

/* Every 7th byte is flipped: header, sums, metadata, tail. */
START_TEST(each_wrong_byte_is_found)
{
    size_t size = 0;
    ics_table *a = sample_table(5, SAMPLE_PART_A, true), *b = NULL;
    unsigned char *bytes = bytes_of(a, &size);
    for (size_t i = 0; i < size; i += 7) {
        icestream_error error = {.text = ""};
        bytes[i] ^= 0x41;
        ck_assert_msg(read_bytes(bytes, size, &b, &error) == ICESTREAM_E_INPUT, "byte %zu", i);
        ck_assert_ptr_eq(strstr(error.text, "a.npy: "), error.text);
        ck_assert_ptr_null(b);
        bytes[i] ^= 0x41;
    }
    free(bytes);
    ics_table_destroy(a);
}
END_TEST

START_TEST(a_cut_file_is_an_error)
{
    size_t size = 0;
    ics_table *a = sample_table(5, SAMPLE_PART_A, false), *b = NULL;
    unsigned char *bytes = bytes_of(a, &size);
    for (size_t length = 0; length < size; length += 13) {
        icestream_error error = {.text = ""};
        ck_assert_int_eq(read_bytes(bytes, length, &b, &error), ICESTREAM_E_INPUT);
    }
    free(bytes);
    ics_table_destroy(a);
}
END_TEST

/* Damaged tables and tables that NumPy has saved again are recognised, too, so that the reader of
 * tables explains what is wrong. */
START_TEST(tables_are_recognised)
{
    static const struct {
        const char *bytes;
        bool is;
    } starts[] = {
        {"\x93NUMPY\x01 v {'descr': '<i8', 'fortran_order': False, 'shape': (4,)}", true},
        {"\x93NUMPY\x01 v {'descr': '<f8', 'fortran_order': False, 'shape': (4,)}", false},
        {"\x93NUMPY\x01 v {'descr': [('event_id', '<u8')], 'shape': (4,)}", false},
        {"\x93NUMP! {'descr': '<i8', 'fortran_order': False, 'shape': (4,)}", false},
        {"", false},
    };
    ics_table *a = sample_table(5, SAMPLE_PART_A, _i == 1);
    size_t size = 0;
    free(bytes_of(a, &size));
    ck_assert(ics_table_file_is(path));
    ck_assert_int_eq(truncate(path, 200), 0);
    ck_assert(ics_table_file_is(path));
    for (size_t i = 0; i < COUNT(starts); ++i) {
        FILE *file = fopen(path, "wb");
        ck_assert_ptr_nonnull(file);
        fputs(starts[i].bytes, file);
        fclose(file);
        ck_assert_msg(ics_table_file_is(path) == starts[i].is, "start %zu", i);
    }
    ck_assert(!ics_table_file_is(folder));
    ck_assert(!ics_table_file_is("/nowhere/a.npy"));
    ics_table_destroy(a);
}
END_TEST

START_TEST(negative_sums_are_errors)
{
    size_t size = 0;
    icestream_error error = {.text = ""};
    ics_table *a = sample_table(5, SAMPLE_PART_A, _i == 1), *b = NULL;
    (_i == 1 ? a->squares : a->sums)[9] = -4;
    unsigned char *bytes = bytes_of(a, &size);
    ck_assert_int_eq(read_bytes(bytes, size, &b, &error), ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "a.npy: cell 9: found the"));
    ck_assert_ptr_nonnull(strstr(error.text, "sum -4"));
    free(bytes);
    ics_table_destroy(a);
}
END_TEST

/* ---- metadata -------------------------------------------------------------------------------- */

static const struct {
    const char *change; /* merged into the metadata */
    const char *says;
} wrong_keys[] = {
    {"{\"axes\": 3}", "axes: found 3"},
    {"{\"axes\": [5]}", "name: found nothing"},
    {"{\"axes\": [{\"name\": \"r\", \"unit\": \"a long unit\"}]}", "unit: found \"a long unit\""},
    {"{\"axes\": [{\"name\": \"r\", \"unit\": \"m\", \"from\": \"0\"}]}", "from: found \"0\""},
    {"{\"axes\": [{\"name\": \"r\", \"unit\": \"\", \"from\": 0, \"to\": 1, \"bins\": 478, "
     "\"power\": 1}]}",
     "axis r: found the unit '', expected 1 to 7 letters"},
    {"{\"has_squares\": 1}", "has_squares: found 1"},
    {"{\"has_squares\": true}", "found 480 sums, expected 960"},
    {"{\"geometry\": \"cubic\"}", "geometry: found \"cubic\""},
    {"{\"area\": -1.5}", "area -1.5"},
    {"{\"source\": 1}", "z: found nothing"},
    {"{\"efficiency\": -1}", "efficiency: found -1"},
    {"{\"seed\": 1}", "seed: found 1"},
    {"{\"seed\": \"99999999999999999999\"}", "seed: found"},
    {"{\"digests\": {\"configuration\": \"ab\"}}", "configuration: found \"ab\""},
    {"{\"photons\": \"-1\"}", "photons: found \"-1\""},
    {"{\"weight\": {\"whole\": \"1\", \"fraction\": 4294967296}}", "fraction: found 4294967296"},
    {"{\"parts\": 1}", "parts: found 1"},
    {"{\"parts\": [\"" SAMPLE_PART_A "\", \"" SAMPLE_PART_A "\"]}", "a second time"},
    {"{\"checkpoint\": 1}", "photons: found nothing"},
    {"{\"checkpoint\": {\"photons\": 9}}", "photons: found 9"},
    {"{\"checkpoint\": {\"photons\": \"104\"}, \"parts\": []}",
     "checkpoint: found 105 of 104 photons and 0 parts"},
    {"{\"checkpoint\": {\"photons\": \"106\"}}",
     "checkpoint: found 105 of 106 photons and 1 parts"},
};

START_TEST(wrong_metadata_are_explained)
{
    icestream_error error = {.text = ""};
    ics_table *a = sample_table(5, SAMPLE_PART_A, false), *b = NULL;
    json_t *metadata = NULL, *change = json_loads(wrong_keys[_i].change, 0, NULL);
    ck_assert_uint_eq(a->cells, 480);
    ck_assert_int_eq(ics_table_metadata_create(a, &metadata, &error), 0);
    ck_assert_ptr_nonnull(change);
    ck_assert_int_eq(json_object_update(metadata, change), 0);
    ck_assert_int_eq(ics_table_metadata_read("a.npy", metadata, 480, &b, &error),
                     ICESTREAM_E_INPUT);
    ck_assert_msg(strstr(error.text, wrong_keys[_i].says) != NULL, "%s", error.text);
    ck_assert_ptr_eq(strstr(error.text, "a.npy: "), error.text);
    ck_assert_ptr_null(b);
    json_decref(metadata);
    json_decref(change);
    ics_table_destroy(a);
}
END_TEST

START_TEST(a_full_disk_is_an_error)
{
    icestream_error error = {.text = ""};
    ics_table *a = sample_table(5, SAMPLE_PART_A, false);
    if (access("/dev/full", W_OK) == 0) {
        const int kept = dup(STDOUT_FILENO), full = open("/dev/full", O_WRONLY | O_CLOEXEC);
        ck_assert_int_ge(full, 0);
        dup2(full, STDOUT_FILENO);
        const int status = ics_table_write(a, "-", false, &error);
        dup2(kept, STDOUT_FILENO);
        close(kept);
        close(full);
        ck_assert_int_eq(status, ICESTREAM_E_OUTPUT);
        ck_assert_ptr_nonnull(strstr(error.text, "No space left on device"));
    }
    ck_assert_int_eq(ics_table_write(a, "/nowhere/a.npy", false, &error), ICESTREAM_E_OUTPUT);
    ics_table_destroy(a);
}
END_TEST

ICS_TEST_MAIN("table_file")
{
    TCase *cases = tcase_create("table_file");
    tcase_add_checked_fixture(cases, begin, end);
    tcase_add_loop_test(cases, a_table_comes_back, 0, 2);
    tcase_add_test(cases, a_checkpoint_comes_back);
    tcase_add_test(cases, each_wrong_byte_is_found);
    tcase_add_test(cases, a_cut_file_is_an_error);
    tcase_add_loop_test(cases, tables_are_recognised, 0, 2);
    tcase_add_loop_test(cases, negative_sums_are_errors, 0, 2);
    tcase_add_loop_test(cases, wrong_metadata_are_explained, 0, COUNT(wrong_keys));
    tcase_add_test(cases, a_full_disk_is_an_error);
    suite_add_tcase(suite, cases);
}
