/* schedule: event-wavefront. A graph of small kernels, between which a photon goes only when it
 * needs another stage.
 *
 *   fly       creates photons, and flies them in registers, bounce after bounce, until they end or
 *             need another kernel
 *   collide   one whole bounce whose segment may touch a module, or may pass a column of hole ice
 *   column    bounces inside a column of hole ice, until the photon leaves it or may touch a module
 *
 * Each kernel has only the code and the registers of its stage. A photon that another kernel needs
 * is in a slot, before a bounce that this kernel begins again (warp_wavefront.h says why). The
 * slots are those of regions (region.h), each of which one warp of every kernel looks after.
 *
 * A visit of fly ends after GPU_SPECIAL_BOUNCES bounces, when the steps are used up, or when the
 * region has no room for more photons. Then the photons in registers wait in slots, too.
 */
#include "kernels/cuda/device/fly.h"
#include "kernels/cuda/device/region.h"
#include "kernels/cuda/device/stamp.h"
#include "kernels/cuda/device/warp_queue.h"

/* The kernel that a photon needs whose next bounce is not one in ice. */
ICE_FN uint32_t gpu_need_of(const ice_tables *tables, const ice_photon *photon)
{
    return GPU_HAS_COLUMNS && ice_in_hole(tables, photon->x, photon->y)
               ? (uint32_t)GPU_NEEDS_COLUMN
               : (uint32_t)GPU_NEEDS_COLLIDE;
}

/* ---- fly ------------------------------------------------------------------------------------- */

/* The region of a warp of fly, and one list of its slots: in front those whose photons shall fly,
 * at the back the free ones. */
typedef struct gpu_fly_region {
    gpu_region_list *list;
    uint32_t first;        /* slot */
    uint32_t listed, room; /* numbers of photons that shall fly, and of free slots */
} gpu_fly_region;

/* The room that a warp needs before it creates photons: for 32 new ones, and for those in its
 * registers. */
#define GPU_ROOM_TO_CREATE 64u

/* Puts the photons of the threads with `puts` into free slots, of which there are enough. All
 * threads of the warp. */
ICE_FN void gpu_leave_fly(const ics_lane_memory *lane, gpu_fly_region *region, bool puts,
                          uint32_t need, const ice_active_photon *active)
{
    const uint32_t putting = __ballot_sync(0xffffffffu, puts);
    if (puts) {
        const uint32_t rank = (uint32_t)__popc(putting & gpu_threads_before());
        const uint32_t entry = GPU_REGION_SLOTS - region->room + rank;
        gpu_put_in_region(lane, region->first + region->list->slots[entry], active, need);
    }
    region->room -= (uint32_t)__popc(putting);
}

/* Gives listed photons to threads that have none, as long as there are both; their slots become
 * free. `idle` has a bit for each thread with `is_idle`. All threads of the warp. */
ICE_FN void gpu_load_listed(const ics_lane_memory *lane, const ice_tables *tables,
                            gpu_fly_region *region, bool is_idle, uint32_t idle, uint32_t *counts,
                            ice_active_photon *active)
{
    const uint32_t rank = (uint32_t)__popc(idle & gpu_threads_before());
    const bool takes = is_idle && rank < region->listed;
    const uint32_t index = takes ? region->list->slots[region->listed - 1 - rank] : 0;
    __syncwarp(); /* all have read their entries, and those of free slots come behind them */
    if (takes) {
        gpu_finish_photon(lane, tables, counts, active);
        gpu_load_slot(lane, tables, active, region->first + index);
        gpu_set_need(lane, region->first + index, GPU_NEEDS_NOTHING);
        region->list->slots[GPU_REGION_SLOTS - 1 - region->room - rank] = (uint8_t)index;
    }
    const uint32_t taken = min((uint32_t)__popc(idle), region->listed);
    region->listed -= taken;
    region->room += taken;
    __syncwarp();
}

/* Stores the photons of the queue that no thread has taken. All threads of the warp. */
ICE_FN void gpu_leave_queue(gpu_warp_queue *queue, uint32_t queued, const ics_lane_memory *lane,
                            const ice_tables *tables, gpu_fly_region *region, uint32_t *counts)
{
    const uint32_t entry = threadIdx.x % 32;
    ice_active_photon active = {0};
    __syncwarp(); /* all threads have taken their photons */
    if (entry < queued) {
        active = gpu_queue_unpack(queue, tables, entry);
    } else {
        gpu_queue_count_end(queue, entry, lane, tables, counts);
    }
    gpu_leave_fly(lane, region, entry < queued, GPU_NEEDS_FLY, &active);
}

