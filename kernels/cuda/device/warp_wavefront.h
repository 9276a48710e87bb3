/* schedule: warp-wavefront. Warps are persistent, and each works off lists of its photons in shared
 * memory, stage by stage. warp_lists.h has the slots and the lists; this file has the stages.
 *
 * fly computes bounces in ice. It does not change a photon whose next bounce needs more: the photon
 * goes into the list of its work, and the stage of this list computes the whole bounce. Such a
 * bounce is begun twice, which costs less than to keep its segment, because such bounces are few.
 * It also leaves nothing to remember when a photon waits for room in the hit buffer. When fly has
 * too few photons, it creates some in free slots, while its own stay in registers. */
#include "kernels/cuda/device/warp_lists.h"

/* What the stages of a warp work on. */
typedef struct gpu_warp {
    const ics_lane_memory *lane;
    const ice_tables *tables;
    gpu_hit_sink *sink;
    gpu_warp_slots *slots;
} gpu_warp;

/* The list for a photon after bounces in a stage; `list`: if it lives and does not wait. Stores the
 * photon in its slot. */
ICE_FN uint32_t gpu_leave(const gpu_warp *warp, uint32_t slot, const ice_active_photon *active,
                          uint32_t list)
{
    if (active->fate == ICE_ALIVE) {
        gpu_slot_store(warp->slots, slot, active, false);
        return list;
    }
    if (active->fate == GPU_WAITS) {
        gpu_slot_store(warp->slots, slot, active, true);
        return GPU_NO_LIST;
    }
    gpu_slot_end(warp->slots, slot, active);
    return GPU_LIST_CREATE;
}

/* ---- create ---------------------------------------------------------------------------------- */

/* Creates the photon with a number of the step queue in a free slot. `model`: as in
 * gpu_new_photon(). Returns its list. */
ICE_FN uint32_t gpu_create_in_slot(const gpu_warp *warp, uint32_t slot, uint64_t number,
                                   uint64_t model)
{
    const ice_photon photon = gpu_new_photon(warp->lane, warp->tables, number, model);
    *gpu_slot_identity(warp->lane, slot) =
        gpu_identity_pack(photon.wavelength, photon.emission, photon.photon_id, photon.scatters);
    gpu_slot_fill(warp->slots, slot, warp->tables, &photon,
                  gpu_new_random(warp->lane, warp->tables, &photon));
    if (GPU_HAS_COLUMNS && ice_in_hole(warp->tables, photon.x, photon.y)) {
        return GPU_LIST_COLUMN;
    }
    return GPU_LIST_FLY;
}

/* Counts what ended in free slots, up to 32 of them, and creates photons there. Returns false if
 * the step queue has no more photons. All threads of the warp. */
ICE_FN bool gpu_create(const gpu_warp *warp, gpu_list_counts *counts)
{
    uint64_t first;
    ICE_CLOCK(CREATE);
    __syncwarp(); /* all have put their slots into the list */
    const uint32_t taken = min(gpu_list_count(*counts, GPU_LIST_CREATE), 32u);
    const uint32_t slot = gpu_give_slots(warp->slots, counts, GPU_LIST_CREATE, true, 0xffffffffu);
    const uint32_t granted = gpu_reserve(warp->lane, taken, &first);
    uint32_t to = GPU_NO_LIST;
    if (slot != ICS_NOBODY) {
        const uint32_t thread = threadIdx.x % 32;
        gpu_slot_count(warp->slots, slot, warp->lane, warp->tables, warp->sink->counts);
        if (thread < granted) {
            to = gpu_create_in_slot(warp, slot, first + thread, first);
        } else {
            gpu_slot_clear(warp->slots, slot);
            to = GPU_LIST_CREATE;
        }
    }
    __syncwarp();
    gpu_sort_slots(warp->slots, counts, slot, to);
    ICE_CLOCK(OTHER);
    return granted == taken;
}

/* Whether the warp creates photons now, of which `photons` fly and none is in a stage: by the rule
 * of gpu_choose_list(). `open`: as there. */
ICE_FN bool gpu_needs_photons(gpu_list_counts counts, bool open, uint32_t photons)
{
    const uint32_t free = gpu_list_work(counts, GPU_LIST_CREATE, open);
    const uint32_t others = max(gpu_list_work(counts, GPU_LIST_COLUMN, open),
                                photons + gpu_list_count(counts, GPU_LIST_FLY));
    return free >= 32 || (free > gpu_list_count(counts, GPU_LIST_SPECIAL) && free >= others);
}

/* Whether a launch ends here: it has no more photons to create, and does not drain because more
 * steps are on their way. */
ICE_FN bool gpu_ends_launch(const ics_lane_memory *lane, bool open)
{
    return !open && !lane->launch->drain;
}

/* ---- fly ------------------------------------------------------------------------------------- */

/* Puts the photons that do not fly any more into their lists: those that need another stage, and
 * the slots of those that have ended. All threads of the warp. */
