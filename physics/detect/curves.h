/* Curves of acceptances: linear between points, and polynomials. */
#ifndef ICS_PHYSICS_DETECT_CURVES_H
#define ICS_PHYSICS_DETECT_CURVES_H

#include "stages/maths.h"

/* Two points of a curve, and how far a number is from the first one to the second one, 0 .. 1. */
typedef struct ice_curve_section {
    uint32_t low, high;
    float share;
} ice_curve_section;

/* Finds the points around x among `points`, which ascend; count > 0. Beyond the outermost points
 * the outermost one holds. With a single point low and high are the same. */
ICE_FN ice_curve_section ice_curve_find(const float *points, uint32_t count, float x)
{
    ice_curve_section section = {0, count - 1, 0.0f};
    while (section.high - section.low > 1) {
        const uint32_t middle = section.low + (section.high - section.low) / 2;
        if (points[middle] <= x) {
            section.low = middle;
        } else {
            section.high = middle;
        }
    }
    const float first = points[section.low], width = points[section.high] - first;
    section.share = width > 0.0f ? ice_min(ice_max(ice_div(x - first, width), 0.0f), 1.0f) : 0.0f;
    return section;
}

/* Returns the curve with these values at the points. */
ICE_FN float ice_curve_value(ice_curve_section section, const float *values)
{
    const float first = values[section.low];
    return fmaf(section.share, values[section.high] - first, first);
}

/* Returns a polynomial of x with the coefficients of x^0, x^1, ..., or 0 where it is negative. */
ICE_FN float ice_polynomial_share(const float *coefficients, uint32_t count, float x)
{
    float sum = 0.0f;
    for (uint32_t k = count; k > 0; --k) {
        sum = fmaf(sum, x, coefficients[k - 1]);
    }
    return ice_max(sum, 0.0f);
}

#endif