ICS_KERNEL GPU_BOUNDS_FLY gpu_fly(const __grid_constant__ ice_tables given,
                                  const __grid_constant__ ics_lane_memory lane,
                                  const ics_chain chain)
{
    __shared__ uint32_t counts[GPU_BLOCK_COUNTS];
    __shared__ gpu_warp_queue queues[GPU_THREADS_FLY / 32];
    __shared__ gpu_region_list lists[GPU_THREADS_FLY / 32];
    gpu_counts_clear(counts);
    const ice_tables tables = gpu_special_tables(&given);
    gpu_hit_sink sink = {&lane, counts};
    gpu_fly_region region = {&lists[threadIdx.x / 32], gpu_region_first(chain, GPU_THREADS_FLY), 0,
                             0};
    region.listed = gpu_list_region(&lane, region.first, GPU_NEEDS_FLY, true, region.list);
    region.room = gpu_list_region(&lane, region.first, GPU_NEEDS_NOTHING, false, region.list);
    const uint32_t before = GPU_REGION_SLOTS - region.room;
    ice_active_photon active = {0};
    active.fate = GPU_IDLE;
    uint32_t queued;
    gpu_warp_queue *queue = gpu_queue_begin(queues, &queued);
    __syncwarp();
    bool open = true;                          /* there may be more photons to create */
    uint32_t enough = 32 - GPU_SPECIAL_REFILL; /* photons with which the warp looks for no more */
    int bounces = GPU_SPECIAL_BOUNCES;         /* left in this visit */
    for (;;) {
        const uint32_t flying = __ballot_sync(0xffffffffu, active.fate == ICE_ALIVE);
        if ((uint32_t)__popc(flying) > enough) {
            if (active.fate == ICE_ALIVE) {
                gpu_fly_once(&tables, &sink, &active);
            }
            --bounces;
            continue;
        }
        const bool leaves = active.fate == GPU_NEEDS_STAGE;
        gpu_leave_fly(&lane, &region, leaves, leaves ? gpu_need_of(&tables, &active.photon) : 0u,
                      &active);
        if (leaves) {
            active.fate = GPU_IDLE;
        }
        if (bounces <= 0) {
            break;
        }
        if (region.listed > 0) {
            gpu_load_listed(&lane, &tables, &region, active.fate != ICE_ALIVE, ~flying, counts,
                            &active);
            continue;
        }
        if (queued == 0 && open && region.room >= GPU_ROOM_TO_CREATE) {
            queued = gpu_queue_refill(queue, &lane, &tables, counts);
            open = queued > 0;
        }
        if (queued > 0) {
            queued = gpu_queue_assign(queue, &tables, queued, active.fate != ICE_ALIVE, ~flying,
                                      &active);
            continue;
        }
        /* There is no photon for the idle threads. The others fly on only if no more will come. */
        if (open || !lane.launch->drain || flying == 0) {
            break;
        }
        enough = 0;
    }
    gpu_finish_photon(&lane, &tables, counts, &active);
    gpu_leave_fly(&lane, &region, active.fate == ICE_ALIVE, GPU_NEEDS_FLY, &active);
    gpu_leave_queue(queue, queued, &lane, &tables, &region, counts);
    gpu_region_add(&lane, GPU_REGION_SLOTS - region.room, before, 0);
    gpu_counts_add(counts, &lane);
}

/* ---- collide --------------------------------------------------------------------------------- */

/* One whole bounce of the photon in a slot, and further ones in columns of hole ice that are no
 * stage. Returns the fate of the photon. All threads of the warp; those without a slot have
 * ICS_NOBODY. */
ICE_FN uint32_t gpu_collide_slot(const ics_lane_memory *lane, const ice_tables *tables,
                                 gpu_hit_sink *sink, uint32_t slot)
{
    ice_active_photon active = {0};
    active.fate = GPU_IDLE;
    uint32_t need = GPU_NEEDS_NOTHING;
    if (slot != ICS_NOBODY) {
        gpu_load_slot(lane, tables, &active, slot);
        need = GPU_NEEDS_COLLIDE;
    }
    do {
        if (need == GPU_NEEDS_COLLIDE) {
            gpu_bounce(lane, tables, sink, &active, slot);
            const bool stays = active.fate == ICE_ALIVE &&
                               (tables->features & ICE_HAS_HOLES) != 0 &&
                               ice_in_hole(tables, active.photon.x, active.photon.y);
            need = !stays ? GPU_NEEDS_FLY : GPU_HAS_COLUMNS ? GPU_NEEDS_COLUMN : GPU_NEEDS_COLLIDE;
        }
    } while ((uint32_t)__popc(__ballot_sync(0xffffffffu, need == GPU_NEEDS_COLLIDE)) >=
             GPU_STAY_IN_COLUMNS);
    const uint32_t fate = active.fate;
    gpu_finish_photon(lane, tables, sink->counts, &active);
    if (gpu_has_photon(&active)) {
        gpu_put_in_region(lane, slot, &active,
                          fate == GPU_WAITS ? (uint32_t)GPU_NEEDS_COLLIDE : need);
    } else if (slot != ICS_NOBODY) {
        gpu_set_need(lane, slot, GPU_NEEDS_NOTHING);
    }
    return active.fate;
}