ICE_FN void gpu_land(const gpu_warp *warp, gpu_list_counts *counts, uint32_t slot,
                     ice_active_photon *active)
{
    const bool is_special = active->fate == GPU_NEEDS_STAGE;
    const bool has_ended = active->fate - 1u < GPU_IDLE - 1u; /* neither alive nor idle */
    const uint32_t special = __ballot_sync(0xffffffffu, is_special);
    const uint32_t ended = __ballot_sync(0xffffffffu, has_ended);
    if (is_special) {
        gpu_slot_store(warp->slots, slot, active, false);
        active->fate = GPU_IDLE;
    } else if (has_ended) {
        gpu_slot_end(warp->slots, slot, active);
        active->fate = GPU_IDLE;
    }
    gpu_put_slots(warp->slots, counts, slot, GPU_LIST_SPECIAL, is_special, special);
    gpu_put_slots(warp->slots, counts, slot, GPU_LIST_CREATE, has_ended, ended);
}

/* Bounces of the `photons` photons of the warp that fly, until GPU_SPECIAL_REFILL of them have
 * ended or need another stage. Returns the threads whose photons go on flying, a bit for each. All
 * threads of the warp. */
ICE_FN uint32_t gpu_fly_some(const gpu_warp *warp, const bool in_columns, uint32_t photons,
                             const ice_column_stay *stay, ice_active_photon *active)
{
    const uint32_t refill = in_columns ? GPU_REFILL_IN_COLUMNS : GPU_SPECIAL_REFILL;
    const uint32_t enough = photons > refill ? photons - refill : 0;
    uint32_t flying;
    do {
        if (active->fate == ICE_ALIVE) {
            if (in_columns) {
                gpu_fly_in_column(warp->tables, warp->sink, stay, active);
            } else {
                gpu_fly_once(warp->tables, warp->sink, active);
            }
        }
        flying = __ballot_sync(0xffffffffu, active->fate == ICE_ALIVE);
    } while ((uint32_t)__popc(flying) > enough);
    ICE_CLOCK(OTHER);
    return flying;
}

/* Flies the photons of GPU_LIST_FLY or GPU_LIST_COLUMN, in registers, until the warp has more of
 * other work. When GPU_SPECIAL_REFILL photons have ended or need another stage, they go into their
 * lists, and their threads take others. With GPU_LIST_FLY, the warp creates photons meanwhile.
 * *open: there may be more photons to create. All threads of the warp. */
ICE_FN void gpu_fly(const gpu_warp *warp, gpu_list_counts *counts, bool *open, const uint32_t list)
{
    const bool in_columns = GPU_HAS_COLUMNS && list == GPU_LIST_COLUMN;
    ice_active_photon active = {0}; /* without a value, its registers would be kept for it outside
                                       this function, too */
    active.fate = GPU_IDLE;
    ice_column_stay stay = {0};
    uint32_t slot = ICS_NOBODY, flying = 0;
    for (;;) {
        const uint32_t photons = (uint32_t)__popc(flying);
        if (!gpu_has_enough(*counts, list, 32 - photons)) {
            if (!in_columns && gpu_needs_photons(*counts, *open, photons)) {
                *open = gpu_create(warp, counts);
                if (gpu_ends_launch(warp->lane, *open)) {
                    break;
                }
            }
            if (!gpu_stays(*counts, *open, list, photons)) {
                break;
            }
        }
        const bool is_free = active.fate != ICE_ALIVE;
        const uint32_t listed = gpu_list_count(*counts, list);
        const uint32_t taken = gpu_give_slots(warp->slots, counts, list, is_free, ~flying);
        if (taken != ICS_NOBODY) {
            slot = taken;
            active = gpu_slot_load(warp->lane, warp->slots, warp->tables, slot);
            if (in_columns) {
                gpu_begin_stay(warp->tables, &active.photon, &stay);
            }
        }
        const uint32_t given = listed - gpu_list_count(*counts, list);
        flying = gpu_fly_some(warp, in_columns, photons + given, &stay, &active);
        gpu_land(warp, counts, slot, &active);
    }
    const bool flies = active.fate == ICE_ALIVE;
    if (flies) {
        gpu_slot_store(warp->slots, slot, &active, false);
    }
    __syncwarp(); /* all have read the list */
    gpu_put_slots(warp->slots, counts, slot, list, flies, flying);
    __syncwarp();
}

/* ---- special --------------------------------------------------------------------------------- */

/* Each of these functions computes the slots of all threads of the warp, and returns the list into
 * which the slot of the thread goes. Threads without a slot have ICS_NOBODY. */

