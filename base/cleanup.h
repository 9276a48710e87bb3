/* What a function frees at every exit: a variable with one of these words in front of its
 * declaration. Values of jansson have json_auto_t. */
#ifndef ICS_BASE_CLEANUP_H
#define ICS_BASE_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Frees a text, an array or a structure, which may be NULL:
 *     ICS_FREES char *text = malloc(size);
 * A function that gives the memory away sets the variable to NULL. */
#define ICS_FREES __attribute__((cleanup(ics_cleanup_memory)))
static inline void ics_cleanup_memory(void *variable)
{
    void *memory;
    memcpy(&memory, variable, sizeof memory);
    free(memory);
}

/* Closes a file that was read, which may be NULL. A file that was written has to be closed where an
 * error can be reported. */
#define ICS_CLOSES __attribute__((cleanup(ics_cleanup_file)))
static inline void ics_cleanup_file(FILE **variable)
{
    if (*variable != NULL) {
        (void)fclose(*variable);
    }
}

#endif
