/* The photons of a warp in shared memory, and the lists that say which stage each of them needs
 * next. A warp owns ICS_WARP_SLOTS slots, and no other warp reads or writes them, so that no block
 * waits at a barrier.
 *
 * A slot is in exactly one list, or in none if its photon waits for room in the hit buffer. The
 * warp takes up to 32 slots from a list, and its threads do the stage of this list, one slot each.
 * Then every slot goes into the list of its next stage. So the threads of a warp do the same work
 * at the same time, however different their photons are.
 *
 * At the end of a launch the photons are stored in the slots of the pool, and the next launch loads
 * them from there.
 */
#ifndef ICS_KERNELS_CUDA_DEVICE_WARP_LISTS_H
#define ICS_KERNELS_CUDA_DEVICE_WARP_LISTS_H

#include "kernels/cuda/device/persistent.h"
#include "stages/bounce_work.h"
#include "stages/column.h"

/* Whether photons have bounces inside columns of hole ice, which are a stage then. */
#define GPU_HAS_COLUMNS ICE_HAS_COLUMN_STAYS(GPU_SPECIAL_FEATURES)

/* The lists of a warp, in the order in which gpu_choose_list() prefers them. A new stage is a list
 * in front of GPU_LIST_CREATE, and a case in gpu_do_stage() of the kernel. */
enum {
    GPU_LIST_SPECIAL, /* the next segment may touch a module or pass a column of hole ice */
    GPU_LIST_CREATE,  /* free slots */
    GPU_LIST_COLUMN,  /* photons in a column of hole ice; only with GPU_HAS_COLUMNS */
    GPU_LIST_FLY,     /* photons whose next bounce is not known to be special */
    GPU_LISTS,
    GPU_NO_LIST = GPU_LISTS, /* the thread has no slot, or its photon waits */
    GPU_LISTS_ROOM = 4       /* a multiple of 4, >= GPU_LISTS: the counts of the lists are read as
                                words of 16 bytes */
};
ICS_STATIC_ASSERT(GPU_LISTS <= GPU_LISTS_ROOM, "every list has a count");

#define GPU_WARPS (GPU_SPECIAL_BLOCK / 32)

/* Slots that photons are created in. Without divergence (run.h) they are whole warps, so that the
 * copies of a photon stay together. */
#if defined(GPU_WITHOUT_DIVERGENCE)
#define GPU_SLOTS_IN_USE (ICS_WARP_SLOTS / 32 * 32)
#else
#define GPU_SLOTS_IN_USE ICS_WARP_SLOTS
#endif

/* The slots and lists of one warp, in shared memory. A photon of a slot is before a bounce. */
typedef struct gpu_warp_slots {
    float4 positions[ICS_WARP_SLOTS];   /* x, y, z, path */
    float4 directions[ICS_WARP_SLOTS];  /* dx, dy, dz, absorption */
    float4 states[ICS_WARP_SLOTS];      /* wavelength, scatters, random numbers low, high */
    uint32_t emissions[ICS_WARP_SLOTS]; /* ICS_NOBODY: the slot is free */
    uint32_t photon_ids[ICS_WARP_SLOTS];
    uint32_t counts[GPU_LISTS_ROOM];
    uint8_t lists[GPU_LISTS_ROOM][ICS_WARP_SLOTS]; /* list l has the entries 0 .. counts[l] - 1 */
} gpu_warp_slots;
ICS_STATIC_ASSERT(sizeof(gpu_warp_slots) == ICS_WARP_SLOTS_BYTES,
                  "the host computes with this size");
ICS_STATIC_ASSERT(ICS_WARP_SLOTS <= 256, "an entry of a list is a byte");

/* ---- one slot -------------------------------------------------------------------------------- */

/* What all stages read of a photon and change. `emission` and `photon_id` of the photon have no
 * meaning, unless segments are counted, which needs the emission: gpu_slot_identify() reads them,
 * for the few stages that need them. */
ICE_FN ice_active_photon gpu_slot_load(const gpu_warp_slots *slots, const ice_tables *tables,
                                       uint32_t slot)
{
    const float4 position = slots->positions[slot], direction = slots->directions[slot];
    const float4 state = slots->states[slot];
    ice_photon photon;
    photon.x = position.x;
    photon.y = position.y;
    photon.z = position.z;
    photon.path = position.w;
    photon.dx = direction.x;
    photon.dy = direction.y;
    photon.dz = direction.z;
    photon.absorption = direction.w;
    photon.wavelength = state.x;
    photon.scatters = __float_as_uint(state.y);
    photon.emission = GPU_COUNTS_SEGMENTS ? slots->emissions[slot] : 0;
    photon.photon_id = 0;
    const ice_random random = {(uint64_t)__float_as_uint(state.w) << 32 | __float_as_uint(state.z)};
    return ice_activate(tables, random, photon);
}

ICE_FN void gpu_slot_identify(const gpu_warp_slots *slots, uint32_t slot, ice_photon *photon)
{
    photon->emission = slots->emissions[slot];
    photon->photon_id = slots->photon_ids[slot];
}

