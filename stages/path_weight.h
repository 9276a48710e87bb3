/* The probability of a photon's path in an ice, as sums and a product along it. The ratio of two of
 * them is the weight of a hit in another ice (docs/reweighting.md).
 *
 * A path is a chain of segments. Given where a segment starts and its direction n, the probability
 * density of its length L is b(L) exp(-integral of b) exp(-integral of a): the photon scatters at L
 * with the coefficient b there, and was neither scattered nor absorbed before. (The stages draw the
 * absorption depth once per photon. Its integral over all depths with which the photon lives is the
 * second exponential.) The density of the direction n' after the scatter is p(c) / 2 pi, c = n.n'.
 * With scattering anisotropy (physics.md 6.2) p has the argument c = m.m', m = unit(A n),
 * m' = unit(A n'), and the map from n' to m' changes solid angles by the factor
 * J(n') = det A / |A n'|^3: a cone of the solid angle w and the height |n'| = 1 has the volume w/3;
 * A multiplies volumes by det A and makes its height |A n'|, so that w' |A n'|^3 = det A w. The
 * density of n' is therefore p(m.m') J(n') / 2 pi. J is the same for every multiple of A.
 *
 * The last segment up to a hit at the distance d has the probability exp(-integral of b + a up to
 * d). If a hit is an entry (physics.md 8.19) whose impact h lies beyond the end L of the segment,
 * the photon has scattered at L, which has the density above, and has lived as if it had gone on
 * straight: exp(-(h - L) a_end).
 */
#ifndef ICS_STAGES_PATH_WEIGHT_H
#define ICS_STAGES_PATH_WEIGHT_H

#include "stages/path_depth.h"
#include "stages/path_sum.h"
#include "stages/variants.h"

ICE_FN void ice_path_sum_add(ice_path_sum *sum, const ice_path_depth *depth)
{
    sum->scattering += depth->scattering;
    sum->absorption += depth->absorption;
}

/* Returns the segment that a photon begins here, in these tables. */
ICE_FN ice_path_segment ice_path_segment_of(const ice_tables *tables, ice_optics optics,
                                            const ice_photon *photon)
{
    const ice_path_segment segment = {photon->x, photon->y,
                                      ice_height(tables, photon->x, photon->y, photon->z),
                                      ice_direction_of(photon), optics};
    return segment;
}

/* The density of a built-in variant. */
#define ICE_DENSITY_CASE(stage, name, yaml, text)                                                  \
    case ICE_scatter_##name:                                                                       \
        return ice_density_##name(constants, x);
ICE_FN ice_density ice_density_of(ice_variant variant, const ice_scatter_constants *constants,
                                  double x)
{
    switch (variant) {
    default:
        ICE_SCATTER_VARIANTS(ICE_DENSITY_CASE)
    }
}

/* A vector in double precision, and the square of its length. */
typedef struct ice_stretched {
    double x, y, z, square;
} ice_stretched;

ICE_FN ice_stretched ice_stretched_by(const ice_stretching *by, ice_direction n)
{
    ice_stretched m;
    m.x = fma((double)by->xx, (double)n.x, (double)by->xy * (double)n.y);
    m.y = fma((double)by->xy, (double)n.x, (double)by->yy * (double)n.y);
    m.z = (double)n.z;
    m.square = fma(m.x, m.x, fma(m.y, m.y, m.z * m.z));
    return m;
}

/* Returns half of the square of the distance between two vectors, scaled to length 1 by these
 * factors: 1 - cos of the angle between them, with the digits of small angles. */
ICE_FN double ice_one_minus_cosine(const ice_stretched *a, double scale_a, const ice_stretched *b,
                                   double scale_b)
{
    const double x = fma(b->x, scale_b, -(a->x * scale_a));
    const double y = fma(b->y, scale_b, -(a->y * scale_a));
    const double z = fma(b->z, scale_b, -(a->z * scale_a));
    return 0.5 * fma(x, x, fma(y, y, z * z));
}

/* Returns the density of a scatter at the end of a segment: *angle is p, and the result is p J.
 * `before`: the direction before the scatter; `end`: position and direction after it, all of length
 * 1. The position is that after deflection, by which ice_scattered() chooses a column. `end_height`
 * (m): the height of the end among the layers, as in ice_end_bounce(). */
ICE_FN double ice_path_scatter(ice_variant scatter, const ice_tables *tables, float end_height,
                               ice_direction before, const ice_photon *end, ice_density *angle)
{
    const int32_t in_hole =
        ICE_HAS(tables, ICE_HAS_HOLES) ? ice_in_hole(tables, end->x, end->y) : 0;
    ice_scatter_constants constants = tables->scatter;
    if (in_hole) {
        constants = tables->hole.scatter;
    }
    const int32_t stretches = ICE_HAS(tables, ICE_HAS_SCATTERING_ANISOTROPY) && !in_hole;
    ice_stretching by = {1.0f, 0.0f, 1.0f};
    if (stretches) {
        by = ice_anisotropy_at(tables, end_height).to;
    }
    const ice_stretched from = ice_stretched_by(&by, before);
    const ice_stretched to = ice_stretched_by(&by, ice_direction_of(end));
    if (!stretches) {
        *angle = ice_density_of(scatter, &constants, ice_one_minus_cosine(&from, 1.0, &to, 1.0));
        return angle->value;
    }
    const double length = sqrt(to.square);
    *angle =
        ice_density_of(scatter, &constants,
                       ice_one_minus_cosine(&from, 1.0 / sqrt(from.square), &to, 1.0 / length));
    const double determinant = fma((double)by.xx, (double)by.yy, -((double)by.xy * (double)by.xy));
    return angle->value * determinant / (to.square * length);
}

#endif
