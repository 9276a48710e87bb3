/* Promises of step messages and of files from other programs: streams of messages are read to their
 * end, NumPy files are read, and NumPy reads our files. To join: a file of NumPy that we read is a
 * program in `numpy_programs`, one that we refuse is a row of `numpy_refusals`. */
#include "pipeline/files/table_writer.h"
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

/* Writes two messages, of 3 and of 2 rows, to `bytes`. With `trailer`, the first message is a whole
 * file with its trailer. Returns the size of both. */
static size_t two_messages(const scratch *place, bool trailer, unsigned char *bytes)
{
    char path[SCRATCH_PATH];
    icestream_step steps[5];
    icestream_error error;
    size_t first, second;
    for (uint32_t i = 0; i < 5; ++i) {
        steps[i] = step_file_good(i < 3 ? 1 : 2, i);
    }
    step_file_write(scratch_path(place, "first", path), steps, 3);
    unsigned char *whole = scratch_read(path, &first);
    first = trailer ? first : STEP_FILE_HEADER + 3 * 64;
    memcpy(bytes, whole, first);
    free(whole);
    int descriptor = open(scratch_path(place, "second", path), O_RDWR | O_CREAT | O_TRUNC, 0666);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(
        ics_table_message_write(descriptor, "second", ics_layout_steps(), steps + 3, 2, &error), 0);
    close(descriptor);
    whole = scratch_read(path, &second);
    ck_assert_uint_eq(second, STEP_FILE_HEADER + 2 * 64);
    memcpy(bytes + first, whole, second);
    free(whole);
    return first + second;
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
    size_t second = size - STEP_FILE_HEADER - 2 * 64, first = STEP_FILE_HEADER + 3 * 64;
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

START_TEST(stream_errors_name_the_message)
{
    scratch place = scratch_create();
    unsigned char bytes[8192];
    size_t size = two_messages(&place, false, bytes), rows, first = STEP_FILE_HEADER + 3 * 64;
    int messages;
    icestream_error error;
    bytes[first + STEP_FILE_HEADER + 64 + 35] = 0x40; /* beta of the second row: 2.25 or so */
    ck_assert_int_eq(read_stream(stream_of(&place, bytes, size), &messages, &rows, &error),
                     ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(
        strstr(error.text, "standard input, message 2: row 1, field beta: found 4, expected"));

    size = two_messages(&place, false, bytes);
    memcpy(bytes + STEP_FILE_HEADER + 128 + 56, "\0", 1); /* step 2 of message 1 becomes step 0 */
    ck_assert_int_eq(read_stream(stream_of(&place, bytes, size), &messages, &rows, &error),
                     ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "message 1: field step_id: found 0 twice in event 1"));

    size = two_messages(&place, true, bytes);
    bytes[STEP_FILE_HEADER + 44] ^= 1; /* a source id: only the trailer can find this */
    ck_assert_int_eq(read_stream(stream_of(&place, bytes, size), &messages, &rows, &error),
                     ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "message 1: rows 0 to 16383: found CRC-32C"));

    ck_assert_int_eq(read_stream(stream_of(&place, "{}", 2), &messages, &rows, &error),
                     ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "found no .npy magic string"));
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
    ssize_t first = STEP_FILE_HEADER + 3 * 64;
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

/* ---- NumPy ---------------------------------------------------------------------------------- */

#define STEPS_IN_PYTHON                                                                            \
    "import numpy as n, sys\n"                                                                     \
    "def save(types, order, align=False):\n"                                                       \
    "    d = n.dtype([(o[0], types.get(o[0], o[1])) + o[2:] for o in order], align=align)\n"       \
    "    a = n.zeros(1000, d)\n"                                                                   \
    "    i = n.arange(1000)\n"                                                                     \
    "    a['x'] = i - 500; a['dz'] = -1; a['beta'] = 0.5; a['weight'] = 2; a['photons'] = i\n"     \
    "    a['event_id'] = i // 10; a['step_id'] = i % 10; a['kind'] = 3\n"                          \
    "    n.save(sys.argv[1], a)\n"                                                                 \
    "ours = [('x','<f4'),('y','<f4'),('z','<f4'),('t','<f4'),('dx','<f4'),('dy','<f4'),"           \
    "('dz','<f4'),('length','<f4'),('beta','<f4'),('weight','<f4'),('photons','<u4'),"             \
    "('source_id','<u4'),('event_id','<u8'),('step_id','<u4'),('kind','u1'),('spectrum','u1'),"    \
    "('flags','<u2')]\n"

static const char *const numpy_programs[] = {
    STEPS_IN_PYTHON "save({}, ours)\n",
    STEPS_IN_PYTHON "save({}, ours[::-1])\n",
    STEPS_IN_PYTHON "save({}, ours[::2] + [('name', 'U7'), ('v', '>f8', (3,)), "
                    "('s', [('a', '<f4'), ('b', 'u1')])] + ours[1::2])\n",
    STEPS_IN_PYTHON "save(dict(x='<f8', y='<f2', z='<i2', photons='<i8', kind='<i4', flags='?', "
                    "event_id='<f8', step_id='<u8', spectrum='i1'), ours)\n",
    STEPS_IN_PYTHON "save(dict(x='<f8'), ours[::-1], align=True)\n",
    STEPS_IN_PYTHON "save({}, ours + [('\\u00e4\\u03c0', '<f4')])\n",
};

