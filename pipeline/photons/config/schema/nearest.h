/* "did you mean ...?": the known word that is closest to a mistyped one. */
#ifndef ICS_PHOTONS_CONFIG_SCHEMA_NEAREST_H
#define ICS_PHOTONS_CONFIG_SCHEMA_NEAREST_H

#include <stddef.h>

/* The search for the nearest word; starts as zeros. */
typedef struct ics_nearest {
    const char *word; /* the nearest word so far; NULL: none was close enough */
    size_t distance;
} ics_nearest;

/* Compares a candidate with the typed word and keeps it if it is close enough and closer than all
 * before it. A change is one letter inserted, deleted or replaced, or two neighbours swapped; case
 * does not count. A word is close enough if a third of the letters of the longer word (rounded, at
 * least 1) can be changed to make them equal, or if one word begins with the other, which has at
 * least three letters. */
void ics_nearest_try(ics_nearest *best, const char *typed, const char *candidate);

#endif
