/* Wavelengths of a spectrum, for tests. */
#ifndef SPECTRUM_QUANTILE_H
#define SPECTRUM_QUANTILE_H

#include "physics/model.h"

#include <math.h>

/* Returns the wavelength (nm) below which the share `u` of the light lies, by exact inversion of
 * the piecewise linear density (physics.md 3.4). `area` is the integral of the density. */
static inline double spectrum_quantile(const ice_spectrum *s, double u, double area)
{
    double left = u * area;
    for (size_t i = 1; i < s->count; ++i) {
        const double h = s->wavelength[i] - s->wavelength[i - 1];
        const double p = s->density[i - 1], q = s->density[i], cell = 0.5 * (p + q) * h;
        if (left <= cell) {
            const double m = (q - p) / h;
            return s->wavelength[i - 1] +
                   (fabs(m) * h < 1e-12 * p ? left / p : (sqrt(p * p + 2 * m * left) - p) / m);
        }
        left -= cell;
    }
    return s->wavelength[s->count - 1];
}

#endif