START_TEST(files_of_numpy_are_read)
{
    if (!scratch_has_numpy()) {
        return;
    }
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    icestream_step *steps = malloc(1000 * sizeof *steps);
    ics_step_reader *reader = NULL;
    ics_step_summary summary;
    icestream_error error = {.text = ""};
    size_t got;
    ck_assert_ptr_nonnull(steps);
    scratch_path(&place, "a.steps.npy", path);
    ck_assert_int_eq(scratch_python(numpy_programs[_i], path, NULL), 0);
    ck_assert_msg(ics_step_reader_open(path, STEP_FILE_SPECTRA, &reader, &error) == 0, "%s",
                  error.text);
    ck_assert_msg(ics_step_reader_check(reader, &summary, NULL, &error) == 0, "%s", error.text);
    ck_assert_uint_eq(summary.rows, 1000);
    ck_assert_uint_eq(summary.photons, 499500);
    ck_assert(summary.ascending);
    ck_assert_int_eq(ics_step_reader_read(reader, steps, 1000, &got, &error), 0);
    ck_assert_uint_eq(got, 1000);
    for (uint32_t i = 0; i < 1000; ++i) {
        const icestream_step expected = {.x = (float)i - 500,
                                         .dz = -1,
                                         .beta = 0.5f,
                                         .weight = 2,
                                         .photons = i,
                                         .event_id = i / 10,
                                         .step_id = i % 10,
                                         .kind = 3};
        ck_assert_mem_eq(&steps[i], &expected, sizeof expected);
    }
    ics_step_reader_destroy(reader);
    free(steps);
    scratch_remove(&place);
}
END_TEST

static const struct {
    const char *program, *expected;
} numpy_refusals[] = {
    {STEPS_IN_PYTHON "save(dict(x='>f4'), ours)\n", "field x: found type >f4"},
    {STEPS_IN_PYTHON "save({}, [(f, t.replace('<', '>')) for f, t in ours])\n",
     "field event_id: found type >u8"},
    {STEPS_IN_PYTHON "a = n.zeros(3, [('x', 'O')])\nn.save(sys.argv[1], a)\n", "Python objects"},
    {STEPS_IN_PYTHON
     "save({}, [o for o in ours if o[0] != 'weight'] + [('weight', '<f4', (1,))])\n",
     "field weight: found type a sub-array"},
    {STEPS_IN_PYTHON "n.save(sys.argv[1], n.zeros((2, 3), n.dtype(ours)))\n",
     "expected a shape of one dimension"},
    {STEPS_IN_PYTHON "n.save(sys.argv[1], n.zeros((2, 3)).T)\n", "expected a list of fields"},
    {STEPS_IN_PYTHON "n.save(sys.argv[1], n.zeros((), n.dtype(ours)))\n", "shape of one dimension"},
    {STEPS_IN_PYTHON "save(dict(photons='<i8'), ours)\n"
                     "a = n.load(sys.argv[1]); a['photons'][77] = -5; n.save(sys.argv[1], a)\n",
     "row 77, field photons: found -5, expected a value that fits a 4-byte unsigned integer"},
    {STEPS_IN_PYTHON "f = open(sys.argv[1], 'wb')\na = n.zeros(2, n.dtype(ours))\n"
                     "a['dx'] = a['beta'] = 1; a['step_id'] = [0, 1]\nn.save(f, a); n.save(f, a)\n",
     "bytes after the last row"},
};

START_TEST(files_of_numpy_that_do_not_fit_are_refused)
{
    if (!scratch_has_numpy()) {
        return;
    }
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    scratch_path(&place, "a.steps.npy", path);
    ck_assert_int_eq(scratch_python(numpy_refusals[_i].program, path, NULL), 0);
    step_file_refuse(path, numpy_refusals[_i].expected);
    scratch_remove(&place);
}
END_TEST

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
        "assert a.shape == (20,) and a.dtype.itemsize == 64\n"
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
    tcase_set_timeout(streams, 60);
    tcase_add_loop_test(streams, stream_of_messages_is_read, 0, 2);
    tcase_add_test(streams, stream_cut_inside_a_message_is_an_error);
    tcase_add_test(streams, stream_errors_name_the_message);
    tcase_add_test(streams, stream_summary_and_wake_up);
    tcase_add_test(streams, next_message_skips_what_was_not_read);
    suite_add_tcase(suite, streams);
    TCase *numpy = tcase_create("numpy");
    tcase_set_timeout(numpy, 120);
    tcase_add_loop_test(numpy, files_of_numpy_are_read, 0, COUNT(numpy_programs));
    tcase_add_loop_test(numpy, files_of_numpy_that_do_not_fit_are_refused, 0,
                        COUNT(numpy_refusals));
    tcase_add_test(numpy, our_files_and_streams_are_read_by_numpy);
    suite_add_tcase(suite, numpy);
}
