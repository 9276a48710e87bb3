/* The clearance map: how far every horizontal position is from the nearest modules. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/memory.h"
#include "stages/reach.h"
#include "tables/geometry.h"
#include "tables/near_image.h"
#include "tables/nearest.h"

#include <stdlib.h>

/* Horizontal margin of the map around the modules, m. */
#define MAP_MARGIN 200.0
/* Edge of the squares in which module positions count as one, m. */
#define MERGE_SQUARE 0.1
/* The number of cells along the longer side of the map is at least MAP_SIDE_LEAST. Large detectors
 * have CELLS_PER_STRING cells along the mean distance between two strings, and at most MAP_SIDE_MAX
 * along the longer side. The map becomes coarser if it needs more than MAP_TRIES_MAX distances. */
#define MAP_SIDE_LEAST   160
#define MAP_SIDE_MAX     1024
#define CELLS_PER_STRING 8
#define MAP_TRIES_MAX    100000000
/* A string has an axis if its modules are at most this much (m) away from a vertical line. With at
 * most AXES_NARROW of them (stages/reach.h) a cell has 16 bits, otherwise WIDE_BITS: a stage turns
 * these into a float without rounding. */
#define STRAIGHT_MAX 0.5
#define NARROW_BITS  16
#define WIDE_BITS    24
#define AXES_MAX     (1u << 16)
/* Where the axis is that is far away from everything, m. The square is in the range of ice_root().
 */
#define FAR_AWAY 1e14f
/* The largest clearance of the map, m: a detector with one string has no other one. */
#define OTHERS_MAX 1e4

static int compare_points(const void *a, const void *b)
{
    const ics_owned_point *p = a, *q = b;
    if (p->owner != q->owner) {
        return p->owner < q->owner ? -1 : 1;
    }
    if (p->x != q->x) {
        return p->x < q->x ? -1 : 1;
    }
    return (p->y > q->y) - (p->y < q->y);
}

/* Collects the horizontal positions of the modules. Modules of one string within one MERGE_SQUARE
 * become one position. Returns how many positions there are. Most modules of a string are at the
 * position of the module before, and these modules do not have to be sorted. */
static size_t merge_positions(const ice_tables *tables, const ice_detector *detector,
                              ics_owned_point *points)
{
    size_t count = 0;
    for (uint32_t s = 0; s < tables->string_count; ++s) {
        for (uint32_t k = 0; k < tables->strings[s].count; ++k) {
            const ice_module *module =
                &detector->modules[tables->string_modules[tables->strings[s].first + k]];
            points[count].x = round(module->x / MERGE_SQUARE) * MERGE_SQUARE;
            points[count].y = round(module->y / MERGE_SQUARE) * MERGE_SQUARE;
            points[count].owner = s;
            count += count == 0 || compare_points(&points[count - 1], &points[count]) != 0;
        }
    }
    qsort(points, count, sizeof *points, compare_points);
    size_t kept = 0;
    for (size_t i = 0; i < count; ++i) {
        if (kept == 0 || compare_points(&points[kept - 1], &points[i]) != 0) {
            points[kept++] = points[i];
        }
    }
    return kept;
}

/* ---- the axes ------------------------------------------------------------------------------ */

/* The axes of the straight strings. */
typedef struct axis_list {
    uint32_t *of_string; /* [string_count], the index of its axis, or NO_AXIS */
    uint32_t bits;       /* of an index */
} axis_list;

#define NO_AXIS UINT32_MAX

/* Returns the largest distance (m), seen from above, from a module to a photon that hits the module
 * or a cable of its string near the module. */
static double reach_around(const ice_tables *tables, const ice_detector *detector)
{
    return fmax(ics_tables_widest(detector), ics_tables_cable_reach(tables, detector));
}

/* Finds the straight strings and makes their axes. The caller frees axes->of_string. Returns
 * ICESTREAM_OK or ICESTREAM_E_MEMORY. */
