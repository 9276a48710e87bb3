#include "base/visible_text.h"

#include "base/cleanup.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 11 }; /* bytes that one character needs at most, with its zero */

size_t ics_visible_decode(const char *bytes, uint32_t *code)
{
    const unsigned char *text = (const unsigned char *)bytes;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char first = text[0];
    const size_t length = first < 0x80             ? 1
                          : (first & 0xe0) == 0xc0 ? 2
                          : (first & 0xf0) == 0xe0 ? 3
                          : (first & 0xf8) == 0xf0 ? 4
                                                   : 0;
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    *code = first & masks[length];
    for (size_t i = 1; i < length; ++i) {
        if ((text[i] & 0xc0) != 0x80) { /* also the zero at the end */
            return 0;
        }
        *code = *code << 6 | (text[i] & 0x3fU);
    }
    const bool good = *code >= least[length] && *code <= 0x10ffff && *code >> 11 != 0x1b;
    return good ? length : 0;
}

/* Whether the character changes the order in which a terminal shows others, or begins a line. */
static bool reorders(uint32_t code)
{
    return (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

/* Writes the next character of a text into piece[PIECE]. Returns the number of bytes of the text
 * that it stands for. */
static size_t next_piece(const char *text, bool lines, char piece[PIECE])
{
    uint32_t code = 0;
    const size_t length = ics_visible_decode(text, &code);
    if (length == 0) {
        snprintf(piece, PIECE, "\\x%02x", (unsigned)(unsigned char)*text);
        return 1;
    }
    if (code == '\n' || code == '\t') {
        const char *escaped = code == '\n' ? "\\n" : "\\t";
        snprintf(piece, PIECE, "%s", lines ? (code == '\n' ? "\n" : "\t") : escaped);
    } else if (code < 0x20 || (code >= 0x7f && code < 0xa0)) {
        snprintf(piece, PIECE, "\\x%02x", (unsigned)code);
    } else if (reorders(code)) {
        snprintf(piece, PIECE, "\\u%04x", (unsigned)code);
    } else {
        memcpy(piece, text, length);
        piece[length] = '\0';
    }
    return length;
}

const char *ics_visible_text(const char *text, bool lines, char *out, size_t size)
{
    char piece[PIECE];
    size_t used = 0;
    while (*text != '\0') {
        text += next_piece(text, lines, piece);
        const size_t length = strlen(piece);
        if (used + length >= size) {
            break;
        }
        memcpy(out + used, piece, length);
        used += length;
    }
    if (size > 0) {
        out[used] = '\0';
    }
    return out;
}

void ics_visible_print(FILE *out, const char *text)
{
    char piece[PIECE];
    while (*text != '\0') {
        text += next_piece(text, true, piece);
        fputs(piece, out);
    }
}

void ics_visible_printf(FILE *out, const char *format, ...)
{
    ICS_FREES char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0) {
        text = NULL;
    }
    va_end(arguments);
    ics_visible_print(out, text != NULL ? text : "");
}

static bool has_colours(FILE *out)
{
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return (none == NULL || none[0] == '\0') && isatty(fileno(out)) == 1 &&
           (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

/* Text that is collected, so that a stream without a buffer gets it in one write, and lines of
 * several processes do not mix. */
typedef struct collected_text {
    FILE *out;
    size_t used;
    char bytes[16384];
} collected_text;

static void flush_text(collected_text *text)
{
    (void)fwrite(text->bytes, 1, text->used, text->out);
    text->used = 0;
}

/* `size`: less than the room for all. */
static void collect_text(collected_text *text, const char *bytes, size_t size)
{
    if (text->used + size > sizeof text->bytes) {
        flush_text(text);
    }
    memcpy(text->bytes + text->used, bytes, size);
    text->used += size;
}

void ics_visible_print_line(FILE *out, const char *text)
{
    static const struct {
        const char *word, *coloured;
    } words[] = {{"error:", "\033[1;31merror:\033[0m"}, {"warning:", "\033[1;33mwarning:\033[0m"}};
    char piece[PIECE];
    collected_text line;
    line.out = out;
    line.used = 0;
    const bool colours = has_colours(out);
    while (*text != '\0') {
        size_t length = 0;
        for (size_t i = 0; colours && i < sizeof words / sizeof *words; ++i) {
            if (strncmp(text, words[i].word, strlen(words[i].word)) == 0) {
                length = strlen(words[i].word);
                collect_text(&line, words[i].coloured, strlen(words[i].coloured));
            }
        }
        if (length == 0) {
            length = next_piece(text, true, piece);
            collect_text(&line, piece, strlen(piece));
        }
        text += length;
    }
    collect_text(&line, "\n", 1);
    flush_text(&line);
}

void ics_visible_hide_newlines(const char *path, char *text)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const size_t length = strlen(name);
    for (char *found = text; strchr(name, '\n') != NULL && (found = strstr(found, name)) != NULL;
         found += length) {
        for (size_t i = 0; i < length; ++i) {
            if (found[i] == '\n') {
                found[i] = '?';
            }
        }
    }
}
