/* A medium in double precision: memory, and its optics at a wavelength. */
#ifndef ICS_PHOTONS_MODELS_ICE_MEDIUM_H
#define ICS_PHOTONS_MODELS_ICE_MEDIUM_H

#include "base/error.h"
#include "physics/model.h"

/* Makes a medium of this name with `count` layers that are all zeros. The caller owns *out.
 * ICESTREAM_E_MEMORY. */
int ics_ice_allocate(const char *name, size_t count, ice_medium **out, icestream_error *error);
/* Accepts NULL. */
void ics_ice_destroy(ice_medium *medium);
/* Coefficients (1/m) of one layer at a wavelength (nm), physics.md 4.2. The effective scattering
 * b_e is the geometric scattering times 1 - <cos>, molecules included. */
double ics_ice_scattering(const ice_medium *medium, size_t layer, double wavelength);
double ics_ice_absorption(const ice_medium *medium, size_t layer, double wavelength);

/* Indices of refraction at a wavelength, ICE_WAVELENGTH_MIN .. ICE_WAVELENGTH_MAX (nm). */
double ics_ice_phase_index(const ice_medium *medium, double wavelength);
double ics_ice_group_index(const ice_medium *medium, double wavelength);

/* Temperature of the ice at a depth (m), minus the temperature at 1730 m, K (physics.md 4.2,
 * AMANDA 2006). */
double ics_ice_delta_tau(double depth);

#endif
