/* shape: sphere. The arithmetic is that of modules without types, so that a type with a sphere
 * gives the same hits, bit for bit (physics.md 8.3). */
#ifndef ICS_STAGES_SHAPES_SHAPE_SPHERE_H
#define ICS_STAGES_SHAPES_SHAPE_SPHERE_H

#include "stages/shape.h"

ICE_FN float ice_reach_sphere(const ice_body *body)
{
    return body->radius;
}

ICE_FN ice_body_entry ice_enter_sphere(ice_shapes shapes, const ice_body *body,
                                       const ice_line *line)
{
    (void)shapes;
    const float wide = body->radius * line->oversize;
    const float discriminant = fmaf(wide, wide, -line->square);
    return ice_body_entry_at(discriminant >= 0.0f ? -ice_div(ice_sqrt(discriminant), line->oversize)
                                                  : ICE_NO_ENTRY);
}

#endif
