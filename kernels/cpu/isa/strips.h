/* Cells and weights of samples, in strips (stages/tabulate/tabulate.h).
 */
#ifndef ICS_KERNELS_CPU_ISA_STRIPS_H
#define ICS_KERNELS_CPU_ISA_STRIPS_H

#include "kernels/cpu/isa/ways.h"

enum {
    ICS_TABULATE_BLOCK = 512, /* samples of a block: whole strips */
    ICS_TABULATE_LAG = 32     /* samples between finding a cell and adding: whole strips */
};

/* Samples of the segments in `ways`, in the order of these. */
typedef struct ics_tabulate_block {
    ics_tabulate_ways ways;
    const uint32_t *emissions; /* [segments before ics_tabulate_pack()], of their photons */
    uint32_t count;
    /* Index of the segment, and number of the sample on its segment. */
    int32_t way[ICS_TABULATE_BLOCK + ICS_TABULATE_STRIP];
    int32_t number[ICS_TABULATE_BLOCK + ICS_TABULATE_STRIP];
    uint32_t cell[ICS_TABULATE_BLOCK];
    uint32_t ends[ICS_TABULATE_BLOCK]; /* whether the photon ends there */
    uint32_t strip_ends[ICS_TABULATE_BLOCK / ICS_TABULATE_STRIP]; /* one of these of the strip */
    uint64_t units[ICS_TABULATE_BLOCK];
    uint64_t squares[ICS_TABULATE_BLOCK];
} ics_tabulate_block;

/* Loops over a strip. */
#define ICS_FOR_STRIP(k) for (uint32_t k = 0; k < ICS_TABULATE_STRIP; ++k)

/* The members of the segments that all samples of a strip use, and what else is found of a strip.
 */
#define ICS_TABULATE_STATE(X)                                                                      \
    X(coefficient)                                                                                 \
    X(entered)                                                                                     \
    X(depth)                                                                                       \
    X(leaves)

typedef struct ics_tabulate_strip {
    const ics_tabulate_ways *ways;
    const int32_t *way; /* [ICS_TABULATE_STRIP] */
    float distance[ICS_TABULATE_STRIP];
#define X(name) float name[ICS_TABULATE_STRIP];
    ICS_TABULATE_STATE(X)
#undef X
    float coordinates[ICE_TABULATE_AXES][ICS_TABULATE_STRIP];
    uint32_t *cells, *ends; /* [ICS_TABULATE_STRIP] */
} ics_tabulate_strip;

/* Copies a member of the segments of a strip, 4 bytes each, from the array of the segments. The
 * segments of a strip, or of a half of it, follow each other: loading them all and choosing costs
 * much less than a gather. */
ICE_FN void ics_tabulate_spread(const void *column, const int32_t *way, void *out)
{
#if defined(__AVX512F__)
    const uint32_t *from = (const uint32_t *)column + way[0];
    const __m512i index = _mm512_sub_epi32(_mm512_loadu_si512(way), _mm512_set1_epi32(way[0]));
    _mm512_storeu_si512(out, _mm512_permutexvar_epi32(index, _mm512_loadu_si512(from)));
#elif defined(__AVX2__)
    for (int32_t half = 0; half < ICS_TABULATE_STRIP; half += 8) {
        const int32_t first = way[half];
        const uint32_t *from = (const uint32_t *)column + first;
        const __m256i index = _mm256_sub_epi32(_mm256_loadu_si256((const __m256i *)&way[half]),
                                               _mm256_set1_epi32(first));
        _mm256_storeu_si256(
            (__m256i *)((uint32_t *)out + half),
            _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const __m256i *)from), index));
    }
#else
    const char *from = column;
    char *to = out;
    ICS_FOR_STRIP(k)
    {
        memcpy(to + 4 * (size_t)k, from + 4 * (size_t)way[k], 4);
    }
#endif
}

#define ICS_SPREAD(strip, name) ics_tabulate_spread((strip)->ways->name, (strip)->way, name)

/* Finds the absorption depths of samples in any layer. Each sample follows its segment from the
 * beginning, which gives the numbers that ice_tabulate_next() gives. */
static void ics_tabulate_follow_strip(const ice_tables *tables, ics_tabulate_strip *strip,
                                      float *depths)
{
    const ice_tables t = *tables;
    float through[ICS_TABULATE_STRIP], factor[ICS_TABULATE_STRIP], dust[ICS_TABULATE_STRIP],
        ice[ICS_TABULATE_STRIP];
    int32_t layer[ICS_TABULATE_STRIP], up[ICS_TABULATE_STRIP];
#define X(name) ics_tabulate_spread(strip->ways->name, strip->way, strip->name);
    ICS_TABULATE_STATE(X)
#undef X
    ICS_SPREAD(strip, through);
    ICS_SPREAD(strip, factor);
    ICS_SPREAD(strip, dust);
    ICS_SPREAD(strip, ice);
    ICS_SPREAD(strip, layer);
    ICS_SPREAD(strip, up);
    for (uint32_t crosses = 1; crosses > 0;) {
        crosses = 0;
        _Pragma("omp simd reduction(| : crosses)") ICS_FOR_STRIP(k)
        {
            ice_tabulate_way way = {.through = through[k],
                                    .factor = factor[k],
                                    .dust = dust[k],
                                    .ice = ice[k],
                                    .layer = layer[k],
                                    .up = up[k]};
#define X(name) way.name = strip->name[k];
            ICS_TABULATE_STATE(X)
#undef X
            const int32_t moves = ice_tabulate_crosses(&t, strip->distance[k], &way);
            ice_tabulate_cross(&t, moves, &way);
#define X(name) strip->name[k] = way.name;
            ICS_TABULATE_STATE(X)
#undef X
            layer[k] = way.layer;
            depths[k] = ice_tabulate_depth_at(&way, strip->distance[k]);
            crosses |= (uint32_t)moves;
        }
    }
}

