/* Promises of message_frame.h: the messages do not depend on how a stream is cut into chunks,
 * hostile input gets no memory, and after an error no further message is read. */
#include "tests/source/message_streams.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <malloc.h>

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
        bool ends = true;
        ck_assert_int_eq(ics_message_frame_finish(frame, &ends, &error), ICESTREAM_OK);
        ck_assert(!ends);
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

/* Whether the stream may end here; *ends: the end of the stream ends a message without a trailer.
 */
static bool may_end(const a_stream *stream, size_t size, bool *ends)
{
    bool found = size == 0;
    *ends = false;
    for (size_t i = 0; i < stream->count; ++i) {
        found |= size == stream->ends[i] || size == stream->trailer_ends[i];
        *ends |= size == stream->ends[i] && size < stream->trailer_ends[i];
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
        bool ends = false, should_end;
        bool clean = ics_message_frame_finish(frame, &ends, &error) == ICESTREAM_OK;
        ck_assert_msg(clean == may_end(stream, size, &should_end), "%zu bytes: %s", size,
                      error.text);
        ck_assert_msg(ends == should_end, "%zu bytes", size);
        ck_assert(clean == ics_message_frame_between(frame));
        ck_assert(clean || strncmp(error.text, "client 3, message ", 18) == 0);
        ck_assert(clean || strstr(error.text, "the end of the stream") != NULL);
        ics_message_frame_destroy(frame);
    }
    ics_message_frame *frame = open_frame(LIMIT);
    icestream_error error = {.text = ""};
    *out = (taken){.size = 0};
    ck_assert_int_eq(send_piece(frame, stream->bytes, 1024 + 70, out, &error), ICESTREAM_OK);
    bool ends;
    ck_assert_int_eq(ics_message_frame_finish(frame, &ends, &error), ICESTREAM_E_INPUT);
    ck_assert_str_eq(error.text, "client 3, message 0: byte 1094: found the end of the stream, "
                                 "expected the rest of the rows");
    ics_message_frame_destroy(frame);
    free(out);
    free(stream);
}
END_TEST

/* ---- bad and hostile streams ---------------------------------------------------------------- */

START_TEST(test_error_at_the_first_wrong_byte)
{
    static const char no_magic[] = "client 3, message 1: byte 0: found no .npy magic";
    expect_bad("GET / HTTP/1.1\r\n", 16, 0, no_magic);
    expect_bad("\x93NUMPX\1\0\0\0\0\0", 12, 5, no_magic);
    expect_bad("\x93NUMPY\7\0\0\0\0\0", 12, 11, "found .npy version 7.0");
    /* The header of the message before has a comment, so it announces no trailer. */
    expect_bad("{}", 2, 0, "client 3, message 1: byte 0: found a trailer, expected \\x93NUMPY");
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
                          strstr(error.text, "found a message of 1168 bytes, expected at most "
                                             "1167 (source.message_limit)") != NULL,
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

ICS_TEST_MAIN("message_frame")
{
    TCase *tests = tcase_create("message_frame");
    tcase_add_test(tests, test_cut_in_two_at_every_byte);
    tcase_add_test(tests, test_random_chunks);
    tcase_add_test(tests, test_stream_that_ends_at_every_byte);
    tcase_add_test(tests, test_error_at_the_first_wrong_byte);
    tcase_add_test(tests, test_error_of_a_wrong_byte_in_pieces);
    tcase_add_test(tests, test_headers_and_messages_above_the_limits);
    tcase_add_test(tests, test_the_limit_is_exact);
    tcase_add_test(tests, test_memory_grows_with_the_bytes_received);
    suite_add_tcase(suite, tests);
}
