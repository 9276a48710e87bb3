/* The ice of a run: built in, from a ppc ice folder, or from a YAML file. */
#ifndef ICS_MODELS_ICE_ICE_H
#define ICS_MODELS_ICE_ICE_H

#include "physics/model.h"
#include "pipeline/config/config.h"
#include "pipeline/models/warnings.h"

/* What an ice folder says about the light rather than the ice. */
typedef struct ics_ice_factors {
    double efficiency; /* of all modules (cfg.txt, second number); 1 where there is no file */
} ics_ice_factors;

/* What ice may have beyond flat layers that look alike in all directions, as bits. */
enum {
    ICS_ICE_TILT = 1,
    ICS_ICE_SCATTERING_ANISOTROPY = 2,
    ICS_ICE_ABSORPTION_ANISOTROPY = 4, /* either kind of physics.md 6.2, 6.3 */
    ICS_ICE_BIREFRINGENCE = 8,
    ICS_ICE_HOLE = 16,
    ICS_ICE_SPECTRAL = 32 /* optics by wavelength and an index of their own: water */
};

/* Those that the ice has. */
unsigned ics_ice_features(const ice_medium *medium);
/* For people: " with tilt, hole ice", or nothing. Returns buffer; 128 characters are enough. */
const char *ics_ice_features_text(const ice_medium *medium, char *buffer, size_t size);

/* Makes the ice that the configuration names (physics.md 4.2-4.4, 13.1, 13.2). Every coefficient
 * is checked: the medium scatters and absorbs at every wavelength of ICE_WAVELENGTH_MIN .. MAX.
 * Features that the configuration switches off are not in it. Files that are not
 * simulated are named in `warnings`. All errors are reported together. ICESTREAM_E_CONFIG,
 * ICESTREAM_E_MEMORY. The caller owns *out. */
int ics_ice_create(const icestream_config *config, ice_medium **out, ics_ice_factors *factors,
                   ics_warnings *warnings, icestream_error *error);
/* Accepts NULL. */
void ics_ice_destroy(ice_medium *medium);

/* Coefficients of one layer at a wavelength (nm), 1/m (physics.md 4.2). Effective scattering
 * b_e, that is the geometric one times 1 - <cos>, molecules included; absorption a. */
double ics_ice_scattering(const ice_medium *medium, size_t layer, double wavelength);
double ics_ice_absorption(const ice_medium *medium, size_t layer, double wavelength);

/* Indices of refraction of the medium at a wavelength, ICE_WAVELENGTH_MIN .. MAX. */
double ics_ice_phase_index(const ice_medium *medium, double wavelength);
double ics_ice_group_index(const ice_medium *medium, double wavelength);

/* Temperature of the ice at a depth, minus the one at 1730 m, K (physics.md 4.2, AMANDA 2006). */
double ics_ice_delta_tau(double depth);

#endif
