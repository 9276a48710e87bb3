/* The light of a run: how detectable every wavelength is, and the spectra that photons draw from.
 */
#ifndef ICS_PHOTONS_MODELS_LIGHT_LIGHT_H
#define ICS_PHOTONS_MODELS_LIGHT_LIGHT_H

#include "physics/model.h"
#include "pipeline/photons/config/config.h"
#include "pipeline/photons/models/ice/ice.h"
#include "pipeline/photons/models/light/acceptance_table.h"

/* Built-in spectra: 0 is Cherenkov light, 1 .. 5 LEDs, 6 a nitrogen laser (physics.md 2.4); those
 * of light.spectra follow from 7. */
enum { ICS_SPECTRA_BUILT_IN = 7, ICS_SPECTRA_MAX = 256 };

/* Makes the bias pk env(wl) / F^2 (physics.md 3.2), and all spectra, multiplied by the bias. The
 * Cherenkov light is that of the medium. `factors` come from the ice, the oversize F and the
 * efficiencies from the detector. ICESTREAM_E_CONFIG: an acceptance or a spectrum cannot be read,
 * or a spectrum has no light where the acceptance is above 0. ICESTREAM_E_MEMORY. The caller owns
 * *out. */
int ics_light_create(const icestream_config *config, const ice_medium *medium,
                     const ics_ice_factors *factors, const ice_detector *detector, ice_light **out,
                     icestream_error *error);
/* Accepts NULL. */
void ics_light_destroy(ice_light *light);

/* Sets the largest efficiency of each acceptance that the light is made for: of the modules, or,
 * for a table, which knows no modules, that of a standard module alone. */
void ics_light_efficiencies(const icestream_config *config, const ice_detector *detector,
                            double largest[ICE_ACCEPTANCES]);

/* Return the number of Cherenkov photons per metre of track and nm of wavelength (physics.md 3.1),
 * for beta n >= 1: in ice, and in any medium. */
double ics_light_frank_tamm(double wavelength, double beta);
double ics_light_cherenkov_yield(const ice_medium *medium, double wavelength, double beta);

#endif
