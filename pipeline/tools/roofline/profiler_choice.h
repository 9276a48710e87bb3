/* Chooses the profiler for a schedule. */
#ifndef ICS_TOOLS_ROOFLINE_PROFILER_CHOICE_H
#define ICS_TOOLS_ROOFLINE_PROFILER_CHOICE_H

#include "graphs/options.h"
#include "pipeline/tools/roofline/profiler.h"

/* `wanted`: "auto", "cupti" or "ncu", which the command line has checked; NULL: auto. auto is CUPTI
 * where it is found, and ncu otherwise. A schedule that loops launches CUDA Graphs, whose kernels
 * only ncu counts; auto is ncu there. ICESTREAM_E_USAGE: CUPTI is wanted for a loop.
 * ICESTREAM_E_FAILED: the profiler is missing, with auto both of them; the message says where they
 * were looked for. */
int ics_profiler_choose(const char *wanted, ics_schedule schedule, ics_profiler_choice *out,
                        icestream_error *error);

#endif
