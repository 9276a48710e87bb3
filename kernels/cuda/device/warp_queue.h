/* New photons of a warp, in shared memory: made by all of its threads at once and taken from there
 * by those that have none, one or two at a time (a warp-level job queue). A thread
 * that made its own photon would keep 31 others waiting.
 *
 * What is in the queue at the end of a launch goes to slots behind those of the threads, and the
 * next launch takes it up from there.
 */
#ifndef ICS_KERNELS_CUDA_DEVICE_WARP_QUEUE_H
#define ICS_KERNELS_CUDA_DEVICE_WARP_QUEUE_H

#include "kernels/cuda/device/persistent.h"

#define ICS_WARPS (ICS_RUN_BLOCK / 32)

/* The queue of one warp, in shared memory: nothing of it takes a register while photons fly. A new
 * photon has no path and no scatters; what a thread would have to look up or to compute has their
 * places. */
typedef struct gpu_warp_queue {
    float4 places[32];  /* x, y, z, identity.event_low */
    float4 courses[32]; /* dx, dy, dz, absorption */
    float4 labels[32];  /* wavelength, emission, photon_id, identity.step_id */
    float4 optics[32];  /* scattering, dust, ice, identity.event_high */
    uint64_t first;     /* the number of entry 0's in a queue that counts photons */
    uint32_t count;     /* entries 0 .. count - 1 hold photons */
} gpu_warp_queue;
ICS_STATIC_ASSERT(sizeof(gpu_warp_queue) == ICS_WARP_QUEUE_BYTES,
                  "the host computes with this size");

/* Where the thread's part of the queue waits between launches. */
ICE_FN uint32_t gpu_queue_slot(void)
{
    return (gridDim.x + blockIdx.x) * ICS_RUN_BLOCK + threadIdx.x;
}

ICE_FN void gpu_queue_put(gpu_warp_queue *queue, uint32_t entry, const ics_lane_memory *lane,
                          const ice_tables *tables, const ice_photon *photon)
{
    const ice_identity identity = gpu_identity(lane, photon->emission, photon->photon_id);
    const ice_optics optics = ice_optics_at(tables, photon->wavelength);
    queue->places[entry] =
        make_float4(photon->x, photon->y, photon->z, __uint_as_float(identity.event_low));
    queue->courses[entry] = make_float4(photon->dx, photon->dy, photon->dz, photon->absorption);
    queue->labels[entry] =
        gpu_label(photon->wavelength, photon->emission, photon->photon_id, identity.step_id);
    queue->optics[entry] = make_float4(optics.scattering, optics.dust, optics.ice,
                                       __uint_as_float(identity.event_high));
}

ICE_FN ice_photon gpu_queue_photon(const gpu_warp_queue *queue, uint32_t entry)
{
    ice_photon photon =
        gpu_unpack(queue->places[entry], queue->courses[entry], queue->labels[entry]);
    photon.path = 0.0f;
    photon.scatters = 0;
    return photon;
}

/* The warp's queue among those of its block, as the launch before left it. All threads of the
 * block. */
ICE_FN gpu_warp_queue *gpu_queue_resume(const ics_lane_memory *lane, const ice_tables *tables,
                                        gpu_warp_queue *queues)
{
    const uint32_t slot = gpu_queue_slot(), entry = threadIdx.x % 32;
    gpu_warp_queue *queue = &queues[threadIdx.x / 32];
    const float4 label = lane->label[slot];
    const bool occupied = __float_as_uint(label.y) != ICS_NOBODY;
    const uint32_t entries = __ballot_sync(0xffffffffu, occupied);
    if (entry == 0) {
        queue->count = (uint32_t)__popc(entries);
    }
    if (occupied) {
        const ice_photon photon = gpu_unpack(lane->place[slot], lane->course[slot], label);
        gpu_queue_put(queue, entry, lane, tables, &photon);
    }
    gpu_leave_pool(lane, occupied); /* and all see the queue from here on */
    return queue;
}

/* Fills a queue that all threads of the warp have seen empty (and have met since) with the photons
 * of its first `count` threads. All threads of the warp. */
ICE_FN void gpu_queue_fill(gpu_warp_queue *queue, uint32_t count, const ics_lane_memory *lane,
                           const ice_tables *tables, const ice_photon *photon)
{
    const uint32_t entry = threadIdx.x % 32;
    if (entry < count) {
        gpu_queue_put(queue, entry, lane, tables, photon);
    }
    if (entry == 0) {
        queue->count = count;
    }
    __syncwarp();
}

/* Fills an empty queue with photons number `first` and on of a queue that counts photons. All
 * threads of the warp, which have met since they saw that it is empty. */
ICE_FN void gpu_queue_make(gpu_warp_queue *queue, uint64_t first, uint32_t count,
                           const ics_lane_memory *lane, const ice_tables *tables)
{
    ice_photon photon;
    if (threadIdx.x % 32 == 0) {
        queue->first = first; /* here, where it takes no register from the making of photons */
    }
    if (threadIdx.x % 32 < count) {
        photon = gpu_new_photon(lane, tables, first + threadIdx.x % 32);
    }
    gpu_queue_fill(queue, count, lane, tables, &photon);
}

/* Fills an empty queue from the step queue. Returns 0 if there are no photons left to make. All
 * threads of the warp. */
ICE_FN int gpu_queue_take(gpu_warp_queue *queue, const ics_lane_memory *lane,
                          const ice_tables *tables)
{
    uint64_t first;
    __syncwarp(); /* all have seen that the queue is empty */
    const uint32_t count = gpu_take(lane, 32, &first);
    gpu_queue_make(queue, first, count, lane, tables);
    return count > 0;
}

/* Photons for threads that have none, as far as they go. All threads of the warp. */
ICE_FN void gpu_queue_hand_out(gpu_warp_queue *queue, gpu_traveller *self)
{
    const uint32_t count = queue->count;
    const uint32_t idle = __ballot_sync(0xffffffffu, self->fate == ICS_IDLE);
    const uint32_t rank = (uint32_t)__popc(idle & ((1u << threadIdx.x % 32) - 1));
    const uint32_t taken = min((uint32_t)__popc(idle), count);
    if (self->fate == ICS_IDLE && rank < taken) {
        const uint32_t entry = count - 1 - rank;
        const float4 optics = queue->optics[entry];
        self->photon = gpu_queue_photon(queue, entry);
        self->optics.scattering = optics.x;
        self->optics.dust = optics.y;
        self->optics.ice = optics.z;
        self->identity.event_low = __float_as_uint(queue->places[entry].w);
        self->identity.event_high = __float_as_uint(optics.w);
        self->identity.step_id = __float_as_uint(queue->labels[entry].w);
        self->identity.photon_id = self->photon.photon_id;
        self->fate = ICE_ALIVE;
    }
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
        queue->count = count - taken;
    }
    __syncwarp();
}

/* The end of a launch: the queue to its slots. All threads of the block. */
ICE_FN void gpu_queue_leave(const gpu_warp_queue *queue, const ics_lane_memory *lane)
{
    const uint32_t slot = gpu_queue_slot(), entry = threadIdx.x % 32;
    const bool occupied = entry < queue->count;
    if (occupied) {
        const ice_photon photon = gpu_queue_photon(queue, entry);
        gpu_store_photon(lane, slot, &photon);
    } else {
        gpu_free_slot(lane, slot);
    }
    const int has = __syncthreads_count(occupied);
    if (threadIdx.x == 0) {
        gpu_pool_add(lane, (uint32_t)has, 0);
    }
}

#endif
