/* The photons of a warp in shared memory, and the lists that say which stage each of them needs
 * next. A warp owns ICS_WARP_SLOTS slots, and no other warp reads or writes them, so that no block
 * waits at a barrier.
 *
 * A slot is in exactly one list, or in none if its photon waits for room in the hit buffer. The
 * warp takes up to 32 slots from a list, and its threads do the stage of this list, one slot each.
 * Then every slot goes into the list of its next stage. So the threads of a warp do the same work
 * at the same time, however different their photons are. The numbers of slots in the lists are a
 * variable of all threads, which spares them to read it and to wait for each other.
 *
 * The identity of a photon is in its slot of the pool all the time, because few stages read it. At
 * the end of a launch the rest of the photons is stored there, too, and the next launch loads them
 * from there.
 */
#ifndef ICS_KERNELS_CUDA_DEVICE_WARP_LISTS_H
#define ICS_KERNELS_CUDA_DEVICE_WARP_LISTS_H

#include "kernels/cuda/device/fly.h"
#include "kernels/cuda/device/persistent.h"

/* The lists of a warp, in the order in which gpu_choose_list() prefers them. A new stage is a list
 * in front of GPU_LIST_CREATE, one more of ICS_WARP_LISTS, and a case in the kernel. */
enum {
    GPU_LIST_SPECIAL, /* the next segment may touch a module or pass a column of hole ice */
    GPU_LIST_CREATE,  /* free slots */
    GPU_LIST_COLUMN,  /* photons in a column of hole ice; only with GPU_HAS_COLUMNS */
    GPU_LIST_FLY,     /* photons whose next bounce is not known to be special */
    GPU_LISTS,
    GPU_NO_LIST = GPU_LISTS /* the thread has no slot, or its photon waits */
};
ICS_STATIC_ASSERT(GPU_LISTS == ICS_WARP_LISTS, "the host computes with this number");

/* The numbers of slots in the lists of a warp, a byte for each list. */
typedef uint32_t gpu_list_counts;
ICS_STATIC_ASSERT(GPU_LISTS <= sizeof(gpu_list_counts), "every list has a byte");

ICE_FN uint32_t gpu_list_count(gpu_list_counts counts, uint32_t list)
{
    return counts >> (8 * list) & 255;
}

/* The counts of lists of which one has `count` slots and the others have none. */
ICE_FN gpu_list_counts gpu_list_counts_of(uint32_t list, uint32_t count)
{
    return count << (8 * list);
}

#define GPU_WARPS (GPU_SPECIAL_BLOCK / 32)

/* Slots that photons are created in. Without divergence (run.h) they are whole warps, so that the
 * copies of a photon stay together. */
#if defined(GPU_WITHOUT_DIVERGENCE)
#define GPU_SLOTS_IN_USE (ICS_WARP_SLOTS / 32 * 32)
#else
#define GPU_SLOTS_IN_USE ICS_WARP_SLOTS
#endif

/* The slots and lists of one warp, in shared memory. A photon of a slot is before a bounce. The
 * optics of its wavelength stand here, because to compute them takes 20 instructions, and a thread
 * would do so whenever it gets a photon. In GPU_LIST_CREATE the position is what gpu_slot_end()
 * writes. */
typedef struct gpu_warp_slots {
    float4 positions[ICS_WARP_SLOTS];  /* x, y, z, path */
    float4 directions[ICS_WARP_SLOTS]; /* dx, dy, dz, absorption */
    float4 states[ICS_WARP_SLOTS];     /* scatters, random numbers low, high, scattering of the
                                          wavelength */
    float2 optics[ICS_WARP_SLOTS];     /* dust and ice of the wavelength */
    uint8_t lists[GPU_LISTS][ICS_WARP_SLOTS]; /* list l has the entries 0 .. its number - 1 */
} gpu_warp_slots;
ICS_STATIC_ASSERT(sizeof(gpu_warp_slots) == ICS_WARP_SLOTS_BYTES,
                  "the host computes with this size");
ICS_STATIC_ASSERT(ICS_WARP_SLOTS <= 256, "an entry of a list is a byte");

/* ---- one slot -------------------------------------------------------------------------------- */

/* The slot of the pool that belongs to slot 0 of this warp. */
ICE_FN uint32_t gpu_first_slot(void)
{
    return (blockIdx.x * GPU_WARPS + threadIdx.x / 32) * 32 * ICS_WARP_SLOTS_PER_THREAD;
}

