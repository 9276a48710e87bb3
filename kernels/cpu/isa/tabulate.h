/* The stage tabulate of a wave and of one photon (stages/tabulate.h). A vector loop finds the
 * samples of many segments. Samples of all these segments are gathered in a block; vector loops
 * find their cells and weights, and the last loop adds them to the table, which threads may share.
 */
#ifndef ICS_KERNELS_CPU_ISA_TABULATE_H
#define ICS_KERNELS_CPU_ISA_TABULATE_H

#include "kernels/cpu/isa/columns.h"
#include "stages/tabulate_custom.h"

enum {
    ICS_TABULATE_WAYS = 256,  /* segments whose samples are found at a time */
    ICS_TABULATE_BLOCK = 512, /* samples of a block */
    ICS_TABULATE_AT_ONCE = 8, /* samples of a segment that are written at a time */
    ICS_TABULATE_ROOM = ICS_TABULATE_BLOCK + ICS_TABULATE_AT_ONCE,
    ICS_TABULATE_AHEAD = 32 /* samples ahead for which the memory of a cell is asked for */
};

/* The members of ice_tabulate_way. */
#define ICS_TABULATE_WAY(X)                                                                        \
    X(float, x)                                                                                    \
    X(float, y)                                                                                    \
    X(float, z)                                                                                    \
    X(float, dx)                                                                                   \
    X(float, dy)                                                                                   \
    X(float, dz)                                                                                   \
    X(float, time)                                                                                 \
    X(float, slowness)                                                                             \
    X(float, weight)                                                                               \
    X(float, impact)                                                                               \
    X(float, first)                                                                                \
    X(float, length)                                                                               \
    X(int32_t, count)                                                                              \
    X(float, coefficient)                                                                          \
    X(float, entered)                                                                              \
    X(float, depth)                                                                                \
    X(float, leaves)                                                                               \
    X(float, through)                                                                              \
    X(float, factor)                                                                               \
    X(int32_t, layer)                                                                              \
    X(int32_t, up)                                                                                 \
    X(float, dust)                                                                                 \
    X(float, ice)

/* Segments, with one array for each member of ice_tabulate_way. */
typedef struct ics_tabulate_ways {
#define X(type, name) type name[ICS_TABULATE_WAYS];
    ICS_TABULATE_WAY(X)
#undef X
} ics_tabulate_ways;

/* Samples of the segments in `ways`, in the order of these. The first two arrays have room for
 * whole vectors behind the last sample. */
typedef struct ics_tabulate_block {
    ics_tabulate_ways ways;
    const uint32_t *emissions; /* [segments], of their photons */
    uint32_t count;
    int32_t way[ICS_TABULATE_ROOM];    /* index of the segment */
    int32_t number[ICS_TABULATE_ROOM]; /* of the sample on its segment */
    float distance[ICS_TABULATE_BLOCK];
    float depth[ICS_TABULATE_BLOCK];
    uint32_t crosses[ICS_TABULATE_BLOCK]; /* whether it lies behind the first layer */
    float coordinates[ICE_TABULATE_AXES][ICS_TABULATE_BLOCK];
    uint32_t cell[ICS_TABULATE_BLOCK];
    uint32_t ends[ICS_TABULATE_BLOCK];
    uint64_t units[ICS_TABULATE_BLOCK];
    uint64_t squares[ICS_TABULATE_BLOCK];
} ics_tabulate_block;

/* ---- segments -------------------------------------------------------------------------------- */

ICE_FN ice_tabulate_way ics_tabulate_load_way(const ics_tabulate_ways *ways, int32_t i)
{
    ice_tabulate_way way;
#define X(type, name) way.name = ways->name[i];
    ICS_TABULATE_WAY(X)
#undef X
    return way;
}

ICE_FN void ics_tabulate_store_way(ics_tabulate_ways *ways, uint32_t i, ice_tabulate_way way)
{
#define X(type, name) ways->name[i] = way.name;
    ICS_TABULATE_WAY(X)
#undef X
}

/* The segments of a wave from `begin` on. */
typedef struct ics_tabulate_range {
    const ics_wave *wave;
    const float *heights;
    uint32_t begin, count;
} ics_tabulate_range;

