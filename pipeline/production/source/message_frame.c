#include "pipeline/production/source/message_frame.h"

#include "base/error.h"
#include "base/new.h"
#include "pipeline/photons/files/format/layout.h"
#include "pipeline/photons/files/format/npy.h"
#include "pipeline/photons/files/format/trailer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef enum frame_state {
    BETWEEN, /* between messages */
    HEADER,
    ROWS,
    AFTER_ROWS, /* a trailer should follow */
    METADATA,   /* of a trailer */
    TAIL,       /* of a trailer */
    BAD
} frame_state;

typedef struct gathered_bytes {
    unsigned char *bytes;
    size_t size, capacity;
} gathered_bytes;

struct ics_message_frame {
    char *name;  /* name of the sender */
    char *title; /* name of the sender and number of the message */
    uint64_t limit;
    frame_state state;
    uint64_t begun; /* number of messages so far */

    gathered_bytes header, trailer; /* trailer: metadata and tail */
    size_t header_size;             /* 0: not known yet */
    bool has_trailer;               /* the header announces one */

    uint64_t rows, left; /* rows of the message; bytes of rows that are still to come */
    size_t row_bytes;
    uint64_t rows_end; /* bytes from the start of the message */
    ics_trailer_checksums sums;

    size_t metadata_size; /* once the scan has found their end */
    ics_trailer_scan scan;

    icestream_error bad; /* in state BAD: what every call returns */
};

/* ---- life ----------------------------------------------------------------------------------- */

static void number_title(ics_message_frame *frame)
{
    free(frame->title);
    frame->title =
        ics_new_text("%s, message %" PRIu64, frame->name, ics_message_frame_number(frame));
}

ics_message_frame *ics_message_frame_create(const char *name, uint64_t limit)
{
    ics_message_frame *frame = ICS_NEW(ics_message_frame);
    frame->limit = limit;
    frame->name = ics_new_copy(name);
    number_title(frame);
    return frame;
}

void ics_message_frame_destroy(ics_message_frame *frame)
{
    if (frame != NULL) {
        ics_trailer_checksums_free(&frame->sums);
        free(frame->header.bytes);
        free(frame->trailer.bytes);
        free(frame->title);
        free(frame->name);
        free(frame);
    }
}

/* ---- gathering ------------------------------------------------------------------------------ */

/* Makes room for `size` gathered bytes. Memory grows with the bytes that have come, not with a size
 * that the sender announces. */
static void reserve(gathered_bytes *gathered, size_t size)
{
    if (size > gathered->capacity) {
        size_t capacity = gathered->capacity > 0 ? gathered->capacity : 1024;
        while (capacity < size) {
            capacity *= 2;
        }
        gathered->bytes = ics_new_size(gathered->bytes, capacity, 1);
        gathered->capacity = capacity;
    }
}

/* Gathers bytes of the header or of the trailer until there are `wanted`, or until the chunk ends.
 * Adds their number to out->taken. */
static void gather(ics_message_frame *frame, const unsigned char *chunk, size_t size, size_t wanted,
                   ics_message_span *out)
{
    gathered_bytes *gathered = frame->state == HEADER ? &frame->header : &frame->trailer;
    size_t missing = wanted - gathered->size;
    size_t count = size < missing ? size : missing;
    reserve(gathered, gathered->size + count);
    memcpy(gathered->bytes + gathered->size, chunk, count);
    gathered->size += count;
    out->taken += count;
}

/* ---- messages ------------------------------------------------------------------------------- */

static void begin_message(ics_message_frame *frame)
{
    frame->state = HEADER;
    frame->header.size = frame->trailer.size = 0;
    frame->header_size = 0;
    frame->metadata_size = 0;
    frame->scan = (ics_trailer_scan){.depth = 0};
}

static void end_rows(ics_message_frame *frame, ics_message_span *out)
{
    out->ends = !frame->has_trailer;
    frame->state = frame->has_trailer ? AFTER_ROWS : BETWEEN;
}

/* The header is complete: reads it. */
static int begin_rows(ics_message_frame *frame, ics_message_span *out, icestream_error *error)
{
    ics_npy_header header;
    ICS_TRY(ics_npy_parse(frame->title, frame->header.bytes, frame->header_size, &header, error));
    frame->rows = header.rows;
    frame->row_bytes = header.row_bytes;
    frame->left = header.rows * header.row_bytes; /* below 2^63 (npy.h) */
    frame->rows_end = header.header_bytes + frame->left;
    frame->has_trailer = header.has_trailer;
    ics_npy_header_free(&header);
    if (frame->rows_end > frame->limit) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: header: found a message of %" PRIu64
                             " bytes, expected at most %" PRIu64 " (source.message_limit)",
                             frame->title, frame->rows_end, frame->limit);
    }
    ics_trailer_checksums_reset(&frame->sums);
    out->begins = true;
    out->bytes = frame->header.bytes;
    out->size = frame->header_size;
    frame->state = ROWS;
    if (frame->left == 0) {
        end_rows(frame, out);
    }
    return ICESTREAM_OK;
}

