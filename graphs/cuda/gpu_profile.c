#include "graphs/cuda/gpu_profile.h"

#include "base/error.h"
#include "graphs/cuda/check.h"
#include "graphs/schedule.h"
#include "kernels/cuda/state.h"

#include <stdlib.h>

static int find(void **out, const char *name, int ordinal, cudaLibrary_t library,
                icestream_error *error)
{
    size_t bytes;
    CUDA_TRY(ordinal, error, cudaLibraryGetGlobal(out, &bytes, library, name));
    return ICESTREAM_OK;
}

int ics_gpu_profile_find(ics_gpu_profile *profile, const ics_gpu_options *options,
                         cudaLibrary_t library, icestream_error *error)
{
    const int ordinal = options->ordinal;
    if (ics_schedule_row(options->schedule)->loops) {
        return options->load ? find(&profile->times, "gpu_busy_times", ordinal, library, error)
                             : ICESTREAM_OK;
    }
    if (options->profile) {
        ICS_TRY(find(&profile->spans, "gpu_block_spans", ordinal, library, error));
        ICS_TRY(find(&profile->cycles, "gpu_clock_cycles", ordinal, library, error));
    }
    return ICESTREAM_OK;
}

/* Divides the kernel time among the stages as the sampled warps spent their cycles. */
static void share_cycles(const void *from, ics_gpu_usage *out)
{
    unsigned long long cycles[ICS_CLOCKS], all = 0;
    if (cudaMemcpy(cycles, from, sizeof cycles, cudaMemcpyDeviceToHost) != cudaSuccess) {
        return;
    }
    for (int stage = 0; stage < ICS_CLOCKS; ++stage) {
        all += cycles[stage];
    }
    for (int stage = 0; stage < ICS_CLOCKS && all > 0; ++stage) {
        out->stage_seconds[stage] = out->seconds * ((double)cycles[stage] / (double)all);
    }
}

static void read_spans(const void *from, uint32_t processors, ics_load *out)
{
    ics_block_spans *spans = malloc(sizeof *spans);
    if (spans != NULL &&
        cudaMemcpy(spans, from, sizeof *spans, cudaMemcpyDeviceToHost) == cudaSuccess) {
        const bool is_cut = spans->count > ICS_BLOCK_SPANS;
        const size_t count = is_cut ? ICS_BLOCK_SPANS : (size_t)spans->count;
        ics_load_of(spans->spans, count, is_cut, processors, out);
    }
    free(spans);
}

static void read_times(const void *from, uint32_t processors, ics_load *out)
{
    ics_busy_times *times = malloc(sizeof *times);
    if (times != NULL &&
        cudaMemcpy(times, from, sizeof *times, cudaMemcpyDeviceToHost) == cudaSuccess) {
        ics_load_of_times(times, processors, out);
    }
    free(times);
}

void ics_gpu_profile_read(const ics_gpu_profile *profile, uint32_t processors, ics_gpu_usage *out)
{
    if (profile->cycles != NULL) {
        share_cycles(profile->cycles, out);
    }
    if (profile->spans != NULL) {
        read_spans(profile->spans, processors, &out->load);
    }
    if (profile->times != NULL) {
        read_times(profile->times, processors, &out->load);
    }
}

void ics_gpu_profile_read_waves(const ics_wave_clock *clock, ics_gpu_usage *out)
{
    ics_wave_clock here;
    if (clock != NULL &&
        cudaMemcpy(&here, clock, sizeof here, cudaMemcpyDeviceToHost) == cudaSuccess) {
        ics_wave_times_add(&here, out->stage_seconds, &out->wave_times);
    }
}
