#include "pipeline/models/warnings.h"

#include "base/json_text.h"
#include "pipeline/icestream.h"

#include <stdlib.h>

int ics_warnings_add(ics_warnings *warnings, const char *format, ...)
{
    char **items = realloc(warnings->items, (warnings->count + 1) * sizeof *items);
    if (items == NULL) {
        return warnings->status = ICESTREAM_E_MEMORY;
    }
    warnings->items = items;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&items[warnings->count], format, arguments);
    va_end(arguments);
    if (length < 0) {
        return warnings->status = ICESTREAM_E_MEMORY;
    }
    ++warnings->count;
    return ICESTREAM_OK;
}

int ics_warnings_add_at(ics_warnings *warnings, const char *place, const char *format,
                        va_list arguments)
{
    char *sentence;
    if (vasprintf(&sentence, format, arguments) < 0) {
        return warnings->status = ICESTREAM_E_MEMORY;
    }
    const int status = ics_warnings_add(warnings, "%s: %s", place, sentence);
    free(sentence);
    return status;
}

int ics_warnings_add_all(ics_warnings *warnings, const ics_warnings *others)
{
    int status = ICESTREAM_OK;
    for (size_t i = 0; status == ICESTREAM_OK && i < others->count; ++i) {
        status = ics_warnings_add(warnings, "%s", others->items[i]);
    }
    return status;
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
