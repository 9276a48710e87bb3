/* "did you mean ...?": the known word that is closest to a mistyped one. */
#ifndef IS_NEAREST_H
#define IS_NEAREST_H

#include <stddef.h>

/* Starts as zeros. */
typedef struct is_nearest {
    const char *word; /* the best so far, NULL: none is close enough */
    size_t distance;
} is_nearest;

/* Offers a candidate. Close enough means at most a third of the longer word, rounded, changed (one
 * letter inserted, deleted, replaced, or two neighbours swapped; case does not count), or the one
 * word is a beginning of at least three letters of the other. The first of equals is kept. */
void is_nearest_try(is_nearest *best, const char *typed, const char *candidate);

#endif
