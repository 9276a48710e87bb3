/* collide: string-grid. Modules hang on vertical strings, and a horizontal grid finds the strings.
 *
 * If a segment is too short to reach any other string than the nearest one, only this string is
 * searched. Most of the longer segments turn out to be too short when the map of clearances is
 * asked half-way (ice_may_reach_others). For the rest of the segments the grid is used: every cell
 * lists the strings whose cylinders touch it, and the cells under the bounding box of the segment
 * are searched. A string of the grid is searched only if the segment passes its cylinder, and every
 * string only at the heights of the segment.
 */
#ifndef ICS_STAGES_COLLIDE_STRING_GRID_H
#define ICS_STAGES_COLLIDE_STRING_GRID_H

#include "stages/contact.h"
#include "stages/grid.h"
#include "stages/reach.h"

/* Returns the index in string_modules from which on the modules of a string may be as high as
 * `low` (m), or higher. */
ICE_FN uint32_t ice_bucket_of(const ice_tables *tables, const ice_string *string, float low)
{
    const float bucket = (low - string->low) * string->inverse_bucket;
    const float last = (float)(ICE_STRING_BUCKETS * string->count - 1);
    return tables->string_buckets[ICE_STRING_BUCKETS * string->first +
                                  (uint32_t)ice_min(ice_max(bucket, 0.0f), last)];
}

/* Returns the index in string_modules of the lowest module of a string at the height `low` (m) or
 * above; string->first + string->count: there is none. */
ICE_FN uint32_t ice_lowest_module_from(const ice_tables *tables, const ice_string *string,
                                       float low)
{
    uint32_t first = ice_bucket_of(tables, string, low);
    const uint32_t end = string->first + string->count;
    while (first < end && tables->string_spheres[first].z < low) {
        ++first;
    }
    return first;
}

/* Whether a segment comes within the radius of the axis of a string, seen from above. */
ICE_FN int32_t ice_passes_string(const ice_contact_search *search, const ice_string *string)
{
    /* For a vertical segment the quotient is 0/0, and its nearest point counts as its start. */
    const float ox = string->x - search->x;
    const float oy = string->y - search->y;
    const float nx = search->direction.x;
    const float ny = search->direction.y;
    const float nearest_point = ice_div(fmaf(ox, nx, oy * ny), fmaf(nx, nx, ny * ny));
    const float along = ice_min(ice_max(nearest_point, 0.0f), search->length);
    const float ex = fmaf(-along, nx, ox);
    const float ey = fmaf(-along, ny, oy);
    return fmaf(ex, ex, ey * ey) <= string->radius * string->radius ? 1 : 0;
}

/* Tests the modules of one string that lie at the heights of the segment. */
ICE_FN void ice_try_string(const ice_tables *tables, const ice_contact_search *search,
                           const ice_string *string, ice_contact *nearest)
{
    const float end_z = fmaf(search->length, search->direction.z, search->z);
    const float reach = string->radius;
    const float low = ice_min(search->z, end_z) - reach;
    const float high = ice_max(search->z, end_z) + reach;
    if (high < string->low || low > string->high) {
        return;
    }
    const uint32_t end = string->first + string->count;
    for (uint32_t k = ice_bucket_of(tables, string, low); k < end; ++k) {
        const ice_sphere sphere = tables->string_spheres[k];
        if (sphere.z > high) {
            break;
        }
        if (sphere.z >= low) {
            ice_try_sphere(tables, search, &sphere, &tables->string_modules[k], nearest);
        }
    }
}

ICE_FN ice_contact ice_collide_string_grid(const ice_tables *tables,
                                           const ice_contact_search *search)
{
    ice_contact nearest = ice_no_contact();
    const int32_t here = ice_clearance_cell(tables, search->x, search->y);
    const ice_near_row near = tables->nearest[here];
    const float nx = search->direction.x, ny = search->direction.y;
    const int32_t is_short =
        search->length * search->length * fmaf(nx, nx, ny * ny) < near.others * near.others ? 1 : 0;
    if (is_short || !ice_may_reach_others(tables, near.others, search->x, search->y,
                                          search->direction, search->length)) {
        /* The string is copied as a whole, so that a GPU waits for memory only once. Whether the
         * segment comes near to it need not be tested: collide is called only for segments that
         * may (ice_may_collide_near). */
        const ice_string string = tables->strings[near.string];
        ice_try_string(tables, search, &string, &nearest);
        return nearest;
    }
    const ice_grid *grid = &tables->string_grid;
    const float end_x = fmaf(search->length, search->direction.x, search->x);
    const float end_y = fmaf(search->length, search->direction.y, search->y);
    const int32_t i0 = ice_grid_cell(ice_min(search->x, end_x), grid->x, grid, grid->nx);
    const int32_t i1 = ice_grid_cell(ice_max(search->x, end_x), grid->x, grid, grid->nx);
    const int32_t j0 = ice_grid_cell(ice_min(search->y, end_y), grid->y, grid, grid->ny);
    const int32_t j1 = ice_grid_cell(ice_max(search->y, end_y), grid->y, grid, grid->ny);
    for (int32_t j = j0; j <= j1; ++j) {
        for (int32_t i = i0; i <= i1; ++i) {
            const int32_t cell = j * grid->nx + i;
            for (uint32_t k = grid->offsets[cell]; k < grid->offsets[cell + 1]; ++k) {
                const ice_string string = tables->strings[grid->items[k]];
                if (ice_passes_string(search, &string)) {
                    ice_try_string(tables, search, &string, &nearest);
                }
            }
        }
    }
    return nearest;
}

/* For `icestream stages`: what the user may set, separated by blanks. */
#define ICE_PARAMETERS_collide_string_grid "detector.modules detector.radius detector.oversize"

#endif
