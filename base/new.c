#include "base/new.h"

#include "base/icestream_error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *ics_new_made(void *made)
{
    static const char line[] = "icestream: out of memory\n";
    if (made == NULL) {
        /* Functions that run at exit() may need memory, or wait for other threads. */
        ssize_t ignored = write(STDERR_FILENO, line, sizeof line - 1);
        (void)ignored;
        _exit(icestream_status_exit(ICESTREAM_E_MEMORY));
    }
    return made;
}

void *ics_new_zeros(size_t count, size_t size)
{
    return ics_new_made(calloc(count > 0 ? count : 1, size));
}

void *ics_new_size(void *array, size_t count, size_t size)
{
    return ics_new_made(reallocarray(array, count > 0 ? count : 1, size));
}

char *ics_new_copy(const char *text)
{
    return text != NULL ? ics_new_made(strdup(text)) : NULL;
}

char *ics_new_text(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    const int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    return ics_new_made(length >= 0 ? text : NULL);
}