ICS_KERNEL GPU_BOUNDS_COLLIDE gpu_collide(const __grid_constant__ ice_tables given,
                                          const __grid_constant__ ics_lane_memory lane,
                                          const ics_chain chain)
{
    __shared__ uint32_t counts[GPU_BLOCK_COUNTS];
    __shared__ gpu_region_list lists[GPU_THREADS_COLLIDE / 32];
    const uint32_t first = gpu_region_first(chain, GPU_THREADS_COLLIDE);
    gpu_region_list *list = &lists[threadIdx.x / 32];
    const uint32_t listed = gpu_list_region(&lane, first, GPU_NEEDS_COLLIDE, true, list);
    if (__syncthreads_count(listed > 0) == 0) {
        return;
    }
    gpu_counts_clear(counts);
    const ice_tables tables = gpu_special_tables(&given);
    gpu_hit_sink sink = {&lane, counts};
    uint32_t after = 0, waiting = 0;
    for (uint32_t begin = 0; begin < listed; begin += 32) {
        const uint32_t entry = begin + threadIdx.x % 32;
        const uint32_t slot = entry < listed ? first + list->slots[entry] : ICS_NOBODY;
        const uint32_t fate = gpu_collide_slot(&lane, &tables, &sink, slot);
        const bool waits = fate == GPU_WAITS;
        after += (uint32_t)__popc(__ballot_sync(0xffffffffu, fate == ICE_ALIVE || waits));
        waiting += (uint32_t)__popc(__ballot_sync(0xffffffffu, waits));
    }
    gpu_region_add(&lane, after, listed, waiting);
    gpu_counts_add(counts, &lane);
}

/* ---- column ---------------------------------------------------------------------------------- */

/* A visit of column ends when few photons are left, which wait for the next visit, but not before
 * this number of bounces. */
#define GPU_LEAVE_COLUMNS  12u
#define GPU_COLUMN_BOUNCES 64

/* Flies the listed photons in columns, in registers. A thread whose photon leaves its column takes
 * another one. All threads of the warp. */
ICE_FN void gpu_fly_columns(const ics_lane_memory *lane, const ice_tables *tables,
                            gpu_hit_sink *sink, uint32_t first, const gpu_region_list *list,
                            uint32_t listed)
{
    ice_active_photon active = {0};
    ice_column_stay stay = {0};
    uint32_t slot = ICS_NOBODY, flying = 0;
    int bounces = GPU_COLUMN_BOUNCES;
    active.fate = GPU_IDLE;
    do {
        const uint32_t rank = (uint32_t)__popc(~flying & gpu_threads_before());
        if (active.fate != ICE_ALIVE && rank < listed) {
            slot = first + list->slots[listed - 1 - rank];
            gpu_load_slot(lane, tables, &active, slot);
            gpu_begin_stay(tables, &active.photon, &stay);
        }
        const uint32_t before = (uint32_t)__popc(flying);
        const uint32_t taken = min(32 - before, listed);
        listed -= taken;
        const uint32_t refill = listed > 0 ? GPU_REFILL_IN_COLUMNS : 1;
        const uint32_t enough = before + taken > refill ? before + taken - refill : 0;
        do {
            if (active.fate == ICE_ALIVE) {
                gpu_fly_in_column(tables, sink, &stay, &active);
            }
            flying = __ballot_sync(0xffffffffu, active.fate == ICE_ALIVE);
            --bounces;
        } while ((uint32_t)__popc(flying) > enough);
        if (active.fate == GPU_NEEDS_STAGE) {
            gpu_put_in_region(lane, slot, &active, GPU_NEEDS_COLLIDE);
            active.fate = GPU_IDLE;
        }
    } while (listed > 0 || (uint32_t)__popc(flying) > GPU_LEAVE_COLUMNS ||
             (bounces > 0 && flying != 0));
    if (active.fate == ICE_ALIVE) {
        gpu_put_in_region(lane, slot, &active, GPU_NEEDS_COLUMN);
    }
}

ICS_KERNEL GPU_BOUNDS_COLUMN gpu_column(const __grid_constant__ ice_tables given,
                                        const __grid_constant__ ics_lane_memory lane,
                                        const ics_chain chain)
{
    if (!GPU_HAS_COLUMNS) {
        return;
    }
    __shared__ uint32_t counts[GPU_BLOCK_COUNTS];
    __shared__ gpu_region_list lists[GPU_THREADS_COLUMN / 32];
    const uint32_t first = gpu_region_first(chain, GPU_THREADS_COLUMN);
    gpu_region_list *list = &lists[threadIdx.x / 32];
    const uint32_t listed = gpu_list_region(&lane, first, GPU_NEEDS_COLUMN, true, list);
    if (__syncthreads_count(listed > 0) == 0) {
        return;
    }
    gpu_counts_clear(counts);
    const ice_tables tables = gpu_special_tables(&given);
    gpu_hit_sink sink = {&lane, counts};
    gpu_fly_columns(&lane, &tables, &sink, first, list, listed);
    gpu_counts_add(counts, &lane);
}
