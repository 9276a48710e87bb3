/* Cutting a stream of bytes into step messages: complete .npy files, one after the other, each with
 * or without the trailer that a copied file brings (files.md 2.1). Bytes come in chunks of
 * any size; nothing is read or stored here.
 *
 * A message is complete with its last row, so that a client can wait for the answer to it. A
 * trailer that follows is held against the rows and otherwise skipped. Memory: the header, at most
 * 64 KiB, metadata of about the same size, and 4 bytes per MiB of rows. One thread at a time.
 */
#ifndef ICS_SOURCE_MESSAGE_FRAME_H
#define ICS_SOURCE_MESSAGE_FRAME_H

#include "pipeline/icestream.h"

enum { ICS_MESSAGE_HEADER_MAX = 1 << 16 }; /* longest header accepted, bytes */

typedef struct ics_message_frame ics_message_frame;

/* What one look at a chunk found. */
typedef struct ics_message_span {
    size_t taken; /* bytes of the chunk that are used up */
    /* Bytes of the message that come next, in the chunk or (a header) in the frame, where they stay
     * until the message has ended; size 0: none. */
    const unsigned char *bytes;
    size_t size;
    bool begins, ends; /* these are the first, the last of their message; may be both */
} ics_message_span;

/* `name`: of the sender, for messages. `limit`: bytes of one message, header and rows.
 * ICESTREAM_E_MEMORY.
 */
int ics_message_frame_create(const char *name, uint64_t limit, ics_message_frame **out,
                             icestream_error *error);
/* Accepts NULL. */
void ics_message_frame_destroy(ics_message_frame *frame);

/* Takes the next bytes of the stream, at least one, at most to the end of a header or message; call
 * it again with the rest. ICESTREAM_E_INPUT: no .npy message, too large, a wrong trailer; the text
 * names sender, message and byte; from then on there is no finding the next message, and every call
 * says the same. ICESTREAM_E_MEMORY. */
int ics_message_frame_take(ics_message_frame *frame, const void *chunk, size_t size,
                           ics_message_span *out, icestream_error *error);
/* The stream has ended. ICESTREAM_E_INPUT unless it did so between messages. */
int ics_message_frame_finish(ics_message_frame *frame, icestream_error *error);

/* Whether the next byte would be the first of a message, or of a trailer. */
bool ics_message_frame_between(const ics_message_frame *frame);
/* Number of the message that came last, or is coming in; the first one is 0. */
uint64_t ics_message_frame_number(const ics_message_frame *frame);
/* Bytes of the message whose header was last complete, header and rows. */
uint64_t ics_message_frame_bytes(const ics_message_frame *frame);

#endif
