/* The two profilers that can count what kernels do. */
#ifndef ICS_TOOLS_ROOFLINE_PROFILER_H
#define ICS_TOOLS_ROOFLINE_PROFILER_H

#include "pipeline/icestream.h"

#include <limits.h>

typedef enum ics_profiler {
    ICS_PROFILER_CUPTI, /* a library that the program loads (cupti.h) */
    ICS_PROFILER_NCU,   /* a program that runs the command (ncu.h) */
    ICS_PROFILERS
} ics_profiler;

typedef struct ics_profiler_choice {
    ics_profiler profiler;
    char ncu[PATH_MAX]; /* the program; empty with CUPTI */
} ics_profiler_choice;

/* Returns "CUPTI" or "ncu". */
const char *ics_profiler_name(ics_profiler profiler);

/* Makes the error of a profiler that may not read the counters of the GPU, and returns
 * ICESTREAM_E_DEVICE. Its text contains ERR_NVGPUCTRPERM. */
int ics_profiler_forbidden(ics_profiler profiler, icestream_error *error);

#endif
