#include "pipeline/tools/roofline/profiler.h"

#include "base/error.h"

const char *ics_profiler_name(ics_profiler profiler)
{
    return profiler == ICS_PROFILER_CUPTI ? "CUPTI" : "ncu";
}

int ics_profiler_forbidden(ics_profiler profiler, icestream_error *error)
{
    return ics_error_set(
        error, ICESTREAM_E_DEVICE,
        "%s may not read the counters of the GPU (ERR_NVGPUCTRPERM): run as root, or let the "
        "administrator load the driver with NVreg_RestrictProfilingToAdminUsers=0; a container "
        "needs the capability SYS_ADMIN",
        ics_profiler_name(profiler));
}