/* Finds the distances and absorption depths of the samples of a strip. Most lie in the first two
 * layers of their segments. */
ICE_FN void ics_tabulate_find_depths(float step, const ice_tables *tables, const int32_t *number,
                                     ics_tabulate_strip *strip, float *depths)
{
    float first[ICS_TABULATE_STRIP], length[ICS_TABULATE_STRIP];
    float coefficient[ICS_TABULATE_STRIP], depth[ICS_TABULATE_STRIP], leaves[ICS_TABULATE_STRIP];
    float second_coefficient[ICS_TABULATE_STRIP], second_leaves[ICS_TABULATE_STRIP];
    ICS_SPREAD(strip, first);
    ICS_SPREAD(strip, length);
    ICS_SPREAD(strip, coefficient);
    ICS_SPREAD(strip, depth);
    ICS_SPREAD(strip, leaves);
    ICS_SPREAD(strip, second_coefficient);
    ICS_SPREAD(strip, second_leaves);
    uint32_t more = 0;
    _Pragma("omp simd reduction(| : more)") ICS_FOR_STRIP(k)
    {
        const float distance = ice_tabulate_distance(first[k], step, length[k], number[k]);
        const ice_tabulate_way near = {.coefficient = coefficient[k], .depth = depth[k]};
        const ice_tabulate_way far = {.coefficient = second_coefficient[k],
                                      .entered = leaves[k],
                                      .depth = ice_tabulate_depth_at(&near, leaves[k])};
        strip->distance[k] = distance;
        depths[k] = ice_select(distance > leaves[k] ? 1 : 0, ice_tabulate_depth_at(&far, distance),
                               ice_tabulate_depth_at(&near, distance));
        more |= distance > second_leaves[k] ? 1 : 0;
    }
    if (more) {
        ics_tabulate_follow_strip(tables, strip, depths);
    }
}

/* The callers pass a constant for `geometry`. */
ICE_FN void ics_tabulate_locate_with(const ice_tabulation *table, int32_t geometry,
                                     ics_tabulate_strip *strip)
{
    const ice_tabulation t = *table;
    float x[ICS_TABULATE_STRIP], y[ICS_TABULATE_STRIP], z[ICS_TABULATE_STRIP];
    float dx[ICS_TABULATE_STRIP], dy[ICS_TABULATE_STRIP], dz[ICS_TABULATE_STRIP];
    float time[ICS_TABULATE_STRIP], slowness[ICS_TABULATE_STRIP], impact[ICS_TABULATE_STRIP];
    ICS_SPREAD(strip, x);
    ICS_SPREAD(strip, y);
    ICS_SPREAD(strip, z);
    ICS_SPREAD(strip, dx);
    ICS_SPREAD(strip, dy);
    ICS_SPREAD(strip, dz);
    ICS_SPREAD(strip, time);
    ICS_SPREAD(strip, slowness);
    ICS_SPREAD(strip, impact);
    ICS_VECTOR_LOOP
    ICS_FOR_STRIP(k)
    {
        const ice_tabulate_way way = {.x = x[k],
                                      .y = y[k],
                                      .z = z[k],
                                      .dx = dx[k],
                                      .dy = dy[k],
                                      .dz = dz[k],
                                      .time = time[k],
                                      .slowness = slowness[k],
                                      .impact = impact[k]};
        const ice_tabulate_sample sample = ice_tabulate_sample_at(&way, strip->distance[k], 0.0f);
        const ice_tabulate_point at = ice_tabulate_locate(&t, geometry, &sample);
        strip->coordinates[0][k] = at.first;
        strip->coordinates[1][k] = at.azimuth;
        strip->coordinates[2][k] = at.third;
        strip->coordinates[3][k] = at.delay;
        strip->coordinates[4][k] = at.impact;
    }
}

#if defined(ICE_CUSTOM_tabulate)
/* The coordinates of the user's header. */
static void ics_tabulate_locate_custom(const ics_tabulate_job *job, const ice_tables *tables,
                                       const uint32_t *emissions, ics_tabulate_strip *strip)
{
    ICS_FOR_STRIP(k)
    {
        const int32_t i = strip->way[k];
        const ice_tabulate_way way = ics_tabulate_load_way(strip->ways, i);
        const ice_tabulate_origin *origin = &job->origins[emissions[strip->ways->original[i]]];
        const ice_tabulate_coordinates at =
            ice_tabulate_ask(tables, job->table, origin, &way, strip->distance[k]);
        for (int32_t axis = 0; axis < ICE_TABULATE_COORDINATES; ++axis) {
            strip->coordinates[axis][k] = at.at[axis];
        }
        strip->ends[k] = at.ends != 0 ? 1 : 0;
    }
}
#endif

