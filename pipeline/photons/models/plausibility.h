/* Values that are legal and most likely mistakes: modules in air, lengths in place of coefficients,
 * factors in place of logarithms. Each becomes a warning with the place of the value, the value,
 * and what is usual. Values that a correct configuration may have are not mentioned.
 *
 * light/region.h asks the same about the positions of light. */
#ifndef ICS_PHOTONS_MODELS_PLAUSIBILITY_H
#define ICS_PHOTONS_MODELS_PLAUSIBILITY_H

#include "pipeline/photons/models/models.h"

/* Adds the warnings about a configuration and its models to models->warnings. ICESTREAM_OK or
 * ICESTREAM_E_MEMORY. */
int ics_plausibility_check(const icestream_config *config, ics_models *models);
/* The same about the light of the configured workload, which `generate` makes. */
int ics_plausibility_check_workload(const icestream_config *config, ics_models *models);

#endif
