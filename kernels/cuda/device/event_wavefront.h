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
 * A kernel for collide pays only where its code is long, or where photons leave for columns anyway:
 * with meshes and with hole ice (GPU_COLLIDES_IN_FLY). Elsewhere fly computes whole bounces, and
 * collide only those for whose hits there was no room, and the last ones of a launch.
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

/* What a warp of fly has in shared memory, so that few of its variables take registers while
 * photons fly. The list has the slots of its region whose photons shall fly in front, and the free
 * ones at its back. */
typedef struct gpu_fly_warp {
    gpu_warp_queue queue;
    gpu_region_list list;
    uint32_t listed, room; /* numbers of photons that shall fly, and of free slots */
    float wavelengths[32]; /* the identities of the photons of the threads */
    uint32_t emissions[32], photon_ids[32];
} gpu_fly_warp;
ICS_STATIC_ASSERT(sizeof(gpu_fly_warp) == ICS_WARP_FLY_BYTES, "the host computes with this size");

/* Whether fly computes the bounces that may touch a module. The way of a photon to another kernel
 * and back takes 0.2 ns of an H200, as much as some 18 bounces, and a search among spheres less
 * than one (bench/results/2026-12-01-event-grain.md). Where a header of the user decides about
 * every segment (ICE_SEARCHES_ALL), every bounce is such a bounce. */
#define GPU_COLLIDES_IN_FLY                                                                        \
    (ICE_SEARCHES_ALL ||                                                                           \
     (GPU_SPECIAL_FEATURES & (ICE_HAS_HOLES | ICE_HAS_SHAPE(ICE_SHAPE_MESH))) == 0)

/* Whether the identities of photons that fly are in shared memory: no bounce needs them. */
#define GPU_KEEPS_IDENTITIES (!GPU_COUNTS_SEGMENTS && !GPU_COLLIDES_IN_FLY)

ICE_FN void gpu_keep_identity(gpu_fly_warp *warp, const ice_photon *photon)
{
    if (GPU_KEEPS_IDENTITIES) {
        warp->wavelengths[threadIdx.x % 32] = photon->wavelength;
        warp->emissions[threadIdx.x % 32] = photon->emission;
        warp->photon_ids[threadIdx.x % 32] = photon->photon_id;
    }
}

ICE_FN void gpu_identify(const gpu_fly_warp *warp, ice_photon *photon)
{
    if (GPU_KEEPS_IDENTITIES) {
        photon->wavelength = warp->wavelengths[threadIdx.x % 32];
        photon->emission = warp->emissions[threadIdx.x % 32];
        photon->photon_id = warp->photon_ids[threadIdx.x % 32];
    }
}

/* One bounce of the photon of a thread. Otherwise the fate of the photon becomes GPU_NEEDS_STAGE,
 * and *recorded is the number of hits of its segment that are recorded. */
ICE_FN void gpu_fly_bounce(const ice_tables *tables, gpu_hit_sink *sink, ice_active_photon *active,
                           uint32_t *recorded)
{
    if (!GPU_COLLIDES_IN_FLY) {
        gpu_fly_once(tables, sink, active);
        return;
    }
    const ice_variants variants = gpu_special_variants();
    uint32_t hits = 0; /* not used: gpu_put_hit counts them */
    if (ice_bounce_photon(&variants, tables, active, sink, &hits, recorded) < 0) {
        active->fate = GPU_NEEDS_STAGE;
    }
}

/* Puts the photons of the threads with `puts` into free slots, of which there are enough. All
 * threads of the warp. */
ICE_FN void gpu_leave_fly(const ics_lane_memory *lane, gpu_fly_warp *warp, uint32_t first,
                          bool puts, uint32_t need, const ice_active_photon *active,
                          uint32_t recorded)
{
    const uint32_t putting = __ballot_sync(0xffffffffu, puts);
    const uint32_t room = warp->room;
    if (puts) {
        const uint32_t rank = (uint32_t)__popc(putting & gpu_threads_before());
        const uint32_t slot = first + warp->list.slots[GPU_REGION_SLOTS - room + rank];
        gpu_put_in_region(lane, slot, active, need);
        if (GPU_COLLIDES_IN_FLY && recorded > 0) {
            lane->recorded[slot] = recorded;
        }
    }
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
        warp->room = room - (uint32_t)__popc(putting);
    }
    __syncwarp();
}

/* Gives listed photons to threads that have none, as long as there are both; their slots become
 * free. `idle` has a bit for each thread with `is_idle`. All threads of the warp. */
