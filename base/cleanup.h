/* Values that are freed wherever their scope ends, also by an early return. A variable must be
 * initialised where it is declared. */
#ifndef ICS_BASE_CLEANUP_H
#define ICS_BASE_CLEANUP_H

#include <stdlib.h>
#include <string.h>

/* Before a declaration: the function is called with the address of the variable at the end of its
 * scope, as in ICS_CLEANUP(ics_text_free) ics_text text = {0}. */
#define ICS_CLEANUP(function) __attribute__((cleanup(function)))

/* The same for a pointer to memory of malloc() and its like. A pointer that is given away is set to
 * NULL. */
#define ICS_FREED ICS_CLEANUP(ics_cleanup_free)

/* For ICS_FREED. `pointer` is the address of a pointer of any type. */
static inline void ics_cleanup_free(void *pointer)
{
    void *memory;
    memcpy(&memory, pointer, sizeof memory);
    free(memory);
}

#endif
