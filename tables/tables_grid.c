/* Grids of cells with lists of the objects in each cell. */
#include "tables/tables_geometry.h"

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

/* Returns the length of all lists together. */
static double total_items(const ics_table_builder *builder, const ice_grid *grid, size_t count,
                          ics_table_locate locate)
{
    double total = 0.0;
    for (size_t i = 0; i < count; ++i) {
        double centre[3], reach;
        locate(builder, i, centre, &reach);
        const cell_range range = cells_of(grid, centre, reach);
        total += (double)count_cells(&range);
    }
    return total;
}

/* Visits the cells that an object touches. Without `items` the visit adds 1 to offsets[c] of every
 * cell c. With `items`, offsets[c] is where the filled part of the list of cell c begins, and the
 * visit puts the object in front of it. */
static void visit_cells(const ice_grid *grid, const double *centre, double reach, uint32_t index,
                        uint32_t *offsets, uint32_t *items)
{
    const cell_range range = cells_of(grid, centre, reach);
    for (int32_t k = range.low[2]; k <= range.high[2]; ++k) {
        for (int32_t j = range.low[1]; j <= range.high[1]; ++j) {
            for (int32_t i = range.low[0]; i <= range.high[0]; ++i) {
                const size_t c =
                    ((size_t)k * (size_t)grid->ny + (size_t)j) * (size_t)grid->nx + (size_t)i;
                if (items == NULL) {
                    ++offsets[c];
                } else {
                    items[--offsets[c]] = index;
                }
            }
        }
    }
}

/* Fills the lists by a counting sort: counts the objects of every cell, sums up the counts, and
 * fills each list backwards from its end, so that its objects are in ascending order. */
static void sort_items(const ics_table_builder *builder, const ice_grid *grid, size_t count,
                       ics_table_locate locate, uint32_t *offsets, uint32_t *items)
{
    const size_t cells = (size_t)grid->nx * (size_t)grid->ny * (size_t)grid->nz;
    double centre[3], reach;
    for (size_t n = 0; n < count; ++n) {
        locate(builder, n, centre, &reach);
        visit_cells(grid, centre, reach, (uint32_t)n, offsets, NULL);
    }
    for (size_t c = 1; c <= cells; ++c) {
        offsets[c] += offsets[c - 1];
    }
    for (size_t n = count; n-- > 0;) {
        locate(builder, n, centre, &reach);
        visit_cells(grid, centre, reach, (uint32_t)n, offsets, items);
    }
}

int ics_tables_fill_grid(ics_table_builder *builder, ice_grid *grid, const ics_box *bounds,
                         double cell, bool flat, size_t count, ics_table_locate locate)
{
    shape_grid(grid, bounds, cell, flat);
    double items_total = total_items(builder, grid, count, locate);
    while (items_total > GRID_ITEMS_MAX && (grid->nx > 1 || grid->ny > 1 || grid->nz > 1)) {
        cell *= 2.0;
        shape_grid(grid, bounds, cell, flat);
        items_total = total_items(builder, grid, count, locate);
    }
    const size_t cells = (size_t)grid->nx * (size_t)grid->ny * (size_t)grid->nz;
    uint32_t *offsets = ics_tables_array(builder, &grid->offsets, cells + 1, sizeof *offsets);
    uint32_t *items = offsets != NULL ? ics_tables_array(builder, &grid->items, (size_t)items_total,
                                                         sizeof *items)
                                      : NULL;
    if (items == NULL) {
        return ICESTREAM_E_MEMORY;
    }
    sort_items(builder, grid, count, locate, offsets, items);
    return ICESTREAM_OK;
}
