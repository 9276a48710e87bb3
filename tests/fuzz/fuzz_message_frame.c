/* Fuzzes a stream of step messages that comes in chunks of any size. The first byte of the input is
 * the seed of the chunk sizes. The messages must not depend on the chunks, must consist of bytes of
 * the input, and memory must stay bounded. A bad message whose end is known does not end the
 * stream. Good inputs are in corpus/message_frame. */
#include "pipeline/production/source/message_frame.h"
#include "tests/fuzz/fuzz_target.h"

#include <stdlib.h>
#include <string.h>

enum { LIMIT = 1 << 20 };

/* The result of a stream. */
typedef struct outcome {
    unsigned char *messages; /* all bytes of all messages */
    size_t size;
    size_t begun;     /* size without the message that is not complete */
    uint64_t ended;   /* messages that are complete */
    uint64_t refused; /* messages with a wrong trailer */
    int status;
    char text[512];
} outcome;

static size_t next_cut(uint32_t *state, size_t left)
{
    *state = *state * 1664525u + 1013904223u;
    size_t cut = 1 + (*state >> 24) % ((*state >> 16) % 8 ? 7 : 200);
    return cut < left ? cut : left;
}

static void add_span(outcome *result, const ics_message_span *span)
{
    result->begun = span->begins ? result->size : result->begun;
    if (span->size > 0) {
        memcpy(result->messages + result->size, span->bytes, span->size);
    }
    result->size += span->size;
    result->ended += span->ends;
    result->begun = span->ends ? result->size : result->begun;
}

/* Sends the stream in pieces; seed 0: in one piece. The bytes of messages are those of the stream,
 * so there are never more of them than were sent. */
static outcome send(const uint8_t *bytes, size_t size, uint32_t seed)
{
    outcome result = {.messages = malloc(size + 1)};
    ics_message_frame *frame = ics_message_frame_create("fuzz", LIMIT);
    icestream_error error = {.status = ICESTREAM_OK, .text = ""};
    require(result.messages != NULL);
    for (size_t at = 0; at < size && result.status == ICESTREAM_OK;) {
        size_t cut = seed ? next_cut(&seed, size - at) : size - at;
        for (size_t end = at + cut; at < end && result.status == ICESTREAM_OK;) {
            ics_message_span span;
            result.status = ics_message_frame_take(frame, bytes + at, end - at, &span, &error);
            require(span.taken <= end - at && (span.taken > 0 || span.ends || result.status));
            if (result.status != ICESTREAM_OK) {
                /* How much of a bad message came before its error depends on the chunks. */
                require(span.size == 0);
                result.size = result.begun;
            }
            if (result.status == ICESTREAM_E_INPUT && span.ends) {
                result.status = ICESTREAM_OK;
                result.refused++;
                at += span.taken;
                continue;
            }
            if (result.status != ICESTREAM_OK) {
                break;
            }
            require(!span.begins || ics_message_frame_bytes(frame) <= LIMIT);
            require(result.size + span.size <= at + span.taken);
            add_span(&result, &span);
            at += span.taken;
        }
    }
    if (result.status == ICESTREAM_OK) {
        bool ends = false;
        error.text[0] = 0; /* refused messages have filled it */
        result.status = ics_message_frame_finish(frame, &ends, &error);
        result.ended += ends;
    }
    require(result.status == ICESTREAM_OK || result.status == ICESTREAM_E_INPUT);
    require(result.status == ICESTREAM_OK || strncmp(error.text, "fuzz, message ", 14) == 0);
    snprintf(result.text, sizeof result.text, "%.500s", error.text);
    ics_message_frame_destroy(frame);
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 2) {
        return 0;
    }
    outcome whole = send(bytes + 1, size - 1, 0);
    outcome cut = send(bytes + 1, size - 1, 0x10001u * (bytes[0] + 1u));
    require(whole.ended == cut.ended && whole.refused == cut.refused);
    require(whole.status == cut.status);
    require(whole.size == cut.size && memcmp(whole.messages, cut.messages, whole.size) == 0);
    require(strcmp(whole.text, cut.text) == 0);
    free(whole.messages);
    free(cut.messages);
    return 0;
}
