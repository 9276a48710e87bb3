/* Promises of step messages: streams of messages are read to their end, a bad message does not hide
 * the next one, and NumPy reads our files and messages. */
#include "pipeline/photons/files/table_writer.h"
#include "tests/support/scratch_files.h"
#include "tests/support/step_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 20 };

/* ---- streams -------------------------------------------------------------------------------- */

/* Returns a descriptor from which the given bytes can be read. The caller or read_stream() closes
 * it. */
static int stream_of(const scratch *place, const void *bytes, size_t size)
{
    char path[SCRATCH_PATH];
    scratch_write(scratch_path(place, "stream", path), bytes, size);
    int descriptor = open(path, O_RDONLY);
    ck_assert_int_ge(descriptor, 0);
    return descriptor;
}

/* Writes a message as `icestream generate -o -` does, whose header announces no trailer. Returns
 * its size. */
static size_t one_message(const scratch *place, const icestream_step *steps, size_t count,
                          unsigned char *bytes)
{
    char path[SCRATCH_PATH];
    icestream_error error;
    size_t size;
    int descriptor = open(scratch_path(place, "message", path), O_RDWR | O_CREAT | O_TRUNC, 0666);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(ics_table_message_write(descriptor, "message", ics_layout_steps(), "{}", steps,
                                             count, &error),
                     0);
    close(descriptor);
    unsigned char *whole = scratch_read(path, &size);
    ck_assert_uint_eq(size, STEP_FILE_HEADER + count * 72);
    memcpy(bytes, whole, size);
    free(whole);
    return size;
}

/* Writes two messages, of 3 and of 2 rows, to `bytes`. With `trailer`, the first message is a whole
 * file with its trailer. Returns the size of both. */
static size_t two_messages(const scratch *place, bool trailer, unsigned char *bytes)
{
    char path[SCRATCH_PATH];
    icestream_step steps[5];
    size_t first;
    for (uint32_t i = 0; i < 5; ++i) {
        steps[i] = step_file_good(i < 3 ? 1 : 2, i);
    }
    if (trailer) {
        step_file_write(scratch_path(place, "first", path), steps, 3);
        unsigned char *whole = scratch_read(path, &first);
        memcpy(bytes, whole, first);
        free(whole);
    } else {
        first = one_message(place, steps, 3, bytes);
    }
    return first + one_message(place, steps + 3, 2, bytes + first);
}

/* Reads a stream to its end and closes it. Returns the status, and the numbers of messages and
 * rows. */
static int read_stream(int descriptor, int *messages, size_t *rows, icestream_error *error)
{
    ics_step_reader *reader = NULL;
    icestream_step steps[2];
    bool found = true;
    size_t got = 0;
    *messages = 0;
    *rows = 0;
    *error = (icestream_error){.text = ""};
    int status = ics_step_reader_open_stream(descriptor, "standard input", STEP_FILE_SPECTRA, -1,
                                             &reader, error);
    while (!status && (status = ics_step_reader_next(reader, &found, error)) == 0 && found) {
        ++*messages;
        do {
            status = ics_step_reader_read(reader, steps, 2, &got, error);
            *rows += status ? 0 : got;
        } while (!status && got > 0);
    }
    ics_step_reader_destroy(reader);
    close(descriptor);
    return status;
}

START_TEST(stream_of_messages_is_read)
{
    scratch place = scratch_create();
    unsigned char bytes[8192];
    size_t size = two_messages(&place, _i == 1, bytes), rows;
    int messages;
    icestream_error error;
    ck_assert_msg(read_stream(stream_of(&place, bytes, size), &messages, &rows, &error) == 0, "%s",
                  error.text);
    ck_assert_int_eq(messages, 2);
    ck_assert_uint_eq(rows, 5);
    ck_assert_int_eq(read_stream(stream_of(&place, "", 0), &messages, &rows, &error), 0);
    ck_assert_int_eq(messages, 0);
    scratch_remove(&place);
}
END_TEST

/* A stream may end only between messages. */
START_TEST(stream_cut_inside_a_message_is_an_error)
{
    scratch place = scratch_create();
    unsigned char bytes[8192];
    size_t size = two_messages(&place, true, bytes), rows;
    size_t second = size - STEP_FILE_HEADER - 2 * 72, first = STEP_FILE_HEADER + 3 * 72;
    int messages;
    icestream_error error;
    for (size_t cut = 0; cut <= size; cut += cut < 12 || cut >= first - 2 ? 1 : 37) {
        bool clean = cut == 0 || cut == first || cut == second || cut == size;
        int status = read_stream(stream_of(&place, bytes, cut), &messages, &rows, &error);
        ck_assert_msg(status == (clean ? 0 : ICESTREAM_E_INPUT), "cut at %zu: %s", cut, error.text);
    }
    scratch_remove(&place);
}
END_TEST

