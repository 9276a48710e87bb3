/* The probability density of a scattering function, in double precision (physics.md 7). Runs draw
 * from these functions and never need their densities; the weights of paths do
 * (stages/path_weight.h). Every built-in variant of the stage scatter has a function
 * ice_density_NAME(constants, x) in its header, with x = 1 - cos from 0 to 2, which keeps the
 * digits of small angles. */
#ifndef ICS_STAGES_SCATTER_DENSITY_H
#define ICS_STAGES_SCATTER_DENSITY_H

#include "stages/double_maths.h"

/* The density of the cosine of the scattering angle, whose integral from -1 to 1 is 1, and its
 * logarithmic derivatives by the mean cosine and by the fraction of a mixture; 0 where the function
 * has no such parameter. */
typedef struct ice_density {
    double value;
    double by_mean_cosine;
    double by_mixture;
} ice_density;

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

#endif
