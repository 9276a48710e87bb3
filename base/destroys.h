/* What a function destroys at every exit: structures that have a destructor, and descriptors. */
#ifndef ICS_BASE_DESTROYS_H
#define ICS_BASE_DESTROYS_H

#include "base/cleanup.h"

#include <errno.h>
#include <unistd.h>

/* ICS_CAN_DESTROY(ics_digest, ics_digest_destroy) stands below the declaration of a destructor,
 * which accepts NULL. With it, a function destroys what a variable holds then:
 *     ICS_DESTROYS(ics_digest_destroy) ics_digest *digest = NULL; */
#define ICS_CAN_DESTROY(type, destroy)                                                             \
    static inline void destroy##_at(type **variable)                                               \
    {                                                                                              \
        destroy(*variable);                                                                        \
    }
#define ICS_DESTROYS(destroy) __attribute__((cleanup(destroy##_at)))

/* Returns what such a variable, or one of cleanup.h, holds; it holds nothing afterwards. */
#define ICS_HAND_OVER(variable)                                                                    \
    ({                                                                                             \
        __typeof__(variable) ics_handed = (variable);                                              \
        (variable) = NULL;                                                                         \
        ics_handed;                                                                                \
    })

/* Closes a descriptor, of which -1 is none, and keeps errno. */
#define ICS_CLOSES_DESCRIPTOR __attribute__((cleanup(ics_cleanup_descriptor)))
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
