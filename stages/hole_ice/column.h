/* Bounces inside a column of hole ice, without the work of other bounces.
 *
 * Light scatters in a column every few millimetres, so that it makes many bounces there one after
 * the other. They need neither the layers of the ice nor other columns, and at most one module is
 * near. ice_column_stay_of() finds once what they need, and ice_bounce_in_column() computes them,
 * with the numbers of ice_bounce_photon(), to the bit. It leaves to that function every bounce that
 * ends the photon, touches a module, leaves the column or comes close to its edge.
 *
 * Included after the definition of ICE_PUT_ARRIVAL, as stages/bounce.h.
 */
#ifndef ICS_STAGES_HOLE_ICE_COLUMN_H
#define ICS_STAGES_HOLE_ICE_COLUMN_H

#include "stages/bounce.h"

/* A distance (m) to modules and to heights that no rounding can bridge. */
#define ICE_COLUMN_MARGIN 0.01f

/* What the bounces of a photon in a column have in common. */
typedef struct ice_column_stay {
    float x, y;      /* axis of the column, m */
    float low, high; /* heights, m. Between them the photon can reach one module at most, and no
                        boundary of the world */
    float inner;     /* square of the radius of what counts as the inside of the column, m^2 */
    float least;     /* a photon with this absorption depth or more is not dropped */
    uint32_t module; /* the module that it can reach; ICE_NO_MODULE: none */
} ice_column_stay;

/* Finds the module of a string that is near the height z (m), and the heights around it. Returns 0
 * if two modules are near. */
ICE_FN int32_t ice_find_column_module(const ice_tables *tables, const ice_string *string, float z,
                                      ice_column_stay *stay)
{
    const float reach = string->radius + ICE_COLUMN_MARGIN;
    const ice_sphere *spheres = tables->string_spheres;
    const uint32_t end = string->first + string->count;
    uint32_t next = ice_lowest_module_from(tables, string, z - reach);
    if (next > string->first) {
        stay->low = ice_max(stay->low, spheres[next - 1].z + reach);
    }
    stay->module = ICE_NO_MODULE;
    if (next < end && spheres[next].z <= z + reach) {
        stay->module = tables->string_modules[next];
        ++next;
    }
    if (next < end) {
        stay->high = ice_min(stay->high, spheres[next].z - reach);
    }
    return stay->low < z && z < stay->high ? 1 : 0;
}

/* Whether a position is so far inside the column that no rounding can doubt it. */
ICE_FN int32_t ice_is_well_inside(const ice_column_stay *stay, float x, float y)
{
    const float rx = stay->x - x, ry = stay->y - y;
    return fmaf(rx, rx, ry * ry) < stay->inner ? 1 : 0;
}

/* Returns 1, and *stay, if the next bounces of the photon may be bounces in a column. */
ICE_FN int32_t ice_column_stay_of(const ice_tables *tables, const ice_photon *photon,
                                  ice_column_stay *stay)
{
    const float radius = tables->hole.radius;
    const ice_near_row column = ice_near_column(tables, photon->x, photon->y);
    const ice_near_row near = tables->nearest[ice_clearance_cell(tables, photon->x, photon->y)];
    stay->x = tables->columns[column.string].x;
    stay->y = tables->columns[column.string].y;
    /* Positions are rounded by at most 6e-8 of their size; ice_through_holes() is more exact than
     * 2e-4 of the radius. */
    const float inside = fmaf(-1e-7f, fabsf(stay->x) + fabsf(stay->y), 0.9998f * radius);
    stay->inner = inside * fabsf(inside);
    /* Inside the column the photon comes nearer to other modules by at most its width. */
    const float room = near.others - 2.0f * radius - ICE_COLUMN_MARGIN;
    if (!ice_is_well_inside(stay, photon->x, photon->y) || column.others <= 0.0f || room <= 0.0f) {
        return 0;
    }
    const ice_string string = tables->strings[near.string];
    stay->low = tables->middle - tables->half_height + ICE_COLUMN_MARGIN;
    stay->high = tables->middle + tables->half_height - ICE_COLUMN_MARGIN;
    if (tables->bounded) {
        stay->low = ice_max(stay->low, tables->absorb_below + ICE_COLUMN_MARGIN);
        stay->high = ice_min(stay->high, tables->absorb_above - ICE_COLUMN_MARGIN);
    }
    /* From everywhere in the column, a module of the string is as near as this, seen from above.
     * ice_is_out_of_reach() drops no photon that can go so far. */
    const float sx = string.x - stay->x, sy = string.y - stay->y;
    const float distance = radius + ice_root(fmaf(sx, sx, sy * sy)) + string.radius;
    stay->least = ice_max(ICE_REACH_SAFETY * tables->hole.absorption * distance, 1e-3f);
    return photon->absorption >= stay->least
               ? ice_find_column_module(tables, &string, photon->z, stay)
               : 0;
}