ICE_FN void gpu_load_listed(const ics_lane_memory *lane, const ice_tables *tables,
                            gpu_fly_warp *warp, uint32_t first, bool is_idle, uint32_t idle,
                            uint32_t *counts, ice_active_photon *active)
{
    const uint32_t listed = warp->listed, room = warp->room;
    const uint32_t rank = (uint32_t)__popc(idle & gpu_threads_before());
    const bool takes = is_idle && rank < listed;
    const uint32_t index = takes ? warp->list.slots[listed - 1 - rank] : 0;
    __syncwarp(); /* all have read their entries, and those of free slots come behind them */
    if (takes) {
        gpu_finish_photon(lane, tables, counts, active);
        gpu_load_slot(lane, tables, active, first + index);
        gpu_set_need(lane, first + index, GPU_NEEDS_NOTHING);
        warp->list.slots[GPU_REGION_SLOTS - 1 - room - rank] = (uint8_t)index;
    }
    if (threadIdx.x % 32 == 0) {
        const uint32_t taken = min((uint32_t)__popc(idle), listed);
        warp->listed = listed - taken;
        warp->room = room + taken;
    }
    __syncwarp();
}

/* Stores the photons of the queue that no thread has taken. All threads of the warp. */
ICE_FN void gpu_leave_queue(gpu_fly_warp *warp, uint32_t queued, const ics_lane_memory *lane,
                            const ice_tables *tables, uint32_t first, uint32_t *counts)
{
    const uint32_t entry = threadIdx.x % 32;
    ice_active_photon active = {0};
    __syncwarp(); /* all threads have taken their photons */
    if (entry < queued) {
        active = gpu_queue_unpack(&warp->queue, tables, entry);
    } else {
        gpu_queue_count_end(&warp->queue, entry, lane, tables, counts);
    }
    gpu_leave_fly(lane, warp, first, entry < queued, GPU_NEEDS_FLY, &active, 0);
}

/* The begin of a visit: lists the slots of the region, and subtracts its photons from those of the
 * pool until gpu_end_fly(). All threads of the warp. */
ICE_FN void gpu_begin_fly(const ics_lane_memory *lane, uint32_t first, gpu_fly_warp *warp)
{
    const uint32_t listed = gpu_list_region(lane, first, GPU_NEEDS_FLY, true, true, &warp->list);
    const uint32_t room = gpu_list_region(lane, first, GPU_NEEDS_NOTHING, true, false, &warp->list);
    warp->queue.ended[threadIdx.x % 32] = GPU_IDLE;
    if (threadIdx.x % 32 == 0) {
        warp->listed = listed;
        warp->room = room;
        gpu_pool_add(lane, room - GPU_REGION_SLOTS, 0);
    }
    __syncwarp();
}

/* The end of a visit: stores the photons of the threads and of the queue. All threads of the warp.
 */
ICE_FN void gpu_end_fly(const ics_lane_memory *lane, const ice_tables *tables, uint32_t first,
                        gpu_fly_warp *warp, uint32_t queued, uint32_t *counts,
                        ice_active_photon *active)
{
    gpu_identify(warp, &active->photon);
    gpu_finish_photon(lane, tables, counts, active);
    gpu_leave_fly(lane, warp, first, active->fate == ICE_ALIVE, GPU_NEEDS_FLY, active, 0);
    gpu_leave_queue(warp, queued, lane, tables, first, counts);
    if (threadIdx.x % 32 == 0) {
        gpu_pool_add(lane, GPU_REGION_SLOTS - warp->room, 0);
    }
}

/* The bounces that a visit has left when no photon will be created any more: it ends with its
 * photons. */
#define GPU_BOUNCES_TO_END (1 << 30)

/* Stores the photons that need another kernel, and gives photons to the threads without one.
 * Returns false if the visit ends. All threads of the warp. */