/* The callers pass a constant for `features`: those that matter here. */
ICE_FN void ics_tabulate_begin_with(const ics_tabulate_job *job, const ice_tables *tables,
                                    uint32_t features, ics_tabulate_range range,
                                    ics_tabulate_ways *ways)
{
    const ics_wave w = *range.wave;
    const ice_tabulation table = *job->table;
    const ice_tabulate_origin *origins = job->origins;
    const float *heights = range.heights, *depths = job->absorption;
    ice_tables t = *tables;
    t.features = features;
    ICS_VECTOR_LOOP
    for (uint32_t k = 0; k < range.count; ++k) {
        const uint32_t i = range.begin + k;
        const ice_direction n = {w.dx[i], w.dy[i], w.dz[i]};
        ice_tabulate_segment segment;
        segment.photon = ics_load_photon(&w, i);
        segment.photon.absorption = depths[i];
        segment.start.offset = w.table_offset[i];
        segment.start.delay = w.table_delay[i];
        segment.optics = ics_load_optics(&w, i);
        segment.height = heights[i];
        segment.length = w.length[i];
        segment.factor = ice_tabulate_factor(&t, heights[i], n);
        const int32_t emission = (int32_t)w.emission[i]; /* gathers take indices with a sign */
        ice_tabulate_way way = ice_tabulate_begin(&table, &t, &origins[emission], segment);
        way.count = w.fate[i] == ICE_ALIVE ? way.count : 0;
        ics_tabulate_store_way(ways, k, way);
    }
}

/* Multiplies the weights of segments by the acceptance of a module, if the table has one. */
static void ics_tabulate_accept(const ice_tabulation *table, uint32_t count,
                                ics_tabulate_ways *ways)
{
    const ice_tabulation t = *table;
    if (!t.has_acceptance) {
        return;
    }
    ICS_VECTOR_LOOP
    for (uint32_t i = 0; i < count; ++i) {
        ways->weight[i] *= ice_tabulate_accepted(&t, ways->impact[i]);
    }
}

