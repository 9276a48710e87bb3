/* create: free slots of a pool get new photons, in place. Shared by wavefront and fused.
 *
 * A few per cent of the slots are free at a time, one or two of a warp. Each block therefore lists
 * the free ones among its many slots first, and then works through the list with full warps.
 */
#ifndef ICS_KERNELS_CUDA_DEVICE_POOL_H
#define ICS_KERNELS_CUDA_DEVICE_POOL_H

#include "kernels/cuda/device/run.h"

/* What the label of a new photon has in the place of its scatters. */
#ifndef ICS_SCATTERS_AT_BIRTH
#define ICS_SCATTERS_AT_BIRTH(lane) 0u
#endif

/* Slots that a block looks after. */
#define ICS_CREATE_STRETCH (ICS_CREATE_SLOTS * ICS_RUN_BLOCK)

/* Appends the slots of a word's set bits to a list in shared memory. */
ICE_FN void gpu_list_bits(uint32_t word, uint32_t first_slot, uint32_t *list, uint32_t *count)
{
    uint32_t place = word ? atomicAdd(count, (uint32_t)__popc(word)) : 0;
    while (word) {
        list[place++] = first_slot + (uint32_t)__ffs((int)word) - 1;
        word &= word - 1;
    }
}

ICS_KERNEL __launch_bounds__(ICS_RUN_BLOCK)
    gpu_create(const __grid_constant__ ice_tables given,
               const __grid_constant__ ics_lane_memory lane, const ics_chain chain)
{
    __shared__ uint32_t list[ICS_CREATE_STRETCH];
    __shared__ uint32_t count;
    __shared__ uint32_t granted;
    __shared__ uint64_t first;
    ics_launch_progress *progress = lane.progress;
    const uint64_t end = lane.launch->end;
    if (threadIdx.x == 0) {
        count = 0;
        granted = *(volatile uint64_t *)&progress->next < end;
    }
    __syncthreads();
    /* Asked once for the whole block: other blocks change the answer meanwhile. */
    if (!granted) {
        return;
    }
    const uint32_t begin = chain.first + blockIdx.x * ICS_CREATE_STRETCH;
    const uint32_t behind = min(begin + ICS_CREATE_STRETCH, chain.first + chain.slots);
    for (uint32_t slot = begin + 32 * threadIdx.x; slot < behind; slot += 32 * ICS_RUN_BLOCK) {
        gpu_list_bits(lane.vacant[slot / 32], slot, list, &count);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        granted = 0;
        if (count) {
            first = atomicAdd((unsigned long long *)&progress->next, (unsigned long long)count);
            granted = first >= end ? 0 : end - first < count ? (uint32_t)(end - first) : count;
            gpu_pool_add(&lane, granted, 0);
            /* What goes beyond the end is given back: the next launch's end is further on. */
            if (granted < count) {
                atomicAdd((unsigned long long *)&progress->next,
                          ~(unsigned long long)(count - granted) + 1);
            }
        }
    }
    __syncthreads();
    const ice_tables tables = gpu_run_tables(&given);
    for (uint32_t i = threadIdx.x; i < granted; i += ICS_RUN_BLOCK) {
        ice_photon photon = gpu_new_photon(&lane, &tables, first + i);
        photon.scatters = ICS_SCATTERS_AT_BIRTH(&lane);
        gpu_store_photon(&lane, list[i], &photon);
        atomicAnd(&lane.vacant[list[i] / 32], ~(1u << list[i] % 32));
    }
}

/* The bits of free slots after photons were moved; all slots are in use while there are steps. */
ICS_KERNEL __launch_bounds__(ICS_RUN_BLOCK)
    gpu_mark_vacant(const __grid_constant__ ice_tables given,
                    const __grid_constant__ ics_lane_memory lane, const ics_chain chain)
{
    const uint32_t slot = chain.first + blockIdx.x * ICS_RUN_BLOCK + threadIdx.x;
    const uint32_t word =
        __ballot_sync(0xffffffffu, __float_as_uint(lane.label[slot].y) == ICS_NOBODY);
    if (threadIdx.x % 32 == 0) {
        lane.vacant[slot / 32] = word;
    }
    if (slot == 0 && lane.progress->next < lane.launch->end) {
        lane.progress->slots = lane.capacity;
    }
}

#if defined(__CUDACC__)
/* For profiles: the time since the last stamp goes to a stage. ns. */
ICS_KERNEL gpu_stamp(unsigned long long *clock, uint32_t stage)
{
    unsigned long long now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    if (clock[0]) {
        clock[1 + stage] += now - clock[0];
    }
    clock[0] = now;
}
#endif

#endif