ICE_FN bool gpu_refill_fly(const ics_lane_memory *lane, const ice_tables *tables, uint32_t first,
                           gpu_fly_warp *warp, uint32_t *queued, int *bounces, uint32_t *recorded,
                           uint32_t *counts, ice_active_photon *active)
{
    const uint32_t flying = __ballot_sync(0xffffffffu, active->fate == ICE_ALIVE);
    const bool leaves = active->fate == GPU_NEEDS_STAGE;
    gpu_identify(warp, &active->photon);
    if (__any_sync(0xffffffffu, leaves)) {
        gpu_leave_fly(lane, warp, first, leaves, leaves ? gpu_need_of(tables, &active->photon) : 0u,
                      active, *recorded);
        active->fate = leaves ? (uint32_t)GPU_IDLE : active->fate;
        *recorded = 0;
    }
    const bool is_idle = active->fate != ICE_ALIVE;
    bool goes_on = *bounces > 0;
    if (goes_on && warp->listed > 0) {
        gpu_load_listed(lane, tables, warp, first, is_idle, ~flying, counts, active);
    } else if (goes_on) {
        bool open = *bounces <= GPU_SPECIAL_BOUNCES; /* there may be more photons to create */
        if (*queued == 0 && open && warp->room >= GPU_ROOM_TO_CREATE) {
            *queued = gpu_queue_refill(&warp->queue, lane, tables, counts);
            open = *queued > 0;
        }
        if (*queued > 0) {
            *queued = gpu_queue_assign(&warp->queue, tables, *queued, is_idle, ~flying, active);
        } else if (open || !lane->launch->drain || flying == 0) {
            /* There is no photon for these threads. The others fly on only if no more will come. */
            goes_on = false;
        } else {
            *bounces = GPU_BOUNCES_TO_END;
        }
    }
    gpu_keep_identity(warp, &active->photon);
    return goes_on;
}

ICS_KERNEL GPU_BOUNDS_FLY gpu_fly(const __grid_constant__ ice_tables given,
                                  const __grid_constant__ ics_lane_memory lane,
                                  const ics_chain chain)
{
    __shared__ uint32_t counts[GPU_BLOCK_COUNTS];
    __shared__ gpu_fly_warp warps[GPU_THREADS_FLY / 32];
    gpu_counts_clear(counts);
    const ice_tables tables = gpu_special_tables(&given);
    gpu_hit_sink sink = {&lane, counts};
    const uint32_t first = gpu_region_first(chain, GPU_THREADS_FLY);
    gpu_fly_warp *warp = &warps[threadIdx.x / 32];
    gpu_begin_fly(&lane, first, warp);
    ice_active_photon active = {0};
    active.fate = GPU_IDLE;
    uint32_t queued = 0, recorded = 0;
    int bounces = GPU_SPECIAL_BOUNCES; /* left in this visit */
    while (gpu_refill_fly(&lane, &tables, first, warp, &queued, &bounces, &recorded, counts,
                          &active)) {
        /* The photons with which the warp looks for no more. The ballot is no variable: see
         * monolithic.h. */
        const uint32_t enough = bounces > GPU_SPECIAL_BOUNCES ? 0 : 32 - GPU_SPECIAL_REFILL;
        do {
            if (active.fate == ICE_ALIVE) {
                gpu_fly_bounce(&tables, &sink, &active, &recorded);
            }
            --bounces;
        } while ((uint32_t)__popc(__ballot_sync(0xffffffffu, active.fate == ICE_ALIVE)) > enough);
    }
    gpu_end_fly(&lane, &tables, first, warp, queued, counts, &active);
    gpu_counts_add(counts, &lane);
}

/* ---- collide --------------------------------------------------------------------------------- */

/* Bounces that collide computes of a photon before it flies again: near a module, the next bounces
 * often need collide, too. */
#define GPU_COLLIDE_BOUNCES 4

/* Threads without a photon at which a warp of collide takes more from its list. */
#define GPU_COLLIDE_REFILL 8u

/* Whether the launch has only its last photons left. Then collide computes them to their end, all
 * their bounces, because small kernels would wait for each other longer than they compute. */
ICE_FN bool gpu_finishes(const ics_lane_memory *lane)
{
    const bool ends = *(volatile uint64_t *)&lane->progress->next >= lane->launch->end;
    return __any_sync(0xffffffffu, ends && lane->launch->drain);
}

/* Lists the slots of a region on which collide works. All threads of the warp. */
ICE_FN uint32_t gpu_list_collide(const ics_lane_memory *lane, uint32_t first, bool finishes,
                                 gpu_region_list *list)
{
    if (finishes) {
        return gpu_list_region(lane, first, GPU_NEEDS_NOTHING, false, true, list);
    }
    const uint32_t listed = gpu_list_region(lane, first, GPU_NEEDS_COLLIDE, true, true, list);
    return gpu_is_due(lane, listed) ? listed : 0;
}

/* What a photon needs after a bounce in collide; GPU_NEEDS_COLLIDE: it stays there. */
ICE_FN uint32_t gpu_need_after(const ice_tables *tables, const ice_photon *photon, int bounces,
                               bool finishes)
{
    if (!finishes && (tables->features & ICE_HAS_HOLES) != 0 &&
        ice_in_hole(tables, photon->x, photon->y)) {
        return GPU_HAS_COLUMNS ? GPU_NEEDS_COLUMN : GPU_NEEDS_COLLIDE;
    }
    return finishes || bounces > 0 ? GPU_NEEDS_COLLIDE : GPU_NEEDS_FLY;
}

