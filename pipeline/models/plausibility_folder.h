/* Files of a ppc ice folder that most likely do not mean what the configuration makes of them. */
#ifndef ICS_MODELS_PLAUSIBILITY_FOLDER_H
#define ICS_MODELS_PLAUSIBILITY_FOLDER_H

#include "pipeline/models/models.h"

/* Adds the warnings about the files of ice.directory to models->warnings. ICESTREAM_OK or
 * ICESTREAM_E_MEMORY. */
int ics_plausibility_check_folder(const icestream_config *config, ics_models *models);

#endif
