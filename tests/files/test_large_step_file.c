/* Promises of large step files, whose digest threads compute in parts while the rows are read: the
 * digest that its definition gives, on request also the plain one, the same errors as those of
 * small files, and no change of the file stays unnoticed. */
#include "pipeline/photons/files/format/file_digest.h"
#include "pipeline/photons/files/format/table_reader.h"
#include "tests/support/scratch_files.h"
#include "tests/support/step_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROWS = 300000, PIECE = 4096 };
_Static_assert(ROWS * sizeof(icestream_step) > ICS_DIGEST_PART, "a large file");

static scratch place;
static char path[SCRATCH_PATH];
static icestream_step *steps;

static void open_place(void)
{
    place = scratch_create();
    scratch_path(&place, "a.steps.npy", path);
    steps = malloc(ROWS * sizeof *steps);
    ck_assert_ptr_nonnull(steps);
    for (uint32_t i = 0; i < ROWS; ++i) {
        steps[i] = step_file_good(3, i);
    }
}

static void close_place(void)
{
    free(steps);
    scratch_remove(&place);
}

/* `parts`: from the lines of the parts, which sha256sum prints; `plain`: of all bytes. */
static void digests_of_file(char parts[ICS_PARTS_DIGEST_TEXT], char plain[ICS_DIGEST_TEXT])
{
    size_t size, used = 0, count = 0;
    icestream_error error;
    char lines[1024], whole[ICS_DIGEST_TEXT];
    unsigned char *bytes = scratch_read(path, &size);
    for (size_t at = 0; at < size; at += ICS_DIGEST_PART, ++count) {
        const size_t left = size - at;
        char part[ICS_DIGEST_TEXT];
        ck_assert_int_eq(ics_digest_of(bytes + at, left < ICS_DIGEST_PART ? left : ICS_DIGEST_PART,
                                       part, &error),
                         0);
        used += (size_t)snprintf(lines + used, sizeof lines - used, "%s  -\n", part);
    }
    ck_assert_int_eq(ics_digest_of(lines, used, whole, &error), 0);
    snprintf(parts, ICS_PARTS_DIGEST_TEXT, "%s-%zu", whole, count);
    ck_assert_int_eq(ics_digest_of(bytes, size, plain, &error), 0);
    free(bytes);
}

static ics_step_reader *open_checked(ics_step_summary *summary)
{
    ics_step_reader *reader = NULL;
    icestream_error error = {.text = ""};
    ck_assert_int_eq(ics_step_reader_open(path, STEP_FILE_SPECTRA, &reader, &error), 0);
    ck_assert_msg(ics_step_reader_check_rows(reader, summary, NULL, &error) == 0, "%s", error.text);
    return reader;
}

/* Reads rows until the end or an error. Returns the status. */
static int read_all(ics_step_reader *reader, uint64_t *rows, icestream_error *error)
{
    static icestream_step read[PIECE];
    int status = ICESTREAM_OK;
    size_t got = 1;
    for (*rows = 0; status == ICESTREAM_OK && got > 0; *rows += got) {
        status = ics_step_reader_read(reader, read, PIECE, &got, error);
    }
    return status;
}

/* ---- reading --------------------------------------------------------------------------------- */

START_TEST(rows_are_read_before_the_digest_is_known)
{
    char expected[ICS_PARTS_DIGEST_TEXT], digest[ICS_PARTS_DIGEST_TEXT], plain[ICS_DIGEST_TEXT];
    ics_step_summary summary;
    icestream_error error = {.text = ""};
    uint64_t rows;
    step_file_write(path, steps, ROWS);
    digests_of_file(expected, plain);
    ics_step_reader *reader = open_checked(&summary);
    ck_assert_uint_eq(summary.rows, ROWS);
    ck_assert_uint_eq(summary.photons, UINT64_C(200) * ROWS);
    ck_assert_str_eq(summary.digest, "");
    ck_assert_int_eq(read_all(reader, &rows, &error), 0);
    ck_assert_uint_eq(rows, ROWS);
    for (int i = 0; i < 2; ++i) {
        ck_assert_int_eq(ics_step_reader_await_digest(reader, NULL, digest, &error), 0);
        ck_assert_str_eq(digest, expected);
    }
    ck_assert_int_eq(ics_step_reader_plain_digest(reader, NULL, digest, &error), 0);
    ck_assert_str_eq(digest, plain);
    /* Once more, and with the wait. */
    ck_assert_int_eq(ics_step_reader_check(reader, &summary, NULL, &error), 0);
    ck_assert_str_eq(summary.digest, expected);
    ck_assert_int_eq(read_all(reader, &rows, &error), 0);
    ics_step_reader_destroy(reader);
}
END_TEST

