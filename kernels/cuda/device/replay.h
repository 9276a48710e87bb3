/* The kernel that replays photons of hits, and sums along their paths (stages/path_ice.h). All
 * schedules give the same photons, so there is one kernel for all of them: a thread carries photon
 * after photon, as in monolithic. When GPU_SPECIAL_REFILL threads of a warp have no photon, these
 * take new ones.
 *
 * Besides what kernels/cuda/device/special.h lists, the program defines
 *   GPU_REPLAY_TARGETS   1: there are targets, 0: there are none
 *   GPU_REPLAY_SUMS      1: sums of the layers are wanted
 *   GPU_REPLAY_ANGLES    1: the densities of the angles in the own ice are wanted
 */
#ifndef ICS_KERNELS_CUDA_DEVICE_REPLAY_H
#define ICS_KERNELS_CUDA_DEVICE_REPLAY_H

#include "kernels/cuda/device/replay_work.h"
#include "stages/platform.h"

struct ice_walk;
struct ice_tables;
struct ice_path_point;
ICE_FN int32_t gpu_replay_put(struct ice_walk *walk, const struct ice_tables *tables,
                              const struct ice_path_point *point);
#define ICE_PUT_POINT(walk, tables, point) gpu_replay_put(walk, tables, point)
#define ICE_WANTS_ENDS                     0
#include "kernels/cuda/device/special_tables.h"
#include "stages/path_ice.h"

/* A thread's photon. */
typedef struct gpu_replayed {
    ice_walk walk; /* the first member */
    const ics_replay_work *work;
    ice_path_state own;
    ice_layer_sums path, at_hit;
    ice_angle_sums angles;
    ice_path_state *states; /* of the targets */
    uint32_t item;          /* number of the photon in the launch */
    uint32_t scatters;      /* of ics_replay_item */
    uint32_t arrivals;      /* so far */
    bool flies, done;       /* done: the launch has no photon left for this thread */
} gpu_replayed;

ICE_FN ice_path_ice gpu_replay_own(const ice_tables *tables)
{
    const ice_path_ice ice = {tables, GPU_SPECIAL_SCATTER, 1, GPU_REPLAY_ANGLES};
    return ice;
}

ICE_FN ice_path_ice gpu_replay_target(const ics_replay_work *work, uint32_t target)
{
    const ics_replay_ice *from = &work->ices[target];
    const ice_path_ice ice = {&from->tables, (ice_variant)from->scatter, 0,
                              (int32_t)from->needs_angles};
    return ice;
}

/* The number of targets; a constant 0 if there is none. */
ICE_FN uint32_t gpu_replay_targets(const ics_replay_work *work)
{
    return GPU_REPLAY_TARGETS ? work->targets : 0;
}

/* ---- points ---------------------------------------------------------------------------------- */

ICE_FN void gpu_replay_start(gpu_replayed *own, const ice_tables *tables, float wavelength)
{
    const ice_angle_sums zero = {0.0, 0.0, 0.0, 0.0};
    const ice_path_ice ice = gpu_replay_own(tables);
    own->own = ice_path_begin(&ice, wavelength);
    for (uint32_t i = 0; i < gpu_replay_targets(own->work); ++i) {
        const ice_path_ice target = gpu_replay_target(own->work, i);
        own->states[i] = ice_path_begin(&target, wavelength);
    }
    if (GPU_REPLAY_SUMS) {
        ice_layer_sums_clear(&own->path);
    }
    own->angles = zero;
    own->arrivals = 0;
}

ICE_FN void gpu_replay_scatter(gpu_replayed *own, const ice_tables *tables,
                               const ice_path_point *point)
{
    const ice_path_ice ice = gpu_replay_own(tables);
    ice_path_add_scatter(&ice, &own->own, point, GPU_REPLAY_SUMS ? &own->path : 0, &own->angles);
    for (uint32_t i = 0; i < gpu_replay_targets(own->work); ++i) {
        const ice_path_ice target = gpu_replay_target(own->work, i);
        ice_path_add_scatter(&target, &own->states[i], point, 0, 0);
    }
}

ICE_FN void gpu_replay_unreached(gpu_replayed *own, const ice_tables *tables,
                                 const ice_path_point *point)
{
    const ice_path_ice ice = gpu_replay_own(tables);
    ice_path_add_unreached(&ice, &own->own, point);
    for (uint32_t i = 0; i < gpu_replay_targets(own->work); ++i) {
        const ice_path_ice target = gpu_replay_target(own->work, i);
        ice_path_add_unreached(&target, &own->states[i], point);
    }
}

