#include "pipeline/photons/models/text/line_stream.h"

#include "base/error.h"
#include "base/file_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 1 << 16 };

struct ics_line_stream {
    const char *name;
    int descriptor; /* -1: text in memory */
    int wake;       /* interrupts a read; -1: nothing does */
    bool owned;     /* the stream closes the descriptor */
    bool is_pipe;   /* the descriptor is that of a pipe, and does not block */
    bool ended;     /* nothing follows what is in the buffer */
    const char *next, *end;
    size_t line;
    char buffer[BUFFER];
};

static int create(const char *name, ics_line_stream **out, icestream_error *error)
{
    ics_line_stream *stream = calloc(1, sizeof *stream);
    *out = stream;
    if (stream == NULL) {
        return ics_error_no_memory(error, name);
    }
    stream->name = name;
    stream->descriptor = stream->wake = -1;
    stream->next = stream->end = stream->buffer;
    return ICESTREAM_OK;
}

/* Opens the file or standard input, and looks at what it is. */
static int open_stream(const char *path, ics_line_stream *stream, icestream_error *error)
{
    struct stat about;
    stream->descriptor = STDIN_FILENO;
    if (strcmp(path, "-") != 0) {
        /* Opening a named pipe must not wait for its writer, because nothing could interrupt that.
         * Files ignore O_NONBLOCK. */
        stream->descriptor = TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
        stream->owned = stream->descriptor >= 0;
    } else {
        stream->name = "standard input";
    }
    if (stream->descriptor < 0 || fstat(stream->descriptor, &about) != 0) {
        return ics_error_add(error, ICESTREAM_E_CONFIG, "%s: error: %s", stream->name,
                             strerror(errno));
    }
    if (S_ISDIR(about.st_mode)) {
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             "%s: error: found a folder, expected a file", stream->name);
    }
    stream->is_pipe = stream->owned && S_ISFIFO(about.st_mode);
    return ICESTREAM_OK;
}

int ics_line_stream_open(const char *path, ics_line_stream **out, icestream_error *error)
{
    ICS_TRY(create(path, out, error));
    const int status = open_stream(path, *out, error);
    if (status != ICESTREAM_OK) {
        ics_line_stream_destroy(*out);
        *out = NULL;
    }
    return status;
}

int ics_line_stream_borrow(const char *name, const char *data, size_t size, ics_line_stream **out,
                           icestream_error *error)
{
    ICS_TRY(create(name, out, error));
    (*out)->next = data;
    (*out)->end = data + size;
    (*out)->ended = true;
    return ICESTREAM_OK;
}

void ics_line_stream_wake_by(ics_line_stream *stream, int descriptor)
{
    stream->wake = descriptor;
}

void ics_line_stream_destroy(ics_line_stream *stream)
{
    if (stream == NULL) {
        return;
    }
    if (stream->owned) {
        close(stream->descriptor);
    }
    free(stream);
}

const char *ics_line_stream_name(const ics_line_stream *stream)
{
    return stream->name;
}

size_t ics_line_stream_line(const ics_line_stream *stream)
{
    return stream->line;
}

int ics_line_stream_fault(const ics_line_stream *stream, size_t column, icestream_error *error,
                          const char *format, ...)
{
    char message[1024], place[32] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (column > 0) {
        snprintf(place, sizeof place, ":%zu", column);
    }
    ics_error_add(error, ICESTREAM_E_CONFIG, "%s:%zu%s: error: %s", stream->name, stream->line,
                  place, message);
    return ICESTREAM_E_CONFIG;
}

/* Returns false if the descriptor that wakes the stream is readable before there is more text. */
static bool wait_for_text(const ics_line_stream *stream)
{
    struct pollfd waits[2] = {{.fd = stream->descriptor, .events = POLLIN},
                              {.fd = stream->wake, .events = POLLIN}};
    if (stream->wake < 0 && !stream->is_pipe) {
        return true;
    }
    return TEMP_FAILURE_RETRY(poll(waits, 2, -1)) < 0 || waits[1].revents == 0;
}

/* Moves the rest of the buffer to its beginning and reads more text behind it. */
static int refill(ics_line_stream *stream, icestream_error *error)
{
    const size_t kept = (size_t)(stream->end - stream->next);
    ssize_t got;
    memmove(stream->buffer, stream->next, kept);
    stream->next = stream->buffer;
    stream->end = stream->buffer + kept;
    do { /* another reader of a pipe may have been faster */
        if (!wait_for_text(stream)) {
            return ics_error_set(error, ICESTREAM_E_INTERRUPTED, "%s: interrupted", stream->name);
        }
        got = TEMP_FAILURE_RETRY(read(stream->descriptor, stream->buffer + kept, BUFFER - kept));
    } while (got < 0 && errno == EAGAIN && stream->is_pipe);
    stream->end = stream->buffer + kept + (got > 0 ? (size_t)got : 0);
    stream->ended = got <= 0;
    if (got < 0) {
        return ics_error_add(error, ICESTREAM_E_CONFIG, "%s: error: cannot read on: %s",
                             stream->name, strerror(errno));
    }
    const char *kind = stream->line == 0
                           ? ics_file_kind(stream->next, (size_t)(stream->end - stream->next))
                           : NULL;
    return kind == NULL
               ? ICESTREAM_OK
               : ics_error_add(error, ICESTREAM_E_CONFIG,
                               "%s: error: found %s, expected text in UTF-8", stream->name, kind);
}

/* Finds the end of the next line, and reads more text if the buffer does not contain it. */
static int find_end(ics_line_stream *stream, const char **end, icestream_error *error)
{
    for (;;) {
        const size_t there = (size_t)(stream->end - stream->next);
        const char *newline = memchr(stream->next, '\n', there);
        *end = newline != NULL ? newline : stream->end;
        if ((size_t)(*end - stream->next) > ICS_LINE_MOST) {
            ++stream->line;
            return ics_line_stream_fault(stream, 0, error,
                                         "found a line of more than %d characters", ICS_LINE_MOST);
        }
        if (newline != NULL || stream->ended) {
            return ICESTREAM_OK;
        }
        ICS_TRY(refill(stream, error));
    }
}

int ics_line_stream_next(ics_line_stream *stream, char separator, ics_text_line *line, bool *found,
                         icestream_error *error)
{
    *found = false;
    while (!*found) {
        const char *end;
        ICS_TRY(find_end(stream, &end, error));
        if (end == stream->end && stream->next == end) {
            return ICESTREAM_OK;
        }
        ics_text text = {.name = stream->name,
                         .data = (char *)(uintptr_t)stream->next,
                         .size = (size_t)(end - stream->next)};
        if (stream->line == 0) {
            text = ics_text_borrow(text.name, text.data, text.size); /* without a byte order mark */
        }
        ics_text_reader reader = ics_text_open(&text, separator, error);
        *found = ics_text_next(&reader, line);
        ++stream->line;
        line->number = stream->line;
        stream->next = end < stream->end ? end + 1 : end;
    }
    return ICESTREAM_OK;
}
