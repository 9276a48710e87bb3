/* shape: cylinder. Flat ends at z = -half_height and z = half_height; with `open_ends` light passes
 * the ends, and only the outside of the mantle can be entered (physics.md 8.9). */
#ifndef ICS_STAGES_SHAPES_SHAPE_CYLINDER_H
#define ICS_STAGES_SHAPES_SHAPE_CYLINDER_H

#include "stages/shape.h"

/* The stretch of a line inside an endless upright cylinder, m; `enters` > `leaves`: there is none.
 */
typedef struct ice_stretch_inside {
    float enters, leaves;
} ice_stretch_inside;

/* Below this square of the horizontal part of a direction a line counts as upright. */
#define ICE_UPRIGHT_SQUARE 1e-12f

/* The cylinder has the radius `radius` (m) and the axis x = y = 0. */
ICE_FN ice_stretch_inside ice_inside_mantle(const ice_line *line, float radius)
{
    const ice_direction n = line->direction;
    const float square = fmaf(n.x, n.x, n.y * n.y);
    const int32_t is_upright = square < ICE_UPRIGHT_SQUARE ? 1 : 0;
    const float nearest = is_upright ? 0.0f : -ice_div(fmaf(line->x, n.x, line->y * n.y), square);
    const float ex = fmaf(nearest, n.x, line->x);
    const float ey = fmaf(nearest, n.y, line->y);
    const float discriminant = fmaf(radius, radius, -fmaf(ex, ex, ey * ey));
    ice_stretch_inside inside = {ICE_INFINITY, -ICE_INFINITY};
    if (discriminant >= 0.0f) {
        const float half = is_upright ? ICE_INFINITY : ice_sqrt(ice_div(discriminant, square));
        inside.enters = nearest - half;
        inside.leaves = nearest + half;
    }
    return inside;
}

ICE_FN float ice_reach_cylinder(const ice_body *body)
{
    return ice_sqrt(fmaf(body->radius, body->radius, body->half_height * body->half_height));
}

ICE_FN ice_body_entry ice_enter_cylinder(ice_shapes shapes, const ice_body *body,
                                         const ice_line *line)
{
    (void)shapes;
    const ice_stretch_inside inside = ice_inside_mantle(line, body->radius);
    const float nz = line->direction.z;
    if (!(inside.enters <= inside.leaves)) {
        return ice_body_entry_at(ICE_NO_ENTRY);
    }
    if (body->open_ends) {
        const int32_t is_hit = fabsf(fmaf(inside.enters, nz, line->z)) <= body->half_height ? 1 : 0;
        return ice_body_entry_at(is_hit ? inside.enters : ICE_NO_ENTRY);
    }
    if (nz == 0.0f) {
        return ice_body_entry_at(fabsf(line->z) <= body->half_height ? inside.enters
                                                                     : ICE_NO_ENTRY);
    }
    /* Between the planes of the two ends. The end that the line meets first is below for a line
     * that goes up. */
    const float first = ice_times_sign_of(body->half_height, nz);
    const float enters = ice_max(inside.enters, ice_div(-first - line->z, nz));
    const float leaves = ice_min(inside.leaves, ice_div(first - line->z, nz));
    return ice_body_entry_at(enters <= leaves ? enters : ICE_NO_ENTRY);
}

#endif
