/* The density and the index of refraction of water for a salinity, a temperature and a pressure
 * (physics.md 4.6), for building tables.
 *
 * Density: UNESCO 1983, the international equation of state of sea water of 1980.
 * Index of pure water: IAPWS R9-97; A. Harvey et al., J. Phys. Chem. Ref. Data 27 (1998) 761.
 * What salt adds: Quan & Fry, Appl. Opt. 34 (1995) 3477, a fit for 400 .. 700 nm, salinities of 0
 * .. 35 per mille and 0 .. 30 deg C, which neutrino telescopes use down to 300 nm.
 */
#ifndef ICS_PHYSICS_WATER_H
#define ICS_PHYSICS_WATER_H

#include "stages/platform.h"

#if !defined(__CUDACC__)

/* The range of the fit of salt, and the lower end of the range in which it is trusted, nm. */
#define ICE_WATER_FITTED_FROM  400.0
#define ICE_WATER_FITTED_TO    700.0
#define ICE_WATER_TRUSTED_FROM 300.0

typedef struct ice_water {
    double salinity;    /* salinity (per mille), >= 0 */
    double temperature; /* deg C */
    double pressure;    /* bar, >= 0 */
} ice_water;

/* Returns a polynomial with its coefficients from the lowest power on. */
ICE_FN double ice_water_polynomial(const double *coefficients, int count, double x)
{
    double sum = 0.0;
    for (int i = count - 1; i >= 0; --i) {
        sum = sum * x + coefficients[i];
    }
    return sum;
}

#define ICE_WATER_OF(x, ...)                                                                       \
    ice_water_polynomial((const double[]){__VA_ARGS__},                                            \
                         (int)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)), (x))

/* Returns the density, g/cm3: that at the surface, divided by 1 - p/K with the secant bulk modulus
 * K (bar). */
ICE_FN double ice_water_density(const ice_water *water)
{
    const double s = water->salinity, t = water->temperature, p = water->pressure;
    const double root = s * sqrt(s);
    const double surface =
        ICE_WATER_OF(t, 999.842594, 6.793952e-2, -9.095290e-3, 1.001685e-4, -1.120083e-6,
                     6.536332e-9) +
        ICE_WATER_OF(t, 8.24493e-1, -4.0899e-3, 7.6438e-5, -8.2467e-7, 5.3875e-9) * s +
        ICE_WATER_OF(t, -5.72466e-3, 1.0227e-4, -1.6546e-6) * root + 4.8314e-4 * s * s;
    const double modulus =
        ICE_WATER_OF(t, 19652.21, 148.4206, -2.327105, 1.360477e-2, -5.155288e-5) +
        ICE_WATER_OF(t, 54.6746, -0.603459, 1.09987e-2, -6.1670e-5) * s +
        ICE_WATER_OF(t, 7.944e-2, 1.6483e-2, -5.3009e-4) * root;
    const double first = ICE_WATER_OF(t, 3.239908, 1.43713e-3, 1.16092e-4, -5.77905e-7) +
                         ICE_WATER_OF(t, 2.2838e-3, -1.0981e-5, -1.6078e-6) * s + 1.91075e-4 * root;
    const double second = ICE_WATER_OF(t, 8.50935e-5, -6.12293e-6, 5.2787e-8) +
                          ICE_WATER_OF(t, -9.9348e-7, 2.0816e-8, 9.1697e-10) * s;
    return 1e-3 * surface / (1.0 - p / (modulus + p * (first + p * second)));
}

/* Gives the phase index, and the slope of the index (1/nm), at a wavelength in vacuum (nm). */
ICE_FN void ice_water_index(const ice_water *water, double wavelength, double *phase, double *slope)
{
    const ice_water pure = {0.0, water->temperature, water->pressure};
    const double s = water->salinity, t = water->temperature;
    const double density = ice_water_density(&pure);
    const double temperature = 1.0 + t / 273.15;
    const double x = wavelength / 589.0, square = x * x;
    const double violet = square - 0.2292020 * 0.2292020, red = square - 5.432937 * 5.432937;
    /* The Lorentz-Lorenz function (n^2 - 1)/(n^2 + 2), and its slope by x. */
    const double bent =
        density * (0.244257733 + 9.74634476e-3 * density - 3.73234996e-3 * temperature +
                   2.68678472e-4 * square * temperature + 1.58920570e-3 / square +
                   2.45934259e-3 / violet + 0.900704920 / red - 1.66626219e-2 * density * density);
    const double bent_slope = 2.0 * x * density *
                              (2.68678472e-4 * temperature - 1.58920570e-3 / (square * square) -
                               2.45934259e-3 / (violet * violet) - 0.900704920 / (red * red));
    const double index = sqrt((1.0 + 2.0 * bent) / (1.0 - bent));
    const double salt = (1.779e-4 - 1.05e-6 * t + 1.6e-8 * t * t + 0.01155 / wavelength) * s;
    *phase = index + salt;
    *slope = 1.5 * bent_slope / (index * (1.0 - bent) * (1.0 - bent)) / 589.0 -
             0.01155 * s / (wavelength * wavelength);
}

/* Returns the phase index; wavelength in nm. */
ICE_FN double ice_water_phase_index(const ice_water *water, double wavelength)
{
    double phase, slope;
    ice_water_index(water, wavelength, &phase, &slope);
    return phase;
}

/* Returns the group index, n - wavelength dn/dwavelength. Pulses of light travel at c / group
 * index. */
ICE_FN double ice_water_group_index(const ice_water *water, double wavelength)
{
    double phase, slope;
    ice_water_index(water, wavelength, &phase, &slope);
    return phase - wavelength * slope;
}

#endif

#endif
