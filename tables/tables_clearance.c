/* The clearance map: how far every horizontal position is from the nearest modules. */
#include "base/error.h"
#include "tables/tables_geometry.h"

#include <stdlib.h>

/* Horizontal margin of the map around the modules, m. */
#define MAP_MARGIN 100.0
/* Edge of the squares in which module positions count as one, m. */
#define MERGE_SQUARE 0.1
/* The largest number of cells along the longer side of the map, and roughly the largest number of
 * distances that are computed for the map. */
#define MAP_SIDE_MAX        256
#define MAP_EVALUATIONS_MAX 3e7
/* A string has an axis if its modules are at most this much (m) away from a vertical line. The axes
 * have at most AXIS_BITS_MAX of the 16 bits of a cell. With more strings, the map has clearances
 * alone. */
#define STRAIGHT_MAX  0.5
#define AXIS_BITS_MAX 11
#define CELL_BITS     16
/* Where the axis is that is far away from everything, m. The square is in the range of ice_root().
 */
#define FAR_AWAY 1e14f
/* The largest clearance of the map, m: a detector with one string has no other one. */
#define OTHERS_MAX 1e4

typedef struct point {
    double x, y;
    uint32_t string; /* index into the tables' strings */
} point;

static int compare_points(const void *a, const void *b)
{
    const point *p = a, *q = b;
    if (p->string != q->string) {
        return p->string < q->string ? -1 : 1;
    }
    if (p->x != q->x) {
        return p->x < q->x ? -1 : 1;
    }
    return (p->y > q->y) - (p->y < q->y);
}

/* Collects the horizontal positions of the modules. Modules of one string within one MERGE_SQUARE
 * become one position. Returns how many positions there are. Most modules of a string are at the
 * position of the module before, and these modules do not have to be sorted. */
