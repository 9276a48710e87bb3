#include "pipeline/photons/models/text/text.h"

#include "base/error.h"
#include "base/file_kind.h"
#include "base/memory.h"
#include "base/visible_text.h"

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

static void skip_byte_order_mark(ics_text *text)
{
    if (text->size >= 3 && memcmp(text->data, "\xEF\xBB\xBF", 3) == 0) {
        text->data += 3;
        text->size -= 3;
    }
}

ics_text ics_text_borrow(const char *name, const char *data, size_t size)
{
    ics_text text = {.name = name, .data = (char *)data, .size = size};
    skip_byte_order_mark(&text);
    return text;
}

void ics_text_free(ics_text *text)
{
    if (text == NULL) {
        return;
    }
    free(text->memory);
    free(text->path);
    *text = (ics_text){0};
}

int ics_text_open_file(const char *path, size_t most, int *descriptor, size_t *size,
                       icestream_error *error)
{
    struct stat about;
    /* With O_NONBLOCK, opening a pipe does not wait for a writer before the pipe is refused. */
    *descriptor = TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (*descriptor < 0) {
        return ics_error_add(error, ICESTREAM_E_CONFIG, "%s: error: %s", path, strerror(errno));
    }
    int status = ICESTREAM_OK;
    if (fstat(*descriptor, &about) != 0) {
        status = ics_error_add(error, ICESTREAM_E_CONFIG, "%s: error: %s", path, strerror(errno));
    } else if (!S_ISREG(about.st_mode)) {
        status = ics_error_add(error, ICESTREAM_E_CONFIG, "%s: error: found %s, expected a file",
                               path, S_ISDIR(about.st_mode) ? "a folder" : "a device or pipe");
    } else if ((uint64_t)about.st_size > most) {
        status = ics_error_add(error, ICESTREAM_E_CONFIG,
                               "%s: error: found %lld bytes, expected at most %zu bytes", path,
                               (long long)about.st_size, most);
    }
    if (status != ICESTREAM_OK) {
        close(*descriptor);
        return status;
    }
    *size = (size_t)about.st_size;
    return ICESTREAM_OK;
}

/* Reads `size` bytes. If the file grows while it is read, only the size seen at first is read; if
 * it shrinks, the text ends earlier. */
static int read_descriptor(int descriptor, const char *path, size_t size, ics_text *out,
                           icestream_error *error)
{
    out->memory = ics_memory_zeros(size + 1, 1);
    if (out->memory == NULL) {
        return ics_error_no_memory(error, path);
    }
    out->name = path;
    out->data = out->memory;
    while (out->size < size) {
        const ssize_t got =
            TEMP_FAILURE_RETRY(read(descriptor, out->data + out->size, size - out->size));
        if (got < 0) {
            return ics_error_add(error, ICESTREAM_E_CONFIG, "%s: error: %s", path, strerror(errno));
        }
        if (got == 0) {
            break;
        }
        out->size += (size_t)got;
    }
    return ICESTREAM_OK;
}

int ics_text_read_bytes(const char *path, ics_text *out, icestream_error *error)
{
    int descriptor = -1;
    size_t size = 0;
    *out = (ics_text){0};
    ICS_TRY(ics_text_open_file(path, TEXT_BYTES_MAX, &descriptor, &size, error));
    const int status = read_descriptor(descriptor, path, size, out, error);
    close(descriptor);
    if (status != ICESTREAM_OK) {
        ics_text_free(out);
    }
    return status;
}

int ics_text_read(const char *path, ics_text *out, icestream_error *error)
{
    ICS_TRY(ics_text_read_bytes(path, out, error));
    const char *kind = ics_file_kind(out->data, out->size);
    if (kind != NULL) {
        ics_text_free(out);
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             "%s: error: found %s, expected text in UTF-8", path, kind);
    }
    skip_byte_order_mark(out);
    return ICESTREAM_OK;
}

int ics_text_read_own(char *path, ics_text *out, icestream_error *error)
{
    *out = (ics_text){0};
    if (path == NULL) {
        return ics_error_add(error, ICESTREAM_E_MEMORY, "out of memory for the name of a file");
    }
    const int status = ics_text_read(path, out, error);
    out->path = path;
    return status;
}