/* A bounce whose segment may touch a module, in ice without columns. */
ICE_FN uint32_t gpu_fly_and_collide(const gpu_warp *warp, uint32_t slot)
{
    if (slot == ICS_NOBODY) {
        return GPU_NO_LIST;
    }
    ice_active_photon active = gpu_slot_load(warp->lane, warp->slots, warp->tables, slot);
    gpu_slot_identify(warp->lane, slot, &active.photon);
    ice_bounce bounce = {0};
    ice_work work;
    ICE_CLOCK(PROPAGATE);
    (void)ice_start_bounce_in_ice(GPU_SPECIAL_PROPAGATE, warp->tables, &active, &bounce, &work);
    ICE_CLOCK(COLLIDE);
    if (ice_record_hits_of(GPU_SPECIAL_COLLIDE, warp->tables, &active, &bounce, warp->sink,
                           &warp->lane->recorded[gpu_first_slot() + slot]) < 0) {
        active.fate = GPU_WAITS;
    } else {
        ICE_COUNT_SEGMENT(warp->sink, warp->tables, &active.photon, bounce.height, bounce.length);
        ICE_CLOCK(SCATTER);
        ice_end_bounce_in_ice(GPU_SPECIAL_SCATTER, warp->tables, &bounce, &active.photon,
                              &active.random, &active.fate, &active.site);
    }
    return gpu_leave(warp, slot, &active, GPU_LIST_FLY);
}

/* Bounces whose segments may pass columns or touch a module. There is no other stage for modules in
 * ice with columns, because warps in different stages displace each other's instructions. */
ICE_FN uint32_t gpu_fly_through_columns(const gpu_warp *warp, uint32_t slot)
{
    ice_active_photon active = {0};
    uint32_t to = GPU_NO_LIST;
    if (slot != ICS_NOBODY) {
        active = gpu_slot_load(warp->lane, warp->slots, warp->tables, slot);
        gpu_slot_identify(warp->lane, slot, &active.photon);
        to = GPU_LIST_SPECIAL;
    }
    do {
        if (to == GPU_LIST_SPECIAL) {
            gpu_bounce(warp->lane, warp->tables, warp->sink, &active, gpu_first_slot() + slot);
            const bool stays = active.fate == ICE_ALIVE &&
                               ice_in_hole(warp->tables, active.photon.x, active.photon.y);
            to = !stays ? GPU_LIST_FLY : GPU_HAS_COLUMNS ? GPU_LIST_COLUMN : GPU_LIST_SPECIAL;
        }
    } while ((uint32_t)__popc(__ballot_sync(0xffffffffu, to == GPU_LIST_SPECIAL)) >=
             GPU_STAY_IN_COLUMNS);
    return slot == ICS_NOBODY ? (uint32_t)GPU_NO_LIST : gpu_leave(warp, slot, &active, to);
}

/* Does the stage special for up to 32 slots of its list. Returns false if a photon waits for room
 * in the hit buffer. All threads of the warp. */
ICE_FN bool gpu_do_special(const gpu_warp *warp, gpu_list_counts *counts)
{
    const uint32_t slot = gpu_give_slots(warp->slots, counts, GPU_LIST_SPECIAL, true, 0xffffffffu);
    const uint32_t to = warp->tables->features & ICE_HAS_HOLES ? gpu_fly_through_columns(warp, slot)
                                                               : gpu_fly_and_collide(warp, slot);
    __syncwarp();
    ICE_CLOCK(OTHER);
    gpu_sort_slots(warp->slots, counts, slot, to);
    return __all_sync(0xffffffffu, slot == ICS_NOBODY || to != GPU_NO_LIST);
}

/* ---- the kernel ------------------------------------------------------------------------------ */

ICS_KERNEL GPU_BOUNDS_WARP_WAVEFRONT gpu_warp_wavefront(
    const __grid_constant__ ice_tables given, const __grid_constant__ ics_lane_memory lane)
{
    __shared__ uint32_t counts[GPU_BLOCK_COUNTS];
    __shared__ gpu_warp_slots all[GPU_WARPS];
    const ice_tables tables = gpu_special_tables(&given);
    gpu_hit_sink sink = {&lane, counts};
    GPU_CLOCK_BEGIN();
    gpu_counts_clear(counts);
    gpu_list_counts listed;
    const gpu_warp warp = {&lane, &tables, &sink, gpu_load_slots(&lane, &tables, all, &listed)};
    bool open = true; /* there may be more photons to create */
    do {
        uint32_t taken;
        const uint32_t list = gpu_choose_list(listed, open, &taken);
        if (taken == 0) {
            break;
        }
        if (list == GPU_LIST_SPECIAL) {
            if (!gpu_do_special(&warp, &listed)) {
                break;
            }
        } else if (GPU_HAS_COLUMNS && list == GPU_LIST_COLUMN) {
            gpu_fly(&warp, &listed, &open, GPU_LIST_COLUMN);
        } else {
            gpu_fly(&warp, &listed, &open, GPU_LIST_FLY);
        }
    } while (!gpu_ends_launch(&lane, open));
    gpu_store_slots(&lane, &tables, counts, warp.slots, gpu_list_count(listed, GPU_LIST_CREATE));
    GPU_CLOCK_END();
}
