/* The language of `icestream trace --select`: conditions on hits, such as `module==34 &&
 * string==63`.
 *
 *   either     = all { "||" all }
 *   all        = condition { "&&" condition }
 *   condition  = "!" condition | "(" either ")" | comparison
 *   comparison = FIELD operator NUMBER | NUMBER operator FIELD
 *   operator   = "==" | "!=" | "<" | "<=" | ">" | ">="
 *
 * FIELD is a field of hits. NUMBER is written as in YAML ("1e6", "0xff", "-2.5"). Integer fields
 * are compared exactly. For a field of single precision the number is rounded to single precision
 * first, as NumPy does.
 */
#ifndef ICS_TOOLS_TRACE_SELECTION_H
#define ICS_TOOLS_TRACE_SELECTION_H

#include "pipeline/icestream.h"

enum {
    ICS_SELECTION_LONGEST = 4096, /* largest number of characters */
    ICS_SELECTION_DEEPEST = 64    /* largest number of ( and ! inside each other */
};

typedef struct ics_selection ics_selection;

/* Reads an expression. The caller destroys *out. ICESTREAM_E_USAGE, with the column (from 1), what
 * was found and what was expected; ICESTREAM_E_MEMORY. */
int ics_selection_create(const char *text, ics_selection **out, icestream_error *error);
/* Accepts NULL. */
void ics_selection_destroy(ics_selection *selection);

/* Returns whether the expression is true for a hit. NaN is neither equal to, less than nor greater
 * than any number. Several threads may call this at the same time. */
bool ics_selection_holds(const ics_selection *selection, const icestream_hit *hit);

#endif
