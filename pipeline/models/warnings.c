#include "pipeline/models/warnings.h"

#include "pipeline/icestream.h"

#include <stdarg.h>
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
