/* Writing texts and nodes as YAML in flow style. */
#include "pipeline/config/yaml/yaml.h"

#include <string.h>

/* Reads one character of UTF-8 and returns its length (bytes). A byte that begins no character
 * gives U+FFFD and the length 1. */
static size_t decode(const unsigned char *s, uint32_t *out)
{
    size_t bytes = *s < 0x80 ? 1 : *s >= 0xf0 ? 4 : *s >= 0xe0 ? 3 : *s >= 0xc0 ? 2 : 0;
    uint32_t value = bytes == 1 ? *s : bytes == 0 ? 0 : *s & (0xffU >> (bytes + 1));
    for (size_t i = 1; i < bytes; ++i) {
        if ((s[i] & 0xc0) != 0x80) {
            bytes = 0;
        } else {
            value = value << 6 | (s[i] & 0x3fU);
        }
    }
    *out = bytes ? value : 0xfffd;
    return bytes ? bytes : 1;
}

/* Whether YAML allows a character without an escape (YAML 1.1, 5.1); line breaks get one. */
static bool is_printable(uint32_t c)
{
    return (c >= 0x20 && c < 0x7f) || (c >= 0xa0 && c < 0x2028) || (c > 0x2029 && c < 0xd800) ||
           (c >= 0xe000 && c < 0xfffe && c != 0xfeff) || c >= 0x10000;
}

void ics_yaml_print_text(const char *text, FILE *out)
{
    fputc('"', out);
    const unsigned char *s = (const unsigned char *)text;
    while (*s) {
        uint32_t c = 0;
        size_t bytes = decode(s, &c);
        if (c == '"' || c == '\\') {
            fprintf(out, "\\%c", (char)c);
        } else if (!is_printable(c)) {
            fprintf(out, "\\u%04X", (unsigned)c);
        } else if (c == 0xfffd) {
            fputs("\\uFFFD", out);
        } else {
            fwrite(s, 1, bytes, out);
        }
        s += bytes;
    }
    fputc('"', out);
}

/* Whether a text needs quotes in flow style. Some plain texts are valid only in a block. */
static bool needs_quotes(const ics_yaml_node *scalar)
{
    return scalar->quoted || strpbrk(scalar->text, ",[]{}#:") != NULL;
}

static void print_entries(const ics_yaml_node *mapping, FILE *out)
{
    fputc('{', out);
    for (size_t i = 0; i < mapping->count; ++i) {
        fputs(i ? ", " : "", out);
        ics_yaml_print(mapping->entries[i].key, out);
        fputs(": ", out);
        ics_yaml_print(mapping->entries[i].value, out);
    }
    fputc('}', out);
}

void ics_yaml_print(const ics_yaml_node *node, FILE *out)
{
    if (node->kind == ICS_YAML_MAPPING) {
        print_entries(node, out);
    } else if (node->kind == ICS_YAML_LIST) {
        fputc('[', out);
        for (size_t i = 0; i < node->count; ++i) {
            fputs(i ? ", " : "", out);
            ics_yaml_print(node->items[i], out);
        }
        fputc(']', out);
    } else if (needs_quotes(node)) {
        ics_yaml_print_text(node->text, out);
    } else {
        fputs(node->text, out);
    }
}