START_TEST(reader_that_is_not_needed_any_more_ends_the_digest)
{
    ics_step_summary summary;
    step_file_write(path, steps, ROWS);
    ics_step_reader_destroy(open_checked(&summary));
}
END_TEST

/* First, middle and last row of the file, and those around the border of what is read at once. */
static const uint32_t bad_rows[] = {0, 16383, 16384, ROWS / 2, ROWS - 1};

START_TEST(bad_row_of_a_large_file_is_named)
{
    char expected[200];
    const uint32_t row = bad_rows[_i];
    steps[row].beta = 0;
    step_file_write(path, steps, ROWS);
    snprintf(expected, sizeof expected, "row %u, field beta: found 0, expected a value in (0, 1]",
             row);
    step_file_refuse(path, expected);
}
END_TEST

START_TEST(duplicate_of_a_large_file_is_named)
{
    steps[ROWS - 1].step_id = 7;
    step_file_write(path, steps, ROWS);
    step_file_refuse(path, "row 299999, field step_id: found 7 again in event 3 (as in row 7)");
}
END_TEST

static void *do_nothing(void *user)
{
    return user;
}

/* Threads whose stack is larger than the address space cannot be made. */
START_TEST(digest_needs_no_thread)
{
    char expected[ICS_PARTS_DIGEST_TEXT], plain[ICS_DIGEST_TEXT];
    ics_step_summary summary;
    icestream_error error;
    pthread_attr_t attributes;
    pthread_t thread;
    step_file_write(path, steps, ROWS);
    digests_of_file(expected, plain);
    ck_assert_int_eq(pthread_attr_init(&attributes), 0);
    ck_assert_int_eq(pthread_attr_setstacksize(&attributes, (size_t)1 << 60), 0);
    ck_assert_int_eq(pthread_setattr_default_np(&attributes), 0);
    ck_assert_int_ne(pthread_create(&thread, NULL, do_nothing, NULL), 0);
    ck_assert_int_eq(step_file_check(path, &summary, &error), 0);
    ck_assert_str_eq(summary.digest, expected);
    pthread_attr_destroy(&attributes);
}
END_TEST

/* ---- changes --------------------------------------------------------------------------------- */

/* Changes one byte of the file, behind which the time of its last change is as before. */
static void change_secretly(off_t offset)
{
    struct stat before;
    unsigned char byte;
    const int file = open(path, O_RDWR);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(fstat(file, &before), 0);
    ck_assert_int_eq(pread(file, &byte, 1, offset), 1);
    byte ^= 1;
    ck_assert_int_eq(pwrite(file, &byte, 1, offset), 1);
    const struct timespec times[2] = {before.st_atim, before.st_mtim};
    ck_assert_int_eq(futimens(file, times), 0);
    close(file);
}

/* A file without a trailer has no checksums, but its rows must be those that were checked. */
START_TEST(rows_that_differ_from_those_that_were_checked_are_noticed)
{
    ics_step_summary summary;
    icestream_error error = {.text = ""};
    uint64_t rows;
    step_file_write(path, steps, ROWS);
    ck_assert_int_eq(truncate(path, STEP_FILE_HEADER + (off_t)ROWS * (off_t)sizeof *steps), 0);
    ics_step_reader *reader = open_checked(&summary);
    change_secretly(STEP_FILE_HEADER + (off_t)(ROWS / 2) * (off_t)sizeof *steps);
    ck_assert_int_eq(read_all(reader, &rows, &error), ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "the file was changed while it was read"));
    ics_step_reader_destroy(reader);
}
END_TEST

