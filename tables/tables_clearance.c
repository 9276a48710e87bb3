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
 * become one position. Returns how many positions there are. */
static size_t merge_positions(const ice_tables *tables, const ice_detector *detector, point *points)
{
    size_t count = 0;
    for (uint32_t s = 0; s < tables->string_count; ++s) {
        for (uint32_t k = 0; k < tables->strings[s].count; ++k) {
            const ice_module *module =
                &detector->modules[tables->string_modules[tables->strings[s].first + k]];
            points[count].x = round(module->x / MERGE_SQUARE) * MERGE_SQUARE;
            points[count].y = round(module->y / MERGE_SQUARE) * MERGE_SQUARE;
            points[count++].string = s;
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

int ics_tables_build_clearance(ics_table_builder *builder, const ice_detector *detector,
                               const ics_box *bounds)
{
    ice_tables *tables = builder->tables;
    point *points = malloc(detector->module_count * sizeof *points);
    if (points == NULL) {
        return ics_error_set(builder->error, ICESTREAM_E_MEMORY,
                             "out of memory for the clearance map");
    }
    const size_t point_count = merge_positions(tables, detector, points);
    const double size_x = bounds->high[0] - bounds->low[0] + 2.0 * MAP_MARGIN;
    const double size_y = bounds->high[1] - bounds->low[1] + 2.0 * MAP_MARGIN;
    const double longer = fmax(size_x, size_y);
    const double side = fmin(MAP_SIDE_MAX, sqrt(MAP_EVALUATIONS_MAX / (double)point_count));
    const double cell = longer / fmax(side, 1.0);
    const int32_t nx = (int32_t)fmax(ceil(size_x / cell), 1.0);
    const int32_t ny = (int32_t)fmax(ceil(size_y / cell), 1.0);
    const size_t cells = (size_t)nx * (size_t)ny;
    float *clearance = ics_tables_array(builder, &tables->clearance, cells, sizeof *clearance);
    ice_near_row *near = ics_tables_array(builder, &tables->nearest, cells, sizeof *near);
    if (clearance == NULL || near == NULL) {
        free(points);
        return ICESTREAM_E_MEMORY;
    }
    const double x0 = bounds->low[0] - MAP_MARGIN, y0 = bounds->low[1] - MAP_MARGIN;
    /* A distance to a position is too long by up to the merging of positions, the radius of an
     * oversized module, and rounding. */
    const double slack = MERGE_SQUARE * M_SQRT1_2 + ics_tables_widest(detector) + ICS_GRID_MARGIN;
    for (int32_t j = 0; j < ny; ++j) {
        for (int32_t i = 0; i < nx; ++i) {
            const nearest_string found =
                find_nearest(points, point_count, x0 + i * cell, y0 + j * cell, cell);
            const size_t c = (size_t)j * (size_t)nx + (size_t)i;
            clearance[c] = (float)fmax(sqrt(found.least) - slack, 0.0);
            near[c].others = (float)fmax(sqrt(found.second) - slack, 0.0);
            near[c].string = found.string;
        }
    }
    tables->clearance_of_zero_x = (float)(-x0 / cell);
    tables->clearance_of_zero_y = (float)(-y0 / cell);
    tables->clearance_inverse_cell = (float)(1.0 / cell);
    tables->clearance_nx = nx;
    tables->clearance_ny = ny;
    free(points);
    return ICESTREAM_OK;
}
