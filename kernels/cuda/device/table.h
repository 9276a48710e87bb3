/* The kernel that fills a table (stages/tabulate/tabulate.h). All schedules of a GPU fill tables by
 * it, because nearly all of its time goes into samples: a bounce has 20 or more of them.
 *
 * A thread carries photon after photon. The threads of a warp add one sample each, again and again.
 * When GPU_SPECIAL_REFILL of them have no sample left, these go on to their next segments, or to
 * new photons.
 *
 * Besides what kernels/cuda/device/special.h lists, the program defines the shape of the table, so
 * that the compiler unrolls the loop over the axes:
 *   GPU_TABLE_GEOMETRY      ice_tabulate_geometry
 *   GPU_TABLE_AXES          number of axes
 *   GPU_TABLE_COORDINATES   {...}, the coordinate of each axis
 *   GPU_TABLE_POWERS        {...}, the power of each axis
 *   GPU_TABLE_SQUARES       1: there are squares, 0: there are none
 */
#ifndef ICS_KERNELS_CUDA_DEVICE_TABLE_H
#define ICS_KERNELS_CUDA_DEVICE_TABLE_H

#include "kernels/cuda/device/run.h"
#include "kernels/cuda/device/table_work.h"
#include "stages/tabulate/tabulate_custom.h"

#if defined(ICE_CUSTOM_tabulate) && GPU_TABLE_AXES > ICE_TABULATE_COORDINATES
#error "table.axes has more axes than the header of stages.tabulate has ICE_TABULATE_COORDINATES"
#endif

/* A thread's photon with the samples of its segment. */
typedef struct gpu_tabulated {
    ice_active_photon active;
    ice_bounce bounce;
    ice_tabulate_way way;
    ice_tabulate_start start; /* the start of the photon */
    int32_t sample, count;    /* the next sample of the segment; all of them */
    bool flies;               /* there is a photon, which is in `bounce` */
    bool done;                /* the launch has no photon left for this thread */
} gpu_tabulated;

/* What a thread has counted. */
typedef struct gpu_table_sums {
    unsigned long long bounces, samples;
    uint32_t ended[ICE_FATES]; /* numbers of photons by ice_fate */
    uint32_t overflows;
} gpu_table_sums;

/* Adds units to a cell. Returns 1 if its sum is 2^63 or more. */
ICE_FN uint32_t gpu_table_add(uint64_t *cell, uint64_t units)
{
    const unsigned long long before =
        atomicAdd((unsigned long long *)cell, (unsigned long long)units);
    return (uint32_t)((before + units) >> 63);
}

#if defined(ICE_CUSTOM_tabulate)
typedef ice_tabulate_coordinates gpu_table_point;

/* Returns the coordinates of a sample, by the user's header. */
ICE_FN gpu_table_point gpu_table_locate(const ice_tabulation *table, const ice_tables *tables,
                                        const ics_table_work *work, const gpu_tabulated *own,
                                        const ice_tabulate_sample *sample)
{
    const float distance =
        ice_tabulate_distance(own->way.first, table->step, own->way.length, own->sample);
    (void)sample;
    return ice_tabulate_ask(tables, table, &work->origins[own->active.photon.emission], &own->way,
                            distance);
}

ICE_FN int32_t gpu_table_ends(const gpu_table_point *point)
{
    return point->ends != 0 ? 1 : 0;
}

ICE_FN float gpu_table_coordinate(const gpu_table_point *point, int32_t coordinate)
{
    return point->at[coordinate];
}
#else
typedef ice_tabulate_point gpu_table_point;

ICE_FN gpu_table_point gpu_table_locate(const ice_tabulation *table, const ice_tables *tables,
                                        const ics_table_work *work, const gpu_tabulated *own,
                                        const ice_tabulate_sample *sample)
{
    (void)tables, (void)work, (void)own;
    return ice_tabulate_locate(table, GPU_TABLE_GEOMETRY, sample);
}