/* The identity of the photon in a slot of this warp. */
ICE_FN ics_word *gpu_slot_identity(const ics_lane_memory *lane, uint32_t slot)
{
    return &lane->identity[gpu_first_slot() + slot];
}

/* Reads the emission, the number and the wavelength of the photon, for the few stages that need
 * them. */
ICE_FN void gpu_slot_identify(const ics_lane_memory *lane, uint32_t slot, ice_photon *photon)
{
    const ics_word identity = *gpu_slot_identity(lane, slot);
    photon->emission = __float_as_uint(identity.y);
    photon->photon_id = __float_as_uint(identity.z);
    photon->wavelength = identity.x;
}

/* What all stages read of a photon and change. Its emission, number and wavelength have no meaning,
 * unless segments are counted, which needs them. */
ICE_FN ice_active_photon gpu_slot_load(const ics_lane_memory *lane, const gpu_warp_slots *slots,
                                       const ice_tables *tables, uint32_t slot)
{
    const float4 position = slots->positions[slot], direction = slots->directions[slot];
    const float4 state = slots->states[slot];
    const float2 optics = slots->optics[slot];
    ice_active_photon active;
    active.photon.x = position.x;
    active.photon.y = position.y;
    active.photon.z = position.z;
    active.photon.path = position.w;
    active.photon.dx = direction.x;
    active.photon.dy = direction.y;
    active.photon.dz = direction.z;
    active.photon.absorption = direction.w;
    active.photon.scatters = __float_as_uint(state.x);
    active.photon.wavelength = 0.0f;
    active.photon.emission = active.photon.photon_id = 0;
    if (GPU_COUNTS_SEGMENTS) {
        gpu_slot_identify(lane, slot, &active.photon);
    }
    active.random.state = (uint64_t)__float_as_uint(state.z) << 32 | __float_as_uint(state.y);
    active.optics.scattering = state.w;
    active.optics.dust = optics.x;
    active.optics.ice = optics.y;
    active.optics.clearest = ice_clearest_cost(tables, active.optics);
    active.fate = ICE_ALIVE;
    active.site = ice_site_of(tables, position.x, position.y, position.z);
    return active;
}

/* Stores what the stages change. `waits`: the photon waits for room in the hit buffer. */
ICE_FN void gpu_slot_store(gpu_warp_slots *slots, uint32_t slot, const ice_active_photon *active,
                           bool waits)
{
    const ice_photon *photon = &active->photon;
    slots->positions[slot] = make_float4(photon->x, photon->y, photon->z, photon->path);
    slots->directions[slot] = make_float4(photon->dx, photon->dy, photon->dz, photon->absorption);
    slots->states[slot] = make_float4(
        __uint_as_float(photon->scatters | (waits ? ICS_WAITING : 0u)),
        __uint_as_float((uint32_t)active->random.state),
        __uint_as_float((uint32_t)(active->random.state >> 32)), active->optics.scattering);
}

/* Stores a photon that was created, or that the launch before stored, but for its identity. */
ICE_FN void gpu_slot_fill(gpu_warp_slots *slots, uint32_t slot, const ice_tables *tables,
                          const ice_photon *photon, ice_random random)
{
    ice_active_photon active;
    active.photon = *photon;
    active.random = random;
    active.optics = ice_layer_optics_at(tables, photon->wavelength);
    gpu_slot_store(slots, slot, &active, false);
    slots->optics[slot] = make_float2(active.optics.dust, active.optics.ice);
}

/* Keeps the fate of a photon that has ended, until gpu_slot_count() counts it. The slot goes into
 * GPU_LIST_CREATE: so photons are counted by full warps. */
ICE_FN void gpu_slot_end(gpu_warp_slots *slots, uint32_t slot, const ice_active_photon *active)
{
    slots->positions[slot].x = __uint_as_float(active->fate);
    slots->positions[slot].y = __uint_as_float(active->photon.scatters);
    if (GPU_COUNTS_WAYS) {
        slots->positions[slot].w = active->photon.path;
    }
}

/* A slot of GPU_LIST_CREATE in which no photon has ended since one was counted. */
ICE_FN void gpu_slot_clear(gpu_warp_slots *slots, uint32_t slot)
{
    slots->positions[slot].x = __uint_as_float((uint32_t)GPU_IDLE);
}