/* Finds the coordinates of the samples of a strip, and the samples at which a header of the user
 * ends photons. The callers pass a constant for `geometry`. */
ICE_FN void ics_tabulate_locate(const ics_tabulate_job *job, const ice_tables *tables,
                                int32_t geometry, const uint32_t *emissions,
                                ics_tabulate_strip *strip)
{
    (void)tables;
    (void)emissions;
#if defined(ICE_CUSTOM_tabulate)
    if (geometry == ICE_TABULATE_CUSTOM) {
        ics_tabulate_locate_custom(job, tables, emissions, strip);
        return;
    }
#endif
    ics_tabulate_locate_with(job->table, geometry, strip);
}

/* The callers pass a constant for `power`. */
ICE_FN void ics_tabulate_cells_with(const ice_tabulate_axis *axis, int32_t power,
                                    ics_tabulate_strip *strip)
{
    const ice_tabulate_axis a = *axis;
    const float *coordinates = strip->coordinates[a.coordinate];
    uint32_t *cells = strip->cells, *ends = strip->ends;
    ICS_VECTOR_LOOP
    ICS_FOR_STRIP(k)
    {
        const int32_t cell = ice_tabulate_cell(&a, power, coordinates[k]);
        cells[k] += (uint32_t)cell * a.stride;
        ends[k] |= (uint32_t)ice_tabulate_ends(&a, cell);
    }
}

/* Finds the cells of the samples of a strip. Returns whether a photon ends in the strip. */
ICE_FN uint32_t ics_tabulate_cells(const ice_tabulation *table, ics_tabulate_strip *strip)
{
    for (int32_t i = 0; i < table->axis_count; ++i) {
        const ice_tabulate_axis *axis = &table->axes[i];
        if (axis->power == 1) {
            ics_tabulate_cells_with(axis, 1, strip);
        } else if (axis->power == 2) {
            ics_tabulate_cells_with(axis, 2, strip);
        } else {
            ics_tabulate_cells_with(axis, 3, strip);
        }
    }
    const uint32_t *ends = strip->ends;
    uint32_t any = 0;
    _Pragma("omp simd reduction(| : any)") ICS_FOR_STRIP(k)
    {
        any |= ends[k];
    }
    return any;
}

/* The callers pass a constant for `squares`. */
ICE_FN void ics_tabulate_weigh_with(bool squares, const ics_tabulate_strip *strip,
                                    const float *depths, uint64_t *units, uint64_t *squared)
{
    float weight[ICS_TABULATE_STRIP];
    ICS_SPREAD(strip, weight);
    ICS_VECTOR_LOOP
    ICS_FOR_STRIP(k)
    {
        const float left = ice_tabulate_weight(weight[k], depths[k]);
        units[k] = ice_tabulate_units(left);
        if (squares) {
            squared[k] = ice_tabulate_units(left * left);
        }
    }
}

/* Asks for the memory of the cells of a strip. */
ICE_FN void ics_tabulate_prefetch(const uint64_t *sums, const uint32_t *cells)
{
    /* Without this statement the compiler extracts the cells from vector registers, which takes
     * longer than loading them. */
    __asm__ volatile("" : "+r"(cells) : : "memory");
    ICS_FOR_STRIP(k)
    {
        __builtin_prefetch(&sums[cells[k]], 1);
    }
}

/* How samples are added. The callers of the functions below pass constants. */
typedef struct ics_tabulate_how {
    int32_t geometry;
    bool alone, squares;
} ics_tabulate_how;

/* Finds the cells and weights of the samples `begin` to begin + ICS_TABULATE_STRIP - 1 of a block.
 */
ICE_FN void ics_tabulate_find(const ics_tabulate_job *job, ics_tabulate_how how,
                              const ice_tables *tables, uint32_t begin, ics_tabulate_block *block)
{
    ics_tabulate_strip strip;
    strip.ways = &block->ways;
    strip.way = &block->way[begin];
    strip.cells = &block->cell[begin];
    strip.ends = &block->ends[begin];
    memset(strip.cells, 0, ICS_TABULATE_STRIP * sizeof *strip.cells);
    memset(strip.ends, 0, ICS_TABULATE_STRIP * sizeof *strip.ends);
    float depths[ICS_TABULATE_STRIP];
    ics_tabulate_find_depths(job->table->step, tables, &block->number[begin], &strip, depths);
    ics_tabulate_locate(job, tables, how.geometry, block->emissions, &strip);
    block->strip_ends[begin / ICS_TABULATE_STRIP] = ics_tabulate_cells(job->table, &strip);
    ics_tabulate_prefetch(job->table->sums, &block->cell[begin]);
    ics_tabulate_weigh_with(how.squares, &strip, depths, &block->units[begin],
                            &block->squares[begin]);
}

#endif
