/* Promises of message_frame.h: the messages do not depend on how a stream is cut into chunks,
 * hostile input gets no memory, and after an error no further message is read. */
#include "pipeline/files/format/npy.h"
#include "pipeline/files/format/trailer.h"
#include "pipeline/source/message_frame.h"
#include "tests/support/scratch_files.h"
#include "tests/support/step_files.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

enum { STREAM_MAX = 1 << 16, LIMIT = 1 << 20 };

/* ---- streams to cut ------------------------------------------------------------------------- */

typedef struct a_stream {
    unsigned char bytes[STREAM_MAX]; /* as sent */
    size_t size;
    unsigned char messages[STREAM_MAX]; /* expected: the stream without trailers */
    size_t messages_size;
    size_t ends[16], trailer_ends[16]; /* of messages, in `bytes`; with the trailer */
    size_t count;
} a_stream;

static void add_bytes(a_stream *stream, const void *bytes, size_t size, size_t trailer)
{
    memcpy(stream->bytes + stream->size, bytes, size + trailer);
    memcpy(stream->messages + stream->messages_size, bytes, size);
    stream->messages_size += size;
    stream->ends[stream->count] = stream->size + size;
    stream->size += size + trailer;
    stream->trailer_ends[stream->count++] = stream->size;
}

/* A message as `icestream generate -o -` sends it. */
static void add_own(a_stream *stream, uint32_t rows)
{
    unsigned char bytes[ICS_NPY_OWN_HEADER + 16 * sizeof(icestream_step)];
    ck_assert_uint_le(rows, 16);
    ics_npy_write_header(ics_layout_steps(), rows, bytes);
    for (uint32_t i = 0; i < rows; ++i) {
        icestream_step step = step_file_good(7, i);
        memcpy(bytes + ICS_NPY_OWN_HEADER + i * sizeof step, &step, sizeof step);
    }
    add_bytes(stream, bytes, ICS_NPY_OWN_HEADER + rows * sizeof(icestream_step), 0);
}

/* A header of version 1 or 2 as NumPy writes it, for rows of one field. */
static size_t foreign_header(unsigned char *bytes, int version, const char *count)
{
    char text[256];
    int length = snprintf(text, sizeof text,
                          "{'descr': [('photons', '<u4')], 'fortran_order': False, 'shape': "
                          "(%s,), }%*s\n",
                          count, 20, "");
    const size_t preamble = version == 1 ? 10 : 12;
    memcpy(bytes, "\x93NUMPY", 6);
    bytes[6] = (unsigned char)version;
    memset(bytes + 7, 0, 5);
    bytes[8] = (unsigned char)length;
    memcpy(bytes + preamble, text, (size_t)length);
    return preamble + (size_t)length;
}

static void add_foreign(a_stream *stream, int version, uint32_t rows)
{
    unsigned char bytes[1024];
    char count[16];
    snprintf(count, sizeof count, "%" PRIu32, rows);
    size_t size = foreign_header(bytes, version, count);
    for (uint32_t i = 0; i < rows; ++i, size += 4) {
        memcpy(bytes + size, &i, 4);
    }
    add_bytes(stream, bytes, size, 0);
}

/* A complete file with its trailer, as `cat` sends it. */
static void add_file(a_stream *stream, uint32_t rows)
{
    icestream_step steps[16];
    char path[SCRATCH_PATH];
    scratch place = scratch_create();
    for (uint32_t i = 0; i < rows; ++i) {
        steps[i] = step_file_good(8, i);
    }
    size_t size;
    step_file_write(scratch_path(&place, "a.steps.npy", path), steps, rows);
    unsigned char *bytes = scratch_read(path, &size);
    size_t body = ICS_NPY_OWN_HEADER + rows * sizeof(icestream_step);
    ck_assert_uint_gt(size, body + ICS_TAIL_BYTES);
    add_bytes(stream, bytes, body, size - body);
    free(bytes);
    scratch_remove(&place);
}

static a_stream *mixed_stream(void)
{
    a_stream *stream = calloc(1, sizeof *stream);
    ck_assert_ptr_nonnull(stream);
    add_own(stream, 3);
    add_own(stream, 0);
    add_foreign(stream, 2, 5);
    add_file(stream, 2);
    add_foreign(stream, 1, 0);
    add_file(stream, 1);
    return stream;
}

/* ---- the result ----------------------------------------------------------------------------- */

typedef struct taken {
    unsigned char messages[STREAM_MAX];
    size_t size;
    uint64_t begun, ended;
} taken;

static ics_message_frame *open_frame(uint64_t limit)
{
    ics_message_frame *frame = NULL;
    ck_assert_int_eq(ics_message_frame_create("client 3", limit, &frame, NULL), ICESTREAM_OK);
    return frame;
}

