#include "graphs/cuda/gpu_profile.h"

#include "base/error.h"
#include "graphs/cuda/check.h"
#include "graphs/schedule.h"
#include "kernels/cuda/state.h"

int ics_gpu_profile_find(const ics_gpu_options *options, cudaLibrary_t library, void **cycles,
                         icestream_error *error)
{
    size_t bytes;
    if (options->profile && !ics_schedule_row(options->schedule)->loops) {
        CUDA_TRY(options->ordinal, error,
                 cudaLibraryGetGlobal(cycles, &bytes, library, "gpu_clock_cycles"));
    }
    return ICESTREAM_OK;
}

void ics_gpu_profile_share(const void *from, ics_gpu_usage *out)
{
    unsigned long long cycles[ICS_CLOCKS], all = 0;
    if (from == NULL ||
        cudaMemcpy(cycles, from, sizeof cycles, cudaMemcpyDeviceToHost) != cudaSuccess) {
        return;
    }
    for (int stage = 0; stage < ICS_CLOCKS; ++stage) {
        all += cycles[stage];
    }
    for (int stage = 0; stage < ICS_CLOCKS && all > 0; ++stage) {
        out->stage_seconds[stage] = out->seconds * ((double)cycles[stage] / (double)all);
    }
}

void ics_gpu_profile_add(const ics_stage_clock *clock, ics_gpu_usage *out)
{
    ics_stage_clock here;
    if (clock == NULL ||
        cudaMemcpy(&here, clock, sizeof here, cudaMemcpyDeviceToHost) != cudaSuccess) {
        return;
    }
    for (int stage = 0; stage < ICS_CLOCKS; ++stage) {
        out->stage_seconds[stage] += 1e-9 * (double)here.stages[stage];
    }
}
