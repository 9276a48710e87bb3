/* shape: capsule. A cylinder with a half-sphere on each end; the whole body reaches from
 * z = -half_height to z = half_height (physics.md 8.9). */
#ifndef ICS_STAGES_SHAPES_SHAPE_CAPSULE_H
#define ICS_STAGES_SHAPES_SHAPE_CAPSULE_H

#include "stages/shapes/shape_cylinder.h"

ICE_FN float ice_reach_capsule(const ice_body *body)
{
    return body->half_height;
}

ICE_FN ice_body_entry ice_enter_capsule(ice_shapes shapes, const ice_body *body,
                                        const ice_line *line)
{
    (void)shapes;
    const ice_direction n = line->direction;
    const ice_stretch_inside inside = ice_inside_mantle(line, body->radius);
    if (!(inside.enters <= inside.leaves)) {
        return ice_body_entry_at(ICE_NO_ENTRY);
    }
    const float straight = body->half_height - body->radius; /* half of the height of the mantle */
    /* An upright line enters the endless cylinder infinitely far away, on the side that it comes
     * from. */
    const float z = inside.enters > -ICE_INFINITY ? fmaf(inside.enters, n.z, line->z)
                                                  : ice_times_sign_of(ICE_INFINITY, -n.z);
    if (fabsf(z) <= straight) {
        return ice_body_entry_at(inside.enters);
    }
    /* The line enters the endless cylinder beyond the mantle, so it meets the sphere of that end
     * before it can reach the mantle. */
    const float dz = line->z - ice_times_sign_of(straight, z);
    const float nearest = -fmaf(line->x, n.x, fmaf(line->y, n.y, dz * n.z));
    const float ex = fmaf(nearest, n.x, line->x);
    const float ey = fmaf(nearest, n.y, line->y);
    const float ez = fmaf(nearest, n.z, dz);
    const float discriminant =
        fmaf(body->radius, body->radius, -fmaf(ex, ex, fmaf(ey, ey, ez * ez)));
    return ice_body_entry_at(discriminant >= 0.0f ? nearest - ice_sqrt(discriminant)
                                                  : ICE_NO_ENTRY);
}

#endif
