/* The queue of a warp's new photons, in shared memory. All threads of the warp create photons at
 * once, and those without a photon take them from the queue, one or two at a time (a warp-level job
 * queue). A thread that created its own photon would keep 31 others waiting.
 *
 * A thread that takes an entry leaves there how its photon before ended. These ends are counted
 * when the queue is empty, by full warps as well.
 *
 * At the end of a launch the photons in the queue are stored in slots behind those of the threads,
 * and the next launch loads them from there.
 */
#ifndef ICS_KERNELS_CUDA_DEVICE_WARP_QUEUE_H
#define ICS_KERNELS_CUDA_DEVICE_WARP_QUEUE_H

#include "kernels/cuda/device/persistent.h"

#define GPU_WARPS (GPU_SPECIAL_BLOCK / 32)

/* The queue of one warp, in shared memory, so that it takes no registers while photons are
 * propagated. Its entries 0 .. count - 1 hold photons; the number `count` is a variable of all
 * threads, which spares them to read it and to wait for each other. A new photon has no path and no
 * scatters. An entry without a photon has what gpu_queue_count_end() counts of the one that ended:
 * where GPU_COUNTS_WAYS, x is its path and `wavelength` its wavelength. Words of the same kind
 * stand together, because a thread then loads each word into the register that needs it; words of
 * 16 bytes would be moved to other registers afterwards. */
typedef struct gpu_warp_queue {
    float x[32], y[32], z[32];
    float dx[32], dy[32], dz[32];
    float absorption[32], wavelength[32];
    float scattering[32], dust[32], ice[32]; /* the optics of the wavelength */
    /* the site of the position */
    float height[32];
    float axis_x[32], axis_y[32], others[32];
    uint32_t random_low[32], random_high[32];
    uint32_t emissions[32];  /* emission of the photon, or of the one that ended */
    uint32_t photon_ids[32]; /* photon_id of the photon, or the scatters of the one that ended */
    uint32_t ended[32]; /* ice_fate of a photon that ended; GPU_IDLE: there is nothing to count */
    uint64_t first;     /* number of the photon in entry 0, in a queue that counts photons */
} gpu_warp_queue;
ICS_STATIC_ASSERT(sizeof(gpu_warp_queue) == ICS_WARP_QUEUE_BYTES,
                  "the host computes with this size");

/* The slot that keeps the thread's entry of the queue between launches. */
ICE_FN uint32_t gpu_queue_slot(void)
{
    return (gridDim.x + blockIdx.x) * GPU_SPECIAL_BLOCK + threadIdx.x;
}

/* ---- one entry ------------------------------------------------------------------------------- */

ICE_FN void gpu_queue_pack(gpu_warp_queue *queue, uint32_t entry, const ice_tables *tables,
                           ice_random random, const ice_photon *photon)
{
    const ice_optics optics = ice_optics_at(tables, photon->wavelength);
    const ice_site site = ice_site_of(tables, photon->x, photon->y, photon->z);
    queue->x[entry] = photon->x;
    queue->y[entry] = photon->y;
    queue->z[entry] = photon->z;
    queue->dx[entry] = photon->dx;
    queue->dy[entry] = photon->dy;
    queue->dz[entry] = photon->dz;
    queue->absorption[entry] = photon->absorption;
    queue->wavelength[entry] = photon->wavelength;
    queue->scattering[entry] = optics.scattering;
    queue->dust[entry] = optics.dust;
    queue->ice[entry] = optics.ice;
    queue->height[entry] = site.height;
    queue->axis_x[entry] = site.near.axis_x;
    queue->axis_y[entry] = site.near.axis_y;
    queue->others[entry] = site.near.others;
    queue->random_low[entry] = (uint32_t)random.state;
    queue->random_high[entry] = (uint32_t)(random.state >> 32);
    queue->emissions[entry] = photon->emission;
    queue->photon_ids[entry] = photon->photon_id;
}

