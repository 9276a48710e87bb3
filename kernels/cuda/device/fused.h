/* schedule: fused. As wavefront, but a photon stays in registers for IS_RUN_BOUNCES bounces. */
#include "kernels/cuda/device/pool.h"

/* propagate, collide and scatter, several times over. */
extern "C" __global__ void __launch_bounds__(IS_RUN_BLOCK, IS_RUN_BLOCKS)
    is_visit(const __grid_constant__ ice_tables given, const __grid_constant__ is_lane_memory lane)
{
    __shared__ uint32_t counts[IS_BLOCK_COUNTS];
    const uint32_t slot = blockIdx.x * IS_RUN_BLOCK + threadIdx.x;
    if (blockIdx.x * IS_RUN_BLOCK >= lane.progress->slots)
        return;
    is_counts_clear(counts);
    const float4 label = lane.label[slot];
    bool ended = false, waits = false;
    if (__float_as_uint(label.y) != IS_NOBODY) {
        const ice_tables tables = is_run_tables(&given);
        const ice_variants variants = is_run_variants();
        is_hit_sink sink = {lane.launch, lane.progress, counts};
        ice_photon photon = is_unpack(lane.place[slot], lane.course[slot], label);
        uint32_t met = photon.scatters & IS_WAITING ? lane.met[slot] : 0;
        photon.scatters &= ~IS_WAITING;
        const ice_optics optics = ice_optics_at(&tables, photon.wavelength);
        const ice_identity identity = is_identity(&lane, photon.emission, photon.photon_id);
        uint32_t fate = ICE_ALIVE, hits = 0;
        for (int bounce = 0; bounce < IS_RUN_BOUNCES && fate == ICE_ALIVE && !waits; ++bounce) {
            waits = ice_bounce(&variants, &tables, identity, optics, &photon, &sink, &fate, &hits,
                               &met) < 0;
        }
        ended = fate != ICE_ALIVE;
        if (ended) {
            is_count_end(counts, photon.emission, fate, photon.scatters);
            is_free_slot(&lane, slot);
        } else {
            if (waits) {
                photon.scatters |= IS_WAITING;
                lane.met[slot] = met;
            }
            is_store_photon(&lane, slot, &photon);
        }
    }
    const int ends = __syncthreads_count(ended);
    const int waiting = __syncthreads_count(waits);
    if (threadIdx.x == 0) {
        if (ends)
            atomicSub(&lane.progress->alive, (uint32_t)ends);
        if (waiting)
            atomicAdd(&lane.progress->stalled, (uint32_t)waiting);
    }
    is_counts_add(counts, lane.progress);
}
