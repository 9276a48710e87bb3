/* The queue of a warp's new photons, in shared memory. All threads of the warp create photons at
 * once, and those without a photon take them from the queue, one or two at a time (a warp-level job
 * queue). A thread that created its own photon would keep 31 others waiting.
 *
 * At the end of a launch the photons in the queue are stored in slots behind those of the threads,
 * and the next launch loads them from there.
 */
#ifndef ICS_KERNELS_CUDA_DEVICE_WARP_QUEUE_H
#define ICS_KERNELS_CUDA_DEVICE_WARP_QUEUE_H

#include "kernels/cuda/device/persistent.h"

#define GPU_WARPS (GPU_SPECIAL_BLOCK / 32)

/* The queue of one warp, in shared memory, so that it takes no registers while photons are
 * propagated. A new photon has no path and no scatters; its words hold other numbers instead, which
 * a thread would have to look up or to compute. */
typedef struct gpu_warp_queue {
    float4 positions[32];  /* x, y, z, identity.event_low */
    float4 directions[32]; /* dx, dy, dz, absorption */
    float4 identities[32]; /* wavelength, emission, photon_id, identity.step_id */
    float4 optics[32];     /* scattering, dust, ice, identity.event_high */
    uint64_t first;        /* number of the photon in entry 0, in a queue that counts photons */
    uint32_t count;        /* entries 0 .. count - 1 hold photons */
} gpu_warp_queue;
ICS_STATIC_ASSERT(sizeof(gpu_warp_queue) == ICS_WARP_QUEUE_BYTES,
                  "the host computes with this size");

/* The slot that keeps the thread's entry of the queue between launches. */
ICE_FN uint32_t gpu_queue_slot(void)
{
    return (gridDim.x + blockIdx.x) * GPU_SPECIAL_BLOCK + threadIdx.x;
}

ICE_FN void gpu_queue_pack(gpu_warp_queue *queue, uint32_t entry, const ics_lane_memory *lane,
                           const ice_tables *tables, const ice_photon *photon)
{
    const ice_identity identity = gpu_identity(lane, photon->emission, photon->photon_id);
    const ice_optics optics = ice_optics_at(tables, photon->wavelength);
    queue->positions[entry] =
        make_float4(photon->x, photon->y, photon->z, __uint_as_float(identity.event_low));
    queue->directions[entry] = make_float4(photon->dx, photon->dy, photon->dz, photon->absorption);
    queue->identities[entry] = gpu_identity_pack(photon->wavelength, photon->emission,
                                                 photon->photon_id, identity.step_id);
    queue->optics[entry] = make_float4(optics.scattering, optics.dust, optics.ice,
                                       __uint_as_float(identity.event_high));
}

ICE_FN ice_active_photon gpu_queue_unpack(const gpu_warp_queue *queue, uint32_t entry)
{
    const gpu_photon_words words = {queue->positions[entry], queue->directions[entry],
                                    queue->identities[entry]};
    const float4 optics = queue->optics[entry];
    ice_active_photon active;
    active.photon = gpu_photon_unpack(words);
    active.photon.path = 0.0f;
    active.photon.scatters = 0;
    active.optics.scattering = optics.x;
    active.optics.dust = optics.y;
    active.optics.ice = optics.z;
    active.identity.event_low = __float_as_uint(words.position.w);
    active.identity.event_high = __float_as_uint(optics.w);
    active.identity.step_id = __float_as_uint(words.identity.w);
    active.identity.photon_id = active.photon.photon_id;
    active.fate = ICE_ALIVE;
    return active;
}

/* The queue of this warp among those of its block, with the photons that the launch before stored.
 * All threads of the block. */
