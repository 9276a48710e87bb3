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
 * (0, 0, -1). Each call adds its rounding to the length of the result. */
ICE_FN ice_direction ice_turn(ice_direction n, float cosine, float sine, float cos_azimuth,
                              float sin_azimuth)
{
    /* With s the sign of n.z and f = (n.x, n.y, s + n.z) / (1 + |n.z|), the two unit vectors across
     * n are (1, 0, 0) - n.x f and s times (0, 1, 0) - n.y f. */
    const float u = sine * cos_azimuth;
    const float w = ice_times_sign_of(sine * sin_azimuth, n.z);
    const float height = fabsf(n.z);
    const float across = fmaf(u, n.x, w * n.y);
    const float along = fmaf(-across, ice_inverse(1.0f + height), cosine);
    ice_direction m;
    m.x = fmaf(along, n.x, u);
    m.y = fmaf(along, n.y, w);
    m.z = ice_times_sign_of(fmaf(cosine, height, -across), n.z);
    return m;
}

/* As ice_turn, and the result has length 1 to rounding. */
ICE_FN ice_direction ice_rotate(ice_direction n, float cosine, float sine, float cos_azimuth,
                                float sin_azimuth)
{
    ice_direction m = ice_turn(n, cosine, sine, cos_azimuth, sin_azimuth);
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
 * (physics.md 7.4). If `keeps_length` is 0, it is as ice_turn. */
ICE_FN ice_direction ice_deflect_or_turn(ice_direction n, float one_minus_cosine,
                                         ice_azimuth azimuth, int32_t keeps_length)
{
    /* Rounding may carry x a little out of [0, 2], which changes the cosine as little. */
    const float x = one_minus_cosine;
#if defined(__CUDACC__) && defined(ICE_MATH_FAST)
    const float root = ice_root(ice_max(x * (2.0f - x), 0.0f));
#else
    /* One comparison, also for the 0 of which ice_root() would need another one. */
    const float root = ice_root_above_zero(ice_max(x * (2.0f - x), ICE_LEAST_SQUARE));
#endif
    /* The signs of the azimuth as that of one factor of the products with them. */
    const float sine = ice_with_half_turn(root, azimuth);
    return keeps_length ? ice_rotate(n, 1.0f - x, sine, azimuth.cosine, azimuth.sine)
                        : ice_turn(n, 1.0f - x, sine, azimuth.cosine, azimuth.sine);
}

/* As above, with the length kept, for an azimuth from 0 to ICE_TURN. */
ICE_FN ice_direction ice_deflect(ice_direction n, float one_minus_cosine, float azimuth)
{
    return ice_deflect_or_turn(n, one_minus_cosine, ice_azimuth_at(azimuth), 1);
}

#endif
