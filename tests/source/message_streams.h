/* Streams of step messages for the tests of message_frame.h, and their result. */
#ifndef ICS_TESTS_SOURCE_MESSAGE_STREAMS_H
#define ICS_TESTS_SOURCE_MESSAGE_STREAMS_H

#include "pipeline/photons/files/format/npy.h"
#include "pipeline/photons/files/format/trailer.h"
#include "pipeline/production/source/message_frame.h"
#include "tests/support/scratch_files.h"
#include "tests/support/step_files.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { STREAM_MAX = 1 << 17, LIMIT = 1 << 20 };

/* ---- streams to cut ------------------------------------------------------------------------- */

typedef struct a_stream {
    unsigned char bytes[STREAM_MAX]; /* as sent */
    size_t size;
    size_t ends[16], trailer_ends[16]; /* of rows and of messages, in `bytes` */
    size_t count;
} a_stream;

static inline void add_bytes(a_stream *stream, const void *bytes, size_t size, size_t trailer)
{
    memcpy(stream->bytes + stream->size, bytes, size + trailer);
    stream->ends[stream->count] = stream->size + size;
    stream->size += size + trailer;
    stream->trailer_ends[stream->count++] = stream->size;
}

/* A message as `icestream generate -o -` sends it. */
static inline void add_own(a_stream *stream, uint32_t rows)
{
    unsigned char bytes[ICS_NPY_OWN_HEADER + 16 * sizeof(icestream_step)];
    unsigned char *header;
    size_t header_size;
    ck_assert_uint_le(rows, 16);
    ck_assert_int_eq(
        ics_npy_write_noted_header(ics_layout_steps(), rows, "{}", &header, &header_size, NULL),
        ICESTREAM_OK);
    ck_assert_uint_eq(header_size, ICS_NPY_OWN_HEADER);
    memcpy(bytes, header, header_size);
    free(header);
    for (uint32_t i = 0; i < rows; ++i) {
        icestream_step step = step_file_good(7, i);
        memcpy(bytes + ICS_NPY_OWN_HEADER + i * sizeof step, &step, sizeof step);
    }
    add_bytes(stream, bytes, ICS_NPY_OWN_HEADER + rows * sizeof(icestream_step), 0);
}

/* A header of version 1 or 2 as NumPy writes it, for rows of one field. */
static inline size_t foreign_header(unsigned char *bytes, int version, const char *count)
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

static inline void add_foreign(a_stream *stream, int version, uint32_t rows)
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
static inline void add_file(a_stream *stream, uint32_t rows)
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

static inline a_stream *mixed_stream(void)
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

static inline ics_message_frame *open_frame(uint64_t limit)
{
    return ics_message_frame_create("client 3", limit);
}

/* Sends a piece, and stops after an error. */
static inline int send_piece(ics_message_frame *frame, const unsigned char *bytes, size_t size,
                             taken *out, icestream_error *error)
{
    while (size > 0) {
        ics_message_span span;
        int status = ics_message_frame_take(frame, bytes, size, &span, error);
        if (status != ICESTREAM_OK) {
            return status;
        }
        ck_assert(span.taken > 0 || span.ends);
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

static inline void expect_all(const a_stream *stream, const taken *out)
{
    ck_assert_uint_eq(out->ended, stream->count);
    ck_assert_uint_eq(out->size, stream->size);
    ck_assert_mem_eq(out->messages, stream->bytes, out->size);
}

/* Sends a good message and then these bytes, one at a time. The error must come with byte `at` of
 * them. */
static inline void expect_bad(const void *bytes, size_t size, size_t at, const char *text)
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
    bool ends;
    ck_assert_int_eq(ics_message_frame_finish(frame, &ends, &again), ICESTREAM_E_INPUT);
    ics_message_frame_destroy(frame);
    free(out);
    free(stream);
}

#endif
