/* Cuts a stream of bytes into step messages: complete .npy files, one after the other, with or
 * without the trailer of a copied file (files.md 2.4). Bytes come in chunks of any size. Nothing is
 * read or written here.
 *
 * If the header announces a trailer, the message ends with its trailer, which is checked against
 * the rows. Then it is also complete if the next message begins, or the stream ends, behind the
 * rows. Any other message is complete with its last row, so that a client can wait for the answer
 * before it sends anything more. Memory: the header (at most 64 KiB), metadata of about the same
 * size, and 4 bytes per MiB of rows. One thread at a time.
 */
#ifndef ICS_PRODUCTION_SOURCE_MESSAGE_FRAME_H
#define ICS_PRODUCTION_SOURCE_MESSAGE_FRAME_H

#include "pipeline/icestream.h"

enum { ICS_MESSAGE_HEADER_MAX = 1 << 16 }; /* bytes of the longest header that is accepted */

typedef struct ics_message_frame ics_message_frame;

/* What one call of ics_message_frame_take() found. */
typedef struct ics_message_span {
    size_t taken; /* bytes of the chunk that were used */
    /* The next bytes of the message. Rows and trailer are in the chunk. A header is in the frame,
     * and stays there until the next message begins. */
    const unsigned char *bytes;
    size_t size;       /* 0: no bytes of a message */
    bool begins, ends; /* the bytes are the first ones, or the last ones, of the message */
} ics_message_span;

/* `name`: the sender, for error texts. `limit`: bytes of one message, header and rows. */
ics_message_frame *ics_message_frame_create(const char *name, uint64_t limit);
/* Accepts NULL. */
void ics_message_frame_destroy(ics_message_frame *frame);

/* Takes the next bytes of the stream, at most up to the end of a header or message. Call it again
 * with the rest. It takes no byte only if these bytes show that a message has ended without its
 * trailer (out->ends). ICESTREAM_E_INPUT: not a .npy message, too large, or a wrong trailer; the
 * text names sender, message and byte. With out->ends the trailer is whole and does not fit the
 * rows: the message is bad, and the next one begins behind out->taken. Otherwise the beginning of
 * the next message cannot be found, and every call returns the same error. ICESTREAM_E_MEMORY. */
int ics_message_frame_take(ics_message_frame *frame, const void *chunk, size_t size,
                           ics_message_span *out, icestream_error *error);
/* Call it at the end of the stream. *ends: the current message ends here, without the trailer that
 * its header announces. ICESTREAM_E_INPUT if the stream ended inside a message. */
int ics_message_frame_finish(ics_message_frame *frame, bool *ends, icestream_error *error);

/* Whether the next byte would begin a message. */
bool ics_message_frame_between(const ics_message_frame *frame);
/* What is missing of the current message, for people: "the rest of the rows". NULL: nothing,
 * or the stream is bad. */
const char *ics_message_frame_missing(const ics_message_frame *frame);
/* Number of the current or last message; the first one is 0. */
uint64_t ics_message_frame_number(const ics_message_frame *frame);
/* Size (bytes) of the last message whose header was complete: header, rows, and the trailer as far
 * as it has come. */
uint64_t ics_message_frame_bytes(const ics_message_frame *frame);

#endif
