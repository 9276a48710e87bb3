/* Finds cells of an ice_grid. */
#ifndef ICS_STAGES_GRID_H
#define ICS_STAGES_GRID_H

#include "stages/maths.h"
#include "stages/tables.h"

/* Returns the index of the cell of a coordinate (m) along one axis. Coordinates outside the grid
 * get the cell at the border: all items lie inside the grid, so no item can be missed. */
ICE_FN int32_t ice_grid_cell(float coordinate, float origin, const ice_grid *grid, int32_t cells)
{
    return ice_cell((coordinate - origin) * grid->inverse_cell, cells - 1);
}

#endif
