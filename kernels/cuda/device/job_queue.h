/* schedule: job-queue. One warp per step: its photons are made 32 at a time by the whole warp, wait
 * in its queue, and are taken from there by threads that have none. The warp goes on to the next
 * step when the last photon of one is made. */
#include "kernels/cuda/device/warp_queue.h"

/* The step that a warp is at. */
typedef struct is_step_cursor {
    uint32_t step; /* IS_NOBODY: none */
    uint32_t made; /* photons of it */
} is_step_cursor;

/* Goes on to a step that has photons left to make. Returns 0 if there is none. All threads of the
 * warp. */
ICE_FN int is_next_step(const is_lane_memory *lane, is_step_cursor *at)
{
    while (at->step == IS_NOBODY || at->made == lane->emissions[at->step].photons) {
        uint64_t number;
        if (is_take(lane, 1, &number) == 0) {
            at->step = IS_NOBODY;
            return 0;
        }
        const uint32_t batch = is_find_batch(lane->launch, number);
        at->step =
            (batch << IS_RUN_START_SHIFT) + (uint32_t)(number - lane->launch->batches[batch].first);
        at->made = 0;
    }
    return 1;
}

/* Fills an empty queue from one step. Returns 0 if there are no steps left. */
ICE_FN int is_make_photons(is_warp_queue *queue, const is_lane_memory *lane,
                           const ice_tables *tables, is_step_cursor *at)
{
    __syncwarp(); /* all have seen that the queue is empty */
    if (!is_next_step(lane, at))
        return 0;
    const ice_emission *emission = &lane->emissions[at->step];
    const uint32_t count = min(emission->photons - at->made, 32u);
    ice_photon photon;
    if (threadIdx.x % 32 < count)
        photon = ice_create(IS_RUN_CREATE, tables, emission, at->step,
                            emission->first_photon + at->made + threadIdx.x % 32);
    is_queue_fill(queue, count, lane, tables, &photon);
    at->made += count;
    return 1;
}

IS_KERNEL __launch_bounds__(IS_RUN_BLOCK, IS_RUN_BLOCKS)
    is_job_queue(const __grid_constant__ ice_tables given,
                 const __grid_constant__ is_lane_memory lane)
{
    __shared__ uint32_t counts[IS_BLOCK_COUNTS];
    __shared__ is_warp_queue queues[IS_WARPS];
    is_counts_clear(counts);
    const uint32_t slot = blockIdx.x * IS_RUN_BLOCK + threadIdx.x;
    uint32_t *cursor = &lane.cursors[2 * (slot - threadIdx.x % 32)];
    const ice_tables tables = is_run_tables(&given);
    is_hit_sink sink = {lane.launch, lane.progress, counts};
    is_traveller self;
    is_leave_pool(&lane, is_resume(&lane, &tables, &self, slot));
    is_warp_queue *queue = is_queue_resume(&lane, &tables, queues);
    is_step_cursor at = {cursor[0], cursor[1]};
    bool open = true; /* there may be more steps */
    for (;;) {
        is_settle(counts, &self);
        if (__any_sync(0xffffffffu, self.fate == IS_IDLE)) {
            if (queue->count == 0 && open)
                open = is_make_photons(queue, &lane, &tables, &at);
            if (queue->count)
                is_queue_hand_out(queue, &self);
        }
        if (!__any_sync(0xffffffffu, self.fate == ICE_ALIVE))
            break;
        if (self.fate == ICE_ALIVE)
            is_advance(&lane, &tables, &sink, &self, slot);
    }
    __syncwarp(); /* all have read the cursor */
    if (threadIdx.x % 32 == 0) {
        cursor[0] = at.step;
        cursor[1] = at.made;
    }
    is_queue_leave(queue, &lane);
    const int waits = self.fate == IS_WAITS;
    const int after = is_leave(&lane, counts, &self, slot);
    is_report(&lane, counts, after, waits);
}
