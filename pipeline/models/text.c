#include "pipeline/models/text.h"

#include "pipeline/error.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_BYTES_MAX = 1 << 30 };

static void skip_byte_order_mark(is_text *text)
{
    if (text->size >= 3 && memcmp(text->data, "\xEF\xBB\xBF", 3) == 0) {
        text->data += 3;
        text->size -= 3;
    }
}

is_text is_text_borrow(const char *name, const char *data, size_t size)
{
    is_text text = {.name = name, .data = (char *)data, .size = size};
    skip_byte_order_mark(&text);
    return text;
}

void is_text_free(is_text *text)
{
    if (!text)
        return;
    free(text->memory);
    *text = (is_text){0};
}

static int read_descriptor(int descriptor, const char *path, is_text *out, is_error *error)
{
    struct stat status;
    if (fstat(descriptor, &status) != 0)
        return is_error_add(error, IS_E_CONFIG, "%s: error: %s", path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return is_error_add(error, IS_E_CONFIG, "%s: error: found %s, expected a file", path,
                            S_ISDIR(status.st_mode) ? "a folder" : "a device or pipe");
    if (status.st_size > TEXT_BYTES_MAX)
        return is_error_add(error, IS_E_CONFIG,
                            "%s: error: found %lld bytes, expected at most %d bytes of text", path,
                            (long long)status.st_size, TEXT_BYTES_MAX);
    size_t size = (size_t)status.st_size;
    out->memory = malloc(size + 1);
    if (!out->memory)
        return is_error_add(error, IS_E_MEMORY, "%s: error: out of memory", path);
    out->name = path;
    out->data = out->memory;
    /* A file that grows meanwhile is cut at the size seen, one that shrinks ends early. */
    while (out->size < size) {
        ssize_t got = read(descriptor, out->data + out->size, size - out->size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return is_error_add(error, IS_E_CONFIG, "%s: error: %s", path, strerror(errno));
        if (got == 0)
            break;
        out->size += (size_t)got;
    }
    skip_byte_order_mark(out);
    return IS_OK;
}

int is_text_read(const char *path, is_text *out, is_error *error)
{
    *out = (is_text){0};
    /* O_NONBLOCK: opening a pipe must not wait for its writer before it is refused. */
    int descriptor = TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (descriptor < 0)
        return is_error_add(error, IS_E_CONFIG, "%s: error: %s", path, strerror(errno));
    int status = read_descriptor(descriptor, path, out, error);
    close(descriptor);
    if (status != IS_OK)
        is_text_free(out);
    return status;
}

is_text_reader is_text_open(const is_text *text, char separator, is_error *error)
{
    return (is_text_reader){.name = text->name,
                            .next = text->data,
                            .end = text->data + text->size,
                            .separator = separator,
                            .error = error};
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static void add_field(is_line *line, const char *line_start, const char *start, const char *end)
{
    while (start < end && is_blank(*start))
        ++start;
    while (end > start && is_blank(end[-1]))
        --end;
    if (line->count < IS_FIELDS_MAX)
        line->fields[line->count] = (is_field){.start = start,
                                               .length = (size_t)(end - start),
                                               .column = (size_t)(start - line_start) + 1};
    ++line->count;
}

static void split(is_line *line, const char *start, const char *end, char separator)
{
    line->count = 0;
    const char *at = start;
    while (at < end && is_blank(*at))
        ++at;
    if (at == end)
        return;
    if (separator == ',') {
        for (;;) {
            const char *comma = memchr(at, ',', (size_t)(end - at));
            add_field(line, start, at, comma ? comma : end);
            if (!comma)
                return;
            at = comma + 1;
        }
    }
    while (at < end) {
        const char *stop = at;
        while (stop < end && !is_blank(*stop))
            ++stop;
        add_field(line, start, at, stop);
        at = stop;
        while (at < end && is_blank(*at))
            ++at;
    }
}

bool is_text_next(is_text_reader *reader, is_line *line)
{
    while (reader->next < reader->end) {
        const char *start = reader->next;
        const char *newline = memchr(start, '\n', (size_t)(reader->end - start));
        const char *end = newline ? newline : reader->end;
        reader->next = newline ? newline + 1 : reader->end;
        ++reader->line;
        const char *comment = memchr(start, '#', (size_t)(end - start));
        split(line, start, comment ? comment : end, reader->separator);
        line->number = reader->line;
        if (line->count > 0)
            return true;
    }
    return false;
}

int is_text_fault(is_text_reader *reader, size_t line, size_t column, const char *format, ...)
{
    char message[1024], place[64] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (line > 0 && column > 0)
        snprintf(place, sizeof place, ":%zu:%zu", line, column);
    else if (line > 0)
        snprintf(place, sizeof place, ":%zu", line);
    ++reader->faults;
    is_error_add(reader->error, IS_E_CONFIG, "%s%s: error: %s", reader->name, place, message);
    return IS_E_CONFIG;
}

bool is_field_number(const is_field *field, double *out)
{
    char copy[64];
    if (field->length == 0 || field->length >= sizeof copy)
        return false;
    /* strtod also reads nan, inf and hexadecimal, none of which belongs in these files. */
    for (size_t i = 0; i < field->length; ++i) {
        copy[i] = field->start[i];
        if (copy[i] == 0 || !strchr("0123456789+-.eE", copy[i]))
            return false;
    }
    copy[field->length] = 0;
    char *end;
    double value = strtod(copy, &end);
    if (*end || !isfinite(value))
        return false;
    *out = value;
    return true;
}

const char *is_field_show(const is_field *field, char shown[48])
{
    enum { LONGEST = 40 };
    size_t length = field->length < LONGEST ? field->length : LONGEST;
    size_t used = 0;
    shown[used++] = '\'';
    for (size_t i = 0; i < length; ++i) {
        char c = field->start[i];
        if (c < ' ' || c > '~')
            c = '?';
        shown[used++] = c;
    }
    if (field->length > LONGEST) {
        memcpy(shown + used, "...", 3);
        used += 3;
    }
    shown[used++] = '\'';
    shown[used] = 0;
    return shown;
}

bool is_field_equals(const is_field *field, const char *word)
{
    return field->length == strlen(word) && memcmp(field->start, word, field->length) == 0;
}

bool is_text_number(is_text_reader *reader, const is_line *line, size_t field, const char *what,
                    double *out)
{
    char shown[48];
    if (is_field_number(&line->fields[field], out))
        return true;
    is_text_fault(reader, line->number, line->fields[field].column,
                  "%s: found %s, expected a finite number", what,
                  is_field_show(&line->fields[field], shown));
    return false;
}
