/* What the schedules have in common in which a thread carries photon after photon in registers:
 * monolithic, job-queue, thread-per-step.
 *
 * A thread owns the slot with its number. When the kernel ends before the thread's photon does, the
 * photon goes to that slot, and the next launch takes it up from there: a full hit buffer, or steps
 * that are used up while more are on their way, never cost a photon.
 */
#ifndef IS_DEVICE_PERSISTENT_H
#define IS_DEVICE_PERSISTENT_H

#include "kernels/cuda/device/run.h"

/* What a thread may have instead of a photon's fate: none, or one that waits for a place in the hit
 * buffer. ICE_ALIVE: a photon that flies. */
enum { IS_IDLE = ICE_FATES, IS_WAITS };

typedef struct is_traveller {
    ice_photon photon;
    ice_optics optics;
    ice_identity identity;
    uint32_t fate; /* ice_fate, IS_IDLE or IS_WAITS */
    uint32_t met;  /* hits of the next segment that are recorded already */
} is_traveller;

/* Gives the thread a photon. */
ICE_FN void is_board(const is_lane_memory *lane, const ice_tables *tables, is_traveller *self,
                     ice_photon photon)
{
    self->photon = photon;
    self->optics = ice_optics_at(tables, photon.wavelength);
    self->identity = is_identity(lane, photon.emission, photon.photon_id);
    self->fate = ICE_ALIVE;
    self->met = 0;
}

/* The photon that the launch before left in the thread's slot. Returns 1 if there is one. */
ICE_FN int is_resume(const is_lane_memory *lane, const ice_tables *tables, is_traveller *self,
                     uint32_t slot)
{
    const float4 label = lane->label[slot];
    self->fate = IS_IDLE;
    if (__float_as_uint(label.y) == IS_NOBODY)
        return 0;
    is_board(lane, tables, self, is_unpack(lane->place[slot], lane->course[slot], label));
    if (self->photon.scatters & IS_WAITING) {
        self->photon.scatters &= ~IS_WAITING;
        self->met = lane->met[slot];
    }
    return 1;
}

/* One bounce of a photon that flies. */
ICE_FN void is_advance(const ice_tables *tables, is_hit_sink *sink, is_traveller *self)
{
    const ice_variants variants = is_run_variants();
    uint32_t hits = 0; /* counted where they are put */
    if (ice_bounce(&variants, tables, self->identity, self->optics, &self->photon, sink,
                   &self->fate, &hits, &self->met) < 0)
        self->fate = IS_WAITS;
}

/* Counts the thread's photon if it has come to its end; the thread is idle then. */
ICE_FN void is_settle(uint32_t *counts, is_traveller *self)
{
    if (self->fate != ICE_ALIVE && self->fate < IS_IDLE) {
        is_count_end(counts, self->photon.emission, self->fate, self->photon.scatters);
        self->fate = IS_IDLE;
    }
}

/* The end of a thread's launch: to its slot with what it has. Returns 1 if that is a photon. */
ICE_FN int is_leave(const is_lane_memory *lane, uint32_t *counts, is_traveller *self, uint32_t slot)
{
    is_settle(counts, self);
    if (self->fate == IS_IDLE) {
        is_free_slot(lane, slot);
        return 0;
    }
    /* Also one that waited before and had no turn in this launch. */
    if (self->fate == IS_WAITS || self->met > 0) {
        self->photon.scatters |= IS_WAITING;
        lane->met[slot] = self->met;
    }
    is_store_photon(lane, slot, &self->photon);
    return 1;
}

/* Takes up to `wanted` numbers of the queue for a warp; all of its threads. Returns how many it
 * got, from *first on. */
ICE_FN uint32_t is_take(const is_lane_memory *lane, uint32_t wanted, uint64_t *first)
{
    const uint64_t end = lane->launch->end;
    uint32_t granted = 0;
    uint64_t begin = 0;
    if (threadIdx.x % 32 == 0) {
        unsigned long long *next = (unsigned long long *)&lane->progress->next;
        begin = atomicAdd(next, (unsigned long long)wanted);
        granted = begin >= end ? 0 : end - begin < wanted ? (uint32_t)(end - begin) : wanted;
        /* What goes beyond the end is given back: the next launch's end is further on. */
        if (granted < wanted)
            atomicAdd(next, ~(unsigned long long)(wanted - granted) + 1);
    }
    *first = __shfl_sync(0xffffffffu, begin, 0);
    return __shfl_sync(0xffffffffu, granted, 0);
}

/* New photons for the idle threads of a warp, of which `flying` are not; all of its threads.
 * Returns 0 if there are none left, or if a photon waits for a place in the hit buffer: then it is
 * time to end. */
ICE_FN int is_refill(const is_lane_memory *lane, const ice_tables *tables, uint32_t *counts,
                     is_traveller *self, uint32_t flying)
{
    is_settle(counts, self);
    if (__any_sync(0xffffffffu, self->fate == IS_WAITS))
        return 0;
    uint64_t first;
    const uint32_t wanted = 32 - (uint32_t)__popc(flying);
    const uint32_t granted = is_take(lane, wanted, &first);
    const uint32_t rank = (uint32_t)__popc(~flying & ((1u << threadIdx.x % 32) - 1));
    if (self->fate == IS_IDLE && rank < granted)
        is_board(lane, tables, self, is_new_photon(lane, tables, first + rank));
    return granted == wanted;
}

/* All threads of the block, at the end of a launch: how many photons its slots held before and hold
 * now, and how many of those wait. */
ICE_FN void is_report(const is_lane_memory *lane, const uint32_t *counts, int before, int after,
                      int waits)
{
    const int had = __syncthreads_count(before);
    const int has = __syncthreads_count(after);
    const int waiting = __syncthreads_count(waits);
    if (threadIdx.x == 0)
        is_pool_add(lane, (uint32_t)(has - had), (uint32_t)waiting);
    is_counts_add(counts, lane);
}

#endif
