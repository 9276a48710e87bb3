/* schedule: thread-per-step. The original mapping: a thread makes and carries all photons of its
 * step, one after the other, and waits for the slowest of its warp before it gets another. */
#include "kernels/cuda/device/persistent.h"

IS_KERNEL __launch_bounds__(IS_RUN_BLOCK, IS_RUN_BLOCKS)
    is_thread_per_step(const __grid_constant__ ice_tables given,
                       const __grid_constant__ is_lane_memory lane)
{
    __shared__ uint32_t counts[IS_BLOCK_COUNTS];
    is_counts_clear(counts);
    const uint32_t slot = blockIdx.x * IS_RUN_BLOCK + threadIdx.x;
    const ice_tables tables = is_run_tables(&given);
    is_hit_sink sink = {lane.launch, lane.progress, counts};
    is_traveller self;
    is_leave_pool(&lane, is_resume(&lane, &tables, &self, slot));
    uint32_t step = lane.cursors[2 * slot], made = lane.cursors[2 * slot + 1];
    for (;;) {
        is_settle(counts, &self);
        if (self.fate == IS_IDLE && step != IS_NOBODY) {
            const ice_emission *emission = &lane.emissions[step];
            if (made < emission->photons) {
                is_board(&lane, &tables, &self,
                         ice_create(IS_RUN_CREATE, &tables, emission, step,
                                    emission->first_photon + made));
                ++made;
            } else {
                step = IS_NOBODY;
            }
        }
        if (!__any_sync(0xffffffffu, self.fate == ICE_ALIVE)) {
            if (__any_sync(0xffffffffu, self.fate == IS_WAITS))
                break;
            uint64_t first;
            const uint32_t granted = is_take(&lane, 32, &first);
            if (granted == 0)
                break;
            if (threadIdx.x % 32 < granted) {
                const uint64_t number = first + threadIdx.x % 32;
                const uint32_t batch = is_find_batch(lane.launch, number);
                step = (batch << IS_RUN_START_SHIFT) +
                       (uint32_t)(number - lane.launch->batches[batch].first);
                made = 0;
            }
        }
        if (self.fate == ICE_ALIVE)
            is_advance(&lane, &tables, &sink, &self, slot);
    }
    lane.cursors[2 * slot] = step;
    lane.cursors[2 * slot + 1] = made;
    const int waits = self.fate == IS_WAITS;
    const int after = is_leave(&lane, counts, &self, slot);
    is_report(&lane, counts, after, waits);
}
