/* What ice may have beyond flat layers that look alike in all directions (physics.md 6, 8.7). */
#ifndef IS_ICE_FEATURES_H
#define IS_ICE_FEATURES_H

#include "pipeline/models/ice_layers.h"

/* ln K of the absorption anisotropy as the model uses it: where K1 >= K2 = K3, scaled so that the
 * mean over all directions of 1/|K n| is 1; else as given (physics.md 6.3). */
void is_absorption_anisotropy_scale(const double given[3], double scaled[3]);

/* Rms and mean deflection of birefringence at an angle to the flow axis (physics.md 6.4). */
typedef struct is_deflection {
    double along, across; /* sx, sy: rad/sqrt(m), >= 0 */
    double mean;          /* mx: rad/m, >= 0 */
} is_deflection;

/* `cosine` of the angle to the flow axis, 0 .. 1. */
is_deflection is_birefringence_at(const ice_birefringence *birefringence, double cosine);
/* s_eff, the effective scattering that birefringence does by itself at strength 1, 1/m. */
double is_birefringence_scattering(const ice_birefringence *birefringence);
/* Whether the deflections are numbers, and not more than a scatterer could do. `place` is
 * "file:line:column". IS_E_CONFIG. */
int is_birefringence_check(const char *place, const ice_birefringence *birefringence,
                           is_error *error);

/* Takes away what the configuration switches off. */
void is_ice_switch_off(const is_config *config, ice_medium *properties, is_layer_list *layers);

/* Takes what birefringence scatters by itself out of the layers, or nothing where it does not
 * (physics.md 4.2, 6.4). A layer may scatter less than nothing afterwards. */
void is_birefringence_subtract(is_subtraction subtraction, ice_medium *medium);

/* Names what is hardly meant. IS_E_MEMORY. */
int is_medium_warn(const ice_medium *medium, is_warnings *warnings);

#endif