ics_text_reader ics_text_open(const ics_text *text, char separator, icestream_error *error)
{
    return (ics_text_reader){.name = text->name,
                             .next = text->data,
                             .end = text->data + text->size,
                             .separator = separator,
                             .error = error};
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* Adds the field between two separators, without the blanks and the quotes around it. */
static void add_field(ics_text_line *line, const char *line_start, const char *start,
                      const char *end)
{
    while (start < end && is_blank(*start)) {
        ++start;
    }
    while (end > start && is_blank(end[-1])) {
        --end;
    }
    if (end - start >= 2 && *start == '"' && end[-1] == '"') {
        ++start;
        --end;
    }
    if (line->count < ICS_TEXT_FIELDS_MAX) {
        line->fields[line->count] = (ics_text_field){.start = start,
                                                     .length = (size_t)(end - start),
                                                     .column = (size_t)(start - line_start) + 1};
    }
    ++line->count;
}

/* The first separator that is not within quotes, or the end. */
static const char *find_separator(const char *at, const char *end, char separator)
{
    const char *found = memchr(at, separator, (size_t)(end - at));
    found = found != NULL ? found : end;
    if (memchr(at, '"', (size_t)(found - at)) == NULL) {
        return found;
    }
    bool quoted = false;
    while (at < end && (quoted || *at != separator)) {
        quoted ^= *at == '"';
        ++at;
    }
    return at;
}

/* The separator of a line of column names: what stands most often outside of quotes. */
static char separator_of(const char *start, const char *end)
{
    static const char candidates[] = {',', ';', '\t'};
    char best = ',';
    size_t most = 0;
    for (size_t i = 0; i < sizeof candidates; ++i) {
        size_t count = 0;
        for (const char *at = find_separator(start, end, candidates[i]); at < end;
             at = find_separator(at + 1, end, candidates[i])) {
            ++count;
        }
        if (count > most) {
            best = candidates[i];
            most = count;
        }
    }
    return best;
}

static void split_at_blanks(ics_text_line *line, const char *start, const char *end)
{
    for (const char *at = start; at < end;) {
        const char *stop = at;
        while (stop < end && !is_blank(*stop)) {
            ++stop;
        }
        if (stop > at) {
            add_field(line, start, at, stop);
        }
        at = stop < end ? stop + 1 : end;
    }
}

/* Spreadsheets end a file with lines of separators alone, which say nothing. */
static bool says_nothing(const char *start, const char *end, char separator)
{
    while (start < end && (is_blank(*start) || *start == separator)) {
        ++start;
    }
    return start == end;
}

static void split(ics_text_line *line, const char *start, const char *end)
{
    line->count = 0;
    if (says_nothing(start, end, line->separator)) {
        return;
    }
    if (line->separator == ' ') {
        split_at_blanks(line, start, end);
        return;
    }
    for (const char *at = start;; ++at) {
        const char *stop = find_separator(at, end, line->separator);
        add_field(line, start, at, stop);
        if (stop == end) {
            return;
        }
        at = stop;
    }
}

/* Excel reads and writes a first line like "sep=;", which repeats what the next line shows. */
static bool names_separator(const char *start, const char *end)
{
    while (end > start && is_blank(end[-1])) {
        --end;
    }
    return end - start <= 5 && end - start >= 4 && memcmp(start, "sep=", 4) == 0;
}

bool ics_text_next(ics_text_reader *reader, ics_text_line *line)
{
    while (reader->next < reader->end) {
        const char *start = reader->next;
        const char *newline = memchr(start, '\n', (size_t)(reader->end - start));
        const char *end = newline != NULL ? newline : reader->end;
        reader->next = newline != NULL ? newline + 1 : reader->end;
        ++reader->line;
        const char *comment = memchr(start, '#', (size_t)(end - start));
        end = comment != NULL ? comment : end;
        if (reader->separator == ICS_TEXT_CSV && names_separator(start, end)) {
            continue;
        }
        line->separator = reader->separator;
        if (reader->separator == ICS_TEXT_CSV) {
            line->separator = separator_of(start, end);
        }
        split(line, start, end);
        line->number = reader->line;
        if (line->count > 0) {
            reader->separator = line->separator;
            return true;
        }
    }
    return false;
}

int ics_text_fault(ics_text_reader *reader, size_t line, size_t column, const char *format, ...)
{
    char message[1024], place[64] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (line > 0 && column > 0) {
        snprintf(place, sizeof place, ":%zu:%zu", line, column);
    } else if (line > 0) {
        snprintf(place, sizeof place, ":%zu", line);
    }
    ics_error_add_counted(reader->error, &reader->faults, ICESTREAM_E_CONFIG, reader->name,
                          "%s%s: error: %s", reader->name, place, message);
    return ICESTREAM_E_CONFIG;
}

/* Reads a number such as -12.5 that has at most 15 digits. The digits as a whole number and the
 * power of ten have no rounding, so the quotient is the double that is nearest to the number, as
 * strtod() has it. Returns false for all other texts. */
static bool read_short_number(const ics_text_field *field, double *out)
{
    enum { DIGITS_MAX = 15 };
    static const double powers[DIGITS_MAX + 1] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                  1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const bool negative = field->length > 0 && field->start[0] == '-';
    uint64_t whole = 0;
    size_t digits = 0, decimals = 0;
    bool has_point = false;
    for (size_t i = negative; i < field->length; ++i) {
        const char c = field->start[i];
        if (c == '.' && !has_point) {
            has_point = true;
        } else if (c >= '0' && c <= '9' && digits < DIGITS_MAX) {
            whole = 10 * whole + (uint64_t)(c - '0');
            ++digits;
            decimals += has_point;
        } else {
            return false;
        }
    }
    const double size = (double)whole / powers[decimals];
    *out = negative ? -size : size;
    return digits > 0;
}

bool ics_text_field_number(const ics_text_field *field, double *out)
{
    char copy[64];
    if (read_short_number(field, out)) {
        return true;
    }
    if (field->length == 0 || field->length >= sizeof copy) {
        return false;
    }
    /* strtod also reads nan, inf and hexadecimal numbers. These are errors in the files. */
    for (size_t i = 0; i < field->length; ++i) {
        copy[i] = field->start[i];
        if (copy[i] == 0 || strchr("0123456789+-.eE", copy[i]) == NULL) {
            return false;
        }
    }
    copy[field->length] = 0;
    char *end;
    double value = strtod(copy, &end);
    if (*end || !isfinite(value)) {
        return false;
    }
    *out = value;
    return true;
}

const char *ics_text_field_show(const ics_text_field *field, char shown[48])
{
    enum { LONGEST = 40 };
    char text[LONGEST + 1], visible[LONGEST + 1];
    size_t length = field->length < LONGEST ? field->length : LONGEST;
    /* A character that does not fit is left out as a whole. */
    while (length < field->length && length > 0 &&
           ((unsigned char)field->start[length] & 0xc0) == 0x80) {
        --length;
    }
    for (size_t i = 0; i < length; ++i) {
        text[i] = field->start[i];
        if (text[i] == '\0') {
            text[i] = '?';
        }
    }
    text[length] = '\0';
    snprintf(shown, 48, "'%s%s'", ics_visible_text(text, false, visible, sizeof visible),
             length < field->length ? "..." : "");
    return shown;
}

/* Whether a number begins with groups of three digits and commas between them. */
static bool has_thousands(const ics_text_field *field)
{
    size_t digits = 0, commas = 0;
    for (size_t i = 0; i < field->length && field->start[i] != '.'; ++i) {
        const char c = field->start[i];
        if (c == ',' && (digits < 1 || digits > 3 || (commas > 0 && digits != 3))) {
            return false;
        }
        commas += c == ',';
        digits = c == ',' ? 0 : digits + (c >= '0' && c <= '9');
    }
    return commas > 0 && digits == 3;
}

const char *ics_text_number_hint(const ics_text_field *field)
{
    static const char *const signs[] = {"\xe2\x88\x92", "\xe2\x80\x93", "\xe2\x80\x94"};
    bool has_comma = field->length > 0, has_digit = false;
    for (size_t i = 0; i < field->length; ++i) {
        has_comma &= field->start[i] != 0 && strchr("0123456789+-.,eE", field->start[i]) != NULL;
        has_digit |= field->start[i] >= '0' && field->start[i] <= '9';
    }
    for (size_t i = 0; i < sizeof signs / sizeof *signs; ++i) {
        if (field->length > 3 && memcmp(field->start, signs[i], 3) == 0) {
            return "; it begins with a dash that is not the minus sign '-' of numbers";
        }
    }
    if (!has_comma || !has_digit || memchr(field->start, ',', field->length) == NULL) {
        return "";
    }
    return has_thousands(field) ? "; commas between thousands (or decimal commas) are not read"
                                : "; a decimal comma is not read, write a decimal point";
}

bool ics_text_field_equals(const ics_text_field *field, const char *word)
{
    return field->length == strlen(word) && memcmp(field->start, word, field->length) == 0;
}

const char *ics_text_count_hint(const ics_text_line *line, size_t expected)
{
    return line->separator == ',' && line->count > expected
               ? "; a comma within a number separates columns, too"
               : "";
}

bool ics_text_is_unnamed(const ics_text_field *name)
{
    static const char word[] = "Unnamed: ";
    const size_t length = sizeof word - 1;
    return name->length == 0 || (name->length > length && memcmp(name->start, word, length) == 0);
}

bool ics_text_number(ics_text_reader *reader, const ics_text_line *line, size_t field,
                     const char *what, double *out)
{
    char shown[48];
    if (ics_text_field_number(&line->fields[field], out)) {
        return true;
    }
    ics_text_fault(reader, line->number, line->fields[field].column,
                   "%s: found %s, expected a finite number%s", what,
                   ics_text_field_show(&line->fields[field], shown),
                   ics_text_number_hint(&line->fields[field]));
    return false;
}

bool ics_text_numbers(ics_text_reader *reader, const ics_text_line *line, size_t first,
                      const char *const *names, size_t count, double *out)
{
    bool good = true;
    for (size_t i = 0; i < count; ++i) {
        good &= ics_text_number(reader, line, first + i, names[i], &out[i]);
    }
    return good;
}
