#include "pipeline/photons/files/format/npy_literal.h"

#include "base/error.h"

#include <ctype.h>
#include <string.h>

void ics_npy_literal_skip_blanks(ics_npy_cursor *c)
{
    while (c->at < c->size && strchr(" \t\r\n", c->bytes[c->at]) != NULL && c->bytes[c->at] != 0) {
        ++c->at;
    }
}

unsigned char ics_npy_literal_peek(ics_npy_cursor *c)
{
    ics_npy_literal_skip_blanks(c);
    return c->at < c->size ? c->bytes[c->at] : 0;
}

int ics_npy_literal_unexpected(ics_npy_cursor *c, const char *expected)
{
    if (c->at >= c->size) {
        return ics_error_set(c->error, ICESTREAM_E_INPUT,
                             "%s: header byte %zu: found the end of the header, expected %s",
                             c->name, c->at, expected);
    }
    unsigned char found = c->bytes[c->at];
    const char *form = isgraph(found) ? "%s: header byte %zu: found '%c', expected %s"
                                      : "%s: header byte %zu: found byte 0x%02x, expected %s";
    return ics_error_set(c->error, ICESTREAM_E_INPUT, form, c->name, c->at, found, expected);
}

bool ics_npy_literal_accept(ics_npy_cursor *c, char character)
{
    if (ics_npy_literal_peek(c) != (unsigned char)character) {
        return false;
    }
    ++c->at;
    return true;
}

int ics_npy_literal_expect(ics_npy_cursor *c, char character)
{
    if (ics_npy_literal_accept(c, character)) {
        return ICESTREAM_OK;
    }
    char expected[4] = {'\'', character, '\'', 0};
    return ics_npy_literal_unexpected(c, expected);
}

int ics_npy_literal_next(ics_npy_cursor *c, char closing, bool *more)
{
    bool comma = ics_npy_literal_accept(c, ',');
    *more = !ics_npy_literal_accept(c, closing);
    if (*more && !comma) {
        return ics_npy_literal_expect(c, closing);
    }
    return ICESTREAM_OK;
}

int ics_npy_literal_string(ics_npy_cursor *c, char *text, size_t capacity, const char *what)
{
    unsigned char quote = ics_npy_literal_peek(c);
    if (quote != '\'' && quote != '"') {
        return ics_npy_literal_unexpected(c, what);
    }
    size_t used = 0;
    for (++c->at; c->at < c->size; ++c->at) {
        unsigned char character = c->bytes[c->at];
        if (character == quote) {
            ++c->at;
            text[used] = 0;
            return ICESTREAM_OK;
        }
        if (character < ' ') {
            break;
        }
        if (used + 1 < capacity) {
            text[used++] = (char)character;
        }
        if (character == '\\' && c->at + 1 < c->size && c->bytes[c->at + 1] >= ' ') {
            ++c->at;
            if (used + 1 < capacity) {
                text[used++] = (char)c->bytes[c->at];
            }
        }
    }
    return ics_npy_literal_unexpected(c, "the end of a string");
}

int ics_npy_literal_integer(ics_npy_cursor *c, uint64_t *value, const char *what)
{
    if (!isdigit(ics_npy_literal_peek(c))) {
        return ics_npy_literal_unexpected(c, what);
    }
    size_t start = c->at;
    *value = 0;
    for (; c->at < c->size && isdigit(c->bytes[c->at]); ++c->at) {
        if (__builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, (uint64_t)(c->bytes[c->at] - '0'), value)) {
            return ics_error_set(c->error, ICESTREAM_E_INPUT,
                                 "%s: header byte %zu: found a number of 2^64 or more, expected %s",
                                 c->name, start, what);
        }
    }
    return ICESTREAM_OK;
}
