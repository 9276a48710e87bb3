#include "tables/tables_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Horizontal margin of the clearance map around the modules, m. */
#define MAP_MARGIN 100.0
/* Edge of the squares in which module positions count as one for the clearance map, m. */
#define MERGE_SQUARE 0.1
/* Cells of the clearance map along its longer side, and distance evaluations to spend on it. */
#define MAP_SIDE_MAX        256
#define MAP_EVALUATIONS_MAX 3e7
/* Bounds of the two module grids. */
#define STRING_GRID_SIDE_MAX 128
#define CELL_GRID_CELLS_MAX  (1 << 22)
#define GRID_ITEMS_MAX       (1 << 26)
/* Modules of one label that are spread wider than this are divided into squares of this size, each
 * a string for the grid: inclined strings, and labels that are not strings at all, m. */
#define STRING_WIDTH_MAX 10.0
/* Covers rounding of single-precision coordinates within 10 km, m. */
#define GRID_MARGIN 0.05

typedef struct box {
    double low[3], high[3];
} box;

static const double *position(const ice_module *module)
{
    return &module->x;
}

static double widest(const ice_detector *detector)
{
    return detector->radius * fmax(detector->oversize, 1.0);
}

static box bounds_of(const ice_detector *detector)
{
    box bounds = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (size_t i = 0; i < detector->module_count; ++i) {
        for (int axis = 0; axis < 3; ++axis) {
            const double value = position(&detector->modules[i])[axis];
            bounds.low[axis] = fmin(bounds.low[axis], value);
            bounds.high[axis] = fmax(bounds.high[axis], value);
        }
    }
    return bounds;
}

/* ---- clearance map ------------------------------------------------------------------------ */

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

/* Horizontal positions of the modules, those of one string and one MERGE_SQUARE as one. */
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

static double outside(double value, double low, double high)
{
    return value < low ? low - value : (value > high ? value - high : 0.0);
}

static int build_clearance(ics_table_builder *builder, const ice_detector *detector,
                           const box *bounds)
{
    ice_tables *tables = builder->tables;
    point *points = malloc(detector->module_count * sizeof *points);
    if (points == NULL) {
        snprintf(builder->why, builder->why_size, "out of memory for the clearance map");
        return -1;
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
        return -1;
    }
    const double x0 = bounds->low[0] - MAP_MARGIN, y0 = bounds->low[1] - MAP_MARGIN;
    /* What a distance may be too long by: the merging, a module's reach, rounding. */
    const double slack = MERGE_SQUARE * M_SQRT1_2 + widest(detector) + GRID_MARGIN;
    for (int32_t j = 0; j < ny; ++j) {
        for (int32_t i = 0; i < nx; ++i) {
            const double low_x = x0 + i * cell, low_y = y0 + j * cell;
            /* Squared distances to the nearest string and to the nearest of all others. */
            double least = INFINITY, second = INFINITY;
            uint32_t nearest = 0;
            for (size_t k = 0; k < point_count; ++k) {
                const double dx = outside(points[k].x, low_x, low_x + cell);
                const double dy = outside(points[k].y, low_y, low_y + cell);
                const double square = dx * dx + dy * dy;
                if (square < least) {
                    second = points[k].string == nearest ? second : least;
                    nearest = points[k].string;
                    least = square;
                } else if (square < second && points[k].string != nearest) {
                    second = square;
                }
            }
            const size_t c = (size_t)j * (size_t)nx + (size_t)i;
            clearance[c] = (float)fmax(sqrt(least) - slack, 0.0);
            near[c].others = (float)fmax(sqrt(second) - slack, 0.0);
            near[c].string = nearest;
        }
    }
    tables->clearance_of_zero_x = (float)(-x0 / cell);
    tables->clearance_of_zero_y = (float)(-y0 / cell);
    tables->clearance_inverse_cell = (float)(1.0 / cell);
    tables->clearance_nx = nx;
    tables->clearance_ny = ny;
    free(points);
    return 0;
}

/* ---- grids -------------------------------------------------------------------------------- */

/* Cells that a sphere or disc touches: inclusive index ranges along the three axes. */
typedef struct cell_range {
    int32_t low[3], high[3];
} cell_range;

static int32_t clamp_cell(double value, int32_t cells)
{
    return value <= 0.0 ? 0 : (value >= cells - 1 ? cells - 1 : (int32_t)value);
}

