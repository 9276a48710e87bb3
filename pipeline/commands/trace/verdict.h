/* Compares the hits by which photons were chosen with the hits of the repeated photons. */
#ifndef ICS_COMMANDS_TRACE_VERDICT_H
#define ICS_COMMANDS_TRACE_VERDICT_H

#include "pipeline/photons/files/metadata.h"

enum { ICS_TRACE_LOST_SHOWN = 10 };

typedef struct ics_trace_verdict {
    size_t expected;   /* the chosen hits */
    size_t identical;  /* time, position, direction, wavelength and scatters have the same bits */
    size_t moved;      /* on the same module, but not identical */
    size_t lost;       /* the photon has no hit on this module any more */
    double time;       /* largest difference of times of moved hits (ns) */
    double position;   /* largest distance of positions of moved hits (m) */
    uint32_t scatters; /* largest difference of scatters of moved hits */
    icestream_hit first_lost[ICS_TRACE_LOST_SHOWN];
} ics_trace_verdict;

/* Looks for a chosen hit among the hits found[count] of the repeated photon. */
void ics_trace_verdict_add(ics_trace_verdict *verdict, const icestream_hit *expected,
                           const icestream_hit *found, size_t count);

/* Prints the verdict; without chosen hits it prints nothing. `maths`: the maths of the run that
 * made the hits. `others`: the settings of that run that differ from the configuration ("ice,
 * seed"). */
void ics_trace_verdict_print(const ics_trace_verdict *verdict, ics_maths_used maths,
                             const char *others, FILE *out);

/* Returns ICESTREAM_OK, or ICESTREAM_E_DIFFERENT if hits of portable maths are not identical. */
int ics_trace_verdict_status(const ics_trace_verdict *verdict, ics_maths_used maths,
                             const char *output, icestream_error *error);

#endif
