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

/* Returns the clearance of (x, y): a lower bound (m), >= 0, of the horizontal distance to the edge
 * of any module. */
ICE_FN float ice_clearance(const ice_tables *tables, float x, float y)
{
    return tables->clearance[ice_clearance_cell(tables, x, y)];
}

/* Whether a segment may touch a module: whether it is long enough, and passes through the heights
 * of the modules. `clearance` (m) and z (m) are those of its start; n is its direction. */
ICE_FN int32_t ice_may_collide(const ice_tables *tables, float clearance, float z, ice_direction n,
                               float length)
{
    const float horizontal = length * length * fmaf(n.x, n.x, n.y * n.y);
    const float end_z = fmaf(length, n.z, z);
    const int32_t long_enough = horizontal >= clearance * clearance ? 1 : 0;
    const int32_t not_below = ice_max(z, end_z) >= tables->low ? 1 : 0;
    const int32_t not_above = ice_min(z, end_z) <= tables->high ? 1 : 0;
    return long_enough & not_below & not_above;
}

/* Whether the clearest ice of the layer rows (clear_dust, clear_ice) is valid for a photon at
 * (x, y, z). It is not valid far outside the table of a tilt, because the shift continues linearly
 * there and layers may become very steep. */
ICE_FN int32_t ice_is_clear_range_known(const ice_tables *tables, float x, float y, float z)
{
    const ice_tilt_table *tilt = &tables->tilt;
    /* No branches, so that a loop over photons vectorises. */
    const int32_t level = tables->features & (ICE_HAS_TILT_LINE | ICE_HAS_TILT_MAP) ? 0 : 1;
    const int32_t endless = tables->features & ICE_HAS_TILT_LINE ? 0 : 1;
    const float position = ice_tilt_place(tilt, x, y);
    const int32_t in_depth = (z >= tilt->known_low ? 1 : 0) & (z <= tilt->known_high ? 1 : 0);
    const int32_t across =
        (position >= tilt->known_from ? 1 : 0) & (position <= tilt->known_to ? 1 : 0);
    return level | (in_depth & (across | endless));
}

/* Whether the absorption depth left is too small to carry the photon to any module, even on a
 * straight path through the clearest ice (the reach bound of physics.md 5.1). For the first
 * ICE_CLEAR_RANGE of the path this is the clearest ice near the photon's layer, beyond it the
 * clearest ice of all layers. `clearance` (m) and `height` (m, among the layers) are those of the
 * photon. The rows of the layers allow for the change of height by tilt on the way, where this
 * change is known. */
ICE_FN int32_t ice_is_out_of_reach(const ice_tables *tables, const ice_photon *photon,
                                   float clearance, float height, ice_optics optics)
{
    const float z = photon->z;
    const float vertical = ice_max(ice_max(tables->low - z, z - tables->high), 0.0f);
    const float distance = ice_sqrt(fmaf(clearance, clearance, vertical * vertical));
    const ice_layer_row *near = &tables->layers[ice_layer_at(tables, height)];
    float near_cost = ice_absorption(optics, near->clear_dust, near->clear_ice);
    float far_cost = ice_absorption(optics, tables->clearest_dust, tables->clearest_ice);
    if (tables->features & ICE_HAS_HOLES) {
        near_cost = ice_min(near_cost, tables->hole.absorption);
        far_cost = ice_min(far_cost, tables->hole.absorption);
    }
    const float clear_range =
        ice_is_clear_range_known(tables, photon->x, photon->y, z) ? ICE_CLEAR_RANGE : 0.0f;
    const float near_distance = ice_min(distance, clear_range);
    const float cost = fmaf(near_cost, near_distance, far_cost * (distance - near_distance));
    /* The margin covers the rounding of positions, costs and absorption over the life of a photon.
     */
    return photon->absorption < fmaf(cost, 0.999f, -1e-3f) ? 1 : 0;
}

#endif
