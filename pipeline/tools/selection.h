/* Which hits: `module==34 && string==63`, the language of `icestream trace --select`.
 *
 *   either     = all { "||" all }
 *   all        = condition { "&&" condition }
 *   condition  = "!" condition | "(" either ")" | comparison
 *   comparison = FIELD operator NUMBER | NUMBER operator FIELD
 *   operator   = "==" | "!=" | "<" | "<=" | ">" | ">="
 *
 * FIELD is a field of hits, NUMBER as in YAML ("1e6", "0xff", "-2.5"). Whole numbers are compared
 * exactly with fields that hold such; single-precision fields with the number rounded to theirs, as
 * NumPy does.
 */
#ifndef IS_SELECTION_H
#define IS_SELECTION_H

#include "pipeline/icestream.h"

enum {
    IS_SELECTION_LONGEST = 4096, /* characters */
    IS_SELECTION_DEEPEST = 64    /* parentheses and ! within each other */
};

typedef struct is_selection is_selection;

/* Reads an expression. IS_E_USAGE with the column (from 1), what was found and what was expected;
 * IS_E_MEMORY. */
int is_selection_create(const char *text, is_selection **out, is_error *error);
/* Accepts NULL. */
void is_selection_destroy(is_selection *selection);

/* Whether it holds for a hit. NaN is equal to nothing, neither less nor greater. Any number of
 * threads at once. */
bool is_selection_holds(const is_selection *selection, const is_hit *hit);

#endif
