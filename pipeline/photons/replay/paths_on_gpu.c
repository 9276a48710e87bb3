#include "base/error.h"
#include "base/new.h"
#include "graphs/gpu_replay.h"
#include "pipeline/photons/devices/batch.h"
#include "pipeline/photons/replay/backend.h"
#include "pipeline/photons/replay/photon.h"

#include <stdlib.h>
#include <string.h>

typedef struct tracer {
    const ics_replay_gpu_paths *wanted;
    ics_gpu_replay *gpu;
    uint32_t most;           /* photons of a launch; halved when one had too little room */
    ice_emission *emissions; /* of the photons of a launch */
    ics_replay_item *items;
    uint32_t *starts; /* where the points of each photon begin in `order`, and their end */
    uint32_t *order;  /* [order_capacity], the points by photon */
    size_t order_capacity;
} tracer;

static int launch(tracer *t, size_t first, uint32_t count, icestream_error *error)
{
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t photon_id = t->wanted->photons[first + i].photon_id;
        t->emissions[i] = ics_batch_step_emission(&t->wanted->steps[first + i], photon_id, 1);
        t->items[i] = (ics_replay_item){i, photon_id, UINT32_MAX};
    }
    const ics_gpu_replay_photons photons = {t->emissions, t->items, count, count};
    return ics_gpu_replay_submit(t->gpu, 0, &photons, error);
}

/* Puts the points into the order of photons, and those of a photon into the order of its path. */
static void sort_points(tracer *t, const ics_gpu_replay_output *from, uint32_t photons)
{
    const size_t count = from->arrival_count;
    if (count > t->order_capacity) {
        t->order = ics_new_size(t->order, count, sizeof *t->order);
        t->order_capacity = count;
    }
    memset(t->starts, 0, (photons + 1) * sizeof *t->starts);
    for (size_t i = 0; i < count; ++i) {
        t->starts[from->points[i].item + 1] += 1;
    }
    for (uint32_t i = 0; i < photons; ++i) {
        t->starts[i + 1] += t->starts[i];
    }
    for (size_t i = 0; i < count; ++i) {
        t->order[t->starts[from->points[i].item] + from->points[i].number] = (uint32_t)i;
    }
}

static int put_photon(const tracer *t, const ics_gpu_replay_output *from, uint32_t photon)
{
    const ics_replay_follower *follower = &t->wanted->follower;
    for (uint32_t at = t->starts[photon]; at < t->starts[photon + 1]; ++at) {
        const ics_replay_point *point = &from->points[t->order[at]];
        const ice_path_point given = {
            .kind = (ice_point_kind)point->kind,
            .x = point->x,
            .y = point->y,
            .z = point->z,
            .dx = point->dx,
            .dy = point->dy,
            .dz = point->dz,
            .path = point->path,
            .absorption = point->absorption,
            .wavelength = point->wavelength,
            .scatters = point->scatters,
            .arrival = point->kind == (uint32_t)ICE_POINT_HIT ? &point->arrival : NULL};
        ICS_TRY(follower->put(follower->self, &given));
    }
    return ICESTREAM_OK;
}

/* Follows photons from `first` on, at most *count of them, and fewer if there is too little room
 * for their points. *count: how many. */
static int follow(tracer *t, size_t first, uint32_t *count, icestream_error *error)
{
    ics_gpu_replay_output found;
    ICS_TRY(launch(t, first, *count, error));
    ICS_TRY(ics_gpu_replay_wait(t->gpu, 0, &found, error));
    if (found.overflows && *count > 1) {
        t->most = *count /= 2;
        return follow(t, first, count, error);
    }
    if (found.overflows) {
        return ics_error_set(error, ICESTREAM_E_MEMORY,
                             "trace: found a photon with too many points for the memory of a GPU, "
                             "expected --backend cpu");
    }
    sort_points(t, &found, *count);
    for (uint32_t i = 0; i < *count; ++i) {
        ICS_TRY(t->wanted->begin(t->wanted->follower.self, first + i));
        ICS_TRY(put_photon(t, &found, i));
        ICS_TRY(t->wanted->end(t->wanted->follower.self, first + i));
    }
    return ICESTREAM_OK;
}

static int follow_all(tracer *t, icestream_error *error)
{
    const ics_replay_gpu_paths *wanted = t->wanted;
    if (wanted->options.math == ICS_MATH_FAST) {
        const ics_kernels here = ics_gpu_replay_kernels(t->gpu);
        ICS_TRY(ics_replay_check_kernels(&wanted->kernels, &here, error));
    }
    t->most = ics_gpu_replay_most(t->gpu);
    t->emissions = ICS_NEW_ARRAY(ice_emission, t->most);
    t->items = ICS_NEW_ARRAY(ics_replay_item, t->most);
    t->starts = ICS_NEW_ARRAY(uint32_t, t->most + 1);
    for (size_t first = 0; first < wanted->count;) {
        const size_t left = wanted->count - first;
        uint32_t now = left < t->most ? (uint32_t)left : t->most;
        ICS_TRY(follow(t, first, &now, error));
        first += now;
    }
    return ICESTREAM_OK;
}

int ics_replay_follow_on_gpu(const ics_replay_gpu_paths *wanted, icestream_error *error)
{
    const ics_gpu_replay_wish wish = {.points = true, .profiles = true};
    tracer t = {.wanted = wanted};
    ICS_TRY(ics_gpu_replay_create(&wanted->options, wanted->tables, &wish, &t.gpu, error));
    const int status = follow_all(&t, error);
    free(t.emissions);
    free(t.items);
    free(t.starts);
    free(t.order);
    ics_gpu_replay_destroy(t.gpu);
    return status;
}
