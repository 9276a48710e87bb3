/* How busy the multiprocessors are while the kernels of a loop run, for profiles. Without GPU_BUSY
 * this is nothing, and a kernel has no additional instruction.
 *
 * These kernels are short and many, so the begins and ends of their blocks cannot be kept one by
 * one. Instead, a warp counts itself at its begin and at its end. A multiprocessor is busy while it
 * has a warp, and a launch runs while any multiprocessor is busy: launches that overlap count as
 * one, and the time between two launches counts for nobody.
 *
 * A warp reads `since` before it stops counting, so that no other warp can begin a new time
 * meanwhile.
 */
#ifndef ICS_KERNELS_CUDA_DEVICE_BUSY_H
#define ICS_KERNELS_CUDA_DEVICE_BUSY_H

#if defined(GPU_BUSY)
#include "kernels/cuda/device/busy_times.h"

extern "C" {
__device__ ics_busy_times gpu_busy_times;
}

static __device__ __forceinline__ unsigned long long gpu_busy_now(void)
{
    unsigned long long now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}

/* One more runs. Returns whether it is the first one. */
static __device__ __forceinline__ bool gpu_busy_begin(ics_busy_time *time, unsigned long long now)
{
    if (atomicAdd(&time->running, 1u) != 0) {
        return false;
    }
    *(volatile unsigned long long *)&time->since = now;
    atomicAdd(&time->begins, 1u);
    __threadfence();
    return true;
}

/* Adds the time from `begin` to `end` to its bins. */
static __device__ void gpu_busy_add(unsigned long long *bins, unsigned long long begin,
                                    unsigned long long end)
{
    const unsigned long long origin = *(volatile unsigned long long *)&gpu_busy_times.origin;
    unsigned long long from = begin > origin ? begin - origin : 0;
    const unsigned long long to = end > origin ? end - origin : 0;
    while (from < to && from >> ICS_BUSY_BIN_SHIFT < ICS_BUSY_BINS) {
        const unsigned long long bin = from >> ICS_BUSY_BIN_SHIFT;
        const unsigned long long next = (bin + 1) << ICS_BUSY_BIN_SHIFT;
        atomicAdd(&bins[bin], (to < next ? to : next) - from);
        from = next;
    }
}

/* One less runs. Returns whether it was the last one. */
static __device__ __forceinline__ bool gpu_busy_end(ics_busy_time *time, unsigned long long *bins,
                                                    unsigned long long now)
{
    const unsigned long long since = *(volatile unsigned long long *)&time->since;
    __threadfence();
    if (atomicSub(&time->running, 1u) != 1) {
        return false;
    }
    if (now > since) {
        atomicAdd(&time->sum, now - since);
        gpu_busy_add(bins, since, now);
    }
    return true;
}

/* Lives as long as the threads of a kernel, wherever they leave it. */
struct gpu_busy_warp {
    uint32_t processor;

    __device__ __forceinline__ gpu_busy_warp()
    {
        asm volatile("mov.u32 %0, %smid;" : "=r"(processor));
        if (threadIdx.x % 32 == 0 && processor < ICS_BUSY_PROCESSORS) {
            const unsigned long long now = gpu_busy_now();
            if (gpu_busy_begin(&gpu_busy_times.processors[processor], now) &&
                gpu_busy_begin(&gpu_busy_times.any, now)) {
                atomicCAS(&gpu_busy_times.origin, 0ull, now);
            }
        }
        __syncwarp();
    }

    __device__ __forceinline__ ~gpu_busy_warp()
    {
        if (threadIdx.x % 32 == 0 && processor < ICS_BUSY_PROCESSORS) {
            const unsigned long long now = gpu_busy_now();
            if (gpu_busy_end(&gpu_busy_times.processors[processor], gpu_busy_times.sum_bins, now)) {
                gpu_busy_end(&gpu_busy_times.any, gpu_busy_times.any_bins, now);
            }
        }
    }
};

#define GPU_WARP_IS_BUSY() const gpu_busy_warp gpu_busy_here
#else
#define GPU_WARP_IS_BUSY() ((void)0)
#endif

#endif
