/* schedule: monolithic. Persistent warps; idle threads of a warp take new photons from the warp's
 * queue as soon as IS_RUN_REFILL of them are idle, and the warp fills that from the step queue. */
#include "kernels/cuda/device/warp_queue.h"

IS_KERNEL __launch_bounds__(IS_RUN_BLOCK, IS_RUN_BLOCKS)
    is_monolithic(const __grid_constant__ ice_tables given,
                  const __grid_constant__ is_lane_memory lane)
{
    __shared__ uint32_t counts[IS_BLOCK_COUNTS];
    __shared__ is_warp_queue queues[IS_WARPS];
    is_counts_clear(counts);
    const uint32_t slot = blockIdx.x * IS_RUN_BLOCK + threadIdx.x;
    const ice_tables tables = is_run_tables(&given);
    is_hit_sink sink = {lane.launch, lane.progress, counts};
    is_traveller self;
    is_leave_pool(&lane, is_resume(&lane, &tables, &self, slot));
    is_warp_queue *queue = is_queue_resume(&lane, &tables, queues);
    /* As soon as so few threads of the warp fly, it looks for more photons, or ends. */
    uint32_t enough = 32 - IS_RUN_REFILL;
    bool open = true; /* there may be more, and there may be room for their hits */
    for (;;) {
        const uint32_t flying = __ballot_sync(0xffffffffu, self.fate == ICE_ALIVE);
        if ((uint32_t)__popc(flying) <= enough) {
            if (!open)
                break;
            is_settle(counts, &self);
            const bool full = __any_sync(0xffffffffu, self.fate == IS_WAITS);
            if (full || (queue->count == 0 && !is_queue_take(queue, &lane, &tables))) {
                open = false;
                enough = 0;
                if (!lane.launch->drain)
                    break; /* more steps are on their way: the living wait for them */
            } else {
                is_queue_hand_out(queue, &self);
            }
            continue;
        }
        if (self.fate == ICE_ALIVE)
            is_advance(&lane, &tables, &sink, &self, slot);
    }
    is_queue_leave(queue, &lane);
    const int waits = self.fate == IS_WAITS;
    const int after = is_leave(&lane, counts, &self, slot);
    is_report(&lane, counts, after, waits);
}
