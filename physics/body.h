/* The bodies of modules as detection and reports need them: the area that they turn to light, and
 * points on their surface (physics.md 8.13). The body is in its own frame (physics/model.h). The
 * intersection of rays with bodies is in stages/. */
#ifndef ICS_PHYSICS_BODY_H
#define ICS_PHYSICS_BODY_H

#include "physics/model.h"

#include <math.h>

/* Returns the area (m2) of the shadow of an analytic body of radius r and half height h (m) in
 * parallel light. `u` in [-1, 1] is the cosine between the direction of the light and the axis of
 * the body. */
static inline double ice_body_area(ice_shape shape, bool open_ends, double r, double h, double u)
{
    const double across = sqrt(fmax(0, 1 - u * u));
    switch (shape) {
    case ICE_SHAPE_SPHEROID:
        return ICE_PI * r * sqrt(h * h - u * u * (h * h - r * r));
    case ICE_SHAPE_CAPSULE:
        return ICE_PI * r * r + 4 * r * (h - r) * across;
    case ICE_SHAPE_CYLINDER:
        return 4 * r * h * across + (open_ends ? 0 : ICE_PI * r * r * fabs(u));
    default:
        return ICE_PI * r * r;
    }
}

/* Gives the point (m) where a ray from the centre of an analytic body along the unit vector `axis`
 * leaves the body. */
static inline void ice_body_point(ice_shape shape, double radius, double half_height,
                                  const double axis[3], double point[3])
{
    const double across = hypot(axis[0], axis[1]), up = fabs(axis[2]);
    double distance = radius;
    if (shape == ICE_SHAPE_SPHEROID) {
        distance = 1 / hypot(across / radius, up / half_height);
    } else if (shape == ICE_SHAPE_CYLINDER) {
        distance =
            fmin(across > 0 ? radius / across : INFINITY, up > 0 ? half_height / up : INFINITY);
    } else if (shape == ICE_SHAPE_CAPSULE) {
        const double end = half_height - radius; /* height of the centre of a half-sphere */
        const double side = across > 0 ? radius / across : INFINITY;
        distance = side * up <= end
                       ? side
                       : end * up + sqrt(fmax(0, radius * radius - end * end * across * across));
    }
    for (int i = 0; i < 3; ++i) {
        point[i] = distance * axis[i];
    }
}

/* Turns a vector from the frame of the module to that of the detector. */
static inline void ice_orient(const ice_orientation *q, const double in[3], double out[3])
{
    const double tx = 2 * (q->y * in[2] - q->z * in[1]), ty = 2 * (q->z * in[0] - q->x * in[2]),
                 tz = 2 * (q->x * in[1] - q->y * in[0]);
    const double turned[3] = {in[0] + q->w * tx + q->y * tz - q->z * ty,
                              in[1] + q->w * ty + q->z * tx - q->x * tz,
                              in[2] + q->w * tz + q->x * ty - q->y * tx};
    for (int i = 0; i < 3; ++i) {
        out[i] = turned[i];
    }
}

#endif
