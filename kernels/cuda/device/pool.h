/* create: puts new photons into the free slots of a pool of wavefront.
 *
 * A few per cent of the slots are free at a time, one or two of a warp. Each block therefore first
 * lists the free ones among its many slots, and then works through the list with full warps.
 */
#ifndef ICS_KERNELS_CUDA_DEVICE_POOL_H
#define ICS_KERNELS_CUDA_DEVICE_POOL_H

#include "kernels/cuda/device/run.h"
#include "kernels/cuda/device/stamp.h"
#include "kernels/cuda/device/wave_slots.h"

/* Whether the pool has segments and extracts: its photons have the words of wavefront. */
#define GPU_HAS_SEGMENTS ((GPU_SPECIAL_COLUMNS & ICS_COLUMN_SEGMENT) != 0)

/* Stores a photon that has had no bounce yet, and the begin of its random numbers. `wave`: the
 * index in the trip of its first wave. */
ICE_FN void gpu_store_new_photon(const ics_lane_memory *lane, uint32_t slot,
                                 const ice_photon *photon, ice_random random, uint32_t wave)
{
    if (GPU_HAS_SEGMENTS) {
        gpu_store_new_wave_photon(lane, slot, photon, random, wave);
        return;
    }
    gpu_store_words(lane, slot, gpu_photon_pack(photon, false));
    lane->random[slot] = random;
}

/* Slots for which a block of create is responsible. Each thread has at most one word of bits. The
 * slots of a word are those of a warp: without divergence they get copies of one photon. */
#define GPU_CREATE_SLOTS (ICS_CREATE_PER_THREAD * GPU_THREADS_CREATE)
ICS_STATIC_ASSERT(ICS_CREATE_PER_THREAD <= 32, "the threads of a block read all words of its bits");

/* Appends the slots whose bits are set in a word to a list in shared memory. */
ICE_FN void gpu_list_bits(uint32_t word, uint32_t first_slot, uint32_t *list, uint32_t *count)
{
    uint32_t entry = word ? atomicAdd(count, (uint32_t)__popc(word)) : 0;
    while (word) {
        list[entry++] = first_slot + (uint32_t)__ffs((int)word) - 1;
        word &= word - 1;
    }
}

ICS_KERNEL GPU_BOUNDS_CREATE gpu_create(const __grid_constant__ ice_tables given,
                                        const __grid_constant__ ics_lane_memory lane,
                                        const ics_chain chain)
{
    __shared__ uint32_t list[GPU_CREATE_SLOTS];
    __shared__ uint32_t count;
    __shared__ uint32_t granted;
    __shared__ uint64_t first;
    ics_launch_progress *progress = lane.progress;
    const uint64_t end = lane.launch->end;
    /* A thread looks after one word of bits, or none. It asks for the word before the barrier, so
     * that it waits for the memory only once. */
    const uint32_t slot = chain.first + blockIdx.x * GPU_CREATE_SLOTS + 32 * threadIdx.x;
    const bool has_word = 32 * threadIdx.x < GPU_CREATE_SLOTS && slot < chain.first + chain.slots;
    const uint32_t vacant = has_word ? lane.vacant[slot / 32] : 0;
    if (threadIdx.x == 0) {
        count = 0;
        granted = *(volatile uint64_t *)&progress->next < end;
    }
    __syncthreads();
    /* One thread reads this for the block, because other blocks change `next` meanwhile. */
    if (!granted) {
        return;
    }
    gpu_list_bits(vacant, slot, list, &count);
    __syncthreads();
    if (threadIdx.x == 0) {
        granted = 0;
        if (count) {
            first = atomicAdd((unsigned long long *)&progress->next, (unsigned long long)count);
            granted = first >= end ? 0 : end - first < count ? (uint32_t)(end - first) : count;
            gpu_pool_add(&lane, granted, 0);
            /* Numbers beyond the end are given back: the end of the next launch is higher. */
            if (granted < count) {
                atomicAdd((unsigned long long *)&progress->next,
                          ~(unsigned long long)(count - granted) + 1);
            }
        }
    }
    __syncthreads();
    const ice_tables tables = gpu_special_tables(&given);
    for (uint32_t i = threadIdx.x; i < granted; i += GPU_THREADS_CREATE) {
        const ice_photon photon = gpu_new_photon(&lane, &tables, first + i,
                                                 first + list[i] / 32 % (GPU_CREATE_SLOTS / 32));
        const ice_random random = gpu_new_random(&lane, &tables, &photon);
        gpu_store_new_photon(&lane, list[i], &photon, random, chain.wave);
        atomicAnd(&lane.vacant[list[i] / 32], ~(1u << list[i] % 32));
    }
}

/* Sets the bits of free slots and the extracts again after a compaction has moved photons. While
 * there are steps left, all slots count as in use. */
ICS_KERNEL __launch_bounds__(GPU_SPECIAL_BLOCK)
    gpu_mark_vacant(const __grid_constant__ ice_tables given,
                    const __grid_constant__ ics_lane_memory lane, const ics_chain chain)
{
    const uint32_t slot = chain.first + blockIdx.x * GPU_SPECIAL_BLOCK + threadIdx.x;
    const ics_word identity = lane.identity[slot];
    const uint32_t word = __ballot_sync(0xffffffffu, gpu_is_vacant(identity));
    if (GPU_HAS_SEGMENTS) {
        gpu_set_extract(&lane, slot, identity);
    }
    if (threadIdx.x % 32 == 0) {
        lane.vacant[slot / 32] = word;
    }
    if (slot == 0 && lane.progress->next < lane.launch->end) {
        lane.progress->slots = lane.capacity;
    }
}

#endif
