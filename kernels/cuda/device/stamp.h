/* The kernel that reads the clock between the kernels of a loop, for profiles. */
#ifndef ICS_KERNELS_CUDA_DEVICE_STAMP_H
#define ICS_KERNELS_CUDA_DEVICE_STAMP_H

#include "kernels/cuda/device/run.h"
#include "kernels/cuda/device/stage_clock.h"

/* Returns the time (ns). The emulated grid of tests has another one. */
#if defined(__CUDACC__)
static __device__ unsigned long long gpu_now(void)
{
    unsigned long long now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}
#endif

/* For profiles: adds the time since the last stamp to a stage (an ics_clock). One warp. `ends`:
 * an ics_stamp. The time between two launches belongs to no stage. */
ICS_KERNEL gpu_stamp(ics_stage_clock *clock, const __grid_constant__ ics_lane_memory lane,
                     uint32_t stage, uint32_t ends)
{
    const unsigned long long now = gpu_now();
    if (threadIdx.x > 0) {
        return;
    }
    if (ends != ICS_STAMP_TRIP || lane.progress->waves > 0) {
        clock->stages[stage] += now - clock->last;
    }
    clock->last = now;
}

#endif
