/* schedule: thread-per-step. The original mapping: a thread makes and carries all photons of its
 * step, one after the other, and waits for the slowest of its warp before it gets another. */
#include "kernels/cuda/device/persistent.h"

ICS_KERNEL __launch_bounds__(ICS_RUN_BLOCK, ICS_RUN_BLOCKS)
    gpu_thread_per_step(const __grid_constant__ ice_tables given,
                        const __grid_constant__ ics_lane_memory lane)
{
    __shared__ uint32_t counts[ICS_BLOCK_COUNTS];
    gpu_counts_clear(counts);
    const uint32_t slot = blockIdx.x * ICS_RUN_BLOCK + threadIdx.x;
    const ice_tables tables = gpu_run_tables(&given);
    gpu_hit_sink sink = {lane.launch, lane.progress, counts};
    gpu_traveller self;
    gpu_leave_pool(&lane, gpu_resume(&lane, &tables, &self, slot));
    uint32_t step = lane.cursors[2 * slot], made = lane.cursors[2 * slot + 1];
    for (;;) {
        gpu_settle(counts, &self);
        if (self.fate == ICS_IDLE && step != ICS_NOBODY) {
            const ice_emission *emission = &lane.emissions[step];
            if (made < emission->photons) {
                gpu_board(&lane, &tables, &self,
                          ice_create(ICS_RUN_CREATE, &tables, emission, step,
                                     emission->first_photon + made));
                ++made;
            } else {
                step = ICS_NOBODY;
            }
        }
        if (!__any_sync(0xffffffffu, self.fate == ICE_ALIVE)) {
            if (__any_sync(0xffffffffu, self.fate == ICS_WAITS)) {
                break;
            }
            uint64_t first;
            const uint32_t granted = gpu_take(&lane, 32, &first);
            if (granted == 0) {
                break;
            }
            if (threadIdx.x % 32 < granted) {
                const uint64_t number = first + threadIdx.x % 32;
                const uint32_t batch = gpu_find_batch(lane.launch, number);
                step = (batch << ICS_RUN_START_SHIFT) +
                       (uint32_t)(number - lane.launch->batches[batch].first);
                made = 0;
            }
        }
        if (self.fate == ICE_ALIVE) {
            gpu_advance(&lane, &tables, &sink, &self, slot);
        }
    }
    lane.cursors[2 * slot] = step;
    lane.cursors[2 * slot + 1] = made;
    const int waits = self.fate == ICS_WAITS;
    const int after = gpu_leave(&lane, counts, &self, slot);
    ics_report(&lane, counts, after, waits);
}
