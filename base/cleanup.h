/* What a function releases at every exit: a variable with one of these words in front of its
 * declaration. Values of jansson have json_auto_t. */
#ifndef ICS_BASE_CLEANUP_H
#define ICS_BASE_CLEANUP_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In front of the declaration of a variable: `function` gets its address at the end of its scope,
 * also where ICS_TRY returns. A function that gives the value away empties the variable. */
#define ICS_CLEANUP(function) __attribute__((cleanup(function)))

/* Frees a text, an array or a structure, which may be NULL:
 *     ICS_FREES char *text = malloc(size);
 * A function that gives the memory away sets the variable to NULL. */
#define ICS_FREES ICS_CLEANUP(ics_cleanup_memory)
static inline void ics_cleanup_memory(void *variable)
{
    void *memory;
    memcpy(&memory, variable, sizeof memory);
    free(memory);
}

/* Closes a file that was read, which may be NULL. A file that was written has to be closed where an
 * error can be reported. */
#define ICS_CLOSES ICS_CLEANUP(ics_cleanup_file)
static inline void ics_cleanup_file(FILE **variable)
{
    if (*variable != NULL) {
        (void)fclose(*variable);
    }
}

/* ICS_CAN_DESTROY(ics_digest, ics_digest_destroy) stands below the declaration of a destructor,
 * which accepts NULL. With it, a function destroys what a variable holds then:
 *     ICS_DESTROYS(ics_digest_destroy) ics_digest *digest = NULL; */
#define ICS_CAN_DESTROY(type, destroy)                                                             \
    static inline void destroy##_at(type **variable)                                               \
    {                                                                                              \
        destroy(*variable);                                                                        \
    }
#define ICS_DESTROYS(destroy) ICS_CLEANUP(destroy##_at)

/* Returns what such a variable, or one of ICS_FREES, holds; it holds nothing afterwards. */
#define ICS_HAND_OVER(variable)                                                                    \
    ({                                                                                             \
        __typeof__(variable) ics_handed = (variable);                                              \
        (variable) = NULL;                                                                         \
        ics_handed;                                                                                \
    })

/* Closes a descriptor, of which -1 is none, and keeps errno. */
#define ICS_CLOSES_DESCRIPTOR ICS_CLEANUP(ics_cleanup_descriptor)
/* The compiler passes the address of a variable that is not const. */
static inline void ics_cleanup_descriptor(int *variable) // NOLINT(readability-non-const-parameter)
{
    if (*variable >= 0) {
        const int cause = errno;
        (void)close(*variable);
        errno = cause;
    }
}

/* Returns the descriptor of such a variable, which holds none afterwards. */
static inline int ics_hand_over_descriptor(int *variable)
{
    const int descriptor = *variable;
    *variable = -1;
    return descriptor;
}

#endif
