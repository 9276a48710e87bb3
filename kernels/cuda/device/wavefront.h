/* schedule: wavefront. A kernel for each stage; photons wait in the pool between them.
 *
 * Slot and thread coincide. A bounce leaves its segment in the pool for the next stages: length,
 * absorption left, angle, azimuth. What else they need to know hides in values that these cannot
 * have: a negative length, the photon was dropped; a negative angle, the segment leaves the world;
 * an azimuth of 2 + fate, collide ended the photon (2 + ICE_ALIVE: it waits for a place in the hit
 * buffer, and its bounce is to be done again).
 */
#include "kernels/cuda/device/pool.h"

/* propagate: the segment's end. Segments that may meet a module go to the collide queue. */
extern "C" __global__ void __launch_bounds__(IS_RUN_BLOCK, IS_RUN_BLOCKS)
    is_propagate(const __grid_constant__ ice_tables given,
                 const __grid_constant__ is_lane_memory lane)
{
    const uint32_t slot = blockIdx.x * IS_RUN_BLOCK + threadIdx.x;
    if (blockIdx.x * IS_RUN_BLOCK >= lane.progress->slots)
        return;
    bool collides = false;
    const float4 label = lane.label[slot];
    if (__float_as_uint(label.y) != IS_NOBODY) {
        const ice_tables tables = is_run_tables(&given);
        ice_photon photon = is_unpack(lane.place[slot], lane.course[slot], label);
        photon.scatters &= ~IS_WAITING;
        const ice_optics optics = ice_optics_at(&tables, photon.wavelength);
        const ice_identity identity = is_identity(&lane, photon.emission, photon.photon_id);
        ice_leg leg;
        float4 segment = make_float4(-1.0f, 0.0f, 1.0f, 0.0f);
        if (ice_fly(IS_RUN_PROPAGATE, &tables, identity, optics, &photon, &leg)) {
            segment = make_float4(leg.length, leg.absorption,
                                  leg.leaves_world ? -leg.angle : leg.angle, leg.azimuth);
            collides = leg.may_collide;
        }
        lane.segment[slot] = segment;
    }
    const uint32_t those = __ballot_sync(0xffffffffu, collides);
    if (those) {
        uint32_t place = 0;
        if (threadIdx.x % 32 == 0)
            place = atomicAdd(&lane.progress->queue, (uint32_t)__popc(those));
        place = __shfl_sync(0xffffffffu, place, 0);
        if (collides)
            lane.collide[place + (uint32_t)__popc(those & ((1u << threadIdx.x % 32) - 1))] = slot;
    }
}

/* collide: the queue of segments that may meet a module, a few per cent of all. */
extern "C" __global__ void __launch_bounds__(IS_RUN_BLOCK, IS_RUN_BLOCKS)
    is_collide(const __grid_constant__ ice_tables given,
               const __grid_constant__ is_lane_memory lane)
{
    __shared__ uint32_t counts[IS_BLOCK_COUNTS];
    const uint32_t entries = lane.progress->queue;
    if (blockIdx.x * IS_RUN_BLOCK >= entries)
        return;
    is_counts_clear(counts);
    const ice_tables tables = is_run_tables(&given);
    is_hit_sink sink = {lane.launch, lane.progress, counts};
    for (uint32_t entry = blockIdx.x * IS_RUN_BLOCK + threadIdx.x; entry < entries;
         entry += gridDim.x * IS_RUN_BLOCK) {
        const uint32_t slot = lane.collide[entry];
        ice_photon photon = is_unpack(lane.place[slot], lane.course[slot], lane.label[slot]);
        uint32_t met = photon.scatters & IS_WAITING ? lane.met[slot] : 0;
        photon.scatters &= ~IS_WAITING;
        uint32_t fate = ICE_ALIVE;
        if (ice_meet_on(IS_RUN_COLLIDE, &tables, lane.segment[slot].x, &photon, &sink, &fate,
                        &met) < 0) {
            lane.met[slot] = met;
            lane.segment[slot].w = 2.0f + (float)ICE_ALIVE;
        } else if (fate != ICE_ALIVE) {
            lane.segment[slot].w = 2.0f + (float)fate;
        }
    }
    is_counts_add(counts, lane.progress);
}

/* scatter: to the segment's end, and on in a new direction; or the photon has come to its end. */
extern "C" __global__ void __launch_bounds__(IS_RUN_BLOCK, IS_RUN_BLOCKS)
    is_scatter(const __grid_constant__ ice_tables given,
               const __grid_constant__ is_lane_memory lane)
{
    __shared__ uint32_t counts[IS_BLOCK_COUNTS];
    const uint32_t slot = blockIdx.x * IS_RUN_BLOCK + threadIdx.x;
    if (slot == 0)
        lane.progress->queue = 0; /* collide is through with it */
    if (blockIdx.x * IS_RUN_BLOCK >= lane.progress->slots)
        return;
    is_counts_clear(counts);
    float4 label = lane.label[slot];
    bool ended = false, waits = false;
    if (__float_as_uint(label.y) != IS_NOBODY) {
        const float4 segment = lane.segment[slot];
        const uint32_t scatters = __float_as_uint(label.w) & ~IS_WAITING;
        waits = segment.w == 2.0f + (float)ICE_ALIVE;
        if (waits) {
            label.w = __uint_as_float(scatters | IS_WAITING);
            lane.label[slot] = label;
        } else {
            const ice_tables tables = is_run_tables(&given);
            ice_photon photon = is_unpack(lane.place[slot], lane.course[slot], label);
            photon.scatters = scatters;
            uint32_t fate = segment.w >= 2.0f ? (uint32_t)(segment.w - 2.0f) : (uint32_t)ICE_ALIVE;
            if (segment.x < 0.0f) {
                fate = ICE_LEFT;
            } else {
                const ice_leg leg = {segment.x, segment.y,        fabsf(segment.z),
                                     segment.w, segment.z < 0.0f, 0};
                ice_turn(IS_RUN_SCATTER, &tables, &leg, &photon, &fate);
            }
            ended = fate != ICE_ALIVE;
            if (ended) {
                is_count_end(counts, photon.emission, fate, photon.scatters);
                is_free_slot(&lane, slot);
            } else {
                is_store_photon(&lane, slot, &photon);
            }
        }
    }
    const int ends = __syncthreads_count(ended);
    const int waiting = __syncthreads_count(waits);
    if (ends == 0 && waiting == 0)
        return; /* for all threads of the block: nothing to add */
    if (threadIdx.x == 0) {
        if (ends)
            atomicSub(&lane.progress->alive, (uint32_t)ends);
        if (waiting)
            atomicAdd(&lane.progress->stalled, (uint32_t)waiting);
    }
    is_counts_add(counts, lane.progress);
}