/* Sends a piece, and stops after an error. */
static int send_piece(ics_message_frame *frame, const unsigned char *bytes, size_t size, taken *out,
                      icestream_error *error)
{
    while (size > 0) {
        ics_message_span span;
        int status = ics_message_frame_take(frame, bytes, size, &span, error);
        if (status != ICESTREAM_OK) {
            return status;
        }
        ck_assert_uint_gt(span.taken, 0);
        ck_assert_uint_le(span.taken, size);
        if (span.begins) {
            ck_assert_uint_eq(out->begun, out->ended);
            ck_assert_uint_eq(ics_message_frame_number(frame), out->begun);
            out->begun++;
        }
        if (span.size > 0) {
            memcpy(out->messages + out->size, span.bytes, span.size);
            out->size += span.size;
        }
        out->ended += span.ends;
        bytes += span.taken;
        size -= span.taken;
    }
    return ICESTREAM_OK;
}

static void expect_all(const a_stream *stream, const taken *out)
{
    ck_assert_uint_eq(out->ended, stream->count);
    ck_assert_uint_eq(out->size, stream->messages_size);
    ck_assert_mem_eq(out->messages, stream->messages, out->size);
}

START_TEST(test_cut_in_two_at_every_byte)
{
    a_stream *stream = mixed_stream();
    for (size_t cut = 0; cut <= stream->size; ++cut) {
        taken *out = calloc(1, sizeof *out);
        ics_message_frame *frame = open_frame(LIMIT);
        icestream_error error = {.text = ""};
        ck_assert_msg(send_piece(frame, stream->bytes, cut, out, &error) == ICESTREAM_OK,
                      "cut %zu: %s", cut, error.text);
        ck_assert_int_eq(send_piece(frame, stream->bytes + cut, stream->size - cut, out, &error),
                         ICESTREAM_OK);
        expect_all(stream, out);
        ck_assert(ics_message_frame_between(frame));
        ck_assert_int_eq(ics_message_frame_finish(frame, &error), ICESTREAM_OK);
        ics_message_frame_destroy(frame);
        free(out);
    }
    free(stream);
}
END_TEST

START_TEST(test_random_chunks)
{
    a_stream *stream = mixed_stream();
    uint64_t random = 20261121;
    for (int repeat = 0; repeat < 200; ++repeat) {
        taken *out = calloc(1, sizeof *out);
        ics_message_frame *frame = open_frame(LIMIT);
        const uint64_t longest = 1 + test_word(&random) % 300;
        for (size_t at = 0; at < stream->size;) {
            size_t size = 1 + test_word(&random) % longest;
            size = size < stream->size - at ? size : stream->size - at;
            ck_assert_int_eq(send_piece(frame, stream->bytes + at, size, out, NULL), ICESTREAM_OK);
            at += size;
        }
        expect_all(stream, out);
        ics_message_frame_destroy(frame);
        free(out);
    }
    free(stream);
}
END_TEST

static bool may_end(const a_stream *stream, size_t size)
{
    bool found = size == 0;
    for (size_t i = 0; i < stream->count; ++i) {
        found |= size == stream->ends[i] || size == stream->trailer_ends[i];
    }
    return found;
}

/* A stream that ends inside a message is an error that names the byte. */
START_TEST(test_stream_that_ends_at_every_byte)
{
    a_stream *stream = mixed_stream();
    taken *out = calloc(1, sizeof *out);
    for (size_t size = 0; size <= stream->size; ++size) {
        ics_message_frame *frame = open_frame(LIMIT);
        icestream_error error = {.text = ""};
        *out = (taken){.size = 0};
        ck_assert_int_eq(send_piece(frame, stream->bytes, size, out, &error), ICESTREAM_OK);
        bool clean = ics_message_frame_finish(frame, &error) == ICESTREAM_OK;
        ck_assert_msg(clean == may_end(stream, size), "%zu bytes: %s", size, error.text);
        ck_assert(clean == ics_message_frame_between(frame));
        ck_assert(clean || strncmp(error.text, "client 3, message ", 18) == 0);
        ck_assert(clean || strstr(error.text, "the end of the stream") != NULL);
        ics_message_frame_destroy(frame);
    }
    ics_message_frame *frame = open_frame(LIMIT);
    icestream_error error = {.text = ""};
    *out = (taken){.size = 0};
    ck_assert_int_eq(send_piece(frame, stream->bytes, 1024 + 70, out, &error), ICESTREAM_OK);
    ck_assert_int_eq(ics_message_frame_finish(frame, &error), ICESTREAM_E_INPUT);
    ck_assert_str_eq(error.text, "client 3, message 0: byte 1094: found the end of the stream, "
                                 "expected more of the rows");
    ics_message_frame_destroy(frame);
    free(out);
    free(stream);
}
END_TEST

