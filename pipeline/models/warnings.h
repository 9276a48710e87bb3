/* What a loader noticed but could live with; the host prints it, the library never does. */
#ifndef IS_WARNINGS_H
#define IS_WARNINGS_H

#include <stddef.h>

typedef struct is_warnings {
    char **items; /* [count], one sentence each, owned */
    size_t count;
} is_warnings;

/* Appends a sentence. Returns IS_OK or IS_E_MEMORY. Zero-initialise the list before first use. */
int is_warnings_add(is_warnings *warnings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Frees the sentences and empties the list; accepts NULL. */
void is_warnings_free(is_warnings *warnings);

#endif
