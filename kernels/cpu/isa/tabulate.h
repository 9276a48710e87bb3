/* The stage tabulate of a wave and of one photon (stages/tabulate.h). Samples of many segments are
 * gathered in a block; vector loops find their cells and weights, and a loop with atomic additions
 * brings them into the table, which all threads share.
 */
#ifndef ICS_KERNELS_CPU_ISA_TABULATE_H
#define ICS_KERNELS_CPU_ISA_TABULATE_H

#include "kernels/cpu/isa/columns.h"
#include "stages/tabulate.h"

/* The samples of a block, and how many samples ahead the memory of a cell is asked for. */
enum { ICS_TABULATE_BLOCK = 512, ICS_TABULATE_AHEAD = 24 };

typedef struct ics_tabulate_block {
    uint32_t *fates; /* of all photons */
    uint32_t count;
    uint32_t slot[ICS_TABULATE_BLOCK]; /* the photon: an index of `fates` */
    float x[ICS_TABULATE_BLOCK];
    float y[ICS_TABULATE_BLOCK];
    float z[ICS_TABULATE_BLOCK];
    float time[ICS_TABULATE_BLOCK];
    float impact[ICS_TABULATE_BLOCK];
    float weight[ICS_TABULATE_BLOCK];
    float depth[ICS_TABULATE_BLOCK];
    float coordinates[ICE_TABULATE_AXES][ICS_TABULATE_BLOCK];
    uint32_t cell[ICS_TABULATE_BLOCK];
    uint32_t ends[ICS_TABULATE_BLOCK];
    uint64_t units[ICS_TABULATE_BLOCK];
    uint64_t squares[ICS_TABULATE_BLOCK];
} ics_tabulate_block;

/* The callers pass a constant for `geometry`. */
ICE_FN void ics_tabulate_locate_with(const ice_tabulation *table, int32_t geometry,
                                     ics_tabulate_block *block)
{
    const ice_tabulation t = *table;
    const uint32_t count = block->count;
    ICS_VECTOR_LOOP
    for (uint32_t k = 0; k < count; ++k) {
        const ice_tabulate_sample sample = {.x = block->x[k],
                                            .y = block->y[k],
                                            .z = block->z[k],
                                            .time = block->time[k],
                                            .impact = block->impact[k]};
        const ice_tabulate_point at = ice_tabulate_locate(&t, geometry, &sample);
        block->coordinates[0][k] = at.first;
        block->coordinates[1][k] = at.azimuth;
        block->coordinates[2][k] = at.third;
        block->coordinates[3][k] = at.delay;
        block->coordinates[4][k] = at.impact;
    }
}

/* The callers pass a constant for `power`. */
ICE_FN void ics_tabulate_cells_with(const ice_tabulate_axis *axis, int32_t power,
                                    const float *coordinates, ics_tabulate_block *block)
{
    const ice_tabulate_axis a = *axis;
    const uint32_t count = block->count;
    ICS_VECTOR_LOOP
    for (uint32_t k = 0; k < count; ++k) {
        const int32_t cell = ice_tabulate_cell(&a, power, coordinates[k]);
        block->cell[k] += (uint32_t)cell * a.stride;
        block->ends[k] |= (uint32_t)ice_tabulate_ends(&a, cell);
    }
}

static void ics_tabulate_cells(const ice_tabulate_axis *axis, const float *coordinates,
                               ics_tabulate_block *block)
{
    if (axis->power == 1) {
        ics_tabulate_cells_with(axis, 1, coordinates, block);
    } else if (axis->power == 2) {
        ics_tabulate_cells_with(axis, 2, coordinates, block);
    } else {
        ics_tabulate_cells_with(axis, 3, coordinates, block);
    }
}

static void ics_tabulate_weigh(ics_tabulate_block *block)
{
    const uint32_t count = block->count;
    ICS_VECTOR_LOOP
    for (uint32_t k = 0; k < count; ++k) {
        const float weight = ice_tabulate_weight(block->weight[k], block->depth[k]);
        block->units[k] = ice_tabulate_units(weight);
        block->squares[k] = ice_tabulate_units(weight * weight);
    }
}

/* Adds units to a cell. Returns whether its sum is 2^63 or more. */
/* The atomic addition writes to the cell. NOLINTNEXTLINE(readability-non-const-parameter) */
static bool ics_tabulate_add(uint64_t *cell, uint64_t units)
{
    return (__atomic_fetch_add(cell, units, __ATOMIC_RELAXED) + units) >> 63 != 0;
}

/* Brings the samples of the block into the table. A photon with an end among its samples ends
 * there, and later samples of it do not count. */
static void ics_tabulate_flush(ics_tabulate_job *job, ics_tabulate_block *block)
{
    const ice_tabulation *table = job->table;
    if (table->geometry == ICE_TABULATE_SPHERICAL) {
        ics_tabulate_locate_with(table, ICE_TABULATE_SPHERICAL, block);
    } else {
        ics_tabulate_locate_with(table, ICE_TABULATE_CYLINDRICAL, block);
    }
    memset(block->cell, 0, block->count * sizeof *block->cell);
    memset(block->ends, 0, block->count * sizeof *block->ends);
    for (int32_t i = 0; i < table->axis_count; ++i) {
        const ice_tabulate_axis *axis = &table->axes[i];
        ics_tabulate_cells(axis, block->coordinates[axis->coordinate], block);
    }
    ics_tabulate_weigh(block);
    bool overflows = false;
    for (uint32_t k = 0; k < block->count; ++k) {
        if (k + ICS_TABULATE_AHEAD < block->count) {
            __builtin_prefetch(&table->sums[block->cell[k + ICS_TABULATE_AHEAD]], 1);
        }
        uint32_t *fate = &block->fates[block->slot[k]];
        if (*fate != ICE_ALIVE) {
            continue;
        }
        if (block->ends[k]) {
            *fate = ICE_LEFT;
            continue;
        }
        ++job->samples;
        overflows |= ics_tabulate_add(&table->sums[block->cell[k]], block->units[k]);
        if (table->squares != NULL) {
            overflows |= ics_tabulate_add(&table->squares[block->cell[k]], block->squares[k]);
        }
    }
    job->overflows |= overflows;
    block->count = 0;
}

/* Adds the samples of a segment to the block, which is brought into the table whenever it is full.
 * `slot`: of the photon. */
static void ics_tabulate_add_segment(ics_tabulate_job *job, const ice_tables *tables,
                                     const ice_tabulate_segment *segment, uint32_t slot,
                                     ics_tabulate_block *block)
{
    ice_tabulate_way way;
    const uint32_t count = ice_tabulate_begin(
        job->table, tables, &job->origins[segment->photon->emission], segment, &way);
    for (uint32_t k = 0; k < count; ++k) {
        const ice_tabulate_sample sample = ice_tabulate_next(tables, &way, k);
        const uint32_t to = block->count++;
        block->slot[to] = slot;
        block->x[to] = sample.x;
        block->y[to] = sample.y;
        block->z[to] = sample.z;
        block->time[to] = sample.time;
        block->impact[to] = sample.impact;
        block->weight[to] = sample.weight;
        block->depth[to] = sample.depth;
        if (block->count == ICS_TABULATE_BLOCK) {
            ics_tabulate_flush(job, block);
        }
    }
}

/* Gives photons the fixed absorption depth of a table. A photon that was not emitted keeps its
 * negative number. */
static float ics_tabulate_depth(const ice_tabulation *table, float drawn)
{
    return drawn < 0.0f ? drawn : table->absorption_lengths;
}

#endif
