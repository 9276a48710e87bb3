/* Lower bounds of the distance to the nearest module, with which collide and propagate skip work.
 *
 * The bounds are conservative: they skip only segments that cannot enter a module and photons that
 * cannot reach one, so hits do not depend on them (physics.md 5.1, 8.2).
 */
#ifndef ICS_STAGES_REACH_H
#define ICS_STAGES_REACH_H

#include "stages/direction.h"
#include "stages/optics.h"
#include "stages/photon.h"
#include "stages/tilt.h"

/* Returns the cell of the clearance map for (x, y). For a position outside the map this is the
 * nearest cell of its border, and the cell is nearer to every module than the position. */
ICE_FN int32_t ice_clearance_cell(const ice_tables *tables, float x, float y)
{
    const float inverse = tables->clearance_inverse_cell;
    const int32_t i =
        ice_cell(fmaf(x, inverse, tables->clearance_of_zero_x), tables->clearance_nx - 1);
    const int32_t j =
        ice_cell(fmaf(y, inverse, tables->clearance_of_zero_y), tables->clearance_ny - 1);
    return j * tables->clearance_nx + i;
}

/* With more axes than this, a cell of the map of clearances has 32 bits instead of 16. */
#define ICE_AXES_NARROW 2048u

ICE_FN int32_t ice_has_wide_cells(const ice_tables *tables)
{
    return tables->axis_mask >= ICE_AXES_NARROW ? 1 : 0;
}

/* What is near a position, seen from above, m; from a texture in units of near_scale and
 * near_others. Only the functions below read it. */
typedef struct ice_surroundings {
    float axis_x, axis_y; /* position of the nearest axis */
    float others;         /* no module of another axis is within this distance, >= 0 */
} ice_surroundings;

/* The vector (m) from the nearest axis to (x, y), of whose surroundings it is. */
typedef struct ice_from_axis {
    float x, y;
} ice_from_axis;

ICE_FN ice_from_axis ice_from_axis_to(const ice_tables *tables, ice_surroundings near, float x,
                                      float y)
{
    (void)tables;
#if defined(ICE_HAS_TEXTURES)
    const ice_from_axis from = {fmaf(near.axis_x, -tables->near_scale, x),
                                fmaf(near.axis_y, -tables->near_scale, y)};
#else
    const ice_from_axis from = {x - near.axis_x, y - near.axis_y};
#endif
    return from;
}

/* Returns the radius (m) of the cylinder around an axis that contains its modules. */
ICE_FN float ice_axis_radius(const ice_tables *tables)
{
#if defined(ICE_HAS_TEXTURES)
    return tables->near_radius;
#else
    return tables->axis_radius;
#endif
}

/* Returns the distance (m) within which no module of another axis is. */
ICE_FN float ice_to_others(const ice_tables *tables, ice_surroundings near)
{
    (void)tables;
#if defined(ICE_HAS_TEXTURES)
    return near.others * tables->near_others;
#else
    return near.others;
#endif
}

/* A texture unit rounds the position of a photon to this part of a cell, so the cell may be the
 * neighbour of the one that contains the photon. */
#define ICE_CELL_DOUBT (1.0f / 256.0f)

/* Reads the map of clearances at (x, y). A GPU reads what the words of the map stand for
 * (tables/near_image.h), because it would take a word apart in 10 more instructions. A CPU
 * reads words, because its small caches have no room for cells of 16 bytes. */
ICE_FN ice_surroundings ice_surroundings_at(const ice_tables *tables, float x, float y)
{
#if defined(ICE_HAS_TEXTURES)
    const float inverse = tables->clearance_inverse_cell;
    const ice_texel texel =
        ice_texel_at(tables->near_texture, fmaf(x, inverse, tables->clearance_of_zero_x),
                     fmaf(y, inverse, tables->clearance_of_zero_y));
    const ice_surroundings near = {texel.a, texel.b, texel.c};
#elif defined(__CUDACC__)
    const ice_near_cell cell = tables->near_cells[(uint32_t)ice_clearance_cell(tables, x, y)];
    const ice_surroundings near = {cell.axis_x, cell.axis_y, cell.others};
#else
    const int32_t cell = ice_clearance_cell(tables, x, y);
    const uint32_t narrow = ice_has_wide_cells(tables) ? 0 : 1;
    /* A processor gathers words of 32 bits only. */
    const uint32_t used = narrow ? 0xffffu : 0xffffffffu;
    const uint32_t shift = ((uint32_t)cell & narrow) * 16;
    const uint32_t word = (tables->near_axes[cell >> narrow] >> shift) & used;
    const ice_string_axis axis = tables->axes[word & tables->axis_mask];
    const float others = fmaf((float)(int32_t)word, tables->others_step, -tables->others_less);
    const ice_surroundings near = {axis.x, axis.y, ice_max(others, 0.0f)};
#endif
    return near;
}