/* Whether a header of the user ends the photon. */
ICE_FN int32_t gpu_table_ends(const gpu_table_point *point)
{
    (void)point;
    return 0;
}

ICE_FN float gpu_table_coordinate(const gpu_table_point *point, int32_t coordinate)
{
    return coordinate == 0   ? point->first
           : coordinate == 1 ? point->azimuth
           : coordinate == 2 ? point->third
           : coordinate == 3 ? point->delay
                             : point->impact;
}
#endif

/* Adds the next sample of the thread's segment. A photon with a sample outside of an axis where
 * photons end has no later samples. */
ICE_FN void gpu_table_add_sample(const ice_tabulation *table, const ice_tables *tables,
                                 const ics_table_work *work, gpu_tabulated *own,
                                 gpu_table_sums *sums)
{
    const int32_t coordinates[] = GPU_TABLE_COORDINATES;
    const int32_t powers[] = GPU_TABLE_POWERS;
    const ice_tabulate_sample sample = ice_tabulate_next(table, tables, &own->way, own->sample);
    const gpu_table_point point = gpu_table_locate(table, tables, work, own, &sample);
    uint32_t at = 0;
    int32_t ends = gpu_table_ends(&point);
#if defined(__CUDACC__)
#pragma unroll
#endif
    for (int32_t i = 0; i < GPU_TABLE_AXES; ++i) {
        const ice_tabulate_axis *axis = &table->axes[i];
        const int32_t cell =
            ice_tabulate_cell(axis, powers[i], gpu_table_coordinate(&point, coordinates[i]));
        at += (uint32_t)cell * axis->stride;
        ends |= ice_tabulate_ends(axis, cell);
    }
    ++own->sample;
    if (ends) {
        own->active.fate = ICE_LEFT;
        own->sample = own->count;
        return;
    }
    const float weight = ice_tabulate_weight(sample.weight, sample.depth);
    ++sums->samples;
    sums->overflows |= gpu_table_add(&table->sums[at], ice_tabulate_units(weight));
    if (GPU_TABLE_SQUARES) {
        sums->overflows |= gpu_table_add(&table->squares[at], ice_tabulate_units(weight * weight));
    }
}

/* Returns the emission of a photon of the batch. */
ICE_FN uint32_t gpu_table_emission(const ics_table_work *work, uint32_t photon)
{
    uint32_t low = 0, high = work->count - 1;
    while (low < high) {
        const uint32_t middle = (low + high + 1) / 2;
        const bool is_later = work->offsets[middle] > photon;
        low = is_later ? low : middle;
        high = is_later ? middle - 1 : high;
    }
    return low;
}

/* Gives the thread a new photon, if the launch has one. */
ICE_FN void gpu_table_next_photon(const ice_tabulation *table, const ice_tables *tables,
                                  const ics_table_work *work, gpu_tabulated *own)
{
    const unsigned long long number = atomicAdd(&work->counts->next, 1ull);
    own->done = number >= work->photons;
    if (own->done) {
        return;
    }
    const uint32_t photon = work->first + (uint32_t)number;
    const uint32_t index = gpu_table_emission(work, photon);
    const ice_emission *emission = &work->emissions[index];
    const uint32_t id = emission->first_photon + (photon - work->offsets[index]);
    const ice_identity identity = ice_identity_of(emission, id);
    own->active = ice_activate(tables, ice_random_of(tables, identity),
                               ice_create(GPU_SPECIAL_CREATE, tables, emission, index, id));
    own->start = ice_tabulate_start_of(tables, emission, id);
    /* A photon that was not emitted keeps its negative number. */
    if (own->active.photon.absorption >= 0.0f) {
        own->active.photon.absorption = table->absorption_lengths;
    }
    own->flies = true;
}

