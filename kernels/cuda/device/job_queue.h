/* schedule: job-queue. One warp per step: its photons are made 32 at a time by the whole warp, wait
 * in a queue in shared memory, and are taken from there by threads that have none (the pattern of
 * the seed, section 4.6). The warp goes on to the next step when the last photon of one is made. */
#include "kernels/cuda/device/persistent.h"

#define IS_WARPS (IS_RUN_BLOCK / 32)

IS_KERNEL __launch_bounds__(IS_RUN_BLOCK, IS_RUN_BLOCKS)
    is_job_queue(const __grid_constant__ ice_tables given,
                 const __grid_constant__ is_lane_memory lane)
{
    __shared__ uint32_t counts[IS_BLOCK_COUNTS];
    __shared__ float4 places[IS_WARPS][32], courses[IS_WARPS][32], labels[IS_WARPS][32];
    is_counts_clear(counts);
    const uint32_t slot = blockIdx.x * IS_RUN_BLOCK + threadIdx.x;
    /* What is in the queue at the end of a launch goes to slots behind those of the threads. */
    const uint32_t queue_slot = gridDim.x * IS_RUN_BLOCK + slot;
    const uint32_t warp = threadIdx.x / 32, rank_of_thread = threadIdx.x % 32;
    const ice_tables tables = is_run_tables(&given);
    is_hit_sink sink = {lane.launch, lane.progress, counts};
    is_traveller self;
    const int before = is_resume(&lane, &tables, &self, slot);

    /* The queue as the launch before left it: entries 0 .. queued - 1. */
    labels[warp][rank_of_thread] = lane.label[queue_slot];
    places[warp][rank_of_thread] = lane.place[queue_slot];
    courses[warp][rank_of_thread] = lane.course[queue_slot];
    uint32_t queued = (uint32_t)__popc(
        __ballot_sync(0xffffffffu, __float_as_uint(labels[warp][rank_of_thread].y) != IS_NOBODY));
    const int queued_before = rank_of_thread < queued;
    uint32_t step = lane.cursors[2 * (slot - rank_of_thread)];
    uint32_t made = lane.cursors[2 * (slot - rank_of_thread) + 1];
    bool open = true; /* there may be more steps */
    for (;;) {
        is_settle(counts, &self);
        const uint32_t idle = __ballot_sync(0xffffffffu, self.fate == IS_IDLE);
        if (idle && queued == 0 && open) {
            while (open && (step == IS_NOBODY || made == lane.emissions[step].photons)) {
                uint64_t first;
                open = is_take(&lane, 1, &first) == 1;
                if (open) {
                    const uint32_t batch = is_find_batch(lane.launch, first);
                    step = (batch << IS_RUN_START_SHIFT) +
                           (uint32_t)(first - lane.launch->batches[batch].first);
                    made = 0;
                } else {
                    step = IS_NOBODY;
                }
            }
            if (open) {
                const ice_emission *emission = &lane.emissions[step];
                queued = min(emission->photons - made, 32u);
                if (rank_of_thread < queued) {
                    const ice_photon photon =
                        ice_create(IS_RUN_CREATE, &tables, emission, step,
                                   emission->first_photon + made + rank_of_thread);
                    places[warp][rank_of_thread] =
                        make_float4(photon.x, photon.y, photon.z, photon.path);
                    courses[warp][rank_of_thread] =
                        make_float4(photon.dx, photon.dy, photon.dz, photon.absorption);
                    labels[warp][rank_of_thread] = is_label(photon.wavelength, photon.emission,
                                                            photon.photon_id, photon.scatters);
                }
                made += queued;
                __syncwarp();
            }
        }
        if (idle && queued) {
            const uint32_t rank = (uint32_t)__popc(idle & ((1u << rank_of_thread) - 1));
            const uint32_t taken = min((uint32_t)__popc(idle), queued);
            if (self.fate == IS_IDLE && rank < taken) {
                const uint32_t entry = queued - 1 - rank;
                is_board(&lane, &tables, &self,
                         is_unpack(places[warp][entry], courses[warp][entry], labels[warp][entry]));
            }
            queued -= taken;
            __syncwarp();
        }
        const bool flies = self.fate == ICE_ALIVE;
        if (!__any_sync(0xffffffffu, flies))
            break;
        if (flies)
            is_advance(&tables, &sink, &self);
        __syncwarp();
    }
    if (rank_of_thread == 0) {
        lane.cursors[2 * slot] = step;
        lane.cursors[2 * slot + 1] = made;
    }
    const int queued_after = rank_of_thread < queued;
    if (queued_after) {
        lane.place[queue_slot] = places[warp][rank_of_thread];
        lane.course[queue_slot] = courses[warp][rank_of_thread];
        lane.label[queue_slot] = labels[warp][rank_of_thread];
    } else {
        is_free_slot(&lane, queue_slot);
    }
    const int waits = self.fate == IS_WAITS;
    const int after = is_leave(&lane, counts, &self, slot) + queued_after;
    /* Threads and queue together hold at most twice as many photons as there are threads. */
    is_report(&lane, counts, before, after > queued_after, waits);
    const int had = __syncthreads_count(queued_before);
    const int has = __syncthreads_count(queued_after);
    if (threadIdx.x == 0)
        is_pool_add(&lane, (uint32_t)(has - had), 0);
}
