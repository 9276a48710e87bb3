/* Digests of the ice, the detector and the light of a run. */
#ifndef ICS_MODELS_MODEL_DIGESTS_H
#define ICS_MODELS_MODEL_DIGESTS_H

#include "pipeline/models/models.h"

/* Fills ice_digest, detector_digest and light_digest of models that are complete otherwise.
 * ICESTREAM_E_CONFIG: a model that cannot be turned into tables. ICESTREAM_E_MEMORY. */
int ics_model_digests_make(ics_models *models, icestream_error *error);

#endif