/* Stores what the stages change. `waits`: the photon waits for room in the hit buffer. */
ICE_FN void gpu_slot_store(gpu_warp_slots *slots, uint32_t slot, const ice_photon *photon,
                           ice_random random, bool waits)
{
    slots->positions[slot] = make_float4(photon->x, photon->y, photon->z, photon->path);
    slots->directions[slot] = make_float4(photon->dx, photon->dy, photon->dz, photon->absorption);
    slots->states[slot] = make_float4(
        photon->wavelength, __uint_as_float(photon->scatters | (waits ? ICS_WAITING : 0u)),
        __uint_as_float((uint32_t)random.state), __uint_as_float((uint32_t)(random.state >> 32)));
}

/* Keeps the fate of a photon that has ended, until gpu_slot_count() counts it. The slot goes into
 * GPU_LIST_CREATE: so photons are counted by full warps. */
ICE_FN void gpu_slot_end(gpu_warp_slots *slots, uint32_t slot, const ice_active_photon *active)
{
    slots->states[slot].x = __uint_as_float(active->fate);
    slots->states[slot].y = __uint_as_float(active->photon.scatters);
    if (GPU_COUNTS_WAYS) { /* in place of the random numbers */
        slots->states[slot].z = active->photon.path;
        slots->states[slot].w = active->photon.wavelength;
    }
}

/* Counts the photon that has ended in a slot of GPU_LIST_CREATE, if there is one, and frees the
 * slot. */
ICE_FN void gpu_slot_count(gpu_warp_slots *slots, uint32_t slot, const ics_lane_memory *lane,
                           const ice_tables *tables, uint32_t *counts)
{
    const uint32_t emission = slots->emissions[slot];
    if (!gpu_emission_is_vacant(emission)) {
        const float4 state = slots->states[slot];
        const ice_photon_end end = {__float_as_uint(state.y), state.z, state.w};
        gpu_count_end(counts, lane, tables, emission, __float_as_uint(state.x), end);
        gpu_emission_set_vacant(&slots->emissions[slot]);
    }
}

