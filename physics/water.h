/* The index of refraction of water for a salinity, a temperature and a pressure (physics.md 4.6),
 * for building tables.
 *
 * Quan & Fry, Appl. Opt. 34 (1995) 3477, give a fit for 400 .. 700 nm, salinities of 0 .. 35 per
 * mille and 0 .. 30 deg C at the pressure of the air. The term of the pressure is that of
 * W. Schuster (PhD thesis, Oxford 2002). Neutrino telescopes use the fit down to 300 nm.
 */
#ifndef ICS_PHYSICS_WATER_H
#define ICS_PHYSICS_WATER_H

#include "stages/platform.h"

#if !defined(__CUDACC__)

/* The range of the fit, and the lower end of the range in which it is trusted, nm. */
#define ICE_WATER_FITTED_FROM  400.0
#define ICE_WATER_FITTED_TO    700.0
#define ICE_WATER_TRUSTED_FROM 300.0

typedef struct ice_water {
    double salinity;    /* per mille, >= 0 */
    double temperature; /* deg C */
    double pressure;    /* bar, >= 0 */
} ice_water;

/* The index is a polynomial of 1 / wavelength (1/nm). These are its coefficients of the powers 2
 * and 3; the two functions below return those of the powers 0 and 1. */
#define ICE_WATER_SECOND (-4382.0)
#define ICE_WATER_THIRD  1.1455e6

ICE_FN double ice_water_constant(const ice_water *water)
{
    const double s = water->salinity, t = water->temperature;
    return 1.31405 + 1.45e-5 * water->pressure + (1.779e-4 - 1.05e-6 * t + 1.6e-8 * t * t) * s -
           2.02e-6 * t * t;
}

ICE_FN double ice_water_first(const ice_water *water)
{
    return 15.868 + 0.01155 * water->salinity - 0.00423 * water->temperature;
}

/* Returns the phase index; wavelength in nm. */
ICE_FN double ice_water_phase_index(const ice_water *water, double wavelength)
{
    const double x = 1.0 / wavelength;
    return ice_water_constant(water) +
           x * (ice_water_first(water) + x * (ICE_WATER_SECOND + x * ICE_WATER_THIRD));
}

/* Returns the group index, n - wavelength dn/dwavelength. Pulses of light travel at c / group
 * index. */
ICE_FN double ice_water_group_index(const ice_water *water, double wavelength)
{
    const double x = 1.0 / wavelength;
    return ice_water_constant(water) +
           x * (2.0 * ice_water_first(water) +
                x * (3.0 * ICE_WATER_SECOND + x * 4.0 * ICE_WATER_THIRD));
}

#endif

#endif
