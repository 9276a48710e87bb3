/* Ice that is not the same in all directions: scattering that favours axes (physics.md 6.2), and
 * absorption that depends on the direction of flight (6.2, 6.3). */
#ifndef ICE_ANISOTROPY_H
#define ICE_ANISOTROPY_H

#include "stages/direction.h"
#include "stages/optics.h"

/* A symmetric matrix of a frame that is turned about the vertical, times a direction. */
ICE_FN ice_direction ice_stretch(const ice_stretching *by, ice_direction n)
{
    ice_direction m;
    m.x = fmaf(by->xx, n.x, by->xy * n.y);
    m.y = fmaf(by->xy, n.x, by->yy * n.y);
    m.z = by->zz * n.z;
    return m;
}

ICE_FN float ice_square(ice_direction n)
{
    return fmaf(n.x, n.x, fmaf(n.y, n.y, n.z * n.z));
}

ICE_FN ice_direction ice_unit(ice_direction n)
{
    const float scale = ice_div(1.0f, ice_sqrt(ice_square(n)));
    n.x *= scale;
    n.y *= scale;
    n.z *= scale;
    return n;
}

/* The row of the layer at a height among the layers. */
ICE_FN const ice_anisotropy_row *ice_anisotropy_at(const ice_tables *tables, float height)
{
    return &tables->anisotropy[ice_layer_at(tables, height)];
}

/* Factors of absorption along n: of the newer anisotropy, and of that which belongs to a layer's
 * scattering anisotropy. */
ICE_FN float ice_new_absorption_factor(const ice_stretching *by, ice_direction n)
{
    return ice_div(1.0f, ice_sqrt(ice_square(ice_stretch(by, n))));
}

ICE_FN float ice_old_absorption_factor(const ice_anisotropy_row *row, float exponent,
                                       ice_direction n)
{
    const float narrow = ice_square(ice_stretch(&row->back, n));
    const float wide = ice_square(ice_stretch(&row->to, n));
    const float base = 0.5f * (row->trace - narrow) * wide;
    return exponent == 1.0f ? base : ice_pow(base, exponent);
}

/* Absorption along n is so many times that of the tables. `height` among the layers. */
ICE_FN float ice_absorption_factor(const ice_tables *tables, float height, ice_direction n)
{
    float factor = 1.0f;
    if (tables->features & ICE_HAS_ABSORPTION_ANISOTROPY)
        factor = ice_new_absorption_factor(&tables->absorption_stretching, n);
    if (tables->features & ICE_HAS_OLD_ABSORPTION_ANISOTROPY)
        factor *= ice_old_absorption_factor(ice_anisotropy_at(tables, height),
                                            tables->absorption_exponent, n);
    return factor;
}

#endif