START_TEST(stream_summary_and_wake_up)
{
    scratch place = scratch_create();
    unsigned char bytes[8192];
    icestream_step steps[8];
    ics_step_reader *reader = NULL;
    ics_step_summary summary;
    icestream_error error;
    bool found;
    size_t got;
    char digest[ICS_DIGEST_TEXT];
    int ends[2], wake[2];
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(pipe(wake), 0);
    (void)two_messages(&place, false, bytes);
    ssize_t first = STEP_FILE_HEADER + 3 * 72;
    ck_assert_int_eq(write(ends[1], bytes, (size_t)first), first);
    ck_assert_int_eq(
        ics_step_reader_open_stream(ends[0], "pipe", STEP_FILE_SPECTRA, wake[0], &reader, &error),
        0);
    ck_assert_int_eq(ics_step_reader_next(reader, &found, &error), 0);
    ck_assert(found);
    ck_assert_uint_eq(ics_step_reader_rows(reader), 3);
    ck_assert_int_eq(ics_step_reader_read(reader, steps, 8, &got, &error), 0);
    ck_assert_uint_eq(got, 3);
    /* The end of a message is found without waiting for the next message. */
    ck_assert_int_eq(ics_step_reader_read(reader, steps, 8, &got, &error), 0);
    ck_assert_uint_eq(got, 0);
    ics_step_reader_summary(reader, &summary);
    ck_assert_uint_eq(summary.rows, 3);
    ck_assert_uint_eq(summary.photons, 600);
    ck_assert_int_eq(ics_digest_of(bytes, (size_t)first, digest, &error), 0);
    ck_assert_str_eq(summary.digest, digest);
    /* No more bytes come, so only the wake descriptor ends the waiting. */
    ck_assert_int_eq(write(wake[1], "x", 1), 1);
    ck_assert_int_eq(ics_step_reader_next(reader, &found, &error), ICESTREAM_E_INTERRUPTED);
    ics_step_reader_destroy(reader);
    close(ends[0]);
    close(ends[1]);
    close(wake[0]);
    close(wake[1]);
    scratch_remove(&place);
}
END_TEST

START_TEST(next_message_skips_what_was_not_read)
{
    scratch place = scratch_create();
    unsigned char bytes[8192];
    icestream_step steps[8];
    ics_step_reader *reader = NULL;
    icestream_error error;
    bool found;
    size_t got;
    int descriptor = stream_of(&place, bytes, two_messages(&place, true, bytes));
    ck_assert_int_eq(
        ics_step_reader_open_stream(descriptor, "file", STEP_FILE_SPECTRA, -1, &reader, &error), 0);
    ck_assert_int_eq(ics_step_reader_next(reader, &found, &error), 0);
    ck_assert_int_eq(ics_step_reader_read(reader, steps, 1, &got, &error), 0);
    ck_assert_int_eq(ics_step_reader_next(reader, &found, &error), 0);
    ck_assert(found);
    ck_assert_int_eq(ics_step_reader_read(reader, steps, 8, &got, &error), 0);
    ck_assert_uint_eq(got, 2);
    ck_assert_uint_eq(steps[0].step_id, 3);
    ck_assert_int_eq(ics_step_reader_next(reader, &found, &error), 0);
    ck_assert(!found);
    ics_step_reader_destroy(reader);
    close(descriptor);
    scratch_remove(&place);
}
END_TEST

/* Reads the first message to its end or to its error, and the second one. Returns the first error.
 */
static int read_two(int descriptor, bool skips, size_t rows[2], icestream_error *error)
{
    ics_step_reader *reader = NULL;
    icestream_step steps[8];
    bool found;
    size_t got;
    ck_assert_int_eq(
        ics_step_reader_open_stream(descriptor, "file", STEP_FILE_SPECTRA, -1, &reader, error), 0);
    int status = ics_step_reader_next(reader, &found, error);
    for (got = 1, rows[0] = 0; status == 0 && got > 0; rows[0] += got) {
        status = ics_step_reader_read(reader, steps, 2, &got, error);
    }
    ck_assert(ics_step_reader_can_skip(reader) == skips);
    if (skips) {
        icestream_error later = {.text = ""};
        ck_assert_int_eq(ics_step_reader_skip(reader, &later), 0);
        ck_assert_msg(ics_step_reader_next(reader, &found, &later) == 0 && found, "%s", later.text);
        ck_assert_int_eq(ics_step_reader_read(reader, steps, 8, &got, &later), 0);
        rows[1] = got;
        ck_assert_int_eq(ics_step_reader_read(reader, steps, 8, &got, &later), 0);
        ck_assert_int_eq(ics_step_reader_next(reader, &found, &later), 0);
        ck_assert(!found);
    }
    ics_step_reader_destroy(reader);
    close(descriptor);
    return status;
}

/* One byte of the first message, a file with its trailer, is wrong. */
static const struct {
    int at; /* below 0: from the end of the first message */
    unsigned char changed;
    bool skips;
    const char *text;
} bad_firsts[] = {
    {STEP_FILE_HEADER + 44, 1, true, "message 0: rows 0 to 14563: found CRC-32C"},
    {STEP_FILE_HEADER + 72 + 35, 0x7f, true, "message 0: row 1, field beta"},
    {-40, 1, true, "message 0: trailer: found metadata with CRC-32C"},
    {-1, 1, false, "message 0: trailer"},
    {3, 1, false, "message 0: byte 0: found no .npy magic string"},
    {57, 1, true, "message 0: field x"}, /* the name of the first field becomes y */
};

