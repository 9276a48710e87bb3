/* The light of a run while it is made: shared by the files of this folder. */
#ifndef ICS_PHOTONS_MODELS_LIGHT_BUILDER_H
#define ICS_PHOTONS_MODELS_LIGHT_BUILDER_H

#include "base/error.h"
#include "pipeline/photons/models/light/curve.h"
#include "pipeline/photons/models/light/light.h"

typedef struct ics_light_builder {
    const icestream_config *config;
    const ice_medium *medium;
    ice_light *light;
    ics_curve bias;  /* no points: 1 everywhere */
    ics_curve ratio; /* ratio of the high-efficiency acceptance to the standard one; no points: 1 */
    icestream_error *error;
    char place[512]; /* place of light.acceptance */
} ics_light_builder;

/* Makes the bias from light.acceptance, and the acceptances of modules from it and from
 * light.high_efficiency. `efficiency` is that of all modules. Errors: ICESTREAM_E_CONFIG,
 * ICESTREAM_E_MEMORY. */
int ics_light_make_bias(ics_light_builder *builder, const ice_detector *detector,
                        double efficiency);

/* Makes all spectra, built in and configured. The bias must be complete. All errors are reported
 * together. ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. */
int ics_light_make_spectra(ics_light_builder *builder);

#endif
