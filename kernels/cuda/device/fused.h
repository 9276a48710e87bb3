/* schedule: fused. A photon stays in registers for ICS_RUN_BOUNCES bounces of one visit; threads
 * whose photons end meanwhile take new ones from the warp's queue, as in monolithic. From then on
 * nothing new is made, and the visit ends with the queue: what is free in the pool after it, and
 * the whole pool at first, create fills.
 */
#include "kernels/cuda/device/pool.h"
#include "kernels/cuda/device/warp_queue.h"

/* Photons that the visit before could not hand out, because the hit buffer was full: they are made
 * again from their numbers. All threads of the warp. */
ICE_FN void gpu_take_leftover(gpu_warp_queue *queue, const ics_lane_memory *lane,
                              const ice_tables *tables, ics_leftover left)
{
    if (threadIdx.x % 32 == 0) {
        queue->count = 0;
    }
    __syncwarp();
    if (left.count == 0) {
        return;
    }
    gpu_queue_make(queue, left.first, left.count, lane, tables);
    if (threadIdx.x % 32 == 0) {
        gpu_pool_add(lane, 0u - left.count, 0);
    }
}

/* What is in the queue belongs to the pool, as numbers. All threads of the warp. */
ICE_FN void gpu_leave_leftover(const gpu_warp_queue *queue, const ics_lane_memory *lane,
                               ics_leftover *left)
{
    if (threadIdx.x % 32 == 0 && (queue->count || left->count)) {
        left->first = queue->first;
        left->count = queue->count;
        gpu_pool_add(lane, queue->count, 0);
    }
}

/* propagate, collide and scatter, several times over. */
ICS_KERNEL __launch_bounds__(ICS_RUN_BLOCK, ICS_RUN_BLOCKS)
    gpu_visit(const __grid_constant__ ice_tables given,
              const __grid_constant__ ics_lane_memory lane, const ics_chain chain)
{
    __shared__ uint32_t counts[ICS_BLOCK_COUNTS];
    __shared__ gpu_warp_queue queues[ICS_WARPS];
    const uint32_t slot = chain.first + blockIdx.x * ICS_RUN_BLOCK + threadIdx.x;
    const ics_leftover left = lane.leftovers[slot / 32];
    if (__syncthreads_count(slot < lane.progress->slots || left.count > 0) == 0) {
        return;
    }
    gpu_counts_clear(counts);
    const ice_tables tables = gpu_run_tables(&given);
    gpu_hit_sink sink = {lane.launch, lane.progress, counts};
    gpu_traveller self;
    gpu_leave_pool(&lane, gpu_resume(&lane, &tables, &self, slot));
    gpu_warp_queue *queue = &queues[threadIdx.x / 32];
    gpu_take_leftover(queue, &lane, &tables, left);
    /* As soon as so few threads of the warp fly, it looks for more photons; never again once there
     * are none, or no room for their hits. */
    int enough = 32 - ICS_RUN_REFILL;
    int bounces = ICS_RUN_BOUNCES; /* to come */
    for (;;) {
        if (bounces <= 0 && (enough < 0 || queue->count == 0)) {
            break;
        }
        const int flying = __popc(__ballot_sync(0xffffffffu, self.fate == ICE_ALIVE));
        if (flying <= enough) {
            gpu_settle(counts, &self);
            const bool full = __any_sync(0xffffffffu, self.fate == ICS_WAITS);
            if (full || (queue->count == 0 && !gpu_queue_take(queue, &lane, &tables))) {
                enough = -1;
            } else {
                gpu_queue_hand_out(queue, &self);
            }
            continue;
        }
        if (flying == 0) {
            break;
        }
        if (self.fate == ICE_ALIVE) {
            gpu_advance(&lane, &tables, &sink, &self, slot);
        }
        --bounces;
    }
    gpu_leave_leftover(queue, &lane, &lane.leftovers[slot / 32]);
    const int waits = self.fate == ICS_WAITS;
    const int after = gpu_leave(&lane, counts, &self, slot);
    const uint32_t vacant = __ballot_sync(0xffffffffu, !after);
    if (threadIdx.x % 32 == 0) {
        lane.vacant[slot / 32] = vacant;
    }
    /* Photons made of what was left behind the slots in use: now those are in use, too. */
    if (after && slot >= *(volatile uint32_t *)&lane.progress->slots) {
        atomicMax(&lane.progress->slots, slot / 32 * 32 + 32);
    }
    ics_report(&lane, counts, after, waits);
}
