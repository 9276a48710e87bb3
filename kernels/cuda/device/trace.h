/* The kernel that follows photons and stores every point of their paths (stages/path_walk.h), for
 * `icestream trace`. A thread follows one photon after the other. */
#ifndef ICS_KERNELS_CUDA_DEVICE_TRACE_H
#define ICS_KERNELS_CUDA_DEVICE_TRACE_H

#include "kernels/cuda/device/replay_work.h"

struct ice_walk;
struct ice_tables;
struct ice_path_point;
ICE_FN int32_t gpu_trace_put(struct ice_walk *walk, const struct ice_path_point *point);
#define ICE_PUT_POINT(walk, tables, point) ((void)(tables), gpu_trace_put(walk, point))
#include "kernels/cuda/device/special_tables.h"
#include "stages/path_walk.h"

/* A thread's photon. */
typedef struct gpu_traced {
    ice_walk walk; /* the first member */
    const ics_replay_work *work;
    uint32_t item, points; /* number of the photon in the launch; its points so far */
} gpu_traced;

/* Returns 0, or 1 if there is no room for the point. */
ICE_FN int32_t gpu_trace_put(ice_walk *walk, const ice_path_point *point)
{
    gpu_traced *own = (gpu_traced *)walk;
    const ics_replay_work *work = own->work;
    if (point->kind == ICE_POINT_UNREACHED) {
        return 0;
    }
    const uint64_t index = atomicAdd(&work->counts->arrivals, 1ull);
    if (index >= work->arrival_capacity) {
        return 1;
    }
    ics_replay_point *out = &work->points[index];
    out->item = own->item;
    out->number = own->points++;
    out->kind = (uint32_t)point->kind;
    out->scatters = point->scatters;
    out->x = point->x;
    out->y = point->y;
    out->z = point->z;
    out->dx = point->dx;
    out->dy = point->dy;
    out->dz = point->dz;
    out->path = point->path;
    out->absorption = point->absorption;
    out->wavelength = point->wavelength;
    if (point->arrival != NULL) {
        out->arrival = *point->arrival;
    }
    return 0;
}

ICS_KERNEL GPU_BOUNDS_REPLAY gpu_trace(const __grid_constant__ ice_tables given,
                                       const __grid_constant__ ics_replay_work work)
{
    const ice_tables tables = gpu_special_tables(&given);
    const ice_variants variants = gpu_special_variants();
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < work.count;
         i += gridDim.x * blockDim.x) {
        const ics_replay_item item = work.items[i];
        gpu_traced own;
        own.work = &work;
        own.item = i;
        own.points = 0;
        ice_walk_begin(&own.walk, &variants, &tables, &work.emissions[item.emission], item.emission,
                       item.photon_id);
        while (ice_walk_goes_on(&own.walk)) {
            ice_walk_segment(&own.walk, &variants, &tables);
        }
    }
}

#endif
