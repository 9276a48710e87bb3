/* Chooses the profiler for a schedule. */
#ifndef ICS_TOOLS_ROOFLINE_PROFILER_CHOICE_H
#define ICS_TOOLS_ROOFLINE_PROFILER_CHOICE_H

#include "graphs/options.h"
#include "pipeline/tools/roofline/profiler.h"

/* `wanted`: "auto", "cupti" or "ncu", which the command line has checked; NULL: auto, which is ncu.
 * A schedule that loops launches CUDA Graphs, whose kernels only ncu counts. ICESTREAM_E_USAGE:
 * CUPTI is wanted for a loop. ICESTREAM_E_FAILED: the profiler is missing; the message says where
 * it was looked for. */
int ics_profiler_choose(const char *wanted, ics_schedule schedule, ics_profiler_choice *out,
                        icestream_error *error);

#endif
