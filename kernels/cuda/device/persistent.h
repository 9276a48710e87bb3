/* What the schedules have in common in which a thread carries photon after photon in registers:
 * monolithic, job-queue, thread-per-step, and within a visit fused.
 *
 * A thread owns the slot with its number. When the kernel ends before the thread's photon does, the
 * photon goes to that slot, and the next launch takes it up from there: a full hit buffer, or steps
 * that are used up while more are on their way, never cost a photon.
 */
#ifndef ICS_KERNELS_CUDA_DEVICE_PERSISTENT_H
#define ICS_KERNELS_CUDA_DEVICE_PERSISTENT_H

#include "kernels/cuda/device/run.h"

/* What a thread may have instead of a photon's fate: none, or one that waits for a place in the hit
 * buffer. ICE_ALIVE: a photon that flies. */
enum { ICS_IDLE = ICE_FATES, ICS_WAITS };

typedef struct gpu_traveller {
    ice_photon photon;
    ice_optics optics;
    ice_identity identity;
    uint32_t fate; /* ice_fate, ICS_IDLE or ICS_WAITS */
} gpu_traveller;

/* Gives the thread a photon. */
ICE_FN void gpu_board(const ics_lane_memory *lane, const ice_tables *tables, gpu_traveller *self,
                      ice_photon photon)
{
    self->photon = photon;
    self->optics = ice_optics_at(tables, photon.wavelength);
    self->identity = gpu_identity(lane, photon.emission, photon.photon_id);
    self->fate = ICE_ALIVE;
}

/* The photon that the launch before left in the thread's slot. Returns 1 if there is one. */
ICE_FN int gpu_resume(const ics_lane_memory *lane, const ice_tables *tables, gpu_traveller *self,
                      uint32_t slot)
{
    const float4 label = lane->label[slot];
    self->fate = ICS_IDLE;
    if (__float_as_uint(label.y) == ICS_NOBODY) {
        return 0;
    }
    gpu_board(lane, tables, self, gpu_unpack(lane->place[slot], lane->course[slot], label));
    self->photon.scatters &= ~ICS_WAITING;
    return 1;
}

/* One bounce of a photon that flies. How many hits of its segment are recorded already stays in the
 * slot: it is asked for by the few that meet something. */
ICE_FN void gpu_advance(const ics_lane_memory *lane, const ice_tables *tables, gpu_hit_sink *sink,
                        gpu_traveller *self, uint32_t slot)
{
    const ice_variants variants = gpu_run_variants();
    uint32_t hits = 0; /* counted where they are put */
    if (ice_bounce(&variants, tables, self->identity, self->optics, &self->photon, sink,
                   &self->fate, &hits, &lane->met[slot]) < 0) {
        self->fate = ICS_WAITS;
    }
}

/* Counts the thread's photon if it has come to its end; the thread is idle then. */
ICE_FN void gpu_settle(uint32_t *counts, gpu_traveller *self)
{
    if (self->fate != ICE_ALIVE && self->fate < ICS_IDLE) {
        gpu_count_end(counts, self->photon.emission, self->fate, self->photon.scatters);
        self->fate = ICS_IDLE;
    }
}

/* The end of a thread's launch: to its slot with what it has. Returns 1 if that is a photon. */
ICE_FN int gpu_leave(const ics_lane_memory *lane, uint32_t *counts, gpu_traveller *self,
                     uint32_t slot)
{
    gpu_settle(counts, self);
    if (self->fate == ICS_IDLE) {
        gpu_free_slot(lane, slot);
        return 0;
    }
    /* Also one that waited before and had no turn in this launch. */
    if (self->fate == ICS_WAITS || lane->met[slot] > 0) {
        self->photon.scatters |= ICS_WAITING;
    }
    gpu_store_photon(lane, slot, &self->photon);
    return 1;
}

/* Takes up to `wanted` numbers of the queue for a warp; all of its threads. Returns how many it
 * got, from *first on. */
ICE_FN uint32_t gpu_take(const ics_lane_memory *lane, uint32_t wanted, uint64_t *first)
{
    const uint64_t end = lane->launch->end;
    uint32_t granted = 0;
    uint64_t begin = 0;
    if (threadIdx.x % 32 == 0) {
        unsigned long long *next = (unsigned long long *)&lane->progress->next;
        begin = atomicAdd(next, (unsigned long long)wanted);
        granted = begin >= end ? 0 : end - begin < wanted ? (uint32_t)(end - begin) : wanted;
        /* What goes beyond the end is given back: the next launch's end is further on. */
        if (granted < wanted) {
            atomicAdd(next, ~(unsigned long long)(wanted - granted) + 1);
        }
    }
    *first = __shfl_sync(0xffffffffu, begin, 0);
    return __shfl_sync(0xffffffffu, granted, 0);
}

/* All threads of the block, at the beginning of a launch: its slots' photons are no longer counted
 * as those of the pool. Nothing has to be remembered until the end then. */
ICE_FN void gpu_leave_pool(const ics_lane_memory *lane, int occupied)
{
    const int had = __syncthreads_count(occupied);
    if (threadIdx.x == 0) {
        gpu_pool_add(lane, 0u - (uint32_t)had, 0);
    }
}

/* All threads of the block, at the end of a launch: the photons that its slots hold now, and how
 * many of those wait. */
ICE_FN void ics_report(const ics_lane_memory *lane, const uint32_t *counts, int occupied, int waits)
{
    const int has = __syncthreads_count(occupied);
    const int waiting = __syncthreads_count(waits);
    if (threadIdx.x == 0) {
        gpu_pool_add(lane, (uint32_t)has, (uint32_t)waiting);
    }
    gpu_counts_add(counts, lane);
}

#endif
