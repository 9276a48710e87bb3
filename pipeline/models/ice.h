/* The ice of a run: built in, from a ppc ice folder, or from a YAML file. */
#ifndef IS_ICE_H
#define IS_ICE_H

#include "pipeline/config/config.h"
#include "pipeline/models/warnings.h"
#include "stages/model.h"

/* What an ice folder says about the light rather than the ice. */
typedef struct is_ice_factors {
    double efficiency; /* of all modules (cfg.txt, second number); 1 where there is no file */
} is_ice_factors;

/* What ice may have beyond flat layers that look alike in all directions, as bits. */
enum {
    IS_ICE_TILT = 1,
    IS_ICE_SCATTERING_ANISOTROPY = 2,
    IS_ICE_ABSORPTION_ANISOTROPY = 4, /* either kind of physics.md 6.2, 6.3 */
    IS_ICE_BIREFRINGENCE = 8,
    IS_ICE_HOLE = 16,
    IS_ICE_SPECTRAL = 32 /* optics by wavelength and an index of their own: water */
};

/* Those that the ice has. */
unsigned is_medium_features(const ice_medium *medium);
/* For people: " with tilt, hole ice", or nothing. Returns buffer; 128 characters are enough. */
const char *is_medium_features_text(const ice_medium *medium, char *buffer, size_t size);

/* Makes the ice that the configuration names (physics.md 4.2-4.4, 13.1, 13.2). Every coefficient
 * is checked: the medium scatters and absorbs at every wavelength of ICE_WAVELENGTH_MIN .. MAX.
 * Features that the configuration switches off are not in it. Files that are not
 * simulated are named in `warnings`. All errors are reported together. IS_E_CONFIG, IS_E_MEMORY.
 * The caller owns *out. */
int is_medium_create(const is_config *config, ice_medium **out, is_ice_factors *factors,
                     is_warnings *warnings, is_error *error);
/* Accepts NULL. */
void is_medium_destroy(ice_medium *medium);

/* Coefficients of one layer at a wavelength (nm), 1/m (physics.md 4.2). Effective scattering
 * b_e, that is the geometric one times 1 - <cos>, molecules included; absorption a. */
double is_medium_scattering(const ice_medium *medium, size_t layer, double wavelength);
double is_medium_absorption(const ice_medium *medium, size_t layer, double wavelength);

/* Indices of refraction of the medium at a wavelength, ICE_WAVELENGTH_MIN .. MAX. */
double is_medium_phase_index(const ice_medium *medium, double wavelength);
double is_medium_group_index(const ice_medium *medium, double wavelength);

/* Temperature of the ice at a depth, minus the one at 1730 m, K (physics.md 4.2, AMANDA 2006). */
double is_ice_delta_tau(double depth);

#endif
