/* Questions about the nodes of a YAML document, and messages about them. */
#include "pipeline/photons/config/yaml/yaml.h"

#include <stdarg.h>
#include <string.h>

const ics_yaml_node *ics_yaml_find(const ics_yaml_node *mapping, const char *key)
{
    if (mapping->kind != ICS_YAML_MAPPING) {
        return NULL;
    }
    for (size_t i = 0; i < mapping->count; ++i) {
        if (strcmp(mapping->entries[i].key->text, key) == 0) {
            return mapping->entries[i].value;
        }
    }
    return NULL;
}

bool ics_yaml_is_null(const ics_yaml_node *node)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL"};
    if (node->kind != ICS_YAML_SCALAR || node->quoted) {
        return false;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        if (strcmp(node->text, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

const char *ics_yaml_place(const ics_yaml_node *node, char *buffer, size_t size)
{
    if (node->line) {
        snprintf(buffer, size, "%s:%u:%u", node->source->name, node->line, node->column);
    } else {
        snprintf(buffer, size, "%s", node->source->name);
    }
    return buffer;
}

const char *ics_yaml_describe(const ics_yaml_node *node, char *buffer, size_t size)
{
    enum { SHOWN = 60 };
    if (node->kind == ICS_YAML_LIST) {
        snprintf(buffer, size, node->count ? "a list of %zu" : "an empty list", node->count);
    } else if (node->kind == ICS_YAML_MAPPING) {
        snprintf(buffer, size, "a mapping");
    } else if (ics_yaml_is_null(node)) {
        snprintf(buffer, size, "nothing");
    } else {
        char shown[SHOWN + 1];
        size_t length = 0;
        for (; node->text[length] && length < SHOWN; ++length) {
            char c = node->text[length];
            shown[length] = '?';
            if ((unsigned char)c >= ' ') {
                shown[length] = c;
            }
        }
        bool cut = node->text[length] != 0;
        /* Do not cut in the middle of a character. */
        while (cut && length && ((unsigned char)node->text[length] & 0xc0) == 0x80) {
            --length;
        }
        shown[length] = 0;
        snprintf(buffer, size, node->quoted ? "the quoted text \"%s%s\"" : "'%s%s'", shown,
                 cut ? "..." : "");
    }
    return buffer;
}

int ics_yaml_error(icestream_error *error, const ics_yaml_node *node, const char *format, ...)
{
    char message[1024], place[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (error != NULL && error->status == ICESTREAM_OK) {
        *node->source->faults = 0; /* an earlier reading of the document had its own errors */
    }
    ics_error_add_counted(error, node->source->faults, ICESTREAM_E_CONFIG, node->source->name,
                          "%s: error: %s", ics_yaml_place(node, place, sizeof place), message);
    return ICESTREAM_E_CONFIG;
}

int ics_yaml_unexpected(icestream_error *error, const ics_yaml_node *node, const char *what,
                        const char *format, ...)
{
    char found[128], expected[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(expected, sizeof expected, format, arguments);
    va_end(arguments);
    return ics_yaml_error(error, node, "%s%sfound %s, expected %s", what != NULL ? what : "",
                          what != NULL ? ": " : "", ics_yaml_describe(node, found, sizeof found),
                          expected);
}

int ics_yaml_no_memory(icestream_error *error, const ics_yaml_node *node)
{
    ics_error_add(error, ICESTREAM_E_MEMORY, "%s: error: out of memory", node->source->name);
    return ICESTREAM_E_MEMORY;
}