/* The absorption depth left after `length` (m) in a column along n, as ice_through_holes()
 * computes it; not positive if the photon is absorbed before. */
ICE_FN float ice_absorption_left_in_column(const ice_tables *tables, const ice_photon *photon,
                                           ice_direction n, float length)
{
    ice_absorption_factor factor = {1.0f, 1.0f};
    float absorption = photon->absorption;
    if (ICE_HAS(tables, ICE_HAS_DIRECTIONS)) {
        factor = ice_absorption_factor_along(
            tables, ice_height(tables, photon->x, photon->y, photon->z), n);
        absorption *= factor.inverse;
    }
    const float to_absorption = ice_way_in_column(tables, absorption, factor.factor);
    const float left = ice_depth_in_column(tables, to_absorption - length, factor.factor);
    return ICE_HAS(tables, ICE_HAS_DIRECTIONS) ? left * factor.factor : left;
}

/* Whether a segment of `length` (m) that begins at the photon touches the module of the stay. */
ICE_FN int32_t ice_touches_column_module(const ice_tables *tables, const ice_column_stay *stay,
                                         const ice_photon *photon, float length)
{
    if (stay->module == ICE_NO_MODULE) {
        return 0;
    }
    const ice_contact_search search = {photon->x, photon->y, photon->z, ice_direction_of(photon),
                                       length,    -1.0f,     0};
    ice_contact contact = ice_no_contact();
    ice_try_module(tables, &search, stay->module, &contact);
    return contact.module != ICE_NO_MODULE ? 1 : 0;
}

/* Computes one bounce of a photon, if it is one inside the column of *stay, which
 * ice_column_stay_of() has found for this photon since it came into the column. Otherwise returns
 * 0, and only finds the site of the position, which no bounce in the column needs. `sink` is only
 * for what counts segments. */
ICE_FN int32_t ice_bounce_in_column(ice_variant scatter, const ice_tables *tables,
                                    const ice_column_stay *stay, ice_active_photon *active,
                                    void *sink)
{
    ice_photon *photon = &active->photon;
    (void)sink;
    const ice_direction n = ice_direction_of(photon);
    const float length = ice_depth_of(active->random) * tables->hole.scattering_length;
    const ice_direction end = {fmaf(length, n.x, photon->x), fmaf(length, n.y, photon->y),
                               fmaf(length, n.z, photon->z)};
    const float left = ice_absorption_left_in_column(tables, photon, n, length);
    const int32_t stays = ice_is_well_inside(stay, end.x, end.y) & (end.z > stay->low ? 1 : 0) &
                          (end.z < stay->high ? 1 : 0) & (left >= stay->least ? 1 : 0);
    if (!stays || ice_is_last_bounce(tables, photon->scatters) ||
        ice_touches_column_module(tables, stay, photon, length)) {
        active->site = ice_site_of(tables, photon->x, photon->y, photon->z);
        return 0;
    }
    if (ICE_HAS(tables, ICE_HAS_BIREFRINGENCE)) {
        /* Hole ice does not deflect light, but the random numbers of the deflection are used. */
        active->random = ice_random_next(ice_random_next(active->random));
    }
    ICE_COUNT_SEGMENT(sink, tables, photon, ice_height(tables, photon->x, photon->y, photon->z),
                      length);
    ICE_COUNT_CANDIDATES(sink, tables, photon, length);
    ice_advance(photon, length);
    photon->absorption = left;
    photon->scatters += 1;
    const ice_scatter_draw draw = ice_draw_scatter(&active->random);
    ice_set_direction(photon, ice_scatter_direction(scatter, &tables->hole.scatter, draw, n, 1));
    return 1;
}

#endif
