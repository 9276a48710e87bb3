#include "pipeline/photons/models/detector/pmt_tables.h"

#include <math.h>
#include <string.h>

/* A table whose first or last ring is not a pole gets the pole as a ring of one direction. */
static size_t poles_to_add(const ice_pmt_areas *table)
{
    return table->ring_count == 0
               ? 0
               : (table->zeniths[0] > 0) + (table->zeniths[table->ring_count - 1] < M_PI);
}

/* Returns the effective area of PMT k in one direction, times its efficiency, over the area that
 * the module turns to the light. The area of a cylinder without ends vanishes along its axis, where
 * the reader accepts only effective areas of 0. */
static double share_of(const ice_module_type *type, size_t direction, size_t k)
{
    const double area =
        type->table.areas[direction * type->pmt_count + k] * type->pmts[k].efficiency;
    return area > 0 ? area / type->table.turned[direction] : 0;
}

double ics_pmt_area_maximum(const ice_module_type *type, const double *factors)
{
    const ice_pmt_areas *table = &type->table;
    double best = 0;
    for (size_t ring = 0; ring < table->ring_count; ++ring) {
        for (size_t i = table->firsts[ring]; i < table->firsts[ring + 1]; ++i) {
            double sum = 0;
            for (size_t k = 0; k < type->pmt_count; ++k) {
                sum += share_of(type, i, k) * factors[k];
            }
            best = fmax(best, sum);
        }
    }
    return best;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Numbers of all types. */
typedef struct sizes {
    size_t rings, directions, sums;
} sizes;

static void add_sizes(sizes *sum, const ice_module_type *type)
{
    const size_t poles = poles_to_add(&type->table);
    const size_t directions = type->table.direction_count + poles;
    sum->rings += type->table.ring_count + poles;
    sum->directions += directions;
    sum->sums += directions * type->pmt_count;
}

static sizes sizes_of(const ice_detector *detector)
{
    sizes sum = {0};
    for (size_t i = 0; i < detector->type_count; ++i) {
        add_sizes(&sum, &detector->types[i]);
    }
    return sum;
}

size_t ics_pmt_area_tables_bytes(const ice_detector *detector)
{
    const sizes all = sizes_of(detector);
    return detector->type_count * sizeof(ice_pmt_grid) + all.rings * sizeof(ice_pmt_ring) +
           (all.directions + all.sums) * sizeof(float);
}

/* Where the next ring, direction and sum of a type go. */
typedef struct writer {
    ice_pmt_ring *ring;
    float *azimuth, *sum;
    uint32_t directions; /* directions of the type until now */
} writer;

/* Adds the sums of one direction: the mean of `count` directions of a ring from `first` on. */
static void put_direction(writer *to, const ice_module_type *type, size_t first, size_t count,
                          double maximum)
{
    double sum = 0;
    for (size_t k = 0; k < type->pmt_count; ++k) {
        for (size_t i = 0; i < count; ++i) {
            sum += share_of(type, first + i, k) / (double)count;
        }
        *to->sum++ = (float)(sum / maximum);
    }
    *to->azimuth++ = count == 1 ? (float)type->table.azimuths[first] : 0;
    ++to->directions;
}

/* Adds a pole, where the share is the mean of the nearest ring. */
static void put_pole(writer *to, const ice_module_type *type, size_t ring, double zenith,
                     double maximum)
{
    const size_t first = type->table.firsts[ring], count = type->table.firsts[ring + 1] - first;
    *to->ring++ = (ice_pmt_ring){.zenith = (float)zenith, .first = to->directions, .count = 1};
    put_direction(to, type, first, count, maximum);
}

static void put_type(writer *to, const ice_module_type *type, double maximum)
{
    const ice_pmt_areas *table = &type->table;
    to->directions = 0;
    if (table->ring_count > 0 && table->zeniths[0] > 0) {
        put_pole(to, type, 0, 0, maximum);
    }
    for (size_t ring = 0; ring < table->ring_count; ++ring) {
        const size_t first = table->firsts[ring], count = table->firsts[ring + 1] - first;
        *to->ring++ = (ice_pmt_ring){.zenith = (float)table->zeniths[ring],
                                     .first = to->directions,
                                     .count = (uint32_t)count};
        for (size_t i = 0; i < count; ++i) {
            put_direction(to, type, first + i, 1, maximum);
        }
    }
    if (table->ring_count > 0 && table->zeniths[table->ring_count - 1] < M_PI) {
        put_pole(to, type, table->ring_count - 1, M_PI, maximum);
    }
}

void ics_pmt_area_tables_fill(const ice_detector *detector, double maximum, void *memory,
                              ice_pmt_tables *out)
{
    const sizes all = sizes_of(detector);
    ice_pmt_grid *grids = memory;
    ice_pmt_ring *rings = (ice_pmt_ring *)(grids + detector->type_count);
    float *azimuths = (float *)(rings + all.rings), *sums = azimuths + all.directions;
    writer to = {.ring = rings, .azimuth = azimuths, .sum = sums};
    for (size_t i = 0; i < detector->type_count; ++i) {
        grids[i] = (ice_pmt_grid){.first_ring = (uint32_t)(to.ring - rings),
                                  .first_azimuth = (uint32_t)(to.azimuth - azimuths),
                                  .first_sum = (uint32_t)(to.sum - sums)};
        put_type(&to, &detector->types[i], maximum);
        grids[i].ring_count = (uint32_t)(to.ring - rings) - grids[i].first_ring;
    }
    out->grids = grids;
    out->rings = rings;
    out->azimuths = azimuths;
    out->sums = sums;
}