ICE_FN ice_active_photon gpu_queue_unpack(const gpu_warp_queue *queue, const ice_tables *tables,
                                          uint32_t entry)
{
    ice_active_photon active;
    active.photon.x = queue->x[entry];
    active.photon.y = queue->y[entry];
    active.photon.z = queue->z[entry];
    active.photon.path = 0.0f;
    active.photon.dx = queue->dx[entry];
    active.photon.dy = queue->dy[entry];
    active.photon.dz = queue->dz[entry];
    active.photon.absorption = queue->absorption[entry];
    active.photon.wavelength = queue->wavelength[entry];
    active.photon.emission = queue->emissions[entry];
    active.photon.photon_id = queue->photon_ids[entry];
    active.photon.scatters = 0;
    active.optics.scattering = queue->scattering[entry];
    active.optics.dust = queue->dust[entry];
    active.optics.ice = queue->ice[entry];
    active.optics.clearest = ice_clearest_cost(tables, active.optics);
    active.random.state = (uint64_t)queue->random_high[entry] << 32 | queue->random_low[entry];
    active.fate = ICE_ALIVE;
    active.site.height = queue->height[entry];
    active.site.near.axis_x = queue->axis_x[entry];
    active.site.near.axis_y = queue->axis_y[entry];
    active.site.near.others = queue->others[entry];
    return active;
}

/* Takes the photon of an entry, in place of the thread's photon, which has ended or never was. */
ICE_FN void gpu_queue_swap(gpu_warp_queue *queue, const ice_tables *tables, uint32_t entry,
                           ice_active_photon *active)
{
    const uint32_t emission = queue->emissions[entry], photon_id = queue->photon_ids[entry];
    queue->emissions[entry] = active->photon.emission;
    queue->photon_ids[entry] = active->photon.scatters;
    queue->ended[entry] = active->fate;
    const ice_photon_end end = gpu_end_of(&active->photon);
    *active = gpu_queue_unpack(queue, tables, entry);
    active->photon.emission = emission;
    active->photon.photon_id = photon_id;
    if (GPU_COUNTS_WAYS) {
        queue->x[entry] = end.path;
        queue->wavelength[entry] = end.wavelength;
    }
}

/* Counts the photon that has ended in an entry without a photon, if there is one. */
ICE_FN void gpu_queue_count_end(gpu_warp_queue *queue, uint32_t entry, const ics_lane_memory *lane,
                                const ice_tables *tables, uint32_t *counts)
{
    const uint32_t fate = queue->ended[entry];
    if (fate != GPU_IDLE) {
        ice_photon_end end = {queue->photon_ids[entry], 0.0f, 0.0f};
        if (GPU_COUNTS_WAYS) {
            end.path = queue->x[entry];
            end.wavelength = queue->wavelength[entry];
        }
        gpu_count_end(counts, lane, tables, queue->emissions[entry], fate, end);
        queue->ended[entry] = GPU_IDLE;
    }
}

/* ---- the queue ------------------------------------------------------------------------------- */

/* The queue of this warp among those of its block. *count becomes 0. All threads of the block. */
ICE_FN gpu_warp_queue *gpu_queue_begin(gpu_warp_queue *queues, uint32_t *count)
{
    gpu_warp_queue *queue = &queues[threadIdx.x / 32];
    queue->ended[threadIdx.x % 32] = GPU_IDLE;
    *count = 0;
    return queue;
}

/* The same with the photons that the launch before stored; *count is their number. All threads of
 * the block. */
ICE_FN gpu_warp_queue *gpu_queue_load(const ics_lane_memory *lane, const ice_tables *tables,
                                      gpu_warp_queue *queues, uint32_t *count)
{
    const uint32_t slot = gpu_queue_slot();
    gpu_warp_queue *queue = gpu_queue_begin(queues, count);
    gpu_photon_words words;
    words.identity = lane->identity[slot];
    const bool occupied = !gpu_is_vacant(words.identity);
    *count = (uint32_t)__popc(__ballot_sync(0xffffffffu, occupied));
    if (occupied) {
        words.position = lane->position[slot];
        words.direction = lane->direction[slot];
        const ice_photon photon = gpu_photon_unpack(words);
        gpu_queue_pack(queue, threadIdx.x % 32, tables, lane->random[slot], &photon);
    }
    gpu_uncount_slots(lane, occupied); /* after it all threads see the queue */
    return queue;
}

