/* schedule: fused. A photon stays in registers for IS_RUN_BOUNCES bounces of one visit; threads
 * whose photons end meanwhile take new ones as in monolithic, at last all that have none, so that a
 * visit leaves nothing to do for create, which fills what is free otherwise: the whole pool, at
 * first. */
#include "kernels/cuda/device/persistent.h"
#include "kernels/cuda/device/pool.h"

/* New photons for the idle threads of a warp, of which `flying` are not; all of its threads.
 * Returns 0 if there are none left, or if a photon waits for a place in the hit buffer: then it is
 * time to end. */
ICE_FN int is_refill(const is_lane_memory *lane, const ice_tables *tables, uint32_t *counts,
                     is_traveller *self, uint32_t flying)
{
    is_settle(counts, self);
    if (__any_sync(0xffffffffu, self->fate == IS_WAITS))
        return 0;
    uint64_t first;
    const uint32_t wanted = 32 - (uint32_t)__popc(flying);
    const uint32_t granted = is_take(lane, wanted, &first);
    const uint32_t rank = (uint32_t)__popc(~flying & ((1u << threadIdx.x % 32) - 1));
    if (self->fate == IS_IDLE && rank < granted)
        is_board(lane, tables, self, is_new_photon(lane, tables, first + rank));
    return granted == wanted;
}

/* propagate, collide and scatter, several times over. */
IS_KERNEL __launch_bounds__(IS_RUN_BLOCK, IS_RUN_BLOCKS)
    is_visit(const __grid_constant__ ice_tables given, const __grid_constant__ is_lane_memory lane,
             const is_chain chain)
{
    __shared__ uint32_t counts[IS_BLOCK_COUNTS];
    const uint32_t slot = chain.first + blockIdx.x * IS_RUN_BLOCK + threadIdx.x;
    if (slot - threadIdx.x >= lane.progress->slots)
        return;
    is_counts_clear(counts);
    const ice_tables tables = is_run_tables(&given);
    is_hit_sink sink = {lane.launch, lane.progress, counts};
    is_traveller self;
    is_leave_pool(&lane, is_resume(&lane, &tables, &self, slot));
    /* As soon as so few threads of the warp fly, it looks for more photons, or ends. */
    uint32_t enough = 32 - IS_RUN_REFILL;
    bool open = true; /* there may be more, and there may be room for their hits */
    for (int bounce = 0; bounce < IS_RUN_BOUNCES; ++bounce) {
        const uint32_t flying = __ballot_sync(0xffffffffu, self.fate == ICE_ALIVE);
        if (bounce == IS_RUN_BOUNCES - 1 && open)
            enough = 31;
        if ((uint32_t)__popc(flying) <= enough) {
            if (!open)
                break;
            open = is_refill(&lane, &tables, counts, &self, flying);
            enough = open ? enough : 0;
        }
        if (self.fate == ICE_ALIVE)
            is_advance(&lane, &tables, &sink, &self, slot);
    }
    const int waits = self.fate == IS_WAITS;
    const int after = is_leave(&lane, counts, &self, slot);
    const uint32_t vacant = __ballot_sync(0xffffffffu, !after);
    if (threadIdx.x % 32 == 0)
        lane.vacant[slot / 32] = vacant;
    is_report(&lane, counts, after, waits);
}