static cell_range cells_of(const ice_grid *grid, const double *centre, double reach)
{
    const double origin[3] = {grid->x, grid->y, grid->z};
    const int32_t cells[3] = {grid->nx, grid->ny, grid->nz};
    cell_range range;
    for (int axis = 0; axis < 3; ++axis) {
        const double inverse = grid->inverse_cell;
        range.low[axis] =
            clamp_cell(floor((centre[axis] - reach - origin[axis]) * inverse), cells[axis]);
        range.high[axis] =
            clamp_cell(floor((centre[axis] + reach - origin[axis]) * inverse), cells[axis]);
    }
    return range;
}

/* The objects of a grid: centre and reach by index. */
typedef void (*place_function)(const ics_table_builder *builder, size_t index, double *centre,
                               double *reach);

static size_t count_cells(const cell_range *range)
{
    size_t count = 1;
    for (int axis = 0; axis < 3; ++axis) {
        count *= (size_t)(range->high[axis] - range->low[axis] + 1);
    }
    return count;
}

/* Sets up dimensions for a box and a cell size; a zero height makes it two-dimensional. */
static void shape_grid(ice_grid *grid, const box *bounds, double cell, bool flat)
{
    grid->x = (float)bounds->low[0];
    grid->y = (float)bounds->low[1];
    grid->z = (float)bounds->low[2];
    grid->cell = (float)cell;
    grid->inverse_cell = (float)(1.0 / cell);
    grid->nx = (int32_t)ceil((bounds->high[0] - bounds->low[0]) / cell);
    grid->ny = (int32_t)ceil((bounds->high[1] - bounds->low[1]) / cell);
    grid->nz = flat ? 1 : (int32_t)ceil((bounds->high[2] - bounds->low[2]) / cell);
}

static double total_items(const ics_table_builder *builder, const ice_grid *grid, size_t count,
                          place_function place)
{
    double total = 0.0;
    for (size_t i = 0; i < count; ++i) {
        double centre[3], reach;
        place(builder, i, centre, &reach);
        const cell_range range = cells_of(grid, centre, reach);
        total += (double)count_cells(&range);
    }
    return total;
}

/* Lists every object in every cell that it touches; coarsens the grid while the lists are too
 * long. */
static int fill_grid(ics_table_builder *builder, ice_grid *grid, const box *bounds, double cell,
                     bool flat, size_t count, place_function place)
{
    shape_grid(grid, bounds, cell, flat);
    while (total_items(builder, grid, count, place) > GRID_ITEMS_MAX &&
           (grid->nx > 1 || grid->ny > 1 || grid->nz > 1)) {
        cell *= 2.0;
        shape_grid(grid, bounds, cell, flat);
    }
    const size_t cells = (size_t)grid->nx * (size_t)grid->ny * (size_t)grid->nz;
    uint32_t *offsets = ics_tables_array(builder, &grid->offsets, cells + 1, sizeof *offsets);
    const double items_total = total_items(builder, grid, count, place);
    uint32_t *items = offsets != NULL ? ics_tables_array(builder, &grid->items, (size_t)items_total,
                                                         sizeof *items)
                                      : NULL;
    if (items == NULL) {
        return -1;
    }
    /* Counting sort: counts, running offsets, then each list backwards from its end. */
    for (int pass = 0; pass < 2; ++pass) {
        for (size_t n = 0; n < count; ++n) {
            const size_t index = pass == 0 ? n : count - 1 - n;
            double centre[3], reach;
            place(builder, index, centre, &reach);
            const cell_range range = cells_of(grid, centre, reach);
            for (int32_t k = range.low[2]; k <= range.high[2]; ++k) {
                for (int32_t j = range.low[1]; j <= range.high[1]; ++j) {
                    for (int32_t i = range.low[0]; i <= range.high[0]; ++i) {
                        const size_t c =
                            ((size_t)k * (size_t)grid->ny + (size_t)j) * (size_t)grid->nx +
                            (size_t)i;
                        if (pass == 0) {
                            ++offsets[c];
                        } else {
                            items[--offsets[c]] = (uint32_t)index;
                        }
                    }
                }
            }
        }
        if (pass == 0) {
            for (size_t c = 1; c <= cells; ++c) {
                offsets[c] += offsets[c - 1];
            }
        }
    }
    return 0;
}

static void place_module(const ics_table_builder *builder, size_t index, double *centre,
                         double *reach)
{
    const ice_sphere *module = &builder->tables->modules[index];
    centre[0] = module->x;
    centre[1] = module->y;
    centre[2] = module->z;
    *reach = (double)builder->tables->radius * module->oversize + GRID_MARGIN;
}

