/* "did you mean ...?": the known word that is closest to a mistyped one. */
#ifndef ICS_CONFIG_SCHEMA_NEAREST_H
#define ICS_CONFIG_SCHEMA_NEAREST_H

#include <stddef.h>

/* Starts as zeros. */
typedef struct ics_nearest {
    const char *word; /* the best so far, NULL: none is close enough */
    size_t distance;
} ics_nearest;

/* Offers a candidate. Close enough means at most a third of the longer word, rounded, changed (one
 * letter inserted, deleted, replaced, or two neighbours swapped; case does not count), or the one
 * word is a beginning of at least three letters of the other. The first of equals is kept. */
void ics_nearest_try(ics_nearest *best, const char *typed, const char *candidate);

#endif
