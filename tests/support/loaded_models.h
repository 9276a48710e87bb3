/* All models of a configuration, for tests. */
#ifndef LOADED_MODELS_H
#define LOADED_MODELS_H

#include "pipeline/photons/models/models.h"

/* Loads the models of a configuration, and destroys the configuration. Fails the test on errors.
 * The caller destroys the models. */
ics_models *models_load(icestream_config *config);

#endif