/* Counts the photon that has ended in a slot of GPU_LIST_CREATE, if there is one. */
ICE_FN void gpu_slot_count(const gpu_warp_slots *slots, uint32_t slot, const ics_lane_memory *lane,
                           const ice_tables *tables, uint32_t *counts)
{
    const float4 ended = slots->positions[slot];
    const uint32_t fate = __float_as_uint(ended.x);
    if (fate != GPU_IDLE) {
        const ics_word identity = *gpu_slot_identity(lane, slot);
        const uint32_t emission = __float_as_uint(identity.y);
        const ice_photon_end end = {__float_as_uint(ended.y), ended.w, identity.x};
        gpu_count_end(counts, lane, tables, emission, fate, end);
    }
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* Whether slots can be in a list. A kernel has no instructions for a list that it does not use. */
ICE_FN bool gpu_uses_list(uint32_t list)
{
    return list != GPU_LIST_COLUMN || GPU_HAS_COLUMNS;
}

/* The number of slots in a list that the warp can work on. `open`: there may be more photons to
 * create; otherwise free slots do not count. */
ICE_FN uint32_t gpu_list_work(gpu_list_counts counts, uint32_t list, bool open)
{
    const bool is_work = gpu_uses_list(list) && (open || list != GPU_LIST_CREATE);
    return is_work ? gpu_list_count(counts, list) : 0;
}

/* Returns the list that the warp works on next: the first one with 32 slots or more, otherwise the
 * longest one. *taken is the number of slots that the warp takes; 0: all lists are empty. */
ICE_FN uint32_t gpu_choose_list(gpu_list_counts counts, bool open, uint32_t *taken)
{
    uint32_t chosen = 0, most = 0;
    for (uint32_t list = GPU_LISTS; list-- > 0;) {
        const uint32_t count = min(gpu_list_work(counts, list, open), 32u);
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
ICE_FN bool gpu_stays(gpu_list_counts counts, bool open, uint32_t list, uint32_t photons)
{
    uint32_t before = 1, behind = 0; /* the longest lists in front of this one and behind it */
    for (uint32_t other = 0; other < GPU_LISTS; ++other) {
        const uint32_t count = gpu_list_work(counts, other, open);
        before = other < list ? max(before, count) : before;
        behind = other > list ? max(behind, min(count, 32u)) : behind;
    }
    return before < 32 && photons + gpu_list_count(counts, list) >= max(before, behind);
}

/* Whether the warp goes on with a list without a look at the others: the list has a photon for each
 * of the `wanting` threads without one, and no other stage but create has 32 slots. Create can wait
 * as long as there are photons. */
ICE_FN bool gpu_has_enough(gpu_list_counts counts, uint32_t list, uint32_t wanting)
{
    bool has_full = gpu_list_count(counts, GPU_LIST_SPECIAL) >= 32;
    if (GPU_HAS_COLUMNS && list != GPU_LIST_COLUMN) {
        has_full = has_full || gpu_list_count(counts, GPU_LIST_COLUMN) >= 32;
    }
    return !has_full && gpu_list_count(counts, list) >= wanting;
}

/* Gives slots of a list to the threads that want one, as long as there are both. `wanting` has a
 * bit for each thread with `wants`. Returns the slot of the thread, ICS_NOBODY if it got none. All
 * threads of the warp. */
ICE_FN uint32_t gpu_give_slots(const gpu_warp_slots *slots, gpu_list_counts *counts, uint32_t list,
                               bool wants, uint32_t wanting)
{
    const uint32_t count = gpu_list_count(*counts, list);
    const uint32_t rank = (uint32_t)__popc(wanting & gpu_threads_before());
    *counts -= gpu_list_counts_of(list, min((uint32_t)__popc(wanting), count));
    return wants && rank < count ? slots->lists[list][count - 1 - rank] : ICS_NOBODY;
}

/* Puts the slots of the threads with `puts` into a list; `putting` has a bit for each of them. The
 * caller synchronises the threads of the warp before they take slots from it. */
ICE_FN void gpu_put_slots(gpu_warp_slots *slots, gpu_list_counts *counts, uint32_t slot,
                          uint32_t list, bool puts, uint32_t putting)
{
    if (puts) {
        const uint32_t rank = (uint32_t)__popc(putting & gpu_threads_before());
        slots->lists[list][gpu_list_count(*counts, list) + rank] = (uint8_t)slot;
    }
    *counts += gpu_list_counts_of(list, (uint32_t)__popc(putting));
}

/* Puts the slot of every thread into the list `to`; GPU_NO_LIST: into none. All threads of the
 * warp, which have been synchronised since they took slots. */
ICE_FN void gpu_sort_slots(gpu_warp_slots *slots, gpu_list_counts *counts, uint32_t slot,
                           uint32_t to)
{
    for (uint32_t list = 0; list < GPU_LISTS; ++list) {
        if (gpu_uses_list(list)) {
            const bool puts = to == list;
            gpu_put_slots(slots, counts, slot, list, puts, __ballot_sync(0xffffffffu, puts));
        }
    }
    __syncwarp();
}

/* ---- a launch -------------------------------------------------------------------------------- */

/* The begin of a launch: loads the photons that the launch before stored, into the slots of this
 * warp among those of its block, `all`. *counts becomes the numbers of slots in the lists. All
 * threads of the block. */
ICE_FN gpu_warp_slots *gpu_load_slots(const ics_lane_memory *lane, const ice_tables *tables,
                                      gpu_warp_slots *all, gpu_list_counts *counts)
{
    gpu_warp_slots *slots = &all[threadIdx.x / 32];
    const uint32_t thread = threadIdx.x % 32, first = gpu_first_slot();
    int had = 0;
    *counts = 0;
    for (uint32_t begin = 0; begin < ICS_WARP_SLOTS; begin += 32) {
        const uint32_t slot = begin + thread;
        uint32_t to = GPU_NO_LIST;
        if (slot < ICS_WARP_SLOTS) {
            gpu_photon_words words;
            words.identity = lane->identity[first + slot];
            gpu_slot_clear(slots, slot);
            to = slot < GPU_SLOTS_IN_USE ? (uint32_t)GPU_LIST_CREATE : (uint32_t)GPU_NO_LIST;
            if (!gpu_is_vacant(words.identity)) {
                words.position = lane->position[first + slot];
                words.direction = lane->direction[first + slot];
                const ice_photon photon = gpu_photon_unpack(words);
                gpu_slot_fill(slots, slot, tables, &photon, lane->random[first + slot]);
                to = GPU_LIST_FLY;
            }
        }
        gpu_sort_slots(slots, counts, slot, to);
        had += __syncthreads_count(to == GPU_LIST_FLY);
    }
    if (threadIdx.x == 0) {
        gpu_pool_add(lane, 0u - (uint32_t)had, 0);
    }
    return slots;
}

/* The end of a launch: stores the photons, and adds what the block counted. GPU_LIST_CREATE has
 * `free_slots` slots. All threads of the block. */
ICE_FN void gpu_store_slots(const ics_lane_memory *lane, const ice_tables *tables, uint32_t *counts,
                            gpu_warp_slots *slots, uint32_t free_slots)
{
    const uint32_t thread = threadIdx.x % 32, first = gpu_first_slot();
    int has = 0, waiting = 0;
    for (uint32_t entry = thread; entry < free_slots; entry += 32) {
        const uint32_t slot = slots->lists[GPU_LIST_CREATE][entry];
        gpu_slot_count(slots, slot, lane, tables, counts);
        gpu_free_slot(lane, first + slot);
    }
    __syncwarp();
    for (uint32_t begin = 0; begin < ICS_WARP_SLOTS; begin += 32) {
        const uint32_t slot = begin + thread;
        bool occupied = false, waits = false;
        if (slot < ICS_WARP_SLOTS) {
            const ics_word identity = lane->identity[first + slot];
            occupied = !gpu_is_vacant(identity);
            if (occupied) {
                const float4 state = slots->states[slot];
                /* A photon that waited before and had no bounce in this launch waits as well. */
                waits =
                    (__float_as_uint(state.x) & ICS_WAITING) || lane->recorded[first + slot] > 0;
                lane->position[first + slot] = slots->positions[slot];
                lane->direction[first + slot] = slots->directions[slot];
                lane->identity[first + slot].w =
                    __uint_as_float(__float_as_uint(state.x) | (waits ? ICS_WAITING : 0u));
                lane->random[first + slot].state =
                    (uint64_t)__float_as_uint(state.z) << 32 | __float_as_uint(state.y);
            }
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
