/* Directions and orientations as files give them: angles in degrees. */
#ifndef ICS_PHOTONS_MODELS_TYPES_DIRECTION_H
#define ICS_PHOTONS_MODELS_TYPES_DIRECTION_H

#include "physics/model.h"

#include <math.h>

static const ice_orientation ics_upright = {.w = 1};

/* Gives the unit vector with this zenith (from +z) and azimuth (from +x to +y), in degrees. */
static inline void ics_direction_of(double zenith, double azimuth, double out[3])
{
    const double z = zenith * (M_PI / 180), a = azimuth * (M_PI / 180);
    out[0] = sin(z) * cos(a);
    out[1] = sin(z) * sin(a);
    out[2] = cos(z);
}

/* Returns the orientation that turns the module by `roll` around its own axis, and then tilts its
 * axis from +z to the direction (zenith, azimuth). Degrees. The three rotations are Rz(azimuth)
 * Ry(zenith) Rz(roll - azimuth), so that a module that is not tilted is only rolled. */
static inline ice_orientation ics_orientation_of(double zenith, double azimuth, double roll)
{
    const double half = M_PI / 360;
    const double c = cos(zenith * half), s = sin(zenith * half);
    /* Rz(a) Ry(z) Rz(-a) turns around the horizontal axis (-sin a, cos a, 0). */
    const double ax = -s * sin(2 * azimuth * half), ay = s * cos(2 * azimuth * half);
    const double cr = cos(roll * half), sr = sin(roll * half);
    return (ice_orientation){
        .w = c * cr, .x = ax * cr + ay * sr, .y = ay * cr - ax * sr, .z = c * sr};
}

/* Scales a quaternion to length 1. Returns false if its length is not within 1 % of 1. */
static inline bool ics_orientation_normalise(ice_orientation *q)
{
    const double length = sqrt(q->w * q->w + q->x * q->x + q->y * q->y + q->z * q->z);
    if (!(fabs(length - 1) <= 0.01)) {
        return false;
    }
    *q = (ice_orientation){q->w / length, q->x / length, q->y / length, q->z / length};
    return true;
}

#endif