/* Stores the layers of own->at_hit behind those of other hits. */
ICE_FN void gpu_replay_store_layers(const ics_replay_work *work, const ice_layer_sums *sums,
                                    ics_replay_arrival *out)
{
    ice_layer_sum layer;
    uint32_t slot = sums->low, count = 0;
    while (ice_layer_sums_next(sums, &slot, &layer)) {
        ++count;
    }
    const uint64_t first = atomicAdd(&work->counts->layers, (unsigned long long)count);
    out->first_layer = first;
    out->layer_count = count;
    slot = sums->low;
    for (uint64_t at = first; at < work->layer_capacity && ice_layer_sums_next(sums, &slot, &layer);
         ++at) {
        work->layers[at] = layer;
    }
}

/* Returns 0, or 1 if there is no room for the arrival. */
ICE_FN int32_t gpu_replay_arrive(gpu_replayed *own, const ice_tables *tables,
                                 const ice_path_point *point)
{
    const ics_replay_work *work = own->work;
    const uint64_t index = atomicAdd(&work->counts->arrivals, 1ull);
    if (index >= work->arrival_capacity) {
        return 1;
    }
    const ice_path_ice ice = gpu_replay_own(tables);
    const uint32_t targets = gpu_replay_targets(work);
    ice_path_end *ends = &work->ends[index * (1 + targets)];
    ics_replay_arrival *out = &work->arrivals[index];
    if (GPU_REPLAY_SUMS) {
        ice_layer_sums_copy(&own->at_hit, &own->path);
    }
    ends[0] = ice_path_end_at(&ice, &own->own, point, GPU_REPLAY_SUMS ? &own->at_hit : 0);
    for (uint32_t i = 0; i < targets; ++i) {
        const ice_path_ice target = gpu_replay_target(work, i);
        ends[1 + i] = ice_path_end_at(&target, &own->states[i], point, 0);
    }
    out->arrival = *point->arrival;
    out->arrival.emission = own->item;
    out->number = own->arrivals++;
    out->angles = own->angles;
    out->first_layer = 0;
    out->layer_count = 0;
    if (GPU_REPLAY_SUMS) {
        gpu_replay_store_layers(work, &own->at_hit, out);
    }
    return 0;
}

ICE_FN int32_t gpu_replay_put(ice_walk *walk, const ice_tables *tables, const ice_path_point *point)
{
    gpu_replayed *own = (gpu_replayed *)walk;
    switch (point->kind) {
    case ICE_POINT_START:
        gpu_replay_start(own, tables, point->wavelength);
        return 0;
    case ICE_POINT_SCATTER:
        gpu_replay_scatter(own, tables, point);
        return 0;
    case ICE_POINT_HIT:
        return gpu_replay_arrive(own, tables, point);
    case ICE_POINT_UNREACHED:
        gpu_replay_unreached(own, tables, point);
        return 0;
    default:
        return 0;
    }
}

/* ---- photons --------------------------------------------------------------------------------- */

/* Gives the thread the next photon, if the launch has one. */
ICE_FN void gpu_replay_next(gpu_replayed *own, const ice_tables *tables)
{
    const ics_replay_work *work = own->work;
    const unsigned long long number = atomicAdd(&work->counts->next, 1ull);
    own->done = number >= work->count;
    if (own->done) {
        return;
    }
    const ics_replay_item item = work->items[number];
    const ice_variants variants = gpu_special_variants();
    own->item = (uint32_t)number;
    own->scatters = item.scatters;
    own->flies = true;
    ice_walk_begin(&own->walk, &variants, tables, &work->emissions[item.emission], item.emission,
                   item.photon_id);
}

ICS_KERNEL GPU_BOUNDS_REPLAY gpu_replay(const __grid_constant__ ice_tables given,
                                        const __grid_constant__ ics_replay_work work)
{
    const ice_tables tables = gpu_special_tables(&given);
    const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t slots = (uint32_t)tables.layer_count + 1;
    gpu_replayed own;
    own.work = &work;
    own.states = work.states + (uint64_t)thread * gpu_replay_targets(&work);
    own.path.items = work.sums + 2ull * thread * slots;
    own.at_hit.items = own.path.items + slots;
    own.path.slots = own.at_hit.slots = slots;
    own.path.low = own.at_hit.low = slots;
    own.path.high = own.at_hit.high = 0;
    own.flies = own.done = false;
    for (;;) {
        const uint32_t busy = __ballot_sync(0xffffffffu, own.flies);
        const uint32_t idle = __ballot_sync(0xffffffffu, !own.flies && !own.done);
        if (!busy && !idle) {
            break;
        }
        if ((!busy || (uint32_t)__popc(idle) >= GPU_SPECIAL_REFILL) && !own.flies && !own.done) {
            gpu_replay_next(&own, &tables);
        }
        if (own.flies) {
            const ice_variants variants = gpu_special_variants();
            ice_walk_segment(&own.walk, &variants, &tables);
            own.flies =
                ice_walk_goes_on(&own.walk) && own.walk.active.photon.scatters <= own.scatters;
        }
    }
    if (GPU_REPLAY_SUMS) {
        ice_layer_sums_clear(&own.path);
        ice_layer_sums_clear(&own.at_hit);
    }
}

#endif
