#include "tables/near_image.h"

#include "stages/reach.h"
#include "tables/short_texels.h"

#include <math.h>

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

void ics_tables_near_set_scale(ice_tables *tables)
{
    const double side = 1.0 / (double)tables->clearance_inverse_cell;
    const double left = (double)tables->clearance_of_zero_x * side;
    const double below = (double)tables->clearance_of_zero_y * side;
    const double right = tables->clearance_nx * side - left;
    const double above = tables->clearance_ny * side - below;
    const double extent = fmax(fmax(left, right), fmax(below, above));
    const double step = exp2(ceil(log2(extent / ICS_TEXEL_STEPS)));
    tables->near_scale = tables->near_others = 1.0f;
    tables->near_radius = tables->axis_radius;
    if (step <= ICS_NEAR_STEP_WIDEST) {
        tables->near_scale = (float)(step * ICS_TEXEL_STEPS);
        tables->near_others = (float)(ICS_NEAR_STEP_OTHERS * ICS_TEXEL_STEPS);
        tables->near_radius += (float)(0.71 * step); /* at most half a step in x and in y */
    }
}

bool ics_tables_near_is_short(const ice_tables *tables)
{
    return tables->near_others > 1.0f;
}

/* Returns the number of a texel with 16 bits that has `steps` steps. */
static float number_of(float steps)
{
    return fminf(fmaxf(steps, -ICS_TEXEL_STEPS), ICS_TEXEL_STEPS) / ICS_TEXEL_STEPS;
}

/* Returns the numbers of a texel with 16 bits for a cell in a quarter of the map. A cell
 * without an axis gets one in the opposite corner. That axis can only make the clearance of the
 * cell smaller, so the clearance stays a lower bound. */
static ice_near_cell short_cell(ice_near_cell cell, float step, bool is_right, bool is_above)
{
    const float most = step * ICS_TEXEL_STEPS;
    if (fabsf(cell.axis_x) > most || fabsf(cell.axis_y) > most) {
        cell.axis_x = is_right ? -most : most;
        cell.axis_y = is_above ? -most : most;
    }
    return (ice_near_cell){number_of(roundf(cell.axis_x / step)),
                           number_of(roundf(cell.axis_y / step)),
                           number_of(floorf(cell.others / (float)ICS_NEAR_STEP_OTHERS)), 0.0f};
}

void ics_tables_near_texels(const ice_tables *tables, float *numbers)
{
    ice_near_cell *cells = (ice_near_cell *)(void *)numbers;
    /* A texture unit may take the neighbour of a cell for a position close to its edge. */
    const float side = 1.0f / tables->clearance_inverse_cell;
    fill_cells(tables, 2.0f * ICE_CELL_DOUBT * side, cells);
    if (!ics_tables_near_is_short(tables)) {
        return;
    }
    const float step = tables->near_scale / ICS_TEXEL_STEPS;
    for (int32_t j = 0; j < tables->clearance_ny; ++j) {
        const bool is_above = (float)j >= tables->clearance_of_zero_y;
        for (int32_t i = 0; i < tables->clearance_nx; ++i) {
            const bool is_right = (float)i >= tables->clearance_of_zero_x;
            *cells = short_cell(*cells, step, is_right, is_above);
            ++cells;
        }
    }
}