/* Finds the samples of segments of a wave. Photons that have ended have none. */
static void ics_tabulate_begin(const ics_tabulate_job *job, const ice_tables *tables,
                               const ics_wave *wave, uint32_t begin, uint32_t count,
                               ics_tabulate_ways *ways)
{
    const ics_tabulate_range range = {wave, ics_heights(tables, wave), begin, count};
    const uint32_t features =
        tables->features & (ICE_HAS_DIRECTIONS | ICE_HAS_EVEN_ANISOTROPY | ICE_HAS_SPECTRAL_OPTICS);
    if (features == 0) {
        ics_tabulate_begin_with(job, tables, 0, range, ways);
    } else if (features == ICE_HAS_SPECTRAL_OPTICS) {
        ics_tabulate_begin_with(job, tables, ICE_HAS_SPECTRAL_OPTICS, range, ways);
    } else if ((features & ~(uint32_t)ICE_HAS_EVEN_ANISOTROPY) == ICE_HAS_ABSORPTION_ANISOTROPY) {
        ics_tabulate_begin_with(job, tables, ICE_HAS_ABSORPTION_ANISOTROPY, range, ways);
    } else {
        ics_tabulate_begin_with(job, tables, features, range, ways);
    }
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Finds the distances and absorption depths of the samples of the block. */
static void ics_tabulate_find_depths(float step, const ice_tables *tables,
                                     ics_tabulate_block *block)
{
    const uint32_t count = block->count;
    ICS_VECTOR_LOOP
    for (uint32_t k = 0; k < count; ++k) {
        const ice_tabulate_way way = ics_tabulate_load_way(&block->ways, block->way[k]);
        const float distance = ice_tabulate_distance(way.first, step, way.length, block->number[k]);
        block->distance[k] = distance;
        block->depth[k] = ice_tabulate_depth_at(&way, distance);
        block->crosses[k] = distance > way.leaves ? 1 : 0;
    }
    /* The other samples, in the order of their segments. */
    ice_tabulate_way way;
    int32_t at = -1;
    for (uint32_t k = 0; k < count; ++k) {
        if (block->crosses[k]) {
            if (block->way[k] != at) {
                at = block->way[k];
                way = ics_tabulate_load_way(&block->ways, at);
            }
            ice_tabulate_follow(tables, block->distance[k], &way);
            block->depth[k] = ice_tabulate_depth_at(&way, block->distance[k]);
        }
    }
}

/* The callers pass a constant for `geometry`. */
ICE_FN void ics_tabulate_locate_with(const ice_tabulation *table, int32_t geometry,
                                     ics_tabulate_block *block)
{
    const ice_tabulation t = *table;
    const uint32_t count = block->count;
    ICS_VECTOR_LOOP
    for (uint32_t k = 0; k < count; ++k) {
        const ice_tabulate_way way = ics_tabulate_load_way(&block->ways, block->way[k]);
        const ice_tabulate_sample sample = ice_tabulate_sample_at(&way, block->distance[k], 0.0f);
        const ice_tabulate_point at = ice_tabulate_locate(&t, geometry, &sample);
        block->coordinates[0][k] = at.first;
        block->coordinates[1][k] = at.azimuth;
        block->coordinates[2][k] = at.third;
        block->coordinates[3][k] = at.delay;
        block->coordinates[4][k] = at.impact;
    }
}

#if defined(ICE_CUSTOM_tabulate)
/* The coordinates of the user's header. */
static void ics_tabulate_locate_custom(const ics_tabulate_job *job, const ice_tables *tables,
                                       ics_tabulate_block *block)
{
    const ice_tabulation *table = job->table;
    for (uint32_t k = 0; k < block->count; ++k) {
        const int32_t i = block->way[k];
        const ice_tabulate_way way = ics_tabulate_load_way(&block->ways, i);
        const ice_tabulate_coordinates at = ice_tabulate_ask(
            tables, table, &job->origins[block->emissions[i]], &way, block->distance[k]);
        for (int32_t axis = 0; axis < ICE_TABULATE_COORDINATES; ++axis) {
            block->coordinates[axis][k] = at.at[axis];
        }
        block->ends[k] = at.ends != 0 ? 1 : 0;
    }
}
#endif

/* Finds the coordinates of the samples of the block, and the samples at which a header of the user
 * ends photons. */
static void ics_tabulate_locate(const ics_tabulate_job *job, const ice_tables *tables,
                                ics_tabulate_block *block)
{
    (void)tables;
    memset(block->ends, 0, block->count * sizeof *block->ends);
#if defined(ICE_CUSTOM_tabulate)
    if (job->table->geometry == ICE_TABULATE_CUSTOM) {
        ics_tabulate_locate_custom(job, tables, block);
        return;
    }
#endif
    if (job->table->geometry == ICE_TABULATE_SPHERICAL) {
        ics_tabulate_locate_with(job->table, ICE_TABULATE_SPHERICAL, block);
    } else {
        ics_tabulate_locate_with(job->table, ICE_TABULATE_CYLINDRICAL, block);
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

/* The callers pass a constant for `squares`. */
ICE_FN void ics_tabulate_weigh_with(bool squares, ics_tabulate_block *block)
{
    const uint32_t count = block->count;
    ICS_VECTOR_LOOP
    for (uint32_t k = 0; k < count; ++k) {
        const float weight =
            ice_tabulate_weight(block->ways.weight[block->way[k]], block->depth[k]);
        block->units[k] = ice_tabulate_units(weight);
        if (squares) {
            block->squares[k] = ice_tabulate_units(weight * weight);
        }
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Adds units to a cell. Returns the new sum, which must be below 2^63. The callers pass a constant
 * for `alone`: an atomic addition waits for earlier loads and stores, and is needed only if other
 * threads add to the table. */
ICE_FN uint64_t ics_tabulate_sum(uint64_t *cell, uint64_t units, bool alone)
{
    return alone ? (*cell += units) : __atomic_add_fetch(cell, units, __ATOMIC_RELAXED);
}

/* Adds the samples of the block to the table. A photon with an end among its samples ends there,
 * and later samples of it do not count. The callers pass constants for `alone` and `squares`. */
ICE_FN void ics_tabulate_add_with(ics_tabulate_job *job, const ics_tabulate_block *block,
                                  uint32_t *fates, bool alone, bool squares)
{
    const ice_tabulation table = *job->table;
    const uint32_t count = block->count;
    uint64_t samples = 0, sums = 0; /* `sums`: all bits of all new sums */
    for (uint32_t k = 0; k < count; ++k) {
        if (k + ICS_TABULATE_AHEAD < count) {
            __builtin_prefetch(&table.sums[block->cell[k + ICS_TABULATE_AHEAD]], 1);
        }
        uint32_t *fate = &fates[block->way[k]];
        if (*fate != ICE_ALIVE) {
            continue;
        }
        if (block->ends[k]) {
            *fate = ICE_LEFT;
            continue;
        }
        ++samples;
        sums |= ics_tabulate_sum(&table.sums[block->cell[k]], block->units[k], alone);
        if (squares) {
            sums |= ics_tabulate_sum(&table.squares[block->cell[k]], block->squares[k], alone);
        }
    }
    job->samples += samples;
    job->overflows |= sums >> 63 != 0;
}

static void ics_tabulate_add(ics_tabulate_job *job, const ics_tabulate_block *block,
                             uint32_t *fates)
{
    const bool squares = job->table->squares != NULL;
    if (job->is_alone && squares) {
        ics_tabulate_add_with(job, block, fates, true, true);
    } else if (job->is_alone) {
        ics_tabulate_add_with(job, block, fates, true, false);
    } else if (squares) {
        ics_tabulate_add_with(job, block, fates, false, true);
    } else {
        ics_tabulate_add_with(job, block, fates, false, false);
    }
}

/* Brings the samples of the block into the table, and empties the block. `fates`: of the photons of
 * the segments. */
static void ics_tabulate_flush(ics_tabulate_job *job, const ice_tables *tables, uint32_t *fates,
                               ics_tabulate_block *block)
{
    const ice_tabulation *table = job->table;
    ics_tabulate_find_depths(table->step, tables, block);
    ics_tabulate_locate(job, tables, block);
    memset(block->cell, 0, block->count * sizeof *block->cell);
    for (int32_t i = 0; i < table->axis_count; ++i) {
        const ice_tabulate_axis *axis = &table->axes[i];
        ics_tabulate_cells(axis, block->coordinates[axis->coordinate], block);
    }
    for (uint32_t k = 0; k < ICS_TABULATE_AHEAD && k < block->count; ++k) {
        __builtin_prefetch(&table->sums[block->cell[k]], 1);
    }
    if (table->squares != NULL) {
        ics_tabulate_weigh_with(true, block);
    } else {
        ics_tabulate_weigh_with(false, block);
    }
    ics_tabulate_add(job, block, fates);
    block->count = 0;
}

/* Adds the samples of segments 0 to count - 1 of block->ways to the table. `fates`: of their
 * photons, which end at their first sample outside. */
static void ics_tabulate_add_ways(ics_tabulate_job *job, const ice_tables *tables, uint32_t *fates,
                                  uint32_t count, ics_tabulate_block *block)
{
    block->count = 0;
    ics_tabulate_accept(job->table, count, &block->ways);
    for (uint32_t i = 0; i < count; ++i) {
        const int32_t samples = block->ways.count[i];
        for (int32_t first = 0; first < samples; first += ICS_TABULATE_AT_ONCE) {
            /* More than needed may be written: the next samples overwrite it. */
            int32_t *way = &block->way[block->count], *number = &block->number[block->count];
            ICS_VECTOR_LOOP
            for (int32_t k = 0; k < ICS_TABULATE_AT_ONCE; ++k) {
                way[k] = (int32_t)i;
                number[k] = first + k;
            }
            const int32_t rest = samples - first;
            block->count += (uint32_t)(rest < ICS_TABULATE_AT_ONCE ? rest : ICS_TABULATE_AT_ONCE);
            if (block->count > ICS_TABULATE_BLOCK - ICS_TABULATE_AT_ONCE) {
                ics_tabulate_flush(job, tables, fates, block);
            }
        }
    }
    ics_tabulate_flush(job, tables, fates, block);
}

/* Gives photons the fixed absorption depth of a table. A photon that was not emitted keeps its
 * negative number. */
static float ics_tabulate_depth(const ice_tabulation *table, float drawn)
{
    return drawn < 0.0f ? drawn : table->absorption_lengths;
}

#endif
