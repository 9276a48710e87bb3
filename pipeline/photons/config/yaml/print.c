/* Writing texts and nodes as YAML in flow style. */
#include "base/visible_text.h"
#include "pipeline/photons/config/yaml/yaml.h"

#include <string.h>

/* Whether YAML allows a character without an escape (YAML 1.1, 5.1); line breaks get one. */
static bool is_printable(uint32_t c)
{
    return (c >= 0x20 && c < 0x7f) || (c >= 0xa0 && c < 0x2028) || (c > 0x2029 && c < 0xd800) ||
           (c >= 0xe000 && c < 0xfffe && c != 0xfeff) || c >= 0x10000;
}

void ics_yaml_print_text(const char *text, FILE *out)
{
    fputc('"', out);
    for (size_t bytes; *text != '\0'; text += bytes > 0 ? bytes : 1) {
        uint32_t c = 0;
        bytes = ics_visible_decode(text, &c);
        if (bytes == 0) {
            fputs("\\uFFFD", out);
        } else if (c == '"' || c == '\\') {
            fprintf(out, "\\%c", (char)c);
        } else if (!is_printable(c) || c == 0xfffd) {
            fprintf(out, "\\u%04X", (unsigned)c);
        } else {
            fwrite(text, 1, bytes, out);
        }
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
