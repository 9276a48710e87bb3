/* Turning a direction by a polar angle and an azimuth (physics.md 7.4). */
#ifndef ICS_STAGES_DIRECTION_H
#define ICS_STAGES_DIRECTION_H

#include "stages/maths.h"
#include "stages/photon.h"

typedef struct ice_direction {
    float x, y, z; /* unit vector */
} ice_direction;

ICE_FN ice_direction ice_direction_of(const ice_photon *photon)
{
    const ice_direction n = {photon->dx, photon->dy, photon->dz};
    return n;
}

ICE_FN void ice_set_direction(ice_photon *photon, ice_direction n)
{
    photon->dx = n.x;
    photon->dy = n.y;
    photon->dz = n.z;
}

/* Turns the unit vector n by a polar angle and an azimuth, given as their cosines and sines. The
 * frame across n has no branch and is valid for every unit vector, also for (0, 0, 1) and
 * (0, 0, -1). The result has length 1 to rounding. */
ICE_FN ice_direction ice_rotate(ice_direction n, float cosine, float sine, float cos_azimuth,
                                float sin_azimuth)
{
    const float sign = ice_with_sign_of(1.0f, n.z);
    const float a = -ice_div(1.0f, sign + n.z);
    const float b = n.x * n.y * a;
    const float u = sine * cos_azimuth;
    const float w = sine * sin_azimuth;
    const float tx = fmaf(sign * n.x * n.x, a, 1.0f);
    const float ty = sign * b;
    const float tz = -sign * n.x;
    const float wy = fmaf(n.y * n.y, a, sign);
    ice_direction m;
    m.x = fmaf(cosine, n.x, fmaf(u, tx, w * b));
    m.y = fmaf(cosine, n.y, fmaf(u, ty, w * wy));
    m.z = fmaf(cosine, n.z, fmaf(u, tz, -w * n.y));
    /* The length differs from 1 only by rounding, so one Newton step from 1 gives 1/sqrt to full
     * precision. Without it the length would drift over thousands of scatters. */
    const float square = fmaf(m.x, m.x, fmaf(m.y, m.y, m.z * m.z));
    const float scale = fmaf(-0.5f, square, 1.5f);
    m.x *= scale;
    m.y *= scale;
    m.z *= scale;
    return m;
}

/* As ice_rotate, with the polar angle as 1 - cos, which keeps the digits of small angles
 * (physics.md 7.4), and the azimuth as a fraction of a turn, in [0, 1]. */
ICE_FN ice_direction ice_deflect(ice_direction n, float one_minus_cosine, float azimuth)
{
    const float x = ice_min(ice_max(one_minus_cosine, 0.0f), 2.0f);
    float sin_azimuth, cos_azimuth;
    ice_sincos2pi(azimuth, &sin_azimuth, &cos_azimuth);
    return ice_rotate(n, 1.0f - x, ice_sqrt(x * (2.0f - x)), cos_azimuth, sin_azimuth);
}

#endif