static void place_string(const ics_table_builder *builder, size_t index, double *centre,
                         double *reach)
{
    const ice_string *string = &builder->tables->strings[index];
    centre[0] = string->x;
    centre[1] = string->y;
    centre[2] = 0.0;
    *reach = (double)string->radius + GRID_MARGIN;
}

static int build_cell_grid(ics_table_builder *builder, const ice_detector *detector, box bounds)
{
    const double reach = widest(detector) + 2.0 * GRID_MARGIN;
    double volume = 1.0;
    for (int axis = 0; axis < 3; ++axis) {
        bounds.low[axis] -= reach;
        bounds.high[axis] += reach;
        volume *= bounds.high[axis] - bounds.low[axis];
    }
    /* About one module a cell, cells no smaller than a module. */
    double cell = fmax(cbrt(volume / (double)detector->module_count), 2.0 * reach);
    cell = fmax(cell, cbrt(volume / CELL_GRID_CELLS_MAX));
    return fill_grid(builder, &builder->tables->cell_grid, &bounds, cell, false,
                     detector->module_count, place_module);
}

/* ---- strings ------------------------------------------------------------------------------ */

typedef struct labelled {
    uint32_t string, index;
    int32_t column, row; /* of a square, where the string is divided */
    double z;
} labelled;

static bool of_one_string(const labelled *a, const labelled *b)
{
    return a->string == b->string && a->column == b->column && a->row == b->row;
}

static int compare_labelled(const void *a, const void *b)
{
    const labelled *p = a, *q = b;
    if (p->string != q->string) {
        return p->string < q->string ? -1 : 1;
    }
    if (p->column != q->column) {
        return p->column < q->column ? -1 : 1;
    }
    if (p->row != q->row) {
        return p->row < q->row ? -1 : 1;
    }
    if (p->z != q->z) {
        return p->z < q->z ? -1 : 1;
    }
    return (p->index > q->index) - (p->index < q->index);
}

/* Gives the modules of every wide string their squares; the list is sorted by label. */
static void divide_wide_strings(const ice_detector *detector, labelled *order)
{
    size_t first = 0;
    while (first < detector->module_count) {
        double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        size_t end = first;
        for (; end < detector->module_count && order[end].string == order[first].string; ++end) {
            for (int axis = 0; axis < 2; ++axis) {
                const double value = position(&detector->modules[order[end].index])[axis];
                low[axis] = fmin(low[axis], value);
                high[axis] = fmax(high[axis], value);
            }
        }
        if (fmax(high[0] - low[0], high[1] - low[1]) > STRING_WIDTH_MAX) {
            for (size_t i = first; i < end; ++i) {
                const double *at = position(&detector->modules[order[i].index]);
                order[i].column = (int32_t)((at[0] - low[0]) / STRING_WIDTH_MAX);
                order[i].row = (int32_t)((at[1] - low[1]) / STRING_WIDTH_MAX);
            }
        }
        first = end;
    }
}

/* The cylinder around modules first .. first + count - 1 of the sorted list. */
static ice_string enclose(const ice_detector *detector, const labelled *order, uint32_t first,
                          uint32_t count)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (uint32_t i = first; i < first + count; ++i) {
        for (int axis = 0; axis < 2; ++axis) {
            const double value = position(&detector->modules[order[i].index])[axis];
            low[axis] = fmin(low[axis], value);
            high[axis] = fmax(high[axis], value);
        }
    }
    const double x = 0.5 * (low[0] + high[0]), y = 0.5 * (low[1] + high[1]);
    double radius = 0.0;
    for (uint32_t i = first; i < first + count; ++i) {
        const ice_module *module = &detector->modules[order[i].index];
        radius = fmax(radius, hypot(module->x - x, module->y - y));
    }
    const ice_string string = {.x = (float)x,
                               .y = (float)y,
                               .radius = (float)(radius + widest(detector) + GRID_MARGIN),
                               .low = (float)order[first].z,
                               .high = (float)order[first + count - 1].z,
                               .first = first,
                               .count = count};
    return string;
}

/* The string's buckets of height, and how far apart they are. A margin below their lower ends
 * covers the rounding of a bucket's number. */
static void fill_buckets(ice_string *string, const float *heights, uint32_t *buckets)
{
    const uint32_t count = ICE_STRING_BUCKETS * string->count;
    const double size = (double)(string->high - string->low) / count;
    string->inverse_bucket = size > 0.0 ? (float)(1.0 / size) : 0.0f;
    uint32_t next = 0;
    for (uint32_t k = 0; k < count; ++k) {
        while (next + 1 < string->count &&
               (double)heights[string->first + next] < string->low + k * size - GRID_MARGIN) {
            ++next;
        }
        buckets[ICE_STRING_BUCKETS * string->first + k] = string->first + next;
    }
}

