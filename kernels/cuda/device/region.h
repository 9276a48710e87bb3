/* The regions of a pool of event-wavefront. A region is GPU_REGION_SLOTS slots that belong to one
 * warp of every kernel, and each of its slots has a byte that says which kernel its photon needs
 * next. So a region is the queues between the kernels: a warp puts a photon into a queue when it
 * stores the photon in a free slot of its region with the byte of that kernel, and a warp of that
 * kernel finds its photons when it reads the bytes of the region. No kernel counts the entries of a
 * queue, and no warp waits for another one.
 */
#ifndef ICS_KERNELS_CUDA_DEVICE_REGION_H
#define ICS_KERNELS_CUDA_DEVICE_REGION_H

#include "kernels/cuda/device/persistent.h"

#define GPU_REGION_SLOTS ICS_REGION_SLOTS
ICS_STATIC_ASSERT(GPU_REGION_SLOTS <= 256, "an entry of a list is a byte");

/* The kernel that the photon in a slot needs next. */
enum {
    GPU_NEEDS_FLY,
    GPU_NEEDS_COLLIDE,
    GPU_NEEDS_COLUMN,
    GPU_NEEDS_NOTHING = 0xff /* the slot is free, as in a new pool */
};

/* A list of slots of a region, in shared memory: their indices in the region. */
typedef struct gpu_region_list {
    uint8_t slots[GPU_REGION_SLOTS];
} gpu_region_list;

/* The first slot of the region of this warp. `threads`: of a block. */
ICE_FN uint32_t gpu_region_first(ics_chain chain, uint32_t threads)
{
    const uint32_t warp = blockIdx.x * (threads / 32) + threadIdx.x / 32;
    return chain.first + warp * GPU_REGION_SLOTS;
}

ICE_FN uint32_t gpu_need_of_slot(const ics_lane_memory *lane, uint32_t slot)
{
    return ((const uint8_t *)lane->needs)[slot];
}

ICE_FN void gpu_set_need(const ics_lane_memory *lane, uint32_t slot, uint32_t need)
{
    ((uint8_t *)lane->needs)[slot] = (uint8_t)need;
}

/* Lists the slots of a region that have a need, or that do not have it (`has` false), from the
 * front of the list or from its back. Returns their number. All threads of the warp, which the
 * caller synchronises before it reads the list. */
ICE_FN uint32_t gpu_list_region(const ics_lane_memory *lane, uint32_t first, uint32_t need,
                                bool has, bool at_front, gpu_region_list *list)
{
    uint32_t count = 0;
    for (uint32_t begin = 0; begin < GPU_REGION_SLOTS; begin += 32) {
        const uint32_t slot = begin + threadIdx.x % 32;
        const bool listed = (gpu_need_of_slot(lane, first + slot) == need) == has;
        const uint32_t all = __ballot_sync(0xffffffffu, listed);
        if (listed) {
            const uint32_t entry = count + (uint32_t)__popc(all & gpu_threads_before());
            list->slots[at_front ? entry : GPU_REGION_SLOTS - 1 - entry] = (uint8_t)slot;
        }
        count += (uint32_t)__popc(all);
    }
    return count;
}

/* The room that a warp of fly needs before it creates photons: for 32 new ones, and for those in
 * its registers. */
#define GPU_ROOM_TO_CREATE 64u

/* Whether a kernel works on its `listed` photons of a region now: when they fill a warp, or when no
 * photon is left to create. A region without room for new photons always has such a list, or fly
 * has one. All threads of the warp. */
ICE_FN bool gpu_is_due(const ics_lane_memory *lane, uint32_t listed)
{
    const bool ends = *(volatile uint64_t *)&lane->progress->next >= lane->launch->end;
    return listed >= 32 || (__any_sync(0xffffffffu, ends) && listed > 0);
}

/* Stores a photon that lives in a slot, and what it needs. */
ICE_FN void gpu_put_in_region(const ics_lane_memory *lane, uint32_t slot,
                              const ice_active_photon *active, uint32_t need)
{
    gpu_store_words(lane, slot, gpu_photon_pack(&active->photon, active->fate == GPU_WAITS));
    lane->random[slot] = active->random;
    gpu_set_need(lane, slot, need);
}

#endif
