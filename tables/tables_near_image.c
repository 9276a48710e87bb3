#include "tables/tables_near_image.h"

#include "stages/reach.h"

/* Writes the cells, with the distance to the other axes shorter by `doubt` (m). */
static void fill_cells(const ice_tables *tables, float doubt, ice_near_cell *cells)
{
    const float side = 1.0f / tables->clearance_inverse_cell;
    for (int32_t j = 0; j < tables->clearance_ny; ++j) {
        const float y = ((float)j + 0.5f - tables->clearance_of_zero_y) * side;
        for (int32_t i = 0; i < tables->clearance_nx; ++i) {
            const float x = ((float)i + 0.5f - tables->clearance_of_zero_x) * side;
            const ice_surroundings near = ice_surroundings_at(tables, x, y);
            *cells++ =
                (ice_near_cell){near.axis_x, near.axis_y, ice_max(near.others - doubt, 0.0f), 0.0f};
        }
    }
}

void ics_tables_near_fill(const ice_tables *tables, ice_near_cell *cells)
{
    fill_cells(tables, 0.0f, cells);
}

void ics_tables_near_texels(const ice_tables *tables, float *numbers)
{
    /* A texture unit may take the neighbour of a cell for a position close to its edge. */
    const float side = 1.0f / tables->clearance_inverse_cell;
    fill_cells(tables, 2.0f * ICE_CELL_DOUBT * side, (ice_near_cell *)(void *)numbers);
}
