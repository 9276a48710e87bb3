/* What the kernels of a GPU record of themselves for profiles. */
#ifndef ICS_GRAPHS_CUDA_GPU_PROFILE_H
#define ICS_GRAPHS_CUDA_GPU_PROFILE_H

#include "graphs/gpu.h"
#include "kernels/cuda/device/wave_clock.h"

#include <cuda_runtime_api.h>

/* The records of a program, in the memory of the device. NULL: its kernels do not record this. */
typedef struct ics_gpu_profile {
    /* With options->profile, of a schedule that does not loop (kernels/cuda/device/clocks.h): the
     * cycles of the stages, [ICS_CLOCKS], and an ics_block_spans. */
    void *cycles, *spans;
    /* With options->load, of a loop (kernels/cuda/device/busy.h): an ics_busy_times. */
    void *times;
} ics_gpu_profile;

/* Finds the records of the program that `library` has loaded. `profile` is zeroed. `options` are
 * resolved. ICESTREAM_E_FAILED and the others of ics_check_failed(). */
int ics_gpu_profile_find(ics_gpu_profile *profile, const ics_gpu_options *options,
                         cudaLibrary_t library, icestream_error *error);

/* Sets out->stage_seconds, which divide out->seconds among the stages, and out->load, as far as
 * there are records of the current device and they can be read. `processors`: of the device. */
void ics_gpu_profile_read(const ics_gpu_profile *profile, uint32_t processors, ics_gpu_usage *out);

/* Adds the waves of a lane to out->wave_times, and the times of their stages to out->stage_seconds.
 * `clock` is in the memory of the current device; NULL: the lane has none. */
void ics_gpu_profile_read_waves(const ics_wave_clock *clock, ics_gpu_usage *out);

#endif
