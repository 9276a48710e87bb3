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
#ifndef ICS_TOOLS_TRACE_SELECTION_H
#define ICS_TOOLS_TRACE_SELECTION_H

#include "pipeline/icestream.h"

enum {
    ICS_SELECTION_LONGEST = 4096, /* characters */
    ICS_SELECTION_DEEPEST = 64    /* parentheses and ! within each other */
};

typedef struct ics_selection ics_selection;

/* Reads an expression. ICESTREAM_E_USAGE with the column (from 1), what was found and what was
 * expected; ICESTREAM_E_MEMORY. */
int ics_selection_create(const char *text, ics_selection **out, icestream_error *error);
/* Accepts NULL. */
void ics_selection_destroy(ics_selection *selection);

/* Whether it holds for a hit. NaN is equal to nothing, neither less nor greater. Any number of
 * threads at once. */
bool ics_selection_holds(const ics_selection *selection, const icestream_hit *hit);

#endif
