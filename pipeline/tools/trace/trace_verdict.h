/* Whether the hits that photons were chosen by come about again when the photons are traced. */
#ifndef ICS_TOOLS_TRACE_TRACE_VERDICT_H
#define ICS_TOOLS_TRACE_TRACE_VERDICT_H

#include "pipeline/files/metadata.h"

enum { ICS_TRACE_LOST_SHOWN = 10 };

typedef struct ics_trace_verdict {
    size_t expected;  /* hits that were looked for */
    size_t identical; /* with the same bits of time, place, direction, wavelength, scatters */
    size_t moved;     /* on the same module, but with others */
    size_t lost;      /* not there any more */
    double time;      /* largest difference of those that moved, ns */
    double place;     /* the same, m */
    uint32_t scatters;
    icestream_hit first_lost[ICS_TRACE_LOST_SHOWN];
} ics_trace_verdict;

/* Looks for a hit among those that its photon has now. */
void ics_trace_verdict_add(ics_trace_verdict *verdict, const icestream_hit *expected,
                           const icestream_hit *found, size_t count);

/* Tells, where hits were looked for. `maths`: that made them. `others`: with which settings they
 * were made instead of those of the configuration ("ice, seed"), or "". */
void ics_trace_verdict_print(const ics_trace_verdict *verdict, ics_maths_used maths,
                             const char *others, FILE *out);

/* ICESTREAM_OK, or ICESTREAM_E_DIFFERENT where they should be identical and are not. */
int ics_trace_verdict_status(const ics_trace_verdict *verdict, ics_maths_used maths,
                             const char *output, icestream_error *error);

#endif
