/* shape: spheroid. Horizontal semi-axis `radius`, vertical semi-axis `half_height`
 * (physics.md 8.9).
 *
 * The space is stretched along z until the spheroid is a sphere. As in contact.h, the impact vector
 * of the stretched line is formed by components and squared then. */
#ifndef ICS_STAGES_SHAPES_SHAPE_SPHEROID_H
#define ICS_STAGES_SHAPES_SHAPE_SPHEROID_H

#include "stages/shape.h"

ICE_FN float ice_reach_spheroid(const ice_body *body)
{
    return ice_max(body->radius, body->half_height);
}

ICE_FN ice_body_entry ice_enter_spheroid(ice_shapes shapes, const ice_body *body,
                                         const ice_line *line)
{
    (void)shapes;
    const float stretch = ice_div(body->radius, body->half_height);
    const ice_direction n = line->direction;
    const float nz = n.z * stretch, z = line->z * stretch;
    const float square = fmaf(n.x, n.x, fmaf(n.y, n.y, nz * nz));
    const float nearest = -ice_div(fmaf(line->x, n.x, fmaf(line->y, n.y, z * nz)), square);
    const float ex = fmaf(nearest, n.x, line->x);
    const float ey = fmaf(nearest, n.y, line->y);
    const float ez = fmaf(nearest, nz, z);
    const float discriminant =
        fmaf(body->radius, body->radius, -fmaf(ex, ex, fmaf(ey, ey, ez * ez)));
    return ice_body_entry_at(
        discriminant >= 0.0f ? nearest - ice_sqrt(ice_div(discriminant, square)) : ICE_NO_ENTRY);
}

#endif