ICE_FN gpu_warp_queue *gpu_queue_load(const ics_lane_memory *lane, const ice_tables *tables,
                                      gpu_warp_queue *queues)
{
    const uint32_t slot = gpu_queue_slot(), entry = threadIdx.x % 32;
    gpu_warp_queue *queue = &queues[threadIdx.x / 32];
    gpu_photon_words words;
    words.identity = lane->identity[slot];
    const bool occupied = !gpu_is_vacant(words.identity);
    const uint32_t entries = __ballot_sync(0xffffffffu, occupied);
    if (entry == 0) {
        queue->count = (uint32_t)__popc(entries);
    }
    if (occupied) {
        words.position = lane->position[slot];
        words.direction = lane->direction[slot];
        const ice_photon photon = gpu_photon_unpack(words);
        gpu_queue_pack(queue, entry, lane, tables, &photon);
    }
    gpu_uncount_slots(lane, occupied); /* after it all threads see the queue */
    return queue;
}

/* Fills an empty queue with the photons of the first `count` threads. All threads of the warp, and
 * all of them have seen that the queue is empty and have been synchronised since. */
ICE_FN void gpu_queue_fill(gpu_warp_queue *queue, uint32_t count, const ics_lane_memory *lane,
                           const ice_tables *tables, const ice_photon *photon)
{
    const uint32_t entry = threadIdx.x % 32;
    if (entry < count) {
        gpu_queue_pack(queue, entry, lane, tables, photon);
    }
    if (entry == 0) {
        queue->count = count;
    }
    __syncwarp();
}

/* Fills an empty queue with `count` new photons, of which `first` is the first number in a queue
 * that counts photons. All threads of the warp, synchronised as for gpu_queue_fill(). */
ICE_FN void gpu_queue_create(gpu_warp_queue *queue, uint64_t first, uint32_t count,
                             const ics_lane_memory *lane, const ice_tables *tables)
{
    ice_photon photon;
    if (threadIdx.x % 32 == 0) {
        queue->first = first; /* at this point it takes no register while photons are created */
    }
    if (threadIdx.x % 32 < count) {
        photon = gpu_new_photon(lane, tables, first + threadIdx.x % 32);
    }
    gpu_queue_fill(queue, count, lane, tables, &photon);
}

/* Fills an empty queue from the step queue. Returns 0 if no photons are left to create. All
 * threads of the warp. */
ICE_FN int gpu_queue_refill(gpu_warp_queue *queue, const ics_lane_memory *lane,
                            const ice_tables *tables)
{
    uint64_t first;
    __syncwarp(); /* all threads have seen that the queue is empty */
    const uint32_t count = gpu_reserve(lane, 32, &first);
    gpu_queue_create(queue, first, count, lane, tables);
    return count > 0;
}

/* Gives the photons of the queue to idle threads, as long as there are both. All threads of the
 * warp. */
ICE_FN void gpu_queue_assign(gpu_warp_queue *queue, ice_active_photon *active)
{
    const uint32_t count = queue->count;
    const uint32_t idle = __ballot_sync(0xffffffffu, active->fate == GPU_IDLE);
    const uint32_t rank = (uint32_t)__popc(idle & ((1u << threadIdx.x % 32) - 1));
    const uint32_t taken = min((uint32_t)__popc(idle), count);
    if (active->fate == GPU_IDLE && rank < taken) {
        *active = gpu_queue_unpack(queue, count - 1 - rank);
    }
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
        queue->count = count - taken;
    }
    __syncwarp();
}

/* At the end of a launch: stores the queue in its slots. All threads of the block. */
ICE_FN void gpu_queue_store(const gpu_warp_queue *queue, const ics_lane_memory *lane)
{
    const uint32_t slot = gpu_queue_slot(), entry = threadIdx.x % 32;
    const bool occupied = entry < queue->count;
    if (occupied) {
        const ice_photon photon = gpu_queue_unpack(queue, entry).photon;
        gpu_store_words(lane, slot, gpu_photon_pack(&photon, false));
    } else {
        gpu_free_slot(lane, slot);
    }
    const int has = __syncthreads_count(occupied);
    if (threadIdx.x == 0) {
        gpu_pool_add(lane, (uint32_t)has, 0);
    }
}

#endif
