/* schedule: monolithic. Persistent warps; idle threads of a warp take new photons from the queue as
 * soon as IS_RUN_REFILL of them are idle. */
#include "kernels/cuda/device/persistent.h"

IS_KERNEL __launch_bounds__(IS_RUN_BLOCK, IS_RUN_BLOCKS)
    is_monolithic(const __grid_constant__ ice_tables given,
                  const __grid_constant__ is_lane_memory lane)
{
    __shared__ uint32_t counts[IS_BLOCK_COUNTS];
    is_counts_clear(counts);
    const uint32_t slot = blockIdx.x * IS_RUN_BLOCK + threadIdx.x;
    const ice_tables tables = is_run_tables(&given);
    is_hit_sink sink = {lane.launch, lane.progress, counts};
    is_traveller self;
    const int before = is_resume(&lane, &tables, &self, slot);
    /* As soon as so few threads of the warp fly, it looks for more photons; 0: there are none, or
     * the hit buffer is full. */
    uint32_t enough = 32 - IS_RUN_REFILL;
    for (;;) {
        const uint32_t flying = __ballot_sync(0xffffffffu, self.fate == ICE_ALIVE);
        if ((uint32_t)__popc(flying) <= enough) {
            if (enough == 0)
                break;
            enough = is_refill(&lane, &tables, counts, &self, flying) ? enough : 0;
            if (enough == 0 && !lane.launch->drain)
                break; /* more steps are on their way: the living wait for them */
            continue;
        }
        if (self.fate == ICE_ALIVE)
            is_advance(&tables, &sink, &self);
        __syncwarp();
    }
    const int waits = self.fate == IS_WAITS;
    const int after = is_leave(&lane, counts, &self, slot);
    is_report(&lane, counts, before, after, waits);
}
