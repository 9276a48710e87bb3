/* What ice may have beyond flat layers that look alike in all directions (physics.md 6, 8.7). */
#ifndef ICS_MODELS_ICE_ICE_FEATURES_H
#define ICS_MODELS_ICE_ICE_FEATURES_H

#include "pipeline/models/ice/ice_layers.h"

/* ln K of the absorption anisotropy as the model uses it: where K1 >= K2 = K3, scaled so that the
 * mean over all directions of 1/|K n| is 1; else as given (physics.md 6.3). */
void ics_ice_absorption_anisotropy_scale(const double given[3], double scaled[3]);

/* Rms and mean deflection of birefringence at an angle to the flow axis (physics.md 6.4). */
typedef struct ics_deflection {
    double along, across; /* sx, sy: rad/sqrt(m), >= 0 */
    double mean;          /* mx: rad/m, >= 0 */
} ics_deflection;

/* `cosine` of the angle to the flow axis, 0 .. 1. */
ics_deflection ics_ice_birefringence_at(const ice_birefringence *birefringence, double cosine);
/* s_eff, the effective scattering that birefringence does by itself at strength 1, 1/m. */
double ics_ice_birefringence_scattering(const ice_birefringence *birefringence);
/* Whether the deflections are numbers, and not more than a scatterer could do. `place` is
 * "file:line:column". ICESTREAM_E_CONFIG. */
int ics_ice_birefringence_check(const char *place, const ice_birefringence *birefringence,
                                icestream_error *error);

/* Takes away what the configuration switches off. */
void ics_ice_switch_off(const icestream_config *config, ice_medium *properties,
                        ics_layer_list *layers);

/* Takes what birefringence scatters by itself out of the layers, or nothing where it does not
 * (physics.md 4.2, 6.4). A layer may scatter less than nothing afterwards. */
void ics_ice_birefringence_subtract(ics_subtraction subtraction, ice_medium *medium);

/* Names what is hardly meant. ICESTREAM_E_MEMORY. */
int ics_ice_warn(const ice_medium *medium, ics_warnings *warnings);

#endif
