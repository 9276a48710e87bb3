/* Which acceptance by wavelength the modules of a detector have (docs/detection.md). */
#ifndef ICS_MODELS_DETECTOR_DETECTOR_ACCEPTANCE_H
#define ICS_MODELS_DETECTOR_DETECTOR_ACCEPTANCE_H

#include "physics/model.h"
#include "pipeline/config/config.h"
#include "pipeline/models/warnings.h"

/* Checks that the types of a detector say how likely their PMTs detect light, if the run asks for
 * it, and that the detect stage knows PMTs. With light.acceptance: auto it makes the acceptance of
 * the detector: the largest one of all types, and the ratios of the types to it. `is_ppc`: the
 * types come from om.conf, where the standard module is the measure. ICESTREAM_E_CONFIG,
 * ICESTREAM_E_MEMORY. */
int ics_detector_acceptance_create(const icestream_config *config, bool is_ppc,
                                   ice_detector *detector, ics_warnings *warnings,
                                   icestream_error *error);

#endif
