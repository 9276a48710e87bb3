/* The ice of a run: built in, from a ppc ice folder, or from a YAML file. */
#ifndef ICS_PHOTONS_MODELS_ICE_ICE_H
#define ICS_PHOTONS_MODELS_ICE_ICE_H

#include "pipeline/photons/config/config.h"
#include "pipeline/photons/models/ice/medium.h"
#include "pipeline/photons/models/warnings.h"

/* What an ice folder specifies about the light, not about the ice. */
typedef struct ics_ice_factors {
    double efficiency; /* efficiency of all modules (second number of cfg.txt); 1 if there is no
                          such file */
} ics_ice_factors;

/* Makes the ice that the configuration names (physics.md 4.2-4.4, 13.1, 13.2). Every coefficient
 * is checked: the medium scatters and absorbs at every wavelength of ICE_WAVELENGTH_MIN .. MAX.
 * The medium has no feature that the configuration switches off. Files of the ice that are not
 * simulated are named in `warnings`. All errors are reported together. ICESTREAM_E_CONFIG,
 * ICESTREAM_E_MEMORY. The caller owns *out. */
int ics_ice_create(const icestream_config *config, ice_medium **out, ics_ice_factors *factors,
                   ics_warnings *warnings, icestream_error *error);

#endif
