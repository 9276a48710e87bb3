/* What the schedules share in which a thread keeps photon after photon in registers: monolithic,
 * job-queue, thread-per-step, and fly of event-wavefront.
 *
 * A thread owns the slot with its number. If the kernel ends before the photon of a thread does,
 * the thread stores the photon in this slot, and the next launch loads it from there. No photon is
 * lost if the hit buffer is full, or if the steps are used up while more are on their way.
 */
#ifndef ICS_KERNELS_CUDA_DEVICE_PERSISTENT_H
#define ICS_KERNELS_CUDA_DEVICE_PERSISTENT_H

#include "kernels/cuda/device/run.h"
#include "kernels/cuda/device/segment_words.h"

/* Loads the photon that the launch before stored in the thread's slot. Returns 1 if there is one;
 * otherwise the thread is idle. */
ICE_FN int gpu_load_slot(const ics_lane_memory *lane, const ice_tables *tables,
                         ice_active_photon *active, uint32_t slot)
{
    gpu_photon_words words;
    words.identity = lane->identity[slot];
    active->fate = GPU_IDLE;
    if (gpu_is_vacant(words.identity)) {
        return 0;
    }
    words.position = lane->position[slot];
    words.direction = lane->direction[slot];
    *active = ice_activate(tables, lane->random[slot], gpu_photon_unpack(words));
    return 1;
}

/* One bounce of the thread's photon, which is ICE_ALIVE. The number of hits of its segment that are
 * recorded already stays in the slot: only the few photons that reach a module need it. */
ICE_FN void gpu_bounce(const ics_lane_memory *lane, const ice_tables *tables, gpu_hit_sink *sink,
                       ice_active_photon *active, uint32_t slot)
{
    const ice_variants variants = gpu_special_variants();
    uint32_t hits = 0; /* not used: gpu_put_hit counts them */
    if (ice_bounce_photon(&variants, tables, active, sink, &hits, &lane->recorded[slot]) < 0) {
        active->fate = GPU_WAITS;
    }
    ICE_CLOCK(OTHER);
}

/* Whether the thread has a photon that flies or waits. */
ICE_FN bool gpu_has_photon(const ice_active_photon *active)
{
    return active->fate == ICE_ALIVE || active->fate == GPU_WAITS;
}

/* If the thread's photon has ended, counts it; the thread is idle then. */
ICE_FN void gpu_finish_photon(const ics_lane_memory *lane, const ice_tables *tables,
                              uint32_t *counts, ice_active_photon *active)
{
    if (active->fate != ICE_ALIVE && active->fate < GPU_IDLE) {
        gpu_count_end(counts, lane, tables, active->photon.emission, active->fate,
                      gpu_end_of(&active->photon));
        active->fate = GPU_IDLE;
    }
}

/* At the end of a launch: stores the thread's photon in its slot, or frees the slot. Returns 1 if
 * there is a photon. */
ICE_FN int gpu_store_slot(const ics_lane_memory *lane, const ice_tables *tables, uint32_t *counts,
                          ice_active_photon *active, uint32_t slot)
{
    gpu_finish_photon(lane, tables, counts, active);
    if (active->fate == GPU_IDLE) {
        gpu_free_slot(lane, slot);
        return 0;
    }
    /* A photon that waited before and had no bounce in this launch waits as well. */
    const bool waits = active->fate == GPU_WAITS || lane->recorded[slot] > 0;
    gpu_store_words(lane, slot, gpu_photon_pack(&active->photon, waits));
    lane->random[slot] = active->random;
    return 1;
}

/* Reserves up to `wanted` numbers of the step queue for a warp. Returns how many it got; *first is
 * the first of them. All threads of the warp. */
ICE_FN uint32_t gpu_reserve(const ics_lane_memory *lane, uint32_t wanted, uint64_t *first)
{
    const uint64_t end = lane->launch->end;
    uint32_t granted = 0;
    uint64_t begin = 0;
    if (threadIdx.x % 32 == 0) {
        unsigned long long *next = (unsigned long long *)&lane->progress->next;
        begin = atomicAdd(next, (unsigned long long)wanted);
        granted = begin >= end ? 0 : end - begin < wanted ? (uint32_t)(end - begin) : wanted;
        /* Numbers beyond the end are given back: the end of the next launch is higher. */
        if (granted < wanted) {
            atomicAdd(next, ~(unsigned long long)(wanted - granted) + 1);
        }
    }
    *first = __shfl_sync(0xffffffffu, begin, 0);
    return __shfl_sync(0xffffffffu, granted, 0);
}

/* At the start of a launch: subtracts the photons in the slots of the block from those of the pool,
 * so that nothing has to be remembered until gpu_count_slots() adds them again. All threads of the
 * block. */
ICE_FN void gpu_uncount_slots(const ics_lane_memory *lane, int occupied)
{
    const int had = __syncthreads_count(occupied);
    if (threadIdx.x == 0) {
        gpu_pool_add(lane, 0u - (uint32_t)had, 0);
    }
}

/* At the end of a launch: adds the photons that the slots of the block hold to those of the pool,
 * also the number of those that wait, and the counts of the block to those of the lane. All threads
 * of the block. */
ICE_FN void gpu_count_slots(const ics_lane_memory *lane, const uint32_t *counts, int occupied,
                            int waits)
{
    const int has = __syncthreads_count(occupied);
    const int waiting = __syncthreads_count(waits);
    if (threadIdx.x == 0) {
        gpu_pool_add(lane, (uint32_t)has, (uint32_t)waiting);
    }
    gpu_counts_add(counts, lane);
}

/* The begin of a launch: loads the photons that the launch before stored. Returns the slot of the
 * thread. `counts`: [GPU_BLOCK_COUNTS], shared memory, cleared here. All threads of the block. */
ICE_FN uint32_t gpu_begin_launch(const ics_lane_memory *lane, const ice_tables *tables,
                                 uint32_t *counts, ice_active_photon *active)
{
    GPU_CLOCK_BEGIN();
    gpu_counts_clear(counts);
    const uint32_t slot = blockIdx.x * GPU_SPECIAL_BLOCK + threadIdx.x;
    gpu_uncount_slots(lane, gpu_load_slot(lane, tables, active, slot));
    return slot;
}

/* The end of a launch: stores the photons, and adds what the block counted. All threads of the
 * block. */
ICE_FN void gpu_end_launch(const ics_lane_memory *lane, const ice_tables *tables, uint32_t *counts,
                           ice_active_photon *active, uint32_t slot)
{
    const int waits = active->fate == GPU_WAITS;
    const int after = gpu_store_slot(lane, tables, counts, active, slot);
    gpu_count_slots(lane, counts, after, waits);
    GPU_CLOCK_END();
}

#endif