/* Fills an empty queue with the photons of the first `count` threads, and counts what has ended in
 * its entries. All threads of the warp, and all of them have seen that the queue is empty and have
 * been synchronised since. */
ICE_FN void gpu_queue_fill(gpu_warp_queue *queue, uint32_t count, const ics_lane_memory *lane,
                           const ice_tables *tables, const ice_photon *photon, uint32_t *counts)
{
    const uint32_t entry = threadIdx.x % 32;
    gpu_queue_count_end(queue, entry, lane, tables, counts);
    if (entry < count) {
        gpu_queue_pack(queue, entry, tables, gpu_new_random(lane, tables, photon), photon);
    }
    __syncwarp();
}

/* Fills an empty queue with `count` new photons, of which `first` is the first number in a queue
 * that counts photons. All threads of the warp, synchronised as for gpu_queue_fill(). */
ICE_FN void gpu_queue_create(gpu_warp_queue *queue, uint64_t first, uint32_t count,
                             const ics_lane_memory *lane, const ice_tables *tables,
                             uint32_t *counts)
{
    ice_photon photon;
    ICE_CLOCK(CREATE);
    if (threadIdx.x % 32 == 0) {
        queue->first = first; /* at this point it takes no register while photons are created */
    }
    if (threadIdx.x % 32 < count) {
        photon = gpu_new_photon(lane, tables, first + threadIdx.x % 32, first);
    }
    gpu_queue_fill(queue, count, lane, tables, &photon, counts);
    ICE_CLOCK(OTHER);
}

/* Fills an empty queue from the step queue. Returns the number of photons in it; 0: none are left
 * to create. All threads of the warp. */
ICE_FN uint32_t gpu_queue_refill(gpu_warp_queue *queue, const ics_lane_memory *lane,
                                 const ice_tables *tables, uint32_t *counts)
{
    uint64_t first;
    __syncwarp(); /* all threads have seen that the queue is empty */
    const uint32_t count = gpu_reserve(lane, 32, &first);
    gpu_queue_create(queue, first, count, lane, tables, counts);
    return count;
}

/* Gives the `count` photons of the queue to threads that have none, as long as there are both.
 * is_idle: this thread has none; `idle` has a bit for each such thread of the warp. Returns the
 * number of photons that stay in the queue. All threads of the warp. */
ICE_FN uint32_t gpu_queue_assign(gpu_warp_queue *queue, const ice_tables *tables, uint32_t count,
                                 bool is_idle, uint32_t idle, ice_active_photon *active)
{
    const uint32_t rank = (uint32_t)__popc(idle & gpu_threads_before());
    if (is_idle && rank < count) {
        gpu_queue_swap(queue, tables, count - 1 - rank, active);
    }
    return count - min((uint32_t)__popc(idle), count);
}

/* At the end of a launch: stores the `count` photons of the queue in their slots, and counts what
 * has ended in the other entries. All threads of the block. */
ICE_FN void gpu_queue_store(gpu_warp_queue *queue, uint32_t count, const ics_lane_memory *lane,
                            const ice_tables *tables, uint32_t *counts)
{
    const uint32_t slot = gpu_queue_slot(), entry = threadIdx.x % 32;
    const bool occupied = entry < count;
    __syncwarp(); /* all threads have taken their photons */
    if (occupied) {
        const ice_active_photon active = gpu_queue_unpack(queue, tables, entry);
        gpu_store_words(lane, slot, gpu_photon_pack(&active.photon, false));
        lane->random[slot] = active.random;
    } else {
        gpu_queue_count_end(queue, entry, lane, tables, counts);
        gpu_free_slot(lane, slot);
    }
    const int has = __syncthreads_count(occupied);
    if (threadIdx.x == 0) {
        gpu_pool_add(lane, (uint32_t)has, 0);
    }
}

#endif