/* Works off the list of a warp. Adds to *ended and *waiting the numbers of photons that ended, and
 * that wait. All threads of the warp. */
ICE_FN void gpu_collide_region(const ics_lane_memory *lane, const ice_tables *tables,
                               gpu_hit_sink *sink, uint32_t first, const gpu_region_list *list,
                               uint32_t listed, bool finishes, uint32_t *ended, uint32_t *waiting)
{
    ice_active_photon active = {0};
    uint32_t slot = ICS_NOBODY, working = 0;
    int bounces = 0;
    active.fate = GPU_IDLE;
    do {
        const uint32_t rank = (uint32_t)__popc(~working & gpu_threads_before());
        if (active.fate != ICE_ALIVE && rank < listed) {
            slot = first + list->slots[listed - 1 - rank];
            gpu_load_slot(lane, tables, &active, slot);
            bounces = GPU_COLLIDE_BOUNCES;
        }
        const uint32_t before = (uint32_t)__popc(working);
        const uint32_t taken = min(32 - before, listed);
        listed -= taken;
        const uint32_t refill = listed > 0 ? GPU_COLLIDE_REFILL : 1;
        const uint32_t enough = before + taken > refill ? before + taken - refill : 0;
        bool ends = false, waits = false;
        do {
            if (active.fate == ICE_ALIVE) {
                gpu_bounce(lane, tables, sink, &active, slot);
                --bounces;
                const uint32_t need =
                    active.fate == ICE_ALIVE
                        ? gpu_need_after(tables, &active.photon, bounces, finishes)
                        : (uint32_t)GPU_NEEDS_COLLIDE;
                waits = active.fate == GPU_WAITS;
                if (waits || need != GPU_NEEDS_COLLIDE) {
                    gpu_put_in_region(lane, slot, &active, need);
                    active.fate = GPU_IDLE;
                } else if (active.fate != ICE_ALIVE) {
                    gpu_finish_photon(lane, tables, sink->counts, &active);
                    gpu_set_need(lane, slot, GPU_NEEDS_NOTHING);
                    ends = true;
                }
            }
            working = __ballot_sync(0xffffffffu, active.fate == ICE_ALIVE);
        } while ((uint32_t)__popc(working) > enough);
        *ended += (uint32_t)__popc(__ballot_sync(0xffffffffu, ends));
        *waiting += (uint32_t)__popc(__ballot_sync(0xffffffffu, waits));
    } while (working != 0 || listed > 0);
}

ICS_KERNEL GPU_BOUNDS_COLLIDE gpu_collide(const __grid_constant__ ice_tables given,
                                          const __grid_constant__ ics_lane_memory lane,
                                          const ics_chain chain)
{
    __shared__ uint32_t counts[GPU_BLOCK_COUNTS];
    __shared__ gpu_region_list lists[GPU_THREADS_COLLIDE / 32];
    const uint32_t first = gpu_region_first(chain, GPU_THREADS_COLLIDE);
    gpu_region_list *list = &lists[threadIdx.x / 32];
    const bool finishes = gpu_finishes(&lane);
    const uint32_t listed = gpu_list_collide(&lane, first, finishes, list);
    if (__syncthreads_count(listed > 0) == 0) {
        return;
    }
    gpu_counts_clear(counts);
    const ice_tables tables = gpu_special_tables(&given);
    gpu_hit_sink sink = {&lane, counts};
    uint32_t ended = 0, waiting = 0;
    gpu_collide_region(&lane, &tables, &sink, first, list, listed, finishes, &ended, &waiting);
    if (threadIdx.x % 32 == 0) {
        gpu_pool_add(&lane, 0u - ended, waiting);
    }
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
    uint32_t listed = gpu_list_region(&lane, first, GPU_NEEDS_COLUMN, true, true, list);
    listed = gpu_is_due(&lane, listed) ? listed : 0;
    if (__syncthreads_count(listed > 0) == 0) {
        return;
    }
    gpu_counts_clear(counts);
    const ice_tables tables = gpu_special_tables(&given);
    gpu_hit_sink sink = {&lane, counts};
    gpu_fly_columns(&lane, &tables, &sink, first, list, listed);
    gpu_counts_add(counts, &lane);
}
