/* Whether the hits that photons were chosen by come about again when the photons are traced. */
#ifndef IS_TRACE_VERDICT_H
#define IS_TRACE_VERDICT_H

#include "pipeline/files/metadata.h"

enum { IS_TRACE_LOST_SHOWN = 10 };

typedef struct is_trace_verdict {
    size_t expected;  /* hits that were looked for */
    size_t identical; /* with the same bits of time, place, direction, wavelength, scatters */
    size_t moved;     /* on the same module, but with others */
    size_t lost;      /* not there any more */
    double time;      /* largest difference of those that moved, ns */
    double place;     /* the same, m */
    uint32_t scatters;
    is_hit first_lost[IS_TRACE_LOST_SHOWN];
} is_trace_verdict;

/* Looks for a hit among those that its photon has now. */
void is_trace_verdict_add(is_trace_verdict *verdict, const is_hit *expected, const is_hit *found,
                          size_t count);

/* Tells, where hits were looked for. `maths`: that made them. `others`: with which settings they
 * were made instead of those of the configuration ("ice, seed"), or "". */
void is_trace_verdict_print(const is_trace_verdict *verdict, is_maths_used maths,
                            const char *others, FILE *out);

/* IS_OK, or IS_E_DIFFERENT where they should be identical and are not. */
int is_trace_verdict_status(const is_trace_verdict *verdict, is_maths_used maths,
                            const char *output, is_error *error);

#endif
