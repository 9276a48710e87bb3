/* The probability densities of the scattering functions, in double precision (physics.md 7). Runs
 * draw from these functions and never need their densities; the weights of paths do
 * (stages/path_weight.h). Every built-in variant of the stage scatter has its density here. */
#ifndef ICS_STAGES_SCATTER_DENSITY_H
#define ICS_STAGES_SCATTER_DENSITY_H

#include "stages/double_maths.h"
#include "stages/scatter_rayleigh_hg.h"
#include "stages/variants.h"

/* The density of the cosine of the scattering angle, whose integral from -1 to 1 is 1, and its
 * logarithmic derivatives by the mean cosine and by the fraction of a mixture; 0 where the function
 * has no such parameter. */
typedef struct ice_density {
    double value;
    double by_mean_cosine;
    double by_mixture;
} ice_density;

/* All functions take x = 1 - cos from 0 to 2, which keeps the digits of small angles. */

/* Derivative of 7.1: p = (1 - g^2) / 2 D^(-3/2), D = 1 + g^2 - 2 g cos = (1 - g)^2 + 2 g x;
 * d ln p / d g = 3 (1 - g - x) / D - 2 g / (1 - g^2). */
ICE_FN ice_density ice_density_hg(const ice_scatter_constants *constants, double x)
{
    const double g = (double)constants->g, rest = 1.0 - g, square = rest * (1.0 + g);
    const double d = fma(2.0 * g, x, rest * rest);
    ice_density p;
    p.value = 0.5 * square / (d * sqrt(d));
    p.by_mean_cosine = 3.0 * (rest - x) / d - 2.0 * g / square;
    p.by_mixture = 0.0;
    return p;
}

/* Derivative of 7.2: with y = (1 + cos)/2 = 1 - x/2 and e = 1/beta = (1 + g)/(1 - g),
 * p = e/2 y^(e - 1); d ln p / d g = (1/e + ln y) 2 / (1 - g)^2. Rounding may put an angle of 180
 * degrees to y <= 0; y is at least 2^-100 here. */
ICE_FN ice_density ice_density_sl(const ice_scatter_constants *constants, double x)
{
    const double g = (double)constants->g, rest = 1.0 - g, e = (1.0 + g) / rest;
    const double least = 7.888609052210118e-31, above = fma(-0.5, x, 1.0);
    const double log_y = ice_double_log(above > least ? above : least);
    ice_density p;
    p.value = 0.5 * e * ice_double_exp((e - 1.0) * log_y);
    p.by_mean_cosine = (1.0 / e + log_y) * 2.0 / (rest * rest);
    p.by_mixture = 0.0;
    return p;
}

/* Returns the density fraction * of_fraction + (1 - fraction) * of_rest. */
ICE_FN ice_density ice_density_mixed(double fraction, ice_density of_fraction, ice_density of_rest)
{
    const double first = fraction * of_fraction.value, second = (1.0 - fraction) * of_rest.value;
    ice_density p;
    p.value = first + second;
    p.by_mean_cosine =
        (first * of_fraction.by_mean_cosine + second * of_rest.by_mean_cosine) / p.value;
    p.by_mixture = (of_fraction.value - of_rest.value) / p.value;
    return p;
}

ICE_FN ice_density ice_density_hg_sl(const ice_scatter_constants *constants, double x)
{
    return ice_density_mixed((double)constants->liu_fraction, ice_density_sl(constants, x),
                             ice_density_hg(constants, x));
}

/* 7.5: the density of molecules is (1 + b cos^2) / (2 + 2 b / 3). */
ICE_FN ice_density ice_density_rayleigh_hg(const ice_scatter_constants *constants, double x)
{
    const double b = (double)ICE_RAYLEIGH_B, cosine = 1.0 - x;
    const ice_density molecule = {fma(b * cosine, cosine, 1.0) / (2.0 + 2.0 * b / 3.0), 0.0, 0.0};
    return ice_density_mixed((double)constants->molecules.fraction, molecule,
                             ice_density_hg(constants, x));
}

ICE_FN ice_density ice_density_isotropic(const ice_scatter_constants *constants, double x)
{
    const ice_density p = {0.5, 0.0, 0.0};
    (void)constants, (void)x;
    return p;
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

#endif
