/* Promises of message_frame.h about trailers: a message whose header announces a trailer ends with
 * it, a wrong trailer refuses the message, and the next message is found if the tail is right. */
#include "tests/source/message_streams.h"
#include "tests/support/test_main.h"

/* Sends a file whose trailer `change` has changed, and a good file. If `goes_on`, the good file
 * must be found. */
static void expect_bad_trailer(void (*change)(unsigned char *bytes, size_t rows_end, size_t size),
                               const char *text, bool goes_on)
{
    a_stream *stream = calloc(1, sizeof *stream);
    icestream_error error = {.text = ""};
    ics_message_frame *frame = open_frame(LIMIT);
    ics_message_span span;
    uint64_t good = 0, bad = 0;
    add_file(stream, 3);
    change(stream->bytes, stream->ends[0], stream->size);
    add_file(stream, 2);
    for (size_t at = 0; at < stream->size; at += span.taken) {
        icestream_error found = {.text = ""};
        if (ics_message_frame_take(frame, stream->bytes + at, stream->size - at, &span, &found) ==
            ICESTREAM_OK) {
            good += span.ends;
            continue;
        }
        error = bad == 0 ? found : error;
        ck_assert_int_eq(found.status, ICESTREAM_E_INPUT);
        ck_assert(span.ends == goes_on);
        if (bad++ > 0 || !goes_on) {
            break;
        }
        ck_assert_uint_eq(at + span.taken, stream->trailer_ends[0]);
    }
    ck_assert_msg(strncmp(error.text, "client 3, message 0: ", 21) == 0, "%s", error.text);
    ck_assert_msg(strstr(error.text, text) != NULL, "found '%s', expected '%s'", error.text, text);
    ck_assert_uint_eq(bad, 1);
    ck_assert_uint_eq(good, goes_on ? 1 : 0);
    ics_message_frame_destroy(frame);
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
    expect_bad_trailer(change_row, "rows 0 to ", true);
    expect_bad_trailer(change_metadata, "trailer: found metadata with CRC-32C", true);
    expect_bad_trailer(change_tail, "trailer", false);
}
END_TEST

/* A header that announces a trailer, and none comes: the next message shows that the first one has
 * ended. Before, the frame says what is missing. */
START_TEST(test_announced_trailer_does_not_come)
{
    a_stream *stream = calloc(1, sizeof *stream);
    taken *out = calloc(1, sizeof *out);
    ics_message_frame *frame = open_frame(LIMIT);
    add_file(stream, 2);
    ck_assert_int_eq(send_piece(frame, stream->bytes, stream->ends[0], out, NULL), ICESTREAM_OK);
    ck_assert_uint_eq(out->ended, 0);
    ck_assert(!ics_message_frame_between(frame));
    ck_assert_str_eq(ics_message_frame_missing(frame), "the trailer, which the header announces");
    add_own(stream, 1);
    ck_assert_int_eq(send_piece(frame, stream->bytes + stream->trailer_ends[0],
                                stream->size - stream->trailer_ends[0], out, NULL),
                     ICESTREAM_OK);
    ck_assert_uint_eq(out->ended, 2);
    ck_assert(ics_message_frame_between(frame));
    ck_assert_ptr_null(ics_message_frame_missing(frame));
    ics_message_frame_destroy(frame);
    free(out);
    free(stream);
}
END_TEST

START_TEST(test_metadata_without_an_end)
{
    unsigned char *bytes = malloc(200000);
    a_stream *stream = calloc(1, sizeof *stream);
    ck_assert_ptr_nonnull(bytes);
    add_file(stream, 1);
    const size_t rows_end = stream->ends[0];
    memset(bytes, ' ', 200000);
    memcpy(bytes, stream->bytes, rows_end);
    bytes[rows_end] = '{';
    expect_bad(bytes, 200000, rows_end + 65536 + 16,
               "found metadata without an end, expected at most 65552");
    free(stream);
    free(bytes);
}
END_TEST

ICS_TEST_MAIN("message_trailers")
{
    TCase *tests = tcase_create("message_trailers");
    tcase_add_test(tests, test_wrong_trailers);
    tcase_add_test(tests, test_announced_trailer_does_not_come);
    tcase_add_test(tests, test_metadata_without_an_end);
    suite_add_tcase(suite, tests);
}
