#include "pipeline/tools/roofline/profiler_choice.h"

#include "base/error.h"
#include "graphs/schedule.h"
#include "pipeline/tools/roofline/cupti.h"
#include "pipeline/tools/roofline/ncu.h"

#include <string.h>

static int choose_cupti(ics_schedule schedule, bool loops, icestream_error *error)
{
    if (loops) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "--profiler: found cupti, but %s launches CUDA Graphs, whose kernels "
                             "CUPTI does not count; expected ncu or auto, or --schedules "
                             "without loops",
                             ics_graph_schedule_name(schedule));
    }
    return ics_cupti_find(error);
}

int ics_profiler_choose(const char *wanted, ics_schedule schedule, ics_profiler_choice *out,
                        icestream_error *error)
{
    const ics_gpu_schedule *row = ics_schedule_row(schedule);
    const bool loops = row != NULL && row->loops;
    const bool automatic = wanted == NULL || strcmp(wanted, "auto") == 0;
    icestream_error no_cupti, no_ncu;
    *out = (ics_profiler_choice){.profiler = ICS_PROFILER_CUPTI};
    if (!automatic && strcmp(wanted, "cupti") == 0) {
        return choose_cupti(schedule, loops, error);
    }
    if (automatic && choose_cupti(schedule, loops, &no_cupti) == ICESTREAM_OK) {
        return ICESTREAM_OK;
    }
    out->profiler = ICS_PROFILER_NCU;
    if (ics_ncu_find(out->ncu, sizeof out->ncu, &no_ncu) == ICESTREAM_OK) {
        return ICESTREAM_OK;
    }
    if (!automatic) {
        return ics_error_copy(error, &no_ncu);
    }
    if (loops) {
        return ics_error_set(error, ICESTREAM_E_FAILED,
                             "%s launches CUDA Graphs, whose kernels only ncu counts: %s",
                             ics_graph_schedule_name(schedule), no_ncu.text);
    }
    return ics_error_set(error, ICESTREAM_E_FAILED,
                         "neither of the two profilers is there that count what kernels do. CUPTI: "
                         "%s. ncu: %s",
                         no_cupti.text, no_ncu.text);
}
