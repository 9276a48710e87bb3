#include "pipeline/photons/models/warnings.h"

#include "base/error.h"
#include "base/json_text.h"
#include "base/memory.h"

#include <stdlib.h>

void ics_warnings_add(ics_warnings *warnings, const char *format, ...)
{
    char **items =
        ics_memory_grow(warnings->items, warnings->count, &warnings->capacity, sizeof *items);
    warnings->items = items != NULL ? items : warnings->items;
    va_list arguments;
    va_start(arguments, format);
    if (items == NULL || vasprintf(&items[warnings->count], format, arguments) < 0) {
        warnings->status = ICESTREAM_E_MEMORY;
    } else {
        ++warnings->count;
    }
    va_end(arguments);
}

void ics_warnings_add_at(ics_warnings *warnings, const char *place, const char *format,
                         va_list arguments)
{
    char *sentence;
    if (vasprintf(&sentence, format, arguments) < 0) {
        warnings->status = ICESTREAM_E_MEMORY;
        return;
    }
    ics_warnings_add(warnings, "%s: %s", place, sentence);
    free(sentence);
}

void ics_warnings_add_all(ics_warnings *warnings, const ics_warnings *others)
{
    for (size_t i = 0; i < others->count; ++i) {
        ics_warnings_add(warnings, "%s", others->items[i]);
    }
}

int ics_warnings_status(const ics_warnings *warnings, icestream_error *error)
{
    return warnings->status == ICESTREAM_OK ? ICESTREAM_OK : ics_error_no_memory(error, "warnings");
}

void ics_warnings_print(const ics_warnings *warnings, size_t first, const char *prefix, FILE *out)
{
    for (size_t i = first; i < warnings->count; ++i) {
        fprintf(out, "%s%s\n", prefix, warnings->items[i]);
    }
}

bool ics_warnings_append_json(const ics_warnings *warnings, json_t *list)
{
    int failed = 0;
    for (size_t i = 0; i < warnings->count; ++i) {
        failed |= json_array_append_new(list, ics_json_text(warnings->items[i]));
    }
    return failed == 0;
}

void ics_warnings_free(ics_warnings *warnings)
{
    if (warnings == NULL) {
        return;
    }
    for (size_t i = 0; i < warnings->count; ++i) {
        free(warnings->items[i]);
    }
    free(warnings->items);
    *warnings = (ics_warnings){0};
}
