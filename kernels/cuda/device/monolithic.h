/* schedule: monolithic. Persistent warps; idle threads of a warp take new photons from the queue as
 * soon as IS_RUN_REFILL of them are idle. */
#include "kernels/cuda/device/persistent.h"

extern "C" __global__ void __launch_bounds__(IS_RUN_BLOCK, IS_RUN_BLOCKS)
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
    bool open = true; /* the queue may have more, and the hit buffer room */
    for (;;) {
        const uint32_t flying = __ballot_sync(0xffffffffu, self.state == IS_THREAD_FLIES);
        if (open && 32 - __popc(flying) >= (flying ? IS_RUN_REFILL : 1)) {
            is_settle(counts, &self);
            open = __all_sync(0xffffffffu, self.state != IS_THREAD_WAITS);
            if (open) {
                const uint32_t idle = ~flying;
                uint64_t first;
                const uint32_t wanted = (uint32_t)__popc(idle);
                const uint32_t granted = is_take(&lane, wanted, &first);
                const uint32_t rank = (uint32_t)__popc(idle & ((1u << threadIdx.x % 32) - 1));
                if (self.state == IS_THREAD_IDLE && rank < granted)
                    is_board(&lane, &tables, &self, is_new_photon(&lane, &tables, first + rank));
                open = granted == wanted;
            }
            if (!open && !lane.launch->drain &&
                __all_sync(0xffffffffu, self.state != IS_THREAD_WAITS))
                break; /* more steps are on their way: the living wait for them */
            continue;
        }
        if (!flying)
            break;
        if (self.state == IS_THREAD_FLIES)
            is_advance(&lane, &tables, &sink, &self, slot);
        __syncwarp();
    }
    const int waits = self.state == IS_THREAD_WAITS;
    const int after = is_leave(&lane, counts, &self, slot);
    is_report(&lane, counts, before, after, waits);
}