static size_t merge_positions(const ice_tables *tables, const ice_detector *detector, point *points)
{
    size_t count = 0;
    for (uint32_t s = 0; s < tables->string_count; ++s) {
        for (uint32_t k = 0; k < tables->strings[s].count; ++k) {
            const ice_module *module =
                &detector->modules[tables->string_modules[tables->strings[s].first + k]];
            points[count].x = round(module->x / MERGE_SQUARE) * MERGE_SQUARE;
            points[count].y = round(module->y / MERGE_SQUARE) * MERGE_SQUARE;
            points[count].string = s;
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

/* Returns how far a value lies outside [low, high]. */
static double outside(double value, double low, double high)
{
    return value < low ? low - value : (value > high ? value - high : 0.0);
}

/* The string nearest to any point of a cell, and squared distances (m2). */
typedef struct nearest_string {
    double least;  /* to that string */
    double second; /* to the nearest of all other strings */
    uint32_t string;
} nearest_string;

/* (x, y): the lower corner of the cell, m. */
static nearest_string find_nearest(const point *points, size_t count, double x, double y,
                                   double cell)
{
    nearest_string found = {.least = INFINITY, .second = INFINITY};
    for (size_t k = 0; k < count; ++k) {
        const double dx = outside(points[k].x, x, x + cell);
        const double dy = outside(points[k].y, y, y + cell);
        const double square = dx * dx + dy * dy;
        if (square < found.least) {
            found.second = points[k].string == found.string ? found.second : found.least;
            found.string = points[k].string;
            found.least = square;
        } else if (square < found.second && points[k].string != found.string) {
            found.second = square;
        }
    }
    return found;
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
    axes->of_string = calloc(strings, sizeof *axes->of_string);
    if (axes->of_string == NULL) {
        return ics_error_set(builder->error, ICESTREAM_E_MEMORY, "out of memory for %u strings",
                             strings);
    }
    for (uint32_t s = 0; s < strings; ++s) {
        axes->of_string[s] = (double)tables->strings[s].radius <= widest ? count++ : NO_AXIS;
    }
    const bool has_axes = count > 0 && count <= 1u << AXIS_BITS_MAX;
    ice_string_axis *list =
        ics_tables_array(builder, &tables->axes, has_axes ? count : 1, sizeof *list);
    if (list == NULL) {
        return ICESTREAM_E_MEMORY;
    }
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
    uint32_t *words = ics_tables_array(builder, &tables->near_axes, (cells + 1) / 2, sizeof *words);
    if (words == NULL) {
        return ICESTREAM_E_MEMORY;
    }
    double longest = 0.0;
    for (size_t c = 0; c < cells; ++c) {
        longest = fmax(longest, (double)fmaxf(clearance[c], tables->nearest[c].others));
    }
    longest = fmin(longest, OTHERS_MAX);
    const uint32_t codes = 1u << (CELL_BITS - axes->bits);
    const double step = fmax(longest, 1.0) / (codes - 1);
    tables->others_less = (float)step;
    tables->others_step = (float)(step / (1u << axes->bits));
    for (size_t c = 0; c < cells; ++c) {
        const uint32_t axis = axes->of_string[tables->nearest[c].string];
        const float others = axis == NO_AXIS ? clearance[c] : tables->nearest[c].others;
        const uint32_t code = (uint32_t)fmin((double)others / step, codes - 1);
        const uint32_t word = code << axes->bits | (axis == NO_AXIS ? 0 : axis);
        words[c / 2] |= word << (c % 2 * CELL_BITS);
    }
    return ICESTREAM_OK;
}

/* ---- the map ------------------------------------------------------------------------------- */

/* The lower corner of the map and the edge of its cells, m. */
typedef struct map_shape {
    double x0, y0, cell;
} map_shape;

/* Finds the nearest strings of every cell, and the clearances with all modules. */
static void fill_map(ice_tables *tables, const map_shape *map, const point *points,
                     size_t point_count, double slack, ice_near_row *near, float *clearance)
{
    for (int32_t j = 0; j < tables->clearance_ny; ++j) {
        for (int32_t i = 0; i < tables->clearance_nx; ++i) {
            const nearest_string found = find_nearest(points, point_count, map->x0 + i * map->cell,
                                                      map->y0 + j * map->cell, map->cell);
            const size_t c = (size_t)j * (size_t)tables->clearance_nx + (size_t)i;
            clearance[c] = (float)fmax(sqrt(found.least) - slack, 0.0);
            near[c].others = (float)fmax(sqrt(found.second) - slack, 0.0);
            near[c].string = found.string;
        }
    }
}

/* Chooses the cells of the map. */
static map_shape shape_map(ice_tables *tables, const ics_box *bounds, size_t point_count)
{
    const double size_x = bounds->high[0] - bounds->low[0] + 2.0 * MAP_MARGIN;
    const double size_y = bounds->high[1] - bounds->low[1] + 2.0 * MAP_MARGIN;
    const double side = fmin(MAP_SIDE_MAX, sqrt(MAP_EVALUATIONS_MAX / (double)point_count));
    const double cell = fmax(size_x, size_y) / fmax(side, 1.0);
    const map_shape map = {bounds->low[0] - MAP_MARGIN, bounds->low[1] - MAP_MARGIN, cell};
    tables->clearance_nx = (int32_t)fmax(ceil(size_x / cell), 1.0);
    tables->clearance_ny = (int32_t)fmax(ceil(size_y / cell), 1.0);
    tables->clearance_of_zero_x = (float)(-map.x0 / cell);
    tables->clearance_of_zero_y = (float)(-map.y0 / cell);
    tables->clearance_inverse_cell = (float)(1.0 / cell);
    return map;
}

/* Fills the map for the merged positions of the modules. Returns ICESTREAM_OK or
 * ICESTREAM_E_MEMORY. */
static int build_map(ics_table_builder *builder, const ice_detector *detector,
                     const ics_box *bounds, const point *points, size_t point_count)
{
    ice_tables *tables = builder->tables;
    const map_shape map = shape_map(tables, bounds, point_count);
    const size_t cells = (size_t)tables->clearance_nx * (size_t)tables->clearance_ny;
    /* A distance to a position is too long by up to the merging of positions, the radius of an
     * oversized module or the distance to a cable, and rounding. */
    const double slack =
        MERGE_SQUARE * M_SQRT1_2 + reach_around(tables, detector) + ICS_GRID_MARGIN;
    ice_near_row *near = ics_tables_array(builder, &tables->nearest, cells, sizeof *near);
    float *clearance = calloc(cells, sizeof *clearance);
    axis_list axes = {NULL, 0};
    int status = find_axes(builder, detector, &axes);
    if (near == NULL || clearance == NULL) {
        status = ICESTREAM_E_MEMORY;
    }
    if (status == ICESTREAM_OK) {
        fill_map(tables, &map, points, point_count, slack, near, clearance);
        status = pack_map(builder, &axes, clearance, cells);
    }
    free(axes.of_string);
    free(clearance);
    return status;
}

int ics_tables_build_clearance(ics_table_builder *builder, const ice_detector *detector,
                               const ics_box *bounds)
{
    point *points = malloc(detector->module_count * sizeof *points);
    if (points == NULL) {
        return ics_error_set(builder->error, ICESTREAM_E_MEMORY,
                             "out of memory for the clearance map");
    }
    const size_t point_count = merge_positions(builder->tables, detector, points);
    const int status = build_map(builder, detector, bounds, points, point_count);
    free(points);
    return status;
}