static int build_strings(ics_table_builder *builder, const ice_detector *detector, box bounds)
{
    ice_tables *tables = builder->tables;
    const size_t count = detector->module_count;
    labelled *order = malloc(count * sizeof *order);
    uint32_t *modules = ics_tables_array(builder, &tables->string_modules, count, sizeof *modules);
    float *heights = ics_tables_array(builder, &tables->string_heights, count, sizeof *heights);
    if (order == NULL || modules == NULL || heights == NULL) {
        snprintf(builder->why, builder->why_size, "out of memory for %zu modules", count);
        free(order);
        return -1;
    }
    for (size_t i = 0; i < count; ++i) {
        order[i].string = detector->modules[i].string;
        order[i].index = (uint32_t)i;
        order[i].column = 0;
        order[i].row = 0;
        order[i].z = detector->modules[i].z;
    }
    qsort(order, count, sizeof *order, compare_labelled);
    divide_wide_strings(detector, order);
    qsort(order, count, sizeof *order, compare_labelled);
    size_t string_count = 0;
    for (size_t i = 0; i < count; ++i) {
        modules[i] = order[i].index;
        heights[i] = (float)order[i].z;
        string_count += i == 0 || !of_one_string(&order[i], &order[i - 1]);
    }
    ice_string *strings =
        ics_tables_array(builder, &tables->strings, string_count, sizeof *strings);
    uint32_t *buckets = ics_tables_array(builder, &tables->string_buckets,
                                         ICE_STRING_BUCKETS * count, sizeof *buckets);
    if (strings == NULL || buckets == NULL) {
        free(order);
        return -1;
    }
    tables->string_count = (uint32_t)string_count;
    uint32_t first = 0;
    double reach = 0.0;
    for (size_t s = 0; s < string_count; ++s) {
        uint32_t end = first + 1;
        while (end < count && of_one_string(&order[end], &order[first])) {
            ++end;
        }
        strings[s] = enclose(detector, order, first, end - first);
        fill_buckets(&strings[s], heights, buckets);
        reach = fmax(reach, (double)strings[s].radius);
        first = end;
    }
    free(order);

    double longer = 0.0;
    for (int axis = 0; axis < 2; ++axis) {
        bounds.low[axis] -= reach + 2.0 * GRID_MARGIN;
        bounds.high[axis] += reach + 2.0 * GRID_MARGIN;
        longer = fmax(longer, bounds.high[axis] - bounds.low[axis]);
    }
    const double cell = fmax(longer / STRING_GRID_SIDE_MAX, 2.0 * widest(detector));
    return fill_grid(builder, &tables->string_grid, &bounds, cell, true, string_count,
                     place_string);
}

int ics_tables_build_detector(ics_table_builder *builder, const ice_detector *detector)
{
    ice_tables *tables = builder->tables;
    const size_t count = detector->module_count;
    if (count == 0) {
        snprintf(builder->why, builder->why_size, "a detector without modules");
        return -1;
    }
    ice_sphere *modules = ics_tables_array(builder, &tables->modules, count, sizeof *modules);
    uint8_t *absorbs = ics_tables_array(builder, &tables->absorbs, count, sizeof *absorbs);
    if (modules == NULL || absorbs == NULL) {
        return -1;
    }
    for (size_t i = 0; i < count; ++i) {
        const ice_module *module = &detector->modules[i];
        modules[i].x = (float)module->x;
        modules[i].y = (float)module->y;
        modules[i].z = (float)module->z;
        modules[i].oversize = module->absorbs ? 1.0f : (float)detector->oversize;
        absorbs[i] = module->absorbs;
    }
    tables->module_count = (uint32_t)count;
    tables->radius = (float)detector->radius;
    tables->keep_hit_photons = detector->keep_hit_photons;
    const box bounds = bounds_of(detector);
    tables->low = (float)(bounds.low[2] - widest(detector) - GRID_MARGIN);
    tables->high = (float)(bounds.high[2] + widest(detector) + GRID_MARGIN);
    return build_strings(builder, detector, bounds) ||
                   build_clearance(builder, detector, &bounds) ||
                   build_cell_grid(builder, detector, bounds)
               ? -1
               : 0;
}