/* How every .npy file begins. */
static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

static int take_header(ics_message_frame *frame, const unsigned char *chunk, size_t size,
                       ics_message_span *out, icestream_error *error)
{
    /* A wrong byte is an error at once, before a complete preamble has come, because the sender may
     * wait for an answer before it sends more. The error depends on the bytes up to that one alone,
     * because nobody knows how many more of them came with it. */
    if (frame->header_size == 0) {
        gather(frame, chunk, size, ICS_NPY_PREAMBLE, out);
        size_t right = 0;
        while (right < frame->header.size && right < sizeof magic &&
               frame->header.bytes[right] == magic[right]) {
            right++;
        }
        bool wrong = right < frame->header.size && right < sizeof magic;
        if (frame->header.size < ICS_NPY_PREAMBLE && !wrong) {
            return ICESTREAM_OK;
        }
        ICS_TRY(ics_npy_header_size(frame->title, frame->header.bytes,
                                    wrong ? right + 1 : frame->header.size, &frame->header_size,
                                    error));
        if (frame->header_size > ICS_MESSAGE_HEADER_MAX) {
            return ics_error_set(error, ICESTREAM_E_INPUT,
                                 "%s: byte 8: found a header of %zu bytes, expected at most %d",
                                 frame->title, frame->header_size, ICS_MESSAGE_HEADER_MAX);
        }
    }
    gather(frame, chunk + out->taken, size - out->taken, frame->header_size, out);
    return frame->header.size == frame->header_size ? begin_rows(frame, out, error) : ICESTREAM_OK;
}

static int take_rows(ics_message_frame *frame, const unsigned char *chunk, size_t size,
                     ics_message_span *out, icestream_error *error)
{
    size_t count = frame->left < size ? (size_t)frame->left : size;
    ICS_TRY(ics_trailer_checksums_add(&frame->sums, chunk, count, error));
    frame->left -= count;
    out->taken = count;
    out->bytes = chunk;
    out->size = count;
    if (frame->left == 0) {
        end_rows(frame, out);
    }
    return ICESTREAM_OK;
}

/* ---- trailers ------------------------------------------------------------------------------- */

/* Bytes of the longest metadata that are accepted: a fixed part, and a checksum per MiB of rows. */
static size_t metadata_limit(const ics_message_frame *frame)
{
    return (1 << 16) + 16 * (size_t)(frame->rows_end / ICS_BLOCK_BYTES + 1);
}

/* Gathers the metadata, a JSON object, up to the bracket that closes it. */
static int take_metadata(ics_message_frame *frame, const unsigned char *chunk, size_t size,
                         ics_message_span *out, icestream_error *error)
{
    size_t count = 0;
    bool closed = false;
    while (count < size && !closed) {
        closed = ics_trailer_scan_ends(&frame->scan, (char)chunk[count++]);
    }
    if (frame->trailer.size + count > metadata_limit(frame)) {
        return ics_error_set(
            error, ICESTREAM_E_INPUT,
            "%s: trailer: found metadata without an end, expected at most %zu bytes", frame->title,
            metadata_limit(frame));
    }
    gather(frame, chunk, count, frame->trailer.size + count, out);
    out->bytes = chunk;
    out->size = count;
    if (closed) {
        frame->metadata_size = frame->trailer.size;
        frame->state = TAIL;
    }
    return ICESTREAM_OK;
}

/* A right tail shows where the next message begins, whatever else is wrong with the trailer. */
static int check_trailer(ics_message_frame *frame, icestream_error *error)
{
    ics_tail tail;
    ics_trailer trailer;
    const char *metadata = (const char *)frame->trailer.bytes;
    const ics_trailer_table table = {
        .schema = ics_layout_steps(), .rows = frame->rows, .row_bytes = frame->row_bytes};
    ICS_TRY(ics_trailer_checksums_finish(&frame->sums, error));
    ICS_TRY(ics_trailer_tail_parse(frame->title, frame->trailer.bytes + frame->metadata_size,
                                   frame->rows_end, frame->rows_end + frame->trailer.size, &tail,
                                   error));
    frame->state = BETWEEN;
    ICS_TRY(ics_trailer_parse(frame->title, metadata, &tail, &table, &trailer, error));
    const int status =
        ics_trailer_verify(&trailer, frame->title, &frame->sums, frame->row_bytes, error);
    ics_trailer_free(&trailer);
    return status;
}