static int find_axes(ics_table_builder *builder, const ice_detector *detector, axis_list *axes)
{
    ice_tables *tables = builder->tables;
    const double widest = reach_around(tables, detector) + STRAIGHT_MAX + ICS_GRID_MARGIN;
    const uint32_t strings = tables->string_count;
    uint32_t count = 0;
    axes->bits = 0;
    for (uint32_t s = 0; s < strings; ++s) {
        axes->of_string[s] = (double)tables->strings[s].radius <= widest ? count++ : NO_AXIS;
    }
    const bool has_axes = count > 0 && count <= AXES_MAX;
    ice_string_axis *list;
    ICS_TRY(ics_tables_array(builder, &tables->axes, has_axes ? count : 1, sizeof *list, &list));
    list[0] = (ice_string_axis){.x = FAR_AWAY, .y = FAR_AWAY};
    for (uint32_t s = 0; s < strings; ++s) {
        if (!has_axes) {
            axes->of_string[s] = NO_AXIS;
        } else if (axes->of_string[s] != NO_AXIS) {
            const ice_string *string = &tables->strings[s];
            list[axes->of_string[s]] = (ice_string_axis){.x = string->x, .y = string->y};
            tables->axis_radius = fmaxf(tables->axis_radius, string->radius);
        }
    }
    while (has_axes && 1u << axes->bits < count) {
        ++axes->bits;
    }
    tables->axis_mask = (1u << axes->bits) - 1;
    return ICESTREAM_OK;
}

/* Packs the map of clearances. The bits above the index of an axis count steps of the distance to
 * all other modules, rounded down. A stage reads the whole number, index and all, as a distance:
 * the index adds less than one step, and one step is subtracted again. Returns ICESTREAM_OK or
 * ICESTREAM_E_MEMORY. */
static int pack_map(ics_table_builder *builder, const axis_list *axes, const float *clearance,
                    size_t cells)
{
    ice_tables *tables = builder->tables;
    const bool wide = ice_has_wide_cells(tables);
    uint32_t *words;
    ICS_TRY(ics_tables_array(builder, &tables->near_axes, wide ? cells : (cells + 1) / 2,
                             sizeof *words, &words));
    double longest = 0.0;
    for (size_t c = 0; c < cells; ++c) {
        longest = fmax(longest, (double)fmaxf(clearance[c], tables->nearest[c].others));
    }
    longest = fmin(longest, OTHERS_MAX);
    const uint32_t codes = 1u << ((wide ? WIDE_BITS : NARROW_BITS) - axes->bits);
    const double step = fmax(longest, 1.0) / (codes - 1);
    tables->others_less = (float)step;
    tables->others_step = (float)(step / (1u << axes->bits));
    for (size_t c = 0; c < cells; ++c) {
        const uint32_t axis = axes->of_string[tables->nearest[c].string];
        const float others = axis == NO_AXIS ? clearance[c] : tables->nearest[c].others;
        const uint32_t code = (uint32_t)fmin((double)others / step, codes - 1);
        const uint32_t word = code << axes->bits | (axis == NO_AXIS ? 0 : axis);
        if (wide) {
            words[c] = word;
        } else {
            words[c / 2] |= word << (c % 2 * NARROW_BITS);
        }
    }
    return ICESTREAM_OK;
}

/* ---- the map ------------------------------------------------------------------------------- */

/* Finds the nearest strings of every cell, and the clearances with all modules. `first` is the cell
 * at the lower corner of the map. Returns false if this needs too many distances. */
static bool fill_map(ice_tables *tables, ics_map_cell first, ics_nearest_search *search,
                     double slack, ice_near_row *near, float *clearance)
{
    search->tried = 0;
    for (int32_t j = 0; j < tables->clearance_ny; ++j) {
        for (int32_t i = 0; i < tables->clearance_nx; ++i) {
            const ics_map_cell cell = {first.x + i * first.side, first.y + j * first.side,
                                       first.side};
            const ics_nearest_owner found = ics_tables_nearest_find(search, cell);
            const size_t c = (size_t)j * (size_t)tables->clearance_nx + (size_t)i;
            clearance[c] = (float)fmax(sqrt(found.least) - slack, 0.0);
            near[c].others = (float)fmax(sqrt(found.second) - slack, 0.0);
            near[c].string = found.owner;
            if (search->tried > MAP_TRIES_MAX && tables->clearance_nx + tables->clearance_ny > 2) {
                return false;
            }
        }
    }
    return true;
}

/* The length of the map in x and in y, m. */
typedef struct map_size {
    double x, y;
} map_size;