/* Finds the next segment of the thread's photon, and its samples. */
ICE_FN void gpu_table_start_segment(const ice_tabulation *table, const ice_tables *tables,
                                    const ics_table_work *work, gpu_tabulated *own)
{
    const ice_photon *photon = &own->active.photon;
    if (!ice_start_bounce(GPU_SPECIAL_PROPAGATE, tables, own->active.random, own->active.optics,
                          photon, own->active.site, &own->bounce)) {
        own->active.fate = ICE_LEFT;
        return;
    }
    const uint32_t emission = photon->emission;
    const float factor = ice_tabulate_factor(tables, own->bounce.height, ice_direction_of(photon));
    const ice_tabulate_segment segment = {
        *photon, own->start, own->active.optics, own->bounce.height, own->bounce.length, factor};
    own->way = ice_tabulate_begin(table, tables, &work->origins[emission], segment);
    if (table->has_acceptance) {
        own->way.weight *= ice_tabulate_accepted(table, own->way.impact);
    }
    own->sample = 0;
    own->count = own->way.count;
}

/* Brings the thread to the samples of another segment: ends the one whose samples are added, takes
 * a new photon if that was the last one, and starts. */
ICE_FN void gpu_table_go_on(const ice_tabulation *table, const ice_tables *tables,
                            const ics_table_work *work, gpu_tabulated *own, gpu_table_sums *sums)
{
    if (own->flies) {
        ice_end_bounce(GPU_SPECIAL_SCATTER, tables, &own->bounce, &own->active.photon,
                       &own->active.random, &own->active.fate, &own->active.site);
    } else {
        gpu_table_next_photon(table, tables, work, own);
    }
    if (own->flies && own->active.fate == ICE_ALIVE) {
        gpu_table_start_segment(table, tables, work, own);
    }
    if (own->flies && own->active.fate != ICE_ALIVE) {
        sums->bounces += own->active.photon.scatters;
        ++sums->ended[own->active.fate];
        own->flies = false;
    }
}

/* Adds what the thread has counted to the counts of the launch. */
ICE_FN void gpu_table_report(const gpu_table_sums *sums, ics_table_counts *counts)
{
    atomicAdd(&counts->absorbed, (unsigned long long)sums->ended[ICE_ABSORBED]);
    atomicAdd(&counts->detected, (unsigned long long)sums->ended[ICE_DETECTED]);
    atomicAdd(&counts->left, (unsigned long long)sums->ended[ICE_LEFT]);
    atomicAdd(&counts->stopped, (unsigned long long)sums->ended[ICE_STOPPED]);
    atomicAdd(&counts->bounces, sums->bounces);
    atomicAdd(&counts->samples, sums->samples);
    if (sums->overflows) {
        atomicAdd(&counts->overflows, 1ull);
    }
}

ICS_KERNEL GPU_BOUNDS_TABLE gpu_table(const __grid_constant__ ice_tables given,
                                      const __grid_constant__ ice_tabulation table,
                                      const __grid_constant__ ics_table_work work)
{
    const ice_tables tables = gpu_special_tables(&given);
    gpu_tabulated own;
    gpu_table_sums sums = {0};
    own.sample = own.count = 0;
    own.flies = own.done = false;
    for (;;) {
        uint32_t busy, waiting;
        for (;;) {
            busy = __ballot_sync(0xffffffffu, own.sample < own.count);
            waiting = __ballot_sync(0xffffffffu, own.sample >= own.count && !own.done);
            if (!busy || (uint32_t)__popc(waiting) >= GPU_SPECIAL_REFILL) {
                break;
            }
            if (own.sample < own.count) {
                gpu_table_add_sample(&table, &tables, &work, &own, &sums);
            }
        }
        if (!busy && !waiting) {
            break;
        }
        if (own.sample >= own.count && !own.done) {
            gpu_table_go_on(&table, &tables, &work, &own, &sums);
        }
    }
    gpu_table_report(&sums, work.counts);
}

#endif
