/* Cells of ice_grid. */
#ifndef ICS_STAGES_GRID_H
#define ICS_STAGES_GRID_H

#include "stages/maths.h"
#include "stages/tables.h"

/* Index of a coordinate along one axis, clamped into the grid: every item of the grid lies inside
 * it, so what is outside belongs to the border cells. */
ICE_FN int32_t ice_grid_cell(float coordinate, float origin, const ice_grid *grid, int32_t cells)
{
    return ice_cell((coordinate - origin) * grid->inverse_cell, cells - 1);
}

#endif