/* The second message is found, unless the fault hides where it begins. */
START_TEST(message_behind_a_bad_one_is_found)
{
    scratch place = scratch_create();
    unsigned char bytes[8192];
    icestream_error error = {.text = ""};
    size_t rows[2] = {0};
    const size_t size = two_messages(&place, true, bytes);
    const size_t first = size - STEP_FILE_HEADER - 2 * 72;
    const int at = bad_firsts[_i].at;
    bytes[at < 0 ? first - (size_t)-at : (size_t)at] ^= bad_firsts[_i].changed;
    ck_assert_int_eq(read_two(stream_of(&place, bytes, size), bad_firsts[_i].skips, rows, &error),
                     ICESTREAM_E_INPUT);
    ck_assert_msg(strstr(error.text, bad_firsts[_i].text) != NULL, "%s", error.text);
    ck_assert_uint_eq(rows[1], bad_firsts[_i].skips ? 2 : 0);
    scratch_remove(&place);
}
END_TEST

/* A message whose header announces a trailer does not end with its rows, because the trailer may
 * show that they are damaged. */
START_TEST(announced_trailer_is_awaited)
{
    scratch place = scratch_create();
    unsigned char bytes[8192];
    icestream_step steps[8];
    ics_step_reader *reader = NULL;
    icestream_error error;
    bool found;
    size_t got;
    int ends[2];
    const ssize_t rows_end = STEP_FILE_HEADER + 3 * 72;
    ck_assert_int_eq(pipe(ends), 0);
    (void)two_messages(&place, true, bytes);
    ck_assert_int_eq(write(ends[1], bytes, (size_t)rows_end), rows_end);
    ck_assert_int_eq(
        ics_step_reader_open_stream(ends[0], "pipe", STEP_FILE_SPECTRA, -1, &reader, &error), 0);
    ck_assert_int_eq(ics_step_reader_next(reader, &found, &error), 0);
    ck_assert(ics_step_reader_awaits_trailer(reader));
    ck_assert_int_eq(ics_step_reader_read(reader, steps, 8, &got, &error), 0);
    ck_assert_uint_eq(got, 3);
    close(ends[1]); /* the end of the stream shows that there is no trailer */
    ck_assert_int_eq(ics_step_reader_read(reader, steps, 8, &got, &error), 0);
    ck_assert_uint_eq(got, 0);
    ck_assert_ptr_null(ics_step_reader_late_light(reader));
    ck_assert_int_eq(ics_step_reader_next(reader, &found, &error), 0);
    ck_assert(!found);
    ics_step_reader_destroy(reader);
    close(ends[0]);
    scratch_remove(&place);
}
END_TEST

/* ---- NumPy ---------------------------------------------------------------------------------- */

START_TEST(our_files_and_streams_are_read_by_numpy)
{
    if (!scratch_has_numpy()) {
        return;
    }
    scratch place = scratch_create();
    char path[SCRATCH_PATH], stream[SCRATCH_PATH];
    unsigned char bytes[8192];
    icestream_step steps[ROWS];
    for (uint32_t i = 0; i < ROWS; ++i) {
        steps[i] = step_file_good(1, i);
    }
    step_file_write(scratch_path(&place, "a.steps.npy", path), steps, ROWS);
    size_t size = two_messages(&place, false, bytes);
    scratch_write(scratch_path(&place, "stream.npy", stream), bytes, size);
    static const char program[] =
        "import numpy as n, sys\n"
        "a = n.load(sys.argv[1])\n"
        "assert a.shape == (20,) and a.dtype.itemsize == 72\n"
        "assert list(a['y']) == list(range(20)) and set(a['source_id']) == {7}\n"
        "assert a['beta'][3] == 1 and a['dz'][0] == n.float32(0.8) and a['kind'][1] == 1\n"
        "f = open(sys.argv[2], 'rb')\n"
        "b, c = n.load(f), n.load(f)\n"
        "assert len(b) == 3 and len(c) == 2 and list(c['step_id']) == [3, 4] and not f.read()\n";
    ck_assert_int_eq(scratch_python(program, path, stream), 0);
    scratch_remove(&place);
}
END_TEST

ICS_TEST_MAIN("step_stream")
{
    TCase *streams = tcase_create("streams");
    tcase_add_loop_test(streams, stream_of_messages_is_read, 0, 2);
    tcase_add_test(streams, stream_cut_inside_a_message_is_an_error);
    tcase_add_test(streams, stream_summary_and_wake_up);
    tcase_add_test(streams, next_message_skips_what_was_not_read);
    tcase_add_loop_test(streams, message_behind_a_bad_one_is_found, 0, COUNT(bad_firsts));
    tcase_add_test(streams, announced_trailer_is_awaited);
    suite_add_tcase(suite, streams);
    TCase *numpy = tcase_create("numpy");
    tcase_add_test(numpy, our_files_and_streams_are_read_by_numpy);
    suite_add_tcase(suite, numpy);
}