static map_size size_of_map(const ics_box *bounds)
{
    return (map_size){bounds->high[0] - bounds->low[0] + 2.0 * MAP_MARGIN,
                      bounds->high[1] - bounds->low[1] + 2.0 * MAP_MARGIN};
}

/* Returns how many cells the longer side of the map should have. */
static double cells_of_side(const ice_tables *tables, map_size size)
{
    const double spacing = sqrt(size.x * size.y / (double)tables->string_count);
    const double wanted = CELLS_PER_STRING * fmax(size.x, size.y) / spacing;
    return fmin(fmax(wanted, MAP_SIDE_LEAST), MAP_SIDE_MAX);
}

/* Sets the cells of a map with `side` cells along its longer side. Returns the first of them. */
static ics_map_cell shape_map(ice_tables *tables, const ics_box *bounds, double side)
{
    const map_size size = size_of_map(bounds);
    const double cell = fmax(size.x, size.y) / fmax(side, 1.0);
    const ics_map_cell first = {bounds->low[0] - MAP_MARGIN, bounds->low[1] - MAP_MARGIN, cell};
    tables->clearance_nx = (int32_t)fmax(ceil(size.x / cell), 1.0);
    tables->clearance_ny = (int32_t)fmax(ceil(size.y / cell), 1.0);
    tables->clearance_of_zero_x = (float)(-first.x / cell);
    tables->clearance_of_zero_y = (float)(-first.y / cell);
    tables->clearance_inverse_cell = (float)(1.0 / cell);
    return first;
}

/* Chooses the cells and finds what is near them. `near` and `clearance` have room for the finest
 * map. */
static void make_map(ice_tables *tables, const ics_box *bounds, ics_nearest_search *search,
                     double slack, ice_near_row *near, float *clearance)
{
    double side = cells_of_side(tables, size_of_map(bounds));
    while (!fill_map(tables, shape_map(tables, bounds, side), search, slack, near, clearance)) {
        side /= 2.0;
    }
}

/* Fills the map for the merged positions of the modules. Returns ICESTREAM_OK or
 * ICESTREAM_E_MEMORY. */
static int build_map(ics_table_builder *builder, const ice_detector *detector,
                     const ics_box *bounds, ics_nearest_search *search)
{
    ice_tables *tables = builder->tables;
    /* The finest map, for whose cells there is room; make_map() may choose a coarser one. */
    (void)shape_map(tables, bounds, cells_of_side(tables, size_of_map(bounds)));
    const size_t cells = (size_t)tables->clearance_nx * (size_t)tables->clearance_ny;
    /* A distance to a position is too long by up to the merging of positions, the radius of an
     * oversized module or the distance to a cable, and rounding. */
    const double slack =
        MERGE_SQUARE * M_SQRT1_2 + reach_around(tables, detector) + ICS_GRID_MARGIN;
    ice_near_row *near;
    ICS_TRY(ics_tables_array(builder, &tables->nearest, cells, sizeof *near, &near));
    ICS_FREES float *clearance = calloc(cells, sizeof *clearance);
    ICS_FREES uint32_t *of_string = calloc(tables->string_count, sizeof *of_string);
    if (clearance == NULL || of_string == NULL) {
        return ics_error_set(builder->error, ICESTREAM_E_MEMORY,
                             "out of memory for the clearance map");
    }
    axis_list axes = {of_string, 0};
    ICS_TRY(find_axes(builder, detector, &axes));
    make_map(tables, bounds, search, slack, near, clearance);
    ics_tables_near_set_scale(tables);
    return pack_map(builder, &axes, clearance,
                    (size_t)tables->clearance_nx * (size_t)tables->clearance_ny);
}

int ics_tables_build_clearance(ics_table_builder *builder, const ice_detector *detector,
                               const ics_box *bounds)
{
    ics_owned_point *points = ics_memory_zeros(detector->module_count, sizeof *points);
    ics_nearest_search search = {0};
    int status = ICESTREAM_E_MEMORY;
    if (points != NULL) {
        const size_t count = merge_positions(builder->tables, detector, points);
        status = ics_tables_nearest_create(points, count, &search);
    }
    if (status != ICESTREAM_OK) {
        ics_error_set(builder->error, status, "out of memory for the clearance map");
    } else {
        status = build_map(builder, detector, bounds, &search);
    }
    ics_tables_nearest_destroy(&search);
    free(points);
    return status;
}