/* What is read from memory for a position (x, y, z), before the bounce that starts there. A loop
 * reads it as soon as it knows the position, and has it when the bounce begins. */
typedef struct ice_site {
    float height; /* height among the layers (m) */
    ice_surroundings near;
} ice_site;

ICE_FN ice_site ice_site_of(const ice_tables *tables, float x, float y, float z)
{
    const ice_site site = {ice_height(tables, x, y, z), ice_surroundings_at(tables, x, y)};
    return site;
}

/* Returns a lower bound (m) of the horizontal distance from (x, y) to the edge of any module. It is
 * negative inside the cylinder around an axis. `near` is that of (x, y). The radius of the cylinder
 * covers the rounding of distances up to 20 km; a longer one is no clearance, because `others` is
 * shorter. */
ICE_FN float ice_clearance_of(const ice_tables *tables, ice_surroundings near, float x, float y)
{
    const ice_from_axis from = ice_from_axis_to(tables, near, x, y);
    /* The smallest square keeps 0 away from the root and changes no other distance. */
    const float square = fmaf(from.x, from.x, fmaf(from.y, from.y, ICE_LEAST_SQUARE));
    const float distance = ice_root_above_zero(square);
    return ice_min(distance - ice_axis_radius(tables), ice_to_others(tables, near));
}

/* Returns the clearance of (x, y): this bound, and 0 where it is negative. */
ICE_FN float ice_clearance(const ice_tables *tables, float x, float y)
{
    return ice_max(ice_clearance_of(tables, ice_surroundings_at(tables, x, y), x, y), 0.0f);
}

/* Returns a lower bound (m) of the distance from the height z (m) at a position with this clearance
 * to the edge of any module: the larger one of its horizontal and its vertical part. */
ICE_FN float ice_least_distance(const ice_tables *tables, float clearance, float z)
{
    return ice_max(clearance, fabsf(z - tables->middle) - tables->half_height);
}

/* Returns the moment (m) of a line from (x, y) along n about the nearest axis, seen from above. Its
 * size is at most the distance between the line and the axis, and so it is at most the distance
 * between (x, y) and the axis. `from` is that of (x, y). */
ICE_FN float ice_moment_about_axis(ice_from_axis from, ice_direction n)
{
    return fmaf(from.x, n.y, -(from.y * n.x));
}

/* Whether the line of a segment from (x, y) along n may pass through the cylinder around the
 * nearest axis, or the segment is long enough for the modules of other axes. A segment that starts
 * inside the cylinder is on such a line. `near` is that of (x, y). */
ICE_FN int32_t ice_is_aimed(const ice_tables *tables, ice_surroundings near, float x, float y,
                            ice_direction n, float length)
{
    const float about = ice_moment_about_axis(ice_from_axis_to(tables, near, x, y), n);
    const int32_t passes = fabsf(about) <= ice_axis_radius(tables) ? 1 : 0;
    const int32_t reaches = length >= ice_to_others(tables, near) ? 1 : 0;
    return passes | reaches;
}

/* The closer look at a segment that is aimed and not shorter than ice_least_distance(): whether it
 * may touch a module, seen from above. It may if it starts inside the cylinder around the nearest
 * axis, or approaches this axis on a line through the cylinder, or is long enough for other
 * modules. These conditions need no division, and reject nearly as many segments as the distance
 * between segment and axis. The arguments are those of ice_is_aimed(). */
ICE_FN int32_t ice_may_collide_near(const ice_tables *tables, ice_surroundings near, float x,
                                    float y, ice_direction n, float length)
{
    const ice_from_axis from = ice_from_axis_to(tables, near, x, y);
    const float others = ice_to_others(tables, near);
    const float square = fmaf(n.x, n.x, n.y * n.y);
    const float cylinder = ice_axis_radius(tables) * ice_axis_radius(tables);
    const float away = fmaf(from.x, n.x, from.y * n.y);
    const float about = ice_moment_about_axis(from, n);
    const int32_t starts = fmaf(from.x, from.x, from.y * from.y) <= cylinder ? 1 : 0;
    const int32_t approaches = away < 0.0f ? 1 : 0;
    const int32_t passes = about * about <= cylinder * square ? 1 : 0;
    const int32_t reaches = length * length * square >= others * others ? 1 : 0;
    return starts | (approaches & passes) | reaches;
}

/* Whether a segment from (x, y, z) along n may touch a module. */
ICE_FN int32_t ice_may_collide(const ice_tables *tables, float x, float y, float z, ice_direction n,
                               float length)
{
    const ice_surroundings near = ice_surroundings_at(tables, x, y);
    const float clearance = ice_clearance_of(tables, near, x, y);
    return length >= ice_least_distance(tables, clearance, z) &&
                   ice_is_aimed(tables, near, x, y, n, length) &&
                   ice_may_collide_near(tables, near, x, y, n, length)
               ? 1
               : 0;
}

