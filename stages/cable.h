/* Where a segment enters a cable (physics.md 8.10). Only runs with cables (ICE_HAS_CABLES) compile
 * this into their kernels. */
#ifndef ICS_STAGES_CABLE_H
#define ICS_STAGES_CABLE_H

#include "stages/contact.h"
#include "stages/grid.h"
#include "stages/reach.h"

/* Whether a segment, seen from above, comes within `radius` (m) of the vertical axis at (x, y). For
 * a vertical segment the quotient is 0/0, and its nearest point counts as its start. */
ICE_FN int32_t ice_passes_axis(const ice_contact_search *search, float x, float y, float radius)
{
    const float ox = x - search->x;
    const float oy = y - search->y;
    const float nx = search->direction.x;
    const float ny = search->direction.y;
    const float nearest_point = ice_div(fmaf(ox, nx, oy * ny), fmaf(nx, nx, ny * ny));
    const float along = ice_min(ice_max(nearest_point, 0.0f), search->length);
    const float ex = fmaf(-along, nx, ox);
    const float ey = fmaf(-along, ny, oy);
    return fmaf(ex, ex, ey * ey) <= radius * radius ? 1 : 0;
}

/* Whether a segment enters a cable. The entry must lie on the segment: light that starts inside
 * leaves freely. */
ICE_FN int32_t ice_enters_cable(const ice_contact_search *search, const ice_cable_row *cable)
{
    const ice_direction n = search->direction;
    /* Parts along the axis of the cable, and across it. */
    const float dx = search->x - cable->x, dy = search->y - cable->y, dz = search->z - cable->z;
    const float d_along = fmaf(dx, cable->ux, fmaf(dy, cable->uy, dz * cable->uz));
    const float n_along = fmaf(n.x, cable->ux, fmaf(n.y, cable->uy, n.z * cable->uz));
    const float nx = fmaf(-n_along, cable->ux, n.x);
    const float ny = fmaf(-n_along, cable->uy, n.y);
    const float nz = fmaf(-n_along, cable->uz, n.z);
    const float square = fmaf(nx, nx, fmaf(ny, ny, nz * nz));
    if (square < ICE_UPRIGHT_SQUARE) {
        return 0; /* along the cable: a disc of 23 mm at the end of a string */
    }
    const float x = fmaf(-d_along, cable->ux, dx);
    const float y = fmaf(-d_along, cable->uy, dy);
    const float z = fmaf(-d_along, cable->uz, dz);
    const float nearest = -ice_div(fmaf(x, nx, fmaf(y, ny, z * nz)), square);
    const float ex = fmaf(nearest, nx, x);
    const float ey = fmaf(nearest, ny, y);
    const float ez = fmaf(nearest, nz, z);
    const float discriminant =
        fmaf(cable->radius, cable->radius, -fmaf(ex, ex, fmaf(ey, ey, ez * ez)));
    if (discriminant < 0.0f) {
        return 0;
    }
    const float half = ice_sqrt(ice_div(discriminant, square));
    float enters = nearest - half, leaves = nearest + half;
    if (n_along != 0.0f) {
        const float one = ice_div(-d_along, n_along);
        const float other = ice_div(cable->length - d_along, n_along);
        enters = ice_max(enters, ice_min(one, other));
        leaves = ice_min(leaves, ice_max(one, other));
    } else if (d_along < 0.0f || d_along > cable->length) {
        return 0;
    }
    return enters <= leaves && enters >= 0.0f && enters <= search->length ? 1 : 0;
}

