/* Anisotropic ice: scattering that depends on the axes of the ice (physics.md 6.2), and absorption
 * that depends on the direction of the photon (6.2, 6.3). */
#ifndef ICS_STAGES_ANISOTROPY_H
#define ICS_STAGES_ANISOTROPY_H

#include "stages/direction.h"
#include "stages/optics.h"

/* Returns the product of the matrix and n, divided by the vertical element of the matrix. The
 * result is not a unit vector. */
ICE_FN ice_direction ice_stretch(const ice_stretching *by, ice_direction n)
{
    ice_direction m;
    m.x = fmaf(by->xx, n.x, by->xy * n.y);
    m.y = fmaf(by->xy, n.x, by->yy * n.y);
    m.z = n.z;
    return m;
}

/* Returns the square of the length. */
ICE_FN float ice_square(ice_direction n)
{
    return fmaf(n.x, n.x, fmaf(n.y, n.y, n.z * n.z));
}

/* Returns n with length 1. */
ICE_FN ice_direction ice_unit(ice_direction n)
{
    const float scale = ice_inverse_root(ice_square(n));
    n.x *= scale;
    n.y *= scale;
    n.z *= scale;
    return n;
}

/* Return the row of the layer at `height` (m) among the layers: the stretching for a scatter, and
 * the absorption that belongs to the stretching. */
ICE_FN ice_anisotropy_row ice_anisotropy_at(const ice_tables *tables, float height)
{
    if (ICE_HAS(tables, ICE_HAS_EVEN_ANISOTROPY)) {
        return tables->even_anisotropy;
    }
    return tables->anisotropy[ice_layer_at(tables, height)];
}

ICE_FN ice_absorption_row ice_absorption_row_at(const ice_tables *tables, float height)
{
    if (ICE_HAS(tables, ICE_HAS_EVEN_ANISOTROPY)) {
        return tables->even_absorption;
    }
    return tables->absorption_rows[ice_layer_at(tables, height)];
}

/* Returns the value of a form for a unit direction. `along` and `up` are the squares of the
 * components of the direction along the flow and upwards. */
ICE_FN float ice_form_at(const ice_form *form, float along, float up)
{
    return fmaf(along, form->along, ice_fma_constant(up, form->up, form->across));
}

/* Returns the product of the two forms of a row. */
ICE_FN float ice_product_at(const ice_absorption_row *row, float along, float up)
{
    const ice_form narrow = row->narrow, wide = row->wide;
#if defined(ICE_MATH_FAST) && defined(GPU_SPECIAL_FEATURES)
    /* As a polynomial, whose coefficients are constants of the kernels, it takes two instructions
     * less. */
    if (narrow.up == 0.0f && wide.up == 0.0f) {
        const float second = narrow.along * wide.along;
        const float first = narrow.across * wide.along + wide.across * narrow.along;
        return fmaf(along, fmaf(along, second, first), narrow.across * wide.across);
    }
#endif
    return ice_form_at(&narrow, along, up) * ice_form_at(&wide, along, up);
}

/* The absorption along a direction divided by the absorption in the tables, and the inverse of this
 * factor. */
typedef struct ice_absorption_factor {
    float factor, inverse;
} ice_absorption_factor;

/* Returns the factor nr of physics.md 5.1 for light along the unit vector n at `height` (m) among
 * the layers. It is the factor of the recent absorption anisotropy (6.3), the factor of the old
 * one, which belongs to the scattering anisotropy of a layer (6.2), or the product of both. */
ICE_FN ice_absorption_factor ice_absorption_factor_along(const ice_tables *tables, float height,
                                                         ice_direction n)
{
    const float flow = fmaf(tables->flow_x, n.x, tables->flow_y * n.y);
    const float along = flow * flow, up = n.z * n.z;
    ice_absorption_factor slant = {1.0f, 1.0f};
    if (ICE_HAS(tables, ICE_HAS_ABSORPTION_ANISOTROPY)) {
        const float square = ice_form_at(&tables->absorption_form, along, up);
        slant.factor = ice_inverse_root(square);
        slant.inverse = square * slant.factor;
    }
    if (ICE_HAS(tables, ICE_HAS_OLD_ABSORPTION_ANISOTROPY)) {
        const ice_absorption_row row = ice_absorption_row_at(tables, height);
        const float base = ice_product_at(&row, along, up);
        const float factor =
            tables->absorption_exponent == 1.0f ? base : ice_pow(base, tables->absorption_exponent);
        slant.factor *= factor;
        slant.inverse *= ice_inverse(factor);
    }
    return slant;
}

#endif
