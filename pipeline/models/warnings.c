#include "pipeline/models/warnings.h"

#include "pipeline/icestream.h"

#include <stdio.h>
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