/* Stores a photon that was created, or that the launch before stored. */
ICE_FN void gpu_slot_fill(gpu_warp_slots *slots, uint32_t slot, const ice_photon *photon,
                          ice_random random)
{
    gpu_slot_store(slots, slot, photon, random, false);
    slots->emissions[slot] = photon->emission;
    slots->photon_ids[slot] = photon->photon_id;
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* Whether slots can be in a list. A kernel has no instructions for a list that it does not use. */
ICE_FN bool gpu_uses_list(uint32_t list)
{
    return list != GPU_LIST_COLUMN || GPU_HAS_COLUMNS;
}

/* The number of slots in a list. `open`: there may be more photons to create; otherwise free slots
 * do not count. */
ICE_FN uint32_t gpu_list_count(const gpu_warp_slots *slots, uint32_t list, bool open)
{
    return gpu_uses_list(list) && (open || list != GPU_LIST_CREATE) ? slots->counts[list] : 0;
}

/* Returns the list that the warp works on next: the first one with 32 slots or more, otherwise the
 * longest one. *taken is the number of slots that the warp takes; 0: all lists are empty. */
ICE_FN uint32_t gpu_choose_list(const gpu_warp_slots *slots, bool open, uint32_t *taken)
{
    uint32_t chosen = 0, most = 0;
    for (uint32_t list = GPU_LISTS; list-- > 0;) {
        const uint32_t count = min(gpu_list_count(slots, list, open), 32u);
        if (count >= most) {
            most = count;
            chosen = list;
        }
    }
    *taken = most;
    return chosen;
}

/* Whether the warp stays with the photons that its threads have from a list, `photons` of them, by
 * the rule of gpu_choose_list(). */
ICE_FN bool gpu_stays(const gpu_warp_slots *slots, bool open, uint32_t list, uint32_t photons)
{
    uint32_t before = 1, behind = 0; /* the longest lists in front of this one and behind it */
    for (uint32_t other = 0; other < GPU_LISTS; ++other) {
        const uint32_t count = gpu_list_count(slots, other, open);
        before = other < list ? max(before, count) : before;
        behind = other > list ? max(behind, min(count, 32u)) : behind;
    }
    return before < 32 && photons + slots->counts[list] >= max(before, behind);
}

/* Gives slots of a list to the threads of `idle` (a bit for each), as long as there are both.
 * Returns the slot of the thread, ICS_NOBODY if it got none. All threads of the warp. */
ICE_FN uint32_t gpu_give_slots(gpu_warp_slots *slots, uint32_t list, uint32_t idle)
{
    const uint32_t thread = threadIdx.x % 32;
    const uint32_t count = slots->counts[list];
    const uint32_t rank = (uint32_t)__popc(idle & gpu_threads_before());
    const uint32_t given = min((uint32_t)__popc(idle), count);
    const bool gets = (idle >> thread & 1) && rank < given;
    const uint32_t slot = gets ? slots->lists[list][count - 1 - rank] : ICS_NOBODY;
    __syncwarp(); /* all have read the list and its count */
    if (thread == 0) {
        slots->counts[list] = count - given;
    }
    __syncwarp();
    return slot;
}

/* Puts the slot of every thread into the list `to`, one of the first `lists` lists; GPU_NO_LIST:
 * into none. All threads of the warp. */
ICE_FN void gpu_put_slots(gpu_warp_slots *slots, uint32_t slot, uint32_t to, uint32_t lists)
{
    const uint32_t thread = threadIdx.x % 32;
    for (uint32_t list = 0; list < lists; ++list) {
        if (!gpu_uses_list(list)) {
            continue;
        }
        const uint32_t members = __ballot_sync(0xffffffffu, to == list);
        if (members == 0) {
            continue;
        }
        const uint32_t count = slots->counts[list];
        if (to == list) {
            slots->lists[list][count + (uint32_t)__popc(members & gpu_threads_before())] =
                (uint8_t)slot;
        }
        __syncwarp(); /* all have read the count */
        if (thread == 0) {
            slots->counts[list] = count + (uint32_t)__popc(members);
        }
    }
    __syncwarp();
}

/* ---- a launch -------------------------------------------------------------------------------- */

/* The slot of the pool that keeps slot 0 of this warp between launches. */
ICE_FN uint32_t gpu_first_slot(void)
{
    return (blockIdx.x * GPU_WARPS + threadIdx.x / 32) * 32 * ICS_WARP_SLOTS_PER_THREAD;
}

/* The begin of a launch: loads the photons that the launch before stored, into the slots of this
 * warp among those of its block, `all`. All threads of the block. */
ICE_FN gpu_warp_slots *gpu_load_slots(const ics_lane_memory *lane, gpu_warp_slots *all)
{
    gpu_warp_slots *slots = &all[threadIdx.x / 32];
    const uint32_t thread = threadIdx.x % 32, first = gpu_first_slot();
    int had = 0;
    if (thread < GPU_LISTS_ROOM) {
        slots->counts[thread] = 0;
    }
    __syncwarp();
    for (uint32_t begin = 0; begin < ICS_WARP_SLOTS; begin += 32) {
        const uint32_t slot = begin + thread;
        uint32_t to = GPU_NO_LIST;
        if (slot < ICS_WARP_SLOTS) {
            gpu_photon_words words;
            words.identity = lane->identity[first + slot];
            gpu_emission_set_vacant(&slots->emissions[slot]);
            to = slot < GPU_SLOTS_IN_USE ? (uint32_t)GPU_LIST_CREATE : (uint32_t)GPU_NO_LIST;
            if (!gpu_is_vacant(words.identity)) {
                words.position = lane->position[first + slot];
                words.direction = lane->direction[first + slot];
                const ice_photon photon = gpu_photon_unpack(words);
                gpu_slot_fill(slots, slot, &photon, lane->random[first + slot]);
                to = GPU_LIST_FLY;
            }
        }
        gpu_put_slots(slots, slot, to, GPU_LISTS);
        had += __syncthreads_count(to == GPU_LIST_FLY);
    }
    if (threadIdx.x == 0) {
        gpu_pool_add(lane, 0u - (uint32_t)had, 0);
    }
    return slots;
}

/* The end of a launch: stores the photons, and adds what the block counted. All threads of the
 * block. */
ICE_FN void gpu_store_slots(const ics_lane_memory *lane, const ice_tables *tables, uint32_t *counts,
                            gpu_warp_slots *slots)
{
    const uint32_t thread = threadIdx.x % 32, first = gpu_first_slot();
    int has = 0, waiting = 0;
    for (uint32_t entry = thread; entry < slots->counts[GPU_LIST_CREATE]; entry += 32) {
        gpu_slot_count(slots, slots->lists[GPU_LIST_CREATE][entry], lane, tables, counts);
    }
    __syncwarp();
    for (uint32_t begin = 0; begin < ICS_WARP_SLOTS; begin += 32) {
        const uint32_t slot = begin + thread;
        bool occupied = false, waits = false;
        if (slot < ICS_WARP_SLOTS) {
            const float4 state = slots->states[slot];
            gpu_photon_words words = {slots->positions[slot], slots->directions[slot],
                                      gpu_identity_vacant()};
            occupied = !gpu_emission_is_vacant(slots->emissions[slot]);
            if (occupied) {
                /* A photon that waited before and had no bounce in this launch waits as well. */
                waits =
                    (__float_as_uint(state.y) & ICS_WAITING) || lane->recorded[first + slot] > 0;
                words.identity =
                    gpu_identity_pack(state.x, slots->emissions[slot], slots->photon_ids[slot],
                                      __float_as_uint(state.y) | (waits ? ICS_WAITING : 0u));
                lane->position[first + slot] = words.position;
                lane->direction[first + slot] = words.direction;
                lane->random[first + slot].state =
                    (uint64_t)__float_as_uint(state.w) << 32 | __float_as_uint(state.z);
            }
            lane->identity[first + slot] = words.identity;
        }
        has += __syncthreads_count(occupied);
        waiting += __syncthreads_count(waits);
    }
    if (threadIdx.x == 0) {
        gpu_pool_add(lane, (uint32_t)has, (uint32_t)waiting);
    }
    gpu_counts_add(counts, lane);
}

#endif
