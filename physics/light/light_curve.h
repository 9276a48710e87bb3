/* A quantity that depends on the wavelength, given by points: linear between them. */
#ifndef ICS_PHYSICS_LIGHT_LIGHT_CURVE_H
#define ICS_PHYSICS_LIGHT_LIGHT_CURVE_H

#include "stages/platform.h"

/* Returns the value of a curve at x: linear between its points, 0 outside them. xs: [count],
 * ascending; ys: [count]. */
ICE_FN double ice_curve_at(const double *xs, const double *ys, size_t count, double x)
{
    if (count == 0 || x < xs[0] || x > xs[count - 1]) {
        return 0.0;
    }
    /* Finds the last point at or before x, without branches that a processor would guess wrongly
     * for the wavelengths of hits. */
    size_t low = 0;
    for (size_t left = count; left > 1;) {
        const size_t half = left / 2;
        low = xs[low + half] <= x ? low + half : low;
        left -= half;
    }
    if (low + 1 == count) {
        return ys[low];
    }
    const double share = (x - xs[low]) / (xs[low + 1] - xs[low]);
    return ys[low] + share * (ys[low + 1] - ys[low]);
}

/* The same, and constant beyond the first and the last point. 0 without points. */
ICE_FN double ice_curve_at_or_end(const double *xs, const double *ys, size_t count, double x)
{
    if (count == 0) {
        return 0.0;
    }
    const double least = xs[0], most = xs[count - 1];
    return ice_curve_at(xs, ys, count, !(x > least) ? least : x < most ? x : most);
}

#endif
