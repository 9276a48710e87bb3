#include "pipeline/production/telemetry/journal_reader.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 16 * PIPE_BUF }; /* bytes; lines of other versions may be longer than ours */

struct ics_journal_reader {
    int descriptor;
    uint64_t left; /* bytes to read, up to the length that the file had when it was opened */
    bool at_end, skipping; /* skipping: inside a line that is longer than the buffer */
    size_t start, end;     /* of the bytes in the buffer that are still to be examined */
    json_t *line;
    ics_journal_lines lines;
    char buffer[BUFFER];
    char path[];
};

int ics_journal_reader_create(const char *path, ics_journal_reader **out, icestream_error *error)
{
    *out = NULL;
    /* Without O_NONBLOCK, open() would wait if the name belongs to a named pipe. */
    ICS_CLOSES_DESCRIPTOR int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat about = {.st_size = 0};
    if (descriptor < 0 || fstat(descriptor, &about) != 0) {
        return ics_error_set(error, ICESTREAM_E_INPUT, "%s: cannot open the journal: %s", path,
                             strerror(errno));
    }
    if (!S_ISREG(about.st_mode)) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found something that is not a file, expected a journal", path);
    }
    ics_journal_reader *reader = malloc(sizeof *reader + strlen(path) + 1);
    if (reader == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", path);
    }
    memset(reader, 0, offsetof(ics_journal_reader, buffer));
    memcpy(reader->path, path, strlen(path) + 1);
    reader->descriptor = ics_hand_over_descriptor(&descriptor);
    reader->left = (uint64_t)about.st_size;
    *out = reader;
    return ICESTREAM_OK;
}

void ics_journal_reader_destroy(ics_journal_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    close(reader->descriptor);
    json_decref(reader->line);
    free(reader);
}

static int fill(ics_journal_reader *reader, icestream_error *error)
{
    memmove(reader->buffer, reader->buffer + reader->start, reader->end - reader->start);
    reader->end -= reader->start;
    reader->start = 0;
    size_t room = BUFFER - reader->end;
    /* Reads only up to this length: a file that grows faster than it is read would have no end. */
    const ssize_t got = TEMP_FAILURE_RETRY(read(reader->descriptor, reader->buffer + reader->end,
                                                reader->left < room ? (size_t)reader->left : room));
    if (got < 0) {
        return ics_error_set(error, ICESTREAM_E_INPUT, "%s: cannot read the journal: %s",
                             reader->path, strerror(errno));
    }
    reader->at_end = got == 0;
    reader->left -= (uint64_t)got;
    reader->end += (size_t)got;
    return ICESTREAM_OK;
}

/* Finds the next line, without its newline. *line is NULL at the end. */
static int next_line(ics_journal_reader *reader, const char **line, size_t *length,
                     icestream_error *error)
{
    *line = NULL;
    for (;;) {
        char *start = reader->buffer + reader->start;
        char *newline = memchr(start, '\n', reader->end - reader->start);
        if (newline != NULL) {
            reader->start += (size_t)(newline - start) + 1;
            if (!reader->skipping) {
                *line = start;
                *length = (size_t)(newline - start);
                return ICESTREAM_OK;
            }
            reader->skipping = false;
        } else if (reader->at_end) {
            /* A line without a newline is incomplete, or is just being written. */
            reader->lines.torn += reader->end > reader->start && !reader->skipping;
            reader->start = reader->end;
            return ICESTREAM_OK;
        } else {
            if (reader->end - reader->start == BUFFER) {
                reader->lines.torn += !reader->skipping;
                reader->skipping = true;
                reader->start = reader->end;
            }
            ICS_TRY(fill(reader, error));
        }
    }
}

/* Finds an event in a line that begins with the incomplete line of a killed process. Quotes in
 * texts have backslashes before them, so what looks like the beginning of an event is one. */
static const char *last_beginning(const char *line, size_t length)
{
    static const char beginning[] = "{\"time\":\"";
    const char *last = NULL, *at = line, *end = line + length;
    while (at < end &&
           (at = memmem(at, (size_t)(end - at), beginning, sizeof beginning - 1)) != NULL) {
        last = at++;
    }
    return last;
}

static bool take_fields(ics_journal_reader *reader, ics_journal_record *record)
{
    const char *time = json_string_value(json_object_get(reader->line, "time"));
    const char *event = json_string_value(json_object_get(reader->line, "event"));
    record->worker = json_string_value(json_object_get(reader->line, "worker"));
    record->fields = reader->line;
    if (time == NULL || event == NULL || record->worker == NULL ||
        !ics_event_time_of_text(time, &record->time)) {
        return false;
    }
    record->kind = ics_event_of_name(event);
    return record->kind != ICS_EVENT_KINDS;
}

/* Reads a line as JSON. NULL: it is not JSON. */
static int load(ics_journal_reader *reader, const char *text, size_t length, icestream_error *error)
{
    json_decref(reader->line);
    reader->line = ics_json_read(text, length, 0, NULL);
    return reader->line == NULL && errno == ENOMEM
               ? ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", reader->path)
               : ICESTREAM_OK;
}

/* Reads an event from a line. *found false: the line is no event. */
static int take_line(ics_journal_reader *reader, const char *line, size_t length,
                     ics_journal_record *record, bool *found, icestream_error *error)
{
    ICS_TRY(load(reader, line, length, error));
    const char *beginning = last_beginning(line, length);
    if (reader->line == NULL && beginning != NULL && beginning != line) {
        reader->lines.torn++;
        ICS_TRY(load(reader, beginning, length - (size_t)(beginning - line), error));
    }
    if (reader->line == NULL) {
        reader->lines.torn += length > 0;
    } else if (!take_fields(reader, record)) {
        reader->lines.unknown++;
    } else {
        reader->lines.events++;
        *found = true;
    }
    return ICESTREAM_OK;
}

int ics_journal_reader_next(ics_journal_reader *reader, ics_journal_record *record, bool *found,
                            icestream_error *error)
{
    const char *line = NULL;
    size_t length = 0;
    *found = false;
    do {
        ICS_TRY(next_line(reader, &line, &length, error));
        if (line != NULL) {
            ICS_TRY(take_line(reader, line, length, record, found, error));
        }
    } while (line != NULL && !*found);
    return ICESTREAM_OK;
}

ics_journal_lines ics_journal_reader_lines(const ics_journal_reader *reader)
{
    return reader->lines;
}

const char *ics_journal_text(const ics_journal_record *record, const char *key)
{
    return json_string_value(json_object_get(record->fields, key));
}

double ics_journal_number(const ics_journal_record *record, const char *key)
{
    return json_number_value(json_object_get(record->fields, key));
}

uint64_t ics_journal_whole(const ics_journal_record *record, const char *key)
{
    json_int_t value = json_integer_value(json_object_get(record->fields, key));
    return value > 0 ? (uint64_t)value : 0;
}
