/* schedule: job-queue. One warp per step. The whole warp creates photons, 32 at a time, in its
 * queue, and threads without a photon get one from there. When the last photon of a step is
 * created, the warp continues with the next step. */
#include "kernels/cuda/device/warp_queue.h"

/* The step whose photons a warp creates. */
typedef struct gpu_step_cursor {
    uint32_t step; /* ICS_NOBODY: none */
    uint32_t made; /* photons of it that are created */
} gpu_step_cursor;

/* Finds a step that has photons left to create, if the present one has none. Returns 0 if there is
 * none. All threads of the warp. */
ICE_FN int gpu_next_step(const ics_lane_memory *lane, gpu_step_cursor *at)
{
    while (at->step == ICS_NOBODY || at->made == lane->emissions[at->step].photons) {
        uint64_t number;
        if (gpu_reserve(lane, 1, &number) == 0) {
            at->step = ICS_NOBODY;
            return 0;
        }
        const uint32_t batch = gpu_find_batch(lane->launch, number);
        at->step = (batch << GPU_SPECIAL_START_SHIFT) +
                   (uint32_t)(number - lane->launch->batches[batch].first);
        at->made = 0;
    }
    return 1;
}

#if defined(GPU_WITHOUT_DIVERGENCE)
/* As gpu_queue_fill_from_step() below, without divergence (run.h): with copies of one photon, from
 * as many steps as 32 of them take, because copies that start later would not stay together with
 * the others. */
ICE_FN uint32_t gpu_queue_fill_from_step(gpu_warp_queue *queue, const ics_lane_memory *lane,
                                         const ice_tables *tables, gpu_step_cursor *at,
                                         uint32_t *counts)
{
    uint32_t count = 0, own = ICS_NOBODY, model = ICS_NOBODY, number = 0;
    ice_photon photon;
    __syncwarp(); /* all have seen that the queue is empty */
    while (count < 32 && gpu_next_step(lane, at)) {
        const ice_emission *emission = &lane->emissions[at->step];
        const uint32_t part = min(emission->photons - at->made, 32 - count);
        if (model == ICS_NOBODY) {
            model = at->step;
            number = emission->first_photon + at->made;
        }
        own = threadIdx.x % 32 - count < part ? at->step : own;
        at->made += part;
        count += part;
    }
    ICE_CLOCK(CREATE);
    if (threadIdx.x % 32 < count) {
        const uint32_t of = gpu_batch_of(own) == gpu_batch_of(model) ? model : own;
        photon = ice_create(GPU_SPECIAL_CREATE, tables, &lane->emissions[of], of, number);
    }
    gpu_queue_fill(queue, count, lane, tables, &photon, counts);
    ICE_CLOCK(OTHER);
    return count;
}
#else
/* Fills an empty queue from one step. Returns the number of photons in it; 0: there are no steps
 * left. */
ICE_FN uint32_t gpu_queue_fill_from_step(gpu_warp_queue *queue, const ics_lane_memory *lane,
                                         const ice_tables *tables, gpu_step_cursor *at,
                                         uint32_t *counts)
{
    __syncwarp(); /* all have seen that the queue is empty */
    if (!gpu_next_step(lane, at)) {
        return 0;
    }
    const ice_emission *emission = &lane->emissions[at->step];
    const uint32_t count = min(emission->photons - at->made, 32u);
    ice_photon photon;
    ICE_CLOCK(CREATE);
    if (threadIdx.x % 32 < count) {
        photon = ice_create(GPU_SPECIAL_CREATE, tables, emission, at->step,
                            emission->first_photon + at->made + threadIdx.x % 32);
    }
    gpu_queue_fill(queue, count, lane, tables, &photon, counts);
    ICE_CLOCK(OTHER);
    at->made += count;
    return count;
}
#endif

ICS_KERNEL GPU_BOUNDS_JOB_QUEUE gpu_job_queue(const __grid_constant__ ice_tables given,
                                              const __grid_constant__ ics_lane_memory lane)
{
    __shared__ uint32_t counts[GPU_BLOCK_COUNTS];
    __shared__ gpu_warp_queue queues[GPU_WARPS];
    const ice_tables tables = gpu_special_tables(&given);
    gpu_hit_sink sink = {&lane, counts};
    ice_active_photon active;
    const uint32_t slot = gpu_begin_launch(&lane, &tables, counts, &active);
    uint32_t *cursor = &lane.cursors[2 * (slot - threadIdx.x % 32)];
    uint32_t queued;
    gpu_warp_queue *queue = gpu_queue_load(&lane, &tables, queues, &queued);
    gpu_step_cursor at = {cursor[0], cursor[1]};
    bool open = true; /* there may be more steps */
    for (;;) {
        const bool is_idle = !gpu_has_photon(&active);
        const uint32_t idle = __ballot_sync(0xffffffffu, is_idle);
        if (idle) {
            if (queued == 0 && open) {
                queued = gpu_queue_fill_from_step(queue, &lane, &tables, &at, counts);
                open = queued > 0;
            }
            if (queued) {
                queued = gpu_queue_assign(queue, &tables, queued, is_idle, idle, &active);
            }
        }
        if (!__any_sync(0xffffffffu, active.fate == ICE_ALIVE)) {
            break;
        }
        if (active.fate == ICE_ALIVE) {
            gpu_bounce(&lane, &tables, &sink, &active, slot);
        }
    }
    __syncwarp(); /* all have read the cursor */
    if (threadIdx.x % 32 == 0) {
        cursor[0] = at.step;
        cursor[1] = at.made;
    }
    gpu_queue_store(queue, queued, &lane, &tables, counts);
    gpu_end_launch(&lane, &tables, counts, &active, slot);
}
