/* What the kernels of a GPU record of themselves for profiles, in the memory of the device. */
#ifndef ICS_GRAPHS_CUDA_GPU_PROFILE_H
#define ICS_GRAPHS_CUDA_GPU_PROFILE_H

#include "graphs/gpu.h"
#include "kernels/cuda/device/stage_clock.h"

#include <cuda_runtime_api.h>

/* Finds the cycles of the stages, [ICS_CLOCKS] (kernels/cuda/device/clocks.h), in the program that
 * `library` has loaded. With options->profile, a schedule that does not loop has them; otherwise
 * *cycles does not change. `options` are resolved. ICESTREAM_E_FAILED and the others of
 * ics_check_failed(). */
int ics_gpu_profile_find(const ics_gpu_options *options, cudaLibrary_t library, void **cycles,
                         icestream_error *error);

/* Divides out->seconds among the stages as the sampled warps spent their cycles. `cycles` are in
 * the memory of the current device; NULL: there are none. */
void ics_gpu_profile_share(const void *cycles, ics_gpu_usage *out);

/* Adds the times of the stages of a lane to out->stage_seconds. `clock` is in the memory of the
 * current device; NULL: the lane has none. */
void ics_gpu_profile_add(const ics_stage_clock *clock, ics_gpu_usage *out);

#endif
