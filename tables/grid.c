/* Grids of cells with lists of the objects in each cell. */
#include "base/error.h"
#include "base/memory.h"
#include "tables/geometry.h"

#include <stdlib.h>

#define GRID_ITEMS_MAX (1 << 26)

/* The cells that a sphere or disc touches: first and last index along each of the three axes. */
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

static size_t count_cells(const cell_range *range)
{
    size_t count = 1;
    for (int axis = 0; axis < 3; ++axis) {
        count *= (size_t)(range->high[axis] - range->low[axis] + 1);
    }
    return count;
}

/* Sets the dimensions of a grid for a box and a cell size (m). A flat grid has one cell in height.
 */
static void shape_grid(ice_grid *grid, const ics_box *bounds, double cell, bool flat)
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

static size_t cell_at(const ice_grid *grid, int32_t i, int32_t j, int32_t k)
{
    return ((size_t)k * (size_t)grid->ny + (size_t)j) * (size_t)grid->nx + (size_t)i;
}

/* The objects of a grid while it is built. */
typedef struct object_list {
    const ics_table_builder *builder;
    ics_table_locate locate;
    size_t count;
    /* [count], the only cell that an object touches, or SEVERAL. Most objects touch one cell, which
     * has not to be computed again. */
    uint32_t *cells;
} object_list;

#define SEVERAL UINT32_MAX

/* Finds the cells of all objects. Returns the length of all lists together. */
static double find_cells(const object_list *objects, const ice_grid *grid)
{
    double total = 0.0;
    for (size_t n = 0; n < objects->count; ++n) {
        double centre[3], reach;
        objects->locate(objects->builder, n, centre, &reach);
        const cell_range range = cells_of(grid, centre, reach);
        const size_t touched = count_cells(&range);
        const size_t cell = cell_at(grid, range.low[0], range.low[1], range.low[2]);
        objects->cells[n] = touched == 1 && cell < SEVERAL ? (uint32_t)cell : SEVERAL;
        total += (double)touched;
    }
    return total;
}

/* Visits the cells that object n touches. Without `items` the visit adds 1 to offsets[c] of every
 * cell c. With `items`, offsets[c] is where the filled part of the list of cell c begins, and the
 * visit puts the object in front of it. */
static void visit_cells(const object_list *objects, const ice_grid *grid, size_t n,
                        uint32_t *offsets, uint32_t *items)
{
    cell_range range = {{0}, {0}};
    size_t first = objects->cells[n];
    if (first == SEVERAL) {
        double centre[3], reach;
        objects->locate(objects->builder, n, centre, &reach);
        range = cells_of(grid, centre, reach);
        first = cell_at(grid, range.low[0], range.low[1], range.low[2]);
    }
    for (int32_t k = 0; k <= range.high[2] - range.low[2]; ++k) {
        for (int32_t j = 0; j <= range.high[1] - range.low[1]; ++j) {
            for (int32_t i = 0; i <= range.high[0] - range.low[0]; ++i) {
                const size_t c = first + cell_at(grid, i, j, k);
                if (items == NULL) {
                    ++offsets[c];
                } else {
                    items[--offsets[c]] = (uint32_t)n;
                }
            }
        }
    }
}

/* Fills the lists by a counting sort: counts the objects of every cell, sums up the counts, and
 * fills each list backwards from its end, so that its objects are in ascending order. */
static void sort_items(const object_list *objects, const ice_grid *grid, uint32_t *offsets,
                       uint32_t *items)
{
    const size_t cells = (size_t)grid->nx * (size_t)grid->ny * (size_t)grid->nz;
    for (size_t n = 0; n < objects->count; ++n) {
        visit_cells(objects, grid, n, offsets, NULL);
    }
    for (size_t c = 1; c <= cells; ++c) {
        offsets[c] += offsets[c - 1];
    }
    for (size_t n = objects->count; n-- > 0;) {
        visit_cells(objects, grid, n, offsets, items);
    }
}

/* Chooses the cells, and fills the tables of a grid. */
static int fill(ics_table_builder *builder, const object_list *objects, ice_grid *grid,
                const ics_box *bounds, double cell)
{
    const bool flat = grid->nz == 1;
    double items_total = find_cells(objects, grid);
    while (items_total > GRID_ITEMS_MAX && (grid->nx > 1 || grid->ny > 1 || grid->nz > 1)) {
        cell *= 2.0;
        shape_grid(grid, bounds, cell, flat);
        items_total = find_cells(objects, grid);
    }
    const size_t cells = (size_t)grid->nx * (size_t)grid->ny * (size_t)grid->nz;
    uint32_t *offsets, *items;
    ICS_TRY(ics_tables_array(builder, &grid->offsets, cells + 1, sizeof *offsets, &offsets));
    ICS_TRY(ics_tables_array(builder, &grid->items, (size_t)items_total, sizeof *items, &items));
    sort_items(objects, grid, offsets, items);
    return ICESTREAM_OK;
}

int ics_tables_fill_grid(ics_table_builder *builder, ice_grid *grid, const ics_box *bounds,
                         double cell, bool flat, size_t count, ics_table_locate locate)
{
    object_list objects = {.builder = builder, .locate = locate, .count = count};
    objects.cells = ics_memory_zeros(count ? count : 1, sizeof *objects.cells);
    if (objects.cells == NULL) {
        return ics_error_set(builder->error, ICESTREAM_E_MEMORY,
                             "out of memory for a grid of %zu objects", count);
    }
    shape_grid(grid, bounds, cell, flat);
    const int status = fill(builder, &objects, grid, bounds, cell);
    free(objects.cells);
    return status;
}
