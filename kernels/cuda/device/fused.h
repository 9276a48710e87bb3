/* schedule: fused. A photon stays in registers for GPU_SPECIAL_BOUNCES bounces of one visit. A
 * thread whose photon ends earlier gets a new one from the queue of its warp, as in monolithic.
 * After these bounces no photons are created any more, and the visit ends when the queue is empty.
 * The kernel create fills the slots that are free then, and the whole pool at the start.
 */
#include "kernels/cuda/device/pool.h"
#include "kernels/cuda/device/warp_queue.h"

/* Creates the photons again, from their numbers, that the visit before could not assign to threads
 * because the hit buffer was full. Returns how many they are. All threads of the warp. */
ICE_FN uint32_t gpu_load_leftover(gpu_warp_queue *queue, const ics_lane_memory *lane,
                                  const ice_tables *tables, ics_leftover left, uint32_t *counts)
{
    if (left.count == 0) {
        return 0;
    }
    gpu_queue_create(queue, left.first, left.count, lane, tables, counts);
    if (threadIdx.x % 32 == 0) {
        gpu_pool_add(lane, 0u - left.count, 0);
    }
    return left.count;
}

/* Counts what has ended in the queue, and stores the numbers of the `count` photons in it; they
 * count as photons of the pool. All threads of the warp. */
ICE_FN void gpu_store_leftover(gpu_warp_queue *queue, uint32_t count, const ics_lane_memory *lane,
                               const ice_tables *tables, ics_leftover *left, uint32_t *counts)
{
    __syncwarp(); /* all threads have taken their photons */
    if (threadIdx.x % 32 >= count) {
        gpu_queue_count_end(queue, threadIdx.x % 32, lane, tables, counts);
    }
    if (threadIdx.x % 32 == 0 && (count || left->count)) {
        left->first = queue->first;
        left->count = count;
        gpu_pool_add(lane, count, 0);
    }
}

/* propagate, collide and scatter, several times.
 * size: the loop has three ways to end, and all of them use the same variables in registers. */
ICS_KERNEL GPU_BOUNDS_VISIT gpu_visit(const __grid_constant__ ice_tables given,
                                      const __grid_constant__ ics_lane_memory lane,
                                      const ics_chain chain)
{
    __shared__ uint32_t counts[GPU_BLOCK_COUNTS];
    __shared__ gpu_warp_queue queues[GPU_THREADS_VISIT / 32];
    const uint32_t slot = chain.first + blockIdx.x * GPU_THREADS_VISIT + threadIdx.x;
    const ics_leftover left = lane.leftovers[slot / 32];
    if (__syncthreads_count(slot < lane.progress->slots || left.count > 0) == 0) {
        return;
    }
    gpu_counts_clear(counts);
    const ice_tables tables = gpu_special_tables(&given);
    gpu_hit_sink sink = {&lane, counts};
    ice_active_photon active;
    gpu_uncount_slots(&lane, gpu_load_slot(&lane, &tables, &active, slot));
    uint32_t queued;
    gpu_warp_queue *queue = gpu_queue_begin(queues, &queued);
    queued = gpu_load_leftover(queue, &lane, &tables, left, counts);
    /* The warp looks for more photons when at most this number of its threads have one. It becomes
     * negative once there are no more photons, or no room for hits. */
    int enough = 32 - GPU_SPECIAL_REFILL;
    int bounces = GPU_SPECIAL_BOUNCES; /* left in this visit */
    for (;;) {
        if (bounces <= 0 && (enough < 0 || queued == 0)) {
            break;
        }
        const uint32_t flying = __ballot_sync(0xffffffffu, active.fate == ICE_ALIVE);
        if (__popc(flying) <= enough) {
            const bool full = __any_sync(0xffffffffu, active.fate == GPU_WAITS);
            if (!full && queued == 0) {
                queued = gpu_queue_refill(queue, &lane, &tables, counts);
            }
            if (full || queued == 0) {
                enough = -1;
            } else {
                /* No photon waits, so a thread whose photon does not fly has none. */
                queued = gpu_queue_assign(queue, &tables, queued, active.fate != ICE_ALIVE, ~flying,
                                          &active);
            }
            continue;
        }
        if (flying == 0) {
            break;
        }
        if (active.fate == ICE_ALIVE) {
            /* Found here, these take no registers from one bounce to the next, of which this kernel
             * has none left. */
            active.site = ice_site_of(&tables, active.photon.x, active.photon.y, active.photon.z);
            active.optics.clearest = ice_clearest_cost(&tables, active.optics);
            gpu_bounce(&lane, &tables, &sink, &active, slot);
        }
        --bounces;
    }
    gpu_store_leftover(queue, queued, &lane, &tables, &lane.leftovers[slot / 32], counts);
    const int waits = active.fate == GPU_WAITS;
    const int after = gpu_store_slot(&lane, &tables, counts, &active, slot);
    const uint32_t vacant = __ballot_sync(0xffffffffu, !after);
    if (threadIdx.x % 32 == 0) {
        lane.vacant[slot / 32] = vacant;
    }
    /* A photon created from a leftover may be behind the slots in use: then its slot is in use too.
     */
    if (after && slot >= *(volatile uint32_t *)&lane.progress->slots) {
        atomicMax(&lane.progress->slots, slot / 32 * 32 + 32);
    }
    gpu_count_slots(&lane, counts, after, waits);
}
