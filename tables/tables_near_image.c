#include "tables/tables_near_image.h"

#include "stages/reach.h"

void ics_tables_near_fill(const ice_tables *tables, float *numbers)
{
    const float side = 1.0f / tables->clearance_inverse_cell;
    /* A texture unit may take the neighbour of a cell for a position close to its edge. */
    const float doubt = 2.0f * ICE_CELL_DOUBT * side;
    for (int32_t j = 0; j < tables->clearance_ny; ++j) {
        const float y = ((float)j + 0.5f - tables->clearance_of_zero_y) * side;
        for (int32_t i = 0; i < tables->clearance_nx; ++i) {
            const float x = ((float)i + 0.5f - tables->clearance_of_zero_x) * side;
            const ice_surroundings near = ice_surroundings_at(tables, x, y);
            *numbers++ = near.axis_x;
            *numbers++ = near.axis_y;
            *numbers++ = ice_max(near.others - doubt, 0.0f);
            *numbers++ = 0.0f;
        }
    }
}