/* ---- bad and hostile streams ---------------------------------------------------------------- */

/* Sends a good message and then these bytes, one at a time. The error must come with byte `at` of
 * them. */
static void expect_bad(const void *bytes, size_t size, size_t at, const char *text)
{
    a_stream *stream = calloc(1, sizeof *stream);
    taken *out = calloc(1, sizeof *out);
    ics_message_frame *frame = open_frame(LIMIT);
    icestream_error error = {.text = ""};
    add_own(stream, 1);
    ck_assert_int_eq(send_piece(frame, stream->bytes, stream->size, out, &error), ICESTREAM_OK);
    size_t sent = 0;
    while (sent < size &&
           send_piece(frame, (const unsigned char *)bytes + sent, 1, out, &error) == ICESTREAM_OK) {
        sent++;
    }
    ck_assert_msg(sent == at, "byte %zu instead of %zu: %s", sent, at, error.text);
    ck_assert_int_eq(error.status, ICESTREAM_E_INPUT);
    ck_assert_msg(strstr(error.text, text) != NULL, "found '%s', expected '%s'", error.text, text);
    ck_assert_uint_eq(out->ended, 1);

    /* The error is final. */
    icestream_error again = {.text = ""};
    ck_assert_int_eq(send_piece(frame, stream->bytes, stream->size, out, &again),
                     ICESTREAM_E_INPUT);
    ck_assert_str_eq(again.text, error.text);
    ck_assert_int_eq(ics_message_frame_finish(frame, &again), ICESTREAM_E_INPUT);
    ics_message_frame_destroy(frame);
    free(out);
    free(stream);
}

START_TEST(test_error_at_the_first_wrong_byte)
{
    static const char no_magic[] = "client 3, message 1: byte 0: found no .npy magic";
    expect_bad("GET / HTTP/1.1\r\n", 16, 0, no_magic);
    expect_bad("\x93NUMPX\1\0\0\0\0\0", 12, 5, no_magic);
    expect_bad("\x93NUMPY\7\0\0\0\0\0", 12, 11, "found .npy version 7.0");
    /* At most one trailer may follow a message, and it must be correct. */
    char no_trailer[2 + 32] = "{}";
    expect_bad(no_trailer, sizeof no_trailer, sizeof no_trailer - 1, "message 0: trailer");
}
END_TEST

/* What the error says must not depend on how many bytes came together with the wrong one. */
START_TEST(test_error_of_a_wrong_byte_in_pieces)
{
    static const char *const texts[] = {"plain text, and much of it", "\x93NUMPX\1\0\0\0\0\0\0\0\0",
                                        "\x93NUMPtext", "\x89HDF\r\n\x1a\n and more",
                                        "\x05\x9aNUMPY"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        icestream_error whole = {.text = ""};
        for (size_t size = strlen(texts[i]); size > 0; size--) {
            taken *out = calloc(1, sizeof *out);
            ics_message_frame *frame = open_frame(LIMIT);
            icestream_error error = {.text = ""};
            int status = send_piece(frame, (const unsigned char *)texts[i], size, out, &error);
            if (size == strlen(texts[i])) {
                ck_assert_int_eq(status, ICESTREAM_E_INPUT);
                whole = error;
            } else if (status != ICESTREAM_OK) {
                ck_assert_str_eq(error.text, whole.text);
            }
            ics_message_frame_destroy(frame);
            free(out);
        }
    }
}
END_TEST

START_TEST(test_headers_and_messages_above_the_limits)
{
    unsigned char bytes[1024] = "\x93NUMPY\2";
    bytes[10] = 8; /* 512 KiB */
    expect_bad(bytes, 12, 11, "found a header of 524300 bytes, expected at most 65536");
    bytes[11] = 0xff;
    expect_bad(bytes, 12, 11, "message 1: byte 8: found a header of 4278714368 bytes");
    size_t size = foreign_header(bytes, 1, "18446744073709551615");
    expect_bad(bytes, size, size - 1, "less than 2^63 bytes in all");
    size = foreign_header(bytes, 1, "262144");
    expect_bad(bytes, size, size - 1, "message 1: header: found a message of ");
}
END_TEST