/* Rounding of positions and lengths moves a point on a segment by less than this, m. */
#define ICE_POINT_DOUBT 0.05f

/* Whether a segment from (x, y) along n may reach a module of another axis than the nearest one,
 * seen from above. No such module is within `others` (m) of (x, y), so the first `others` metres of
 * the segment reach none. The map of clearances says how far the next module is from the point
 * where they end. The segment reaches no other axis if the rest of it is shorter than that. */
ICE_FN int32_t ice_may_reach_others(const ice_tables *tables, float others, float x, float y,
                                    ice_direction n, float length)
{
    const float square = ice_max(fmaf(n.x, n.x, n.y * n.y), ICE_LEAST_SQUARE);
    const float inverse = ice_inverse_root(square);
    const float along = others * inverse;
    const float at_x = fmaf(along, n.x, x), at_y = fmaf(along, n.y, y);
    const float clearance =
        ice_clearance_of(tables, ice_surroundings_at(tables, at_x, at_y), at_x, at_y);
    return length * square * inverse >= others + clearance - ICE_POINT_DOUBT ? 1 : 0;
}

/* Whether the clearest ice of the layer rows (clear_dust, clear_ice) is valid for a photon at
 * (x, y, z). It is not valid far outside the table of a tilt, because the shift continues linearly
 * there and layers may become very steep. */
ICE_FN int32_t ice_is_clear_range_known(const ice_tables *tables, float x, float y, float z)
{
    const ice_tilt_table *tilt = &tables->tilt;
    /* No branches, so that a loop over photons vectorises. */
    const int32_t level = ICE_HAS(tables, ICE_HAS_TILT_LINE | ICE_HAS_TILT_MAP) ? 0 : 1;
    const int32_t endless = ICE_HAS(tables, ICE_HAS_TILT_LINE) ? 0 : 1;
    const float position = ice_tilt_coordinate(tilt, x, y);
    const int32_t in_depth = fabsf(z - tilt->known_z) <= tilt->known_half_z ? 1 : 0;
    const int32_t across = fabsf(position - tilt->known_along) <= tilt->known_half_along ? 1 : 0;
    return level | (in_depth & (across | endless));
}

/* Returns how far (m) a photon at (x, y, z) flies for which the clearest ice of the layer rows is
 * valid, with a distance of `distance` (m) to the next module (ice_least_distance()). Where the
 * modules are well inside the region of the function above, the distance alone says that the photon
 * is inside, too, and photons farther away count as if they were outside. */
ICE_FN float ice_clear_range(const ice_tables *tables, float x, float y, float z, float distance)
{
    const int32_t near = distance <= tables->tilt.known_distance ? 1 : 0;
    const int32_t known =
        tables->tilt.known_distance > 0.0f ? near : ice_is_clear_range_known(tables, x, y, z);
    return known ? ice_min(distance, ICE_CLEAR_RANGE) : 0.0f;
}

/* Returns ice_clearest_cost(). Kernels that need many registers compute it for every bounce instead
 * of keeping it. */
ICE_FN float ice_far_cost(const ice_tables *tables, ice_optics optics)
{
    return ICE_HAS(tables, ICE_HAS_MANY_REGISTERS) ? ice_clearest_cost(tables, optics)
                                                   : optics.clearest;
}

/* Whether the absorption depth left is too small to carry the photon to any module, even on a
 * straight path through the clearest ice (the reach bound of physics.md 5.1). For the first
 * ICE_CLEAR_RANGE of the path this is the clearest ice near the photon's layer, beyond it the
 * clearest ice of all layers. `distance` (m) is ice_least_distance() of the photon, and `height`
 * (m) its height among the layers. The rows of the layers allow for the change of height by tilt on
 * the way, where this change is known. */
ICE_FN int32_t ice_is_out_of_reach(const ice_tables *tables, const ice_photon *photon,
                                   float distance, float height, ice_optics optics)
{
    const ice_layer_row *near = &tables->layers[ice_layer_at(tables, height)];
    float near_cost = ice_absorption(optics, near->clear_dust, near->clear_ice);
    if (ICE_HAS(tables, ICE_HAS_HOLES)) {
        near_cost = ice_min(near_cost, ICE_REACH_SAFETY * tables->hole.absorption);
    }
    const float near_distance = ice_clear_range(tables, photon->x, photon->y, photon->z, distance);
    const float far_cost = ice_far_cost(tables, optics);
    const float far_part = fmaf(far_cost, distance - near_distance, -1e-3f);
    return photon->absorption < fmaf(near_cost, near_distance, far_part) ? 1 : 0;
}

#endif
