/* collide: cell-grid. For modules at any positions; every cubic cell lists the modules that touch
 * it.
 *
 * The part of the segment inside the grid is cut into pieces no longer than a cell. For each piece
 * the cells of its bounding box are searched, eight at most. The lists have a margin that covers
 * the rounding of the cuts.
 */
#ifndef ICS_STAGES_COLLIDE_CELL_GRID_H
#define ICS_STAGES_COLLIDE_CELL_GRID_H

#include "stages/contact.h"
#include "stages/grid.h"

/* Narrows [*from, *to] to the t for which origin + t * speed is within [low, high]. If there are
 * none, *to becomes less than *from. */
ICE_FN void ice_clip(float origin, float speed, float low, float high, float *from, float *to)
{
    if (speed == 0.0f) {
        if (origin < low || origin > high) {
            *to = -1.0f;
        }
        return;
    }
    const float a = ice_div(low - origin, speed);
    const float b = ice_div(high - origin, speed);
    *from = ice_max(*from, ice_min(a, b));
    *to = ice_min(*to, ice_max(a, b));
}

ICE_FN ice_contact ice_collide_cell_grid(const ice_tables *tables, const ice_contact_search *search)
{
    const ice_grid *grid = &tables->cell_grid;
    const ice_direction n = search->direction;
    float from = 0.0f, to = search->length;
    ice_clip(search->x, n.x, grid->x, fmaf((float)grid->nx, grid->cell, grid->x), &from, &to);
    ice_clip(search->y, n.y, grid->y, fmaf((float)grid->ny, grid->cell, grid->y), &from, &to);
    ice_clip(search->z, n.z, grid->z, fmaf((float)grid->nz, grid->cell, grid->z), &from, &to);

    ice_contact nearest = ice_no_contact();
    for (int32_t piece = 0;; ++piece) {
        const float begin = fmaf((float)piece, grid->cell, from);
        /* Pieces that begin behind a contact cannot contain a nearer one. */
        if (begin > to || (nearest.module != ICE_NO_MODULE && nearest.distance < begin)) {
            break;
        }
        const float end = ice_min(begin + grid->cell, to);
        const float x0 = fmaf(begin, n.x, search->x), x1 = fmaf(end, n.x, search->x);
        const float y0 = fmaf(begin, n.y, search->y), y1 = fmaf(end, n.y, search->y);
        const float z0 = fmaf(begin, n.z, search->z), z1 = fmaf(end, n.z, search->z);
        const int32_t i0 = ice_grid_cell(ice_min(x0, x1), grid->x, grid, grid->nx);
        const int32_t i1 = ice_grid_cell(ice_max(x0, x1), grid->x, grid, grid->nx);
        const int32_t j0 = ice_grid_cell(ice_min(y0, y1), grid->y, grid, grid->ny);
        const int32_t j1 = ice_grid_cell(ice_max(y0, y1), grid->y, grid, grid->ny);
        const int32_t k0 = ice_grid_cell(ice_min(z0, z1), grid->z, grid, grid->nz);
        const int32_t k1 = ice_grid_cell(ice_max(z0, z1), grid->z, grid, grid->nz);
        for (int32_t k = k0; k <= k1; ++k) {
            for (int32_t j = j0; j <= j1; ++j) {
                for (int32_t i = i0; i <= i1; ++i) {
                    const int32_t cell = (k * grid->ny + j) * grid->nx + i;
                    for (uint32_t item = grid->offsets[cell]; item < grid->offsets[cell + 1];
                         ++item) {
                        ice_try_module(tables, search, grid->items[item], &nearest);
                    }
                }
            }
        }
    }
    return nearest;
}

/* For `icestream stages`: what the user may set, separated by blanks. */
#define ICE_PARAMETERS_collide_cell_grid "detector.modules detector.radius detector.oversize"

#endif