START_TEST(test_the_limit_is_exact)
{
    a_stream *stream = calloc(1, sizeof *stream);
    taken *out = calloc(1, sizeof *out);
    add_own(stream, 2);
    for (uint64_t limit = stream->size - 1; limit <= stream->size; ++limit) {
        icestream_error error = {.text = ""};
        ics_message_frame *frame = open_frame(limit);
        *out = (taken){.size = 0};
        int status = send_piece(frame, stream->bytes, stream->size, out, &error);
        ck_assert_int_eq(status, limit < stream->size ? ICESTREAM_E_INPUT : ICESTREAM_OK);
        ck_assert_uint_eq(out->size, limit < stream->size ? 0 : stream->size);
        ck_assert_msg(status == ICESTREAM_OK ||
                          strstr(error.text, "found a message of 1152 bytes, expected at most "
                                             "1151 (source.message_limit)") != NULL,
                      "%s", error.text);
        ics_message_frame_destroy(frame);
    }
    free(out);
    free(stream);
}
END_TEST

/* A long header is announced and not sent. The frame has memory only for the bytes that were sent.
 */
START_TEST(test_memory_grows_with_the_bytes_received)
{
    ics_message_frame *frames[256];
    const unsigned char header[12] = "\x93NUMPY\1\0\xf0\xff";
    taken *out = calloc(1, sizeof *out);
    size_t before = mallinfo2().uordblks;
    for (size_t i = 0; i < 256; ++i) {
        frames[i] = open_frame(LIMIT);
        ck_assert_int_eq(send_piece(frames[i], header, sizeof header, out, NULL), ICESTREAM_OK);
    }
    size_t grown = mallinfo2().uordblks - before;
    for (size_t i = 0; i < 256; ++i) {
        ics_message_frame_destroy(frames[i]);
    }
    ck_assert_uint_lt(grown, (size_t)256 * 20000); /* each header would need 64 KiB */
    free(out);
}
END_TEST

/* ---- trailers ------------------------------------------------------------------------------- */

/* Sends a file with its trailer after `change` has changed it. */
static void expect_bad_trailer(void (*change)(unsigned char *bytes, size_t rows_end, size_t size),
                               const char *text)
{
    a_stream *stream = calloc(1, sizeof *stream);
    taken *out = calloc(1, sizeof *out);
    icestream_error error = {.text = ""};
    ics_message_frame *frame = open_frame(LIMIT);
    add_file(stream, 3);
    change(stream->bytes, stream->ends[0], stream->size);
    ck_assert_int_eq(send_piece(frame, stream->bytes, stream->size, out, &error),
                     ICESTREAM_E_INPUT);
    ck_assert_msg(strncmp(error.text, "client 3, message 0: ", 21) == 0, "%s", error.text);
    ck_assert_msg(strstr(error.text, text) != NULL, "found '%s', expected '%s'", error.text, text);
    ck_assert_uint_eq(out->ended, 1); /* the message is complete with its last row */
    ics_message_frame_destroy(frame);
    free(out);
    free(stream);
}

static void change_row(unsigned char *bytes, size_t rows_end, size_t size)
{
    (void)size;
    bytes[rows_end - 1] ^= 1;
}

static void change_metadata(unsigned char *bytes, size_t rows_end, size_t size)
{
    (void)size;
    bytes[rows_end + 3] ^= 1;
}

static void change_tail(unsigned char *bytes, size_t rows_end, size_t size)
{
    (void)rows_end;
    bytes[size - 1] = 'X';
}

START_TEST(test_wrong_trailers)
{
    expect_bad_trailer(change_row, "rows 0 to ");
    expect_bad_trailer(change_metadata, "trailer: found metadata with CRC-32C");
    expect_bad_trailer(change_tail, "trailer");
}
END_TEST

START_TEST(test_metadata_without_an_end)
{
    char *bytes = malloc(200000);
    ck_assert_ptr_nonnull(bytes);
    memset(bytes, ' ', 200000);
    bytes[0] = '{';
    expect_bad(bytes, 200000, 65536 + 16, "found metadata without an end, expected at most 65552");
    free(bytes);
}
END_TEST

ICS_TEST_MAIN("message_frame")
{
    TCase *tests = tcase_create("message_frame");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, test_cut_in_two_at_every_byte);
    tcase_add_test(tests, test_random_chunks);
    tcase_add_test(tests, test_stream_that_ends_at_every_byte);
    tcase_add_test(tests, test_error_at_the_first_wrong_byte);
    tcase_add_test(tests, test_error_of_a_wrong_byte_in_pieces);
    tcase_add_test(tests, test_headers_and_messages_above_the_limits);
    tcase_add_test(tests, test_the_limit_is_exact);
    tcase_add_test(tests, test_memory_grows_with_the_bytes_received);
    tcase_add_test(tests, test_wrong_trailers);
    tcase_add_test(tests, test_metadata_without_an_end);
    suite_add_tcase(suite, tests);
}
