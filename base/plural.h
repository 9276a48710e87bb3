/* The ending of a word behind a number, in texts for people: 1 string, 2 strings. */
#ifndef ICS_BASE_PLURAL_H
#define ICS_BASE_PLURAL_H

#include <stdint.h>

static inline const char *ics_plural_s(uint64_t count)
{
    return count == 1 ? "" : "s";
}

#endif