/* Whether a segment enters a cable of one string of the tables. */
ICE_RARE_FN int32_t ice_enters_cable_of(ice_shapes shapes, uint32_t string,
                                        ice_contact_search search)
{
    const ice_cable_list list =
        ((const ice_cable_list *)ice_shape_array(shapes.table, shapes.table->cable_lists))[string];
    const ice_cable_row *cables =
        (const ice_cable_row *)ice_shape_array(shapes.table, shapes.table->cables) + list.first;
    const float end_z = fmaf(search.length, search.direction.z, search.z);
    const float low = ice_min(search.z, end_z) - list.tallest;
    const float high = ice_max(search.z, end_z) + list.widest;
    uint32_t first = 0, end = list.count;
    while (first < end) {
        const uint32_t middle = (first + end) / 2;
        if (cables[middle].z < low) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    for (; first < list.count && cables[first].z <= high; ++first) {
        const ice_cable_row cable = cables[first];
        if (ice_enters_cable(&search, &cable)) {
            return 1;
        }
    }
    return 0;
}

ICE_FN int32_t ice_tries_cables(const ice_tables *tables, const ice_contact_search *search,
                                uint32_t index)
{
    const ice_string string = tables->strings[index];
    /* Oversized modules are wider than cables. */
    const float radius = ice_min(string.radius, tables->cable_reach);
    return ice_passes_axis(search, string.x, string.y, radius)
               ? ice_enters_cable_of(tables->shapes, index, *search)
               : 0;
}

/* Whether a segment enters any cable. The strings are found as in collide_string_grid.h. */
ICE_FN int32_t ice_enters_any_cable(const ice_tables *tables, const ice_contact_search *search)
{
    const ice_near_row near = tables->nearest[ice_clearance_cell(tables, search->x, search->y)];
    const float nx = search->direction.x, ny = search->direction.y;
    if (search->length * search->length * fmaf(nx, nx, ny * ny) < near.others * near.others) {
        return ice_tries_cables(tables, search, near.string);
    }
    const ice_grid *grid = &tables->string_grid;
    const float end_x = fmaf(search->length, nx, search->x);
    const float end_y = fmaf(search->length, ny, search->y);
    const int32_t i0 = ice_grid_cell(ice_min(search->x, end_x), grid->x, grid, grid->nx);
    const int32_t i1 = ice_grid_cell(ice_max(search->x, end_x), grid->x, grid, grid->nx);
    const int32_t j0 = ice_grid_cell(ice_min(search->y, end_y), grid->y, grid, grid->ny);
    const int32_t j1 = ice_grid_cell(ice_max(search->y, end_y), grid->y, grid, grid->ny);
    for (int32_t j = j0; j <= j1; ++j) {
        for (int32_t i = i0; i <= i1; ++i) {
            const int32_t cell = j * grid->nx + i;
            for (uint32_t k = grid->offsets[cell]; k < grid->offsets[cell + 1]; ++k) {
                if (ice_tries_cables(tables, search, grid->items[k])) {
                    return 1;
                }
            }
        }
    }
    return 0;
}

/* Whether a cable absorbs a photon before its contact with a module. The light that hits an
 * oversized module stands for light on the line through the point of impact at true size, and the
 * cable, which has its true size, must be on that line. */
ICE_FN int32_t ice_cable_is_before(const ice_tables *tables, const ice_contact_search *search,
                                   ice_contact contact)
{
    if (!ICE_HAS(tables, ICE_HAS_CABLES)) {
        return 0;
    }
    const ice_sphere *module = &tables->modules[contact.module];
    const ice_approach d =
        ice_approach_to(module, tables->radius, search->x, search->y, search->z, search->direction);
    const float shift = 1.0f - ice_div(1.0f, module->oversize);
    ice_contact_search moved = *search;
    moved.x = fmaf(shift, d.ex, search->x);
    moved.y = fmaf(shift, d.ey, search->y);
    moved.z = fmaf(shift, d.ez, search->z);
    moved.length = ice_impact_of(tables, search, contact);
    return ice_enters_any_cable(tables, &moved);
}

/* Whether a cable absorbs a photon whose segment has no contact, or no other contact. */
ICE_FN int32_t ice_cable_absorbs(const ice_tables *tables, const ice_contact_search *search)
{
    return ICE_HAS(tables, ICE_HAS_CABLES) ? ice_enters_any_cable(tables, search) : 0;
}

#endif
