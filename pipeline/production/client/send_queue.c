#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/new.h"
#include "pipeline/production/client/send_state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t NO_LIMIT = UINT64_C(1) << 62; /* bytes; the server has its own limit */

static ics_send_message *find_unused(ics_send_state *state)
{
    for (int i = 0; i < ICS_SEND_WINDOW; ++i) {
        if (!state->messages[i].used) {
            return &state->messages[i];
        }
    }
    return NULL;
}

char *ics_send_queue_stem(const char *path)
{
    static const char *const endings[] = {".steps.npy", ".npy"};
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const size_t length = strlen(name);
    for (size_t i = 0; i < 2; ++i) {
        const size_t tail = strlen(endings[i]);
        if (length > tail && strcmp(name + length - tail, endings[i]) == 0) {
            return ics_new_text("%.*s", (int)(length - tail), name);
        }
    }
    return ics_new_copy(name);
}

void ics_send_queue_refuse(ics_send_state *state, const char *input, const char *reason)
{
    state->counts->refused++;
    ics_error_add_counted(&state->refusals, &state->refusal_count, ICESTREAM_E_INPUT, "send",
                          "%s: %s", input, reason);
}

/* The window has an unused message. */
static void add(ics_send_state *state, const char *input, int descriptor, uint64_t size)
{
    *find_unused(state) = (ics_send_message){.used = true,
                                             .input = ics_new_copy(input),
                                             .stem = ics_send_queue_stem(input),
                                             .descriptor = descriptor,
                                             .size = size,
                                             .number = -1};
    state->last = state->exchanged = ics_clock_seconds();
}

void ics_send_queue_move(ics_send_state *state, uint64_t bytes)
{
    state->moved += bytes;
    if (state->moved >= ICS_SEND_LEAST) {
        state->moved = 0;
        state->exchanged = ics_clock_seconds();
    }
}

bool ics_send_queue_has_messages(const ics_send_state *state)
{
    bool has = false;
    for (int i = 0; i < ICS_SEND_WINDOW; ++i) {
        has |= state->messages[i].used;
    }
    return has;
}

void ics_send_queue_remove(ics_send_message *message)
{
    close(message->descriptor);
    free(message->input);
    free(message->stem);
    *message = (ics_send_message){.used = false};
}

/* ---- files ---------------------------------------------------------------------------------- */

/* Checks that the file is one message: the listener closes the connection after a message whose end
 * cannot be found, and waits for the rest of one that is cut. */
static int check_frame(const char *path, int descriptor, ics_message_frame *frame,
                       icestream_error *error)
{
    unsigned char block[ICS_SEND_BLOCK];
    bool ended = false;
    ssize_t count = 1;
    for (off_t at = 0; count != 0; at += count) {
        count = pread(descriptor, block, sizeof block, at);
        if (count < 0) {
            return ics_error_set(error, ICESTREAM_E_INPUT, "cannot be read: %s", strerror(errno));
        }
        for (size_t done = 0; done < (size_t)count;) {
            ics_message_span span;
            ICS_TRY(
                ics_message_frame_take(frame, block + done, (size_t)count - done, &span, error));
            if (ended) {
                return ics_error_set(error, ICESTREAM_E_INPUT,
                                     "found more than one message, expected one step file; "
                                     "`icestream send -` takes a stream, with %s as its input",
                                     path);
            }
            ended = span.ends;
            done += span.taken;
        }
    }
    return ended ? ICESTREAM_OK : ics_message_frame_finish(frame, &ended, error);
}

static int check_file(const char *path, int descriptor, uint64_t *size, icestream_error *error)
{
    struct stat about;
    if (descriptor < 0) {
        return ics_error_set(error, ICESTREAM_E_INPUT, "cannot be opened: %s", strerror(errno));
    }
    if (fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) {
        return ics_error_set(error, ICESTREAM_E_INPUT, "expected a regular file");
    }
    *size = (uint64_t)about.st_size;
    ics_message_frame *frame = ics_message_frame_create(path, NO_LIMIT);
    int status = check_frame(path, descriptor, frame, error);
    if (status == ICESTREAM_OK && *size == 0) {
        status = ics_error_set(error, ICESTREAM_E_INPUT, "found an empty file, expected steps");
    }
    ics_message_frame_destroy(frame);
    return status;
}

static int check_output(const ics_send_state *state, const char *path, icestream_error *error)
{
    ICS_FREES char *stem = ics_send_queue_stem(path);
    ICS_FREES char *name = ics_new_text("%s/%s.hits.npy", state->options->output, stem);
    return access(name, F_OK) != 0
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_OUTPUT,
                               "%s: exists, expected a new file; --force replaces it", name);
}