static int take_tail(ics_message_frame *frame, const unsigned char *chunk, size_t size,
                     ics_message_span *out, icestream_error *error)
{
    size_t wanted = frame->metadata_size + ICS_TAIL_BYTES;
    gather(frame, chunk, size, wanted, out);
    out->bytes = chunk;
    out->size = out->taken;
    if (frame->trailer.size < wanted) {
        return ICESTREAM_OK;
    }
    int status = check_trailer(frame, error);
    out->ends = frame->state == BETWEEN;
    return status;
}

/* Decides from the first byte behind the rows whether the trailer begins. */
static int take_after_rows(ics_message_frame *frame, const unsigned char *chunk, size_t size,
                           ics_message_span *out, icestream_error *error)
{
    if (chunk[0] == '{') {
        frame->state = METADATA;
        return take_metadata(frame, chunk, size, out, error);
    }
    frame->state = BETWEEN;
    out->ends = true;
    return ICESTREAM_OK;
}

/* ---- the stream ----------------------------------------------------------------------------- */

static int begin_next(ics_message_frame *frame, unsigned char first, icestream_error *error)
{
    begin_message(frame);
    frame->begun++;
    number_title(frame);
    return first == '{' && frame->begun > 1 ? ics_npy_unannounced_trailer(frame->title, error)
                                            : ICESTREAM_OK;
}

int ics_message_frame_take(ics_message_frame *frame, const void *chunk, size_t size,
                           ics_message_span *out, icestream_error *error)
{
    typedef int take_part(ics_message_frame *, const unsigned char *, size_t, ics_message_span *,
                          icestream_error *);
    static take_part *const parts[] = {
        [HEADER] = take_header,     [ROWS] = take_rows, [AFTER_ROWS] = take_after_rows,
        [METADATA] = take_metadata, [TAIL] = take_tail,
    };
    *out = (ics_message_span){0};
    if (size == 0) {
        return ICESTREAM_OK;
    }
    int status = ICESTREAM_OK;
    if (frame->state == BETWEEN) {
        status = begin_next(frame, *(const unsigned char *)chunk, &frame->bad);
    }
    if (status == ICESTREAM_OK && frame->state != BAD) {
        status = parts[frame->state](frame, chunk, size, out, &frame->bad);
    }
    if (status == ICESTREAM_OK && frame->state != BAD) {
        return ICESTREAM_OK;
    }
    if (status != ICESTREAM_E_INPUT || !out->ends) {
        frame->state = BAD;
        *out = (ics_message_span){0};
    }
    out->size = 0;
    return ics_error_copy(error, &frame->bad);
}

const char *ics_message_frame_missing(const ics_message_frame *frame)
{
    switch (frame->state) {
    case HEADER:
        return "the rest of the header";
    case ROWS:
        return "the rest of the rows";
    case AFTER_ROWS:
        return "the trailer, which the header announces";
    case METADATA:
    case TAIL:
        return "the rest of the trailer";
    default:
        return NULL;
    }
}

int ics_message_frame_finish(ics_message_frame *frame, bool *ends, icestream_error *error)
{
    *ends = frame->state == AFTER_ROWS;
    if (frame->state == BETWEEN || *ends) {
        frame->state = BETWEEN;
        return ICESTREAM_OK;
    }
    if (frame->state == BAD) {
        return ics_error_copy(error, &frame->bad);
    }
    uint64_t offset = frame->state == ROWS     ? frame->rows_end - frame->left
                      : frame->state == HEADER ? frame->header.size
                                               : frame->rows_end + frame->trailer.size;
    return ics_error_set(error, ICESTREAM_E_INPUT,
                         "%s: byte %" PRIu64 ": found the end of the stream, expected %s",
                         frame->title, offset, ics_message_frame_missing(frame));
}

bool ics_message_frame_between(const ics_message_frame *frame)
{
    return frame->state == BETWEEN;
}

uint64_t ics_message_frame_number(const ics_message_frame *frame)
{
    return frame->begun > 0 ? frame->begun - 1 : 0;
}

uint64_t ics_message_frame_bytes(const ics_message_frame *frame)
{
    return frame->rows_end + frame->trailer.size;
}
