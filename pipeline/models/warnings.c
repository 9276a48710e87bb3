#include "pipeline/models/warnings.h"

#include "pipeline/icestream.h"

#include <stdarg.h>
#include <stdlib.h>

int is_warnings_add(is_warnings *warnings, const char *format, ...)
{
    char **items = realloc(warnings->items, (warnings->count + 1) * sizeof *items);
    if (!items)
        return IS_E_MEMORY;
    warnings->items = items;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&items[warnings->count], format, arguments);
    va_end(arguments);
    if (length < 0)
        return IS_E_MEMORY;
    ++warnings->count;
    return IS_OK;
}

void is_warnings_free(is_warnings *warnings)
{
    if (!warnings)
        return;
    for (size_t i = 0; i < warnings->count; ++i)
        free(warnings->items[i]);
    free(warnings->items);
    *warnings = (is_warnings){0};
}
