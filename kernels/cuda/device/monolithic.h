/* schedule: monolithic. Warps are persistent. When ICS_RUN_REFILL threads of a warp are idle, they
 * get new photons from the queue of the warp, which the warp fills from the step queue. */
#include "kernels/cuda/device/warp_queue.h"

ICS_KERNEL __launch_bounds__(ICS_RUN_BLOCK, ICS_RUN_BLOCKS)
    gpu_monolithic(const __grid_constant__ ice_tables given,
                   const __grid_constant__ ics_lane_memory lane)
{
    __shared__ uint32_t counts[GPU_BLOCK_COUNTS];
    __shared__ gpu_warp_queue queues[GPU_WARPS];
    gpu_counts_clear(counts);
    const uint32_t slot = blockIdx.x * ICS_RUN_BLOCK + threadIdx.x;
    const ice_tables tables = gpu_run_tables(&given);
    gpu_hit_sink sink = {lane.launch, lane.progress, counts};
    ice_active_photon active;
    gpu_uncount_slots(&lane, gpu_load_slot(&lane, &tables, &active, slot));
    gpu_warp_queue *queue = gpu_queue_load(&lane, &tables, queues);
    /* The warp looks for more photons, or ends, when at most this number of its threads have one.
     */
    uint32_t enough = 32 - ICS_RUN_REFILL;
    bool open = true; /* there may be more photons, and room for their hits */
    for (;;) {
        const uint32_t flying = __ballot_sync(0xffffffffu, active.fate == ICE_ALIVE);
        if ((uint32_t)__popc(flying) <= enough) {
            if (!open) {
                break;
            }
            gpu_finish_photon(counts, &active);
            const bool full = __any_sync(0xffffffffu, active.fate == GPU_WAITS);
            if (full || (queue->count == 0 && !gpu_queue_refill(queue, &lane, &tables))) {
                open = false;
                enough = 0;
                if (!lane.launch->drain) {
                    break; /* more steps are on their way: the photons stay in the pool until then
                            */
                }
            } else {
                gpu_queue_assign(queue, &active);
            }
            continue;
        }
        if (active.fate == ICE_ALIVE) {
            gpu_bounce(&lane, &tables, &sink, &active, slot);
        }
    }
    gpu_queue_store(queue, &lane);
    const int waits = active.fate == GPU_WAITS;
    const int after = gpu_store_slot(&lane, counts, &active, slot);
    gpu_count_slots(&lane, counts, after, waits);
}
