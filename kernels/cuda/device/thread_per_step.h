/* schedule: thread-per-step, the mapping of the first GPU codes. A thread creates and propagates
 * all photons of its step, one after the other, and waits for the slowest thread of its warp before
 * it gets another step. */
#include "kernels/cuda/device/persistent.h"

/* Returns the step of which a photon is created for a step of the thread: that step. Without
 * divergence (run.h) it is the step of the warp's first thread, or the first one of the batch if
 * the batch begins in another thread. The steps of a warp follow each other. */
ICE_FN uint32_t gpu_model_step(uint32_t step)
{
#if defined(GPU_WITHOUT_DIVERGENCE)
    return step - min(threadIdx.x % 32, step & ((1u << GPU_SPECIAL_START_SHIFT) - 1));
#else
    return step;
#endif
}

/* size: one loop, whose parts share the step and the photon of the thread. */
ICS_KERNEL GPU_BOUNDS_THREAD_PER_STEP gpu_thread_per_step(
    const __grid_constant__ ice_tables given, const __grid_constant__ ics_lane_memory lane)
{
    __shared__ uint32_t counts[GPU_BLOCK_COUNTS];
    const ice_tables tables = gpu_special_tables(&given);
    gpu_hit_sink sink = {&lane, counts};
    ice_active_photon active;
    const uint32_t slot = gpu_begin_launch(&lane, &tables, counts, &active);
    uint32_t step = lane.cursors[2 * slot], made = lane.cursors[2 * slot + 1];
    for (;;) {
        gpu_finish_photon(&lane, &tables, counts, &active);
        if (active.fate == GPU_IDLE && step != ICS_NOBODY) {
            const ice_emission *emission = &lane.emissions[step];
            if (made < emission->photons) {
                ICE_CLOCK(CREATE);
                const uint32_t model = gpu_model_step(step);
                const ice_emission *of = &lane.emissions[model];
                const ice_photon photon =
                    ice_create(GPU_SPECIAL_CREATE, &tables, of, model, of->first_photon + made);
                active = ice_activate(&tables, gpu_new_random(&lane, &tables, &photon), photon);
                ++made;
                ICE_CLOCK(OTHER);
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
                step = (batch << GPU_SPECIAL_START_SHIFT) +
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
    gpu_end_launch(&lane, &tables, counts, &active, slot);
}
