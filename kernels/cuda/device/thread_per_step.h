/* schedule: thread-per-step, the mapping of the first GPU codes. A thread creates and propagates
 * all photons of its step, one after the other, and waits for the slowest thread of its warp before
 * it gets another step. */
#include "kernels/cuda/device/persistent.h"

/* size: one loop, whose parts share the step and the photon of the thread. */
ICS_KERNEL __launch_bounds__(ICS_RUN_BLOCK, ICS_RUN_BLOCKS)
    gpu_thread_per_step(const __grid_constant__ ice_tables given,
                        const __grid_constant__ ics_lane_memory lane)
{
    __shared__ uint32_t counts[GPU_BLOCK_COUNTS];
    gpu_counts_clear(counts);
    const uint32_t slot = blockIdx.x * ICS_RUN_BLOCK + threadIdx.x;
    const ice_tables tables = gpu_run_tables(&given);
    gpu_hit_sink sink = {lane.launch, lane.progress, counts};
    ice_active_photon active;
    gpu_uncount_slots(&lane, gpu_load_slot(&lane, &tables, &active, slot));
    uint32_t step = lane.cursors[2 * slot], made = lane.cursors[2 * slot + 1];
    for (;;) {
        gpu_finish_photon(counts, &active);
        if (active.fate == GPU_IDLE && step != ICS_NOBODY) {
            const ice_emission *emission = &lane.emissions[step];
            if (made < emission->photons) {
                gpu_activate(&lane, &tables, &active,
                             ice_create(ICS_RUN_CREATE, &tables, emission, step,
                                        emission->first_photon + made));
                ++made;
            } else {
                step = ICS_NOBODY;
            }
        }
        if (!__any_sync(0xffffffffu, active.fate == ICE_ALIVE)) {
            if (__any_sync(0xffffffffu, active.fate == GPU_WAITS)) {
                break;
            }
            uint64_t first;
            const uint32_t granted = gpu_reserve(&lane, 32, &first);
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
        if (active.fate == ICE_ALIVE) {
            gpu_bounce(&lane, &tables, &sink, &active, slot);
        }
    }
    lane.cursors[2 * slot] = step;
    lane.cursors[2 * slot + 1] = made;
    const int waits = active.fate == GPU_WAITS;
    const int after = gpu_store_slot(&lane, counts, &active, slot);
    gpu_count_slots(&lane, counts, after, waits);
}
