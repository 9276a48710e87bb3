/* The clock cycles that warps spend in each stage inside a persistent kernel, for profiles. Without
 * GPU_CLOCKS these functions are nothing, and a kernel has no additional instruction.
 *
 * The first warp of every GPU_CLOCKS-th block is a sample. The threads of a warp may be in
 * different branches, but only one branch runs at a time: its first thread reads clock64() where a
 * stage begins, and adds the cycles since the last reading to the stage that ended there. So the
 * cycles include those in which the warp waits. The compiler may move a few instructions across a
 * reading.
 */
#ifndef ICS_KERNELS_CUDA_DEVICE_CLOCKS_H
#define ICS_KERNELS_CUDA_DEVICE_CLOCKS_H

#include "kernels/cuda/state.h"

#if defined(GPU_CLOCKS)

/* Sums of all samples since the program was loaded, by ics_clock. */
extern "C" {
__device__ unsigned long long gpu_clock_cycles[ICS_CLOCKS];
}

/* The sample of a block, in shared memory. */
typedef struct gpu_clock_sample {
    unsigned long long cycles[ICS_CLOCKS];
    unsigned long long since; /* the last reading */
    uint32_t stage;           /* the stage that began there, an ics_clock */
} gpu_clock_sample;

static __device__ __forceinline__ volatile gpu_clock_sample *gpu_clock_here(void)
{
    __shared__ gpu_clock_sample here;
    return &here;
}

static __device__ __forceinline__ bool gpu_clock_is_sample(void)
{
    return threadIdx.x < 32 && blockIdx.x % GPU_CLOCKS == 0;
}

/* A stage begins. Any thread may call this, in any branch. */
static __device__ __forceinline__ void gpu_clock(uint32_t stage)
{
    if (gpu_clock_is_sample() && threadIdx.x + 1 == (uint32_t)__ffs((int)__activemask())) {
        volatile gpu_clock_sample *here = gpu_clock_here();
        const unsigned long long now = (unsigned long long)clock64();
        here->cycles[here->stage] += now - here->since;
        here->since = now;
        here->stage = stage;
    }
}

/* At the begin of a kernel. All threads of the block, with a barrier between this and gpu_clock().
 */
static __device__ __forceinline__ void gpu_clock_begin(void)
{
    if (gpu_clock_is_sample() && threadIdx.x == 0) {
        volatile gpu_clock_sample *here = gpu_clock_here();
        for (uint32_t i = 0; i < ICS_CLOCKS; ++i) {
            here->cycles[i] = 0;
        }
        here->stage = ICS_CLOCK_OTHER;
        here->since = (unsigned long long)clock64();
    }
}

/* At the end of a kernel. All threads of the block, with a barrier between gpu_clock() and this. */
static __device__ __forceinline__ void gpu_clock_end(void)
{
    if (gpu_clock_is_sample() && threadIdx.x == 0) {
        gpu_clock(ICS_CLOCK_OTHER);
        for (uint32_t i = 0; i < ICS_CLOCKS; ++i) {
            atomicAdd(&gpu_clock_cycles[i], gpu_clock_here()->cycles[i]);
        }
    }
}

#define ICE_CLOCK(stage)  gpu_clock(ICS_CLOCK_##stage)
#define GPU_CLOCK_BEGIN() gpu_clock_begin()
#define GPU_CLOCK_END()   gpu_clock_end()
#else
#define GPU_CLOCK_BEGIN() ((void)0)
#define GPU_CLOCK_END()   ((void)0)
#endif

#endif
