/* schedule: monolithic. Warps are persistent. When GPU_SPECIAL_REFILL threads of a warp are idle,
 * they get new photons from the queue of the warp, which the warp fills from the step queue. */
#include "kernels/cuda/device/warp_queue.h"

ICS_KERNEL GPU_BOUNDS_MONOLITHIC gpu_monolithic(const __grid_constant__ ice_tables given,
                                                const __grid_constant__ ics_lane_memory lane)
{
    __shared__ uint32_t counts[GPU_BLOCK_COUNTS];
    __shared__ gpu_warp_queue queues[GPU_WARPS];
    const ice_tables tables = gpu_special_tables(&given);
    gpu_hit_sink sink = {&lane, counts};
    ice_active_photon active;
    const uint32_t slot = gpu_begin_launch(&lane, &tables, counts, &active);
    uint32_t queued;
    gpu_warp_queue *queue = gpu_queue_load(&lane, &tables, queues, &queued);
    bool open = true; /* there may be more photons, and room for their hits */
    for (;;) {
        /* The ballot is no variable: with one, the compiler does not bring the threads of a warp
         * together after collide, and the flasher takes a third more time. */
        do {
            if (active.fate == ICE_ALIVE) {
                gpu_bounce(&lane, &tables, &sink, &active, slot);
            }
        } while ((uint32_t)__popc(__ballot_sync(0xffffffffu, active.fate == ICE_ALIVE)) >
                 32 - GPU_SPECIAL_REFILL);
        if (!open) {
            if (!__any_sync(0xffffffffu, active.fate == ICE_ALIVE)) {
                break;
            }
            continue;
        }
        const bool full = __any_sync(0xffffffffu, active.fate == GPU_WAITS);
        if (!full && queued == 0) {
            queued = gpu_queue_refill(queue, &lane, &tables, counts);
        }
        if (!full && queued > 0) {
            /* No photon waits, so a thread whose photon does not fly has none. */
            const bool is_idle = active.fate != ICE_ALIVE;
            queued = gpu_queue_assign(queue, &tables, queued, is_idle,
                                      __ballot_sync(0xffffffffu, is_idle), &active);
            continue;
        }
        open = false;
        if (!lane.launch->drain) {
            break; /* more steps are on their way: the photons stay in the pool until then */
        }
    }
    gpu_queue_store(queue, queued, &lane, &tables, counts);
    gpu_end_launch(&lane, &tables, counts, &active, slot);
}
