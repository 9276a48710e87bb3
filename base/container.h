/* From a member back to the structure that contains it. */
#ifndef ICS_BASE_CONTAINER_H
#define ICS_BASE_CONTAINER_H

#include <stddef.h>

/* Returns the `type` whose `member` is at `pointer`. `pointer` must not be NULL and must have the
 * type of the member; the compiler checks the type. */
#define ICS_CONTAINER_OF(pointer, type, member)                                                    \
    ({                                                                                             \
        __typeof__(((type *)NULL)->member) *ics_member_pointer = (pointer);                        \
        (type *)(void *)((char *)ics_member_pointer - offsetof(type, member));                     \
    })

#endif