static int add_file(ics_send_state *state, const char *path, icestream_error *error)
{
    icestream_error found = {.status = ICESTREAM_OK};
    uint64_t size = 0;
    const bool folder = state->options->output != NULL && strcmp(state->options->output, "-") != 0;
    if (folder && !state->options->force) {
        ICS_TRY(check_output(state, path, error));
    }
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    const int status = check_file(path, descriptor, &size, &found);
    if (status == ICESTREAM_OK) {
        add(state, path, descriptor, size);
        return ICESTREAM_OK;
    }
    if (descriptor >= 0) {
        close(descriptor);
    }
    if (status != ICESTREAM_E_INPUT) {
        return ics_error_copy(error, &found);
    }
    ics_send_queue_refuse(state, path, found.text);
    return ICESTREAM_OK;
}

static bool at_stdin(const ics_send_state *state)
{
    return state->next_file < state->file_count && strcmp(state->files[state->next_file], "-") == 0;
}

int ics_send_queue_fill(ics_send_state *state, icestream_error *error)
{
    while (state->next_file < state->file_count && !at_stdin(state) && find_unused(state) != NULL) {
        ICS_TRY(add_file(state, state->files[state->next_file++], error));
    }
    return ICESTREAM_OK;
}

/* ---- standard input ------------------------------------------------------------------------- */

bool ics_send_queue_reads(const ics_send_state *state)
{
    return at_stdin(state) && find_unused((ics_send_state *)state) != NULL;
}

/* The message that was copied is complete. */
static int end_copy(ics_send_state *state, icestream_error *error)
{
    char name[64];
    if (fflush(state->copy) != 0) {
        return ics_error_set(error, ICESTREAM_E_OUTPUT, "a temporary file: %s", strerror(errno));
    }
    const int descriptor = dup(fileno(state->copy));
    fclose(state->copy);
    state->copy = NULL;
    if (descriptor < 0) {
        return ics_error_set(error, ICESTREAM_E_FAILED, "a temporary file: %s", strerror(errno));
    }
    snprintf(name, sizeof name, "message-%08" PRIu64, state->streamed++);
    add(state, name, descriptor, state->copy_size);
    return ICESTREAM_OK;
}

/* Copies the next bytes of the block to the message that they belong to. */
static int copy_part(ics_send_state *state, icestream_error *error)
{
    ics_message_span span;
    ICS_TRY(ics_message_frame_take(state->stream, state->block + state->block_at,
                                   state->block_size - state->block_at, &span, error));
    state->block_at += span.taken;
    if (span.begins) {
        state->copy = tmpfile();
        state->copy_size = 0;
    }
    if (state->copy == NULL || fwrite(span.bytes, 1, span.size, state->copy) != span.size) {
        return ics_error_set(error, ICESTREAM_E_OUTPUT, "a temporary file: %s", strerror(errno));
    }
    state->copy_size += span.size;
    return span.ends ? end_copy(state, error) : ICESTREAM_OK;
}

int ics_send_queue_read(ics_send_state *state, icestream_error *error)
{
    if (state->stream == NULL) {
        state->stream = ics_message_frame_create("standard input", NO_LIMIT);
    }
    if (state->block_at == state->block_size) {
        const ssize_t count = read(STDIN_FILENO, state->block, sizeof state->block);
        if (count < 0) {
            return errno == EINTR || errno == EAGAIN
                       ? ICESTREAM_OK
                       : ics_error_set(error, ICESTREAM_E_INPUT, "standard input: %s",
                                       strerror(errno));
        }
        state->block_at = 0;
        state->block_size = (size_t)count;
        if (count == 0) {
            bool ends = false;
            state->next_file++;
            ICS_TRY(ics_message_frame_finish(state->stream, &ends, error));
            return ends && state->copy != NULL ? end_copy(state, error) : ICESTREAM_OK;
        }
    }
    while (state->block_at < state->block_size && find_unused(state) != NULL) {
        ICS_TRY(copy_part(state, error));
    }
    return ICESTREAM_OK;
}

/* ---- looking -------------------------------------------------------------------------------- */

bool ics_send_queue_is_empty(const ics_send_state *state)
{
    return !ics_send_queue_has_messages(state) && state->next_file == state->file_count;
}

ics_send_message *ics_send_queue_find(ics_send_state *state, int64_t number)
{
    for (int i = 0; i < ICS_SEND_WINDOW && number >= 0; ++i) {
        if (state->messages[i].used && state->messages[i].number == number) {
            return &state->messages[i];
        }
    }
    return NULL;
}

ics_send_message *ics_send_queue_next(ics_send_state *state)
{
    ics_send_message *next = NULL;
    for (int i = 0; i < ICS_SEND_WINDOW; ++i) {
        ics_send_message *message = &state->messages[i];
        if (message->used && message->number >= 0 && message->sent < message->size) {
            return message; /* it was begun */
        }
        if (message->used && message->number < 0) {
            next = next != NULL ? next : message;
        }
    }
    return next;
}

void ics_send_queue_lost(ics_send_state *state, const char *cause)
{
    if (!state->lost) {
        snprintf(state->cause, sizeof state->cause, "%s", cause);
    }
    state->lost = true;
}