static ics_file_digest_order order_of(int file, uint64_t rows_end)
{
    static const unsigned char header[4] = "head";
    ics_file_digest_order order = {.descriptor = file,
                                   .name = "a.npy",
                                   .header = header,
                                   .header_bytes = sizeof header,
                                   .rows_end = rows_end};
    ck_assert_int_eq(fstat(file, &order.opened), 0);
    return order;
}

static int digest_with(const ics_file_digest_order *order, const atomic_bool *cancel,
                       icestream_error *error)
{
    char text[ICS_PARTS_DIGEST_TEXT];
    ics_file_digest *digest = NULL;
    *error = (icestream_error){.text = ""};
    ck_assert_int_eq(ics_file_digest_begin(order, &digest, error), 0);
    const int status = ics_file_digest_await(digest, cancel, text, error);
    ics_file_digest_destroy(digest);
    return status;
}

START_TEST(digest_of_a_changed_file_is_an_error)
{
    icestream_error error;
    scratch_write(path, "head and rows", 13);
    const int file = open(path, O_RDWR | O_APPEND);
    ics_file_digest_order order = order_of(file, 13);
    ck_assert_int_eq(digest_with(&order, NULL, &error), ICESTREAM_OK);
    order.rows_end = 14; /* the rows are cut short */
    ck_assert_int_eq(digest_with(&order, NULL, &error), ICESTREAM_E_INPUT);
    ck_assert_str_eq(error.text, "a.npy: the file was changed while it was read");
    order.rows_end = 13;
    ck_assert_int_eq(write(file, "s", 1), 1);
    ck_assert_int_eq(digest_with(&order, NULL, &error), ICESTREAM_E_INPUT);
    ck_assert_str_eq(error.text, "a.npy: the file was changed while it was read");
    close(file);
}
END_TEST

START_TEST(digest_of_what_cannot_be_read_is_an_error)
{
    icestream_error error;
    const int folder = open(place.folder, O_RDONLY | O_DIRECTORY);
    const ics_file_digest_order order = order_of(folder, 100);
    ck_assert_int_eq(digest_with(&order, NULL, &error), ICESTREAM_E_INPUT);
    ck_assert_str_eq(error.text, "a.npy: byte 0: cannot read: Is a directory");
    close(folder);
}
END_TEST

/* The file has holes, so it takes no room, but its digest would take minutes. */
START_TEST(wait_for_a_digest_can_be_cancelled)
{
    icestream_error error;
    const atomic_bool cancel = true;
    const int file = open(path, O_RDWR | O_CREAT, 0600);
    ck_assert_int_eq(ftruncate(file, (off_t)1 << 38), 0);
    const ics_file_digest_order order = order_of(file, (uint64_t)1 << 38);
    ck_assert_int_eq(digest_with(&order, &cancel, &error), ICESTREAM_E_INTERRUPTED);
    close(file);
}
END_TEST

ICS_TEST_MAIN("large_step_file")
{
    TCase *reading = tcase_create("reading");
    tcase_add_checked_fixture(reading, open_place, close_place);
    tcase_add_test(reading, rows_are_read_before_the_digest_is_known);
    tcase_add_test(reading, reader_that_is_not_needed_any_more_ends_the_digest);
    tcase_add_loop_test(reading, bad_row_of_a_large_file_is_named, 0,
                        (int)(sizeof bad_rows / sizeof *bad_rows));
    tcase_add_test(reading, duplicate_of_a_large_file_is_named);
    tcase_add_test(reading, digest_needs_no_thread);
    suite_add_tcase(suite, reading);
    TCase *changes = tcase_create("changes");
    tcase_add_checked_fixture(changes, open_place, close_place);
    tcase_add_test(changes, rows_that_differ_from_those_that_were_checked_are_noticed);
    tcase_add_test(changes, digest_of_a_changed_file_is_an_error);
    tcase_add_test(changes, digest_of_what_cannot_be_read_is_an_error);
    tcase_add_test(changes, wait_for_a_digest_can_be_cancelled);
    suite_add_tcase(suite, changes);
}
