/* The variants of detect for modules with several PMTs. */
#ifndef ICS_PHOTONS_MODELS_DETECTOR_PMT_DETECTION_H
#define ICS_PHOTONS_MODELS_DETECTOR_PMT_DETECTION_H

#include "base/error.h"
#include "physics/model.h"
#include "pipeline/photons/config/config.h"
#include "pipeline/photons/models/warnings.h"

/* Whether a variant of detect decides about the PMTs of modules. */
bool ics_pmt_detection_is(const char *variant);

/* Finds the largest value of what a variant computes for the modules of a detector: of the sum of
 * the effective areas over the area of the module (pmt-plane, pmt-table), or of the efficiencies
 * (pmt-place).
 * The light of a run is thinned by it. Warns of PMTs of a mesh that no part names, with pmt-place.
 * ICESTREAM_E_CONFIG: there are no types, or no PMTs, or a type lacks what the variant needs;
 * ICESTREAM_E_MEMORY. */
int ics_pmt_detection_maximum(const icestream_config *config, const ice_detector *detector,
                              double *out, ics_warnings *warnings, icestream_error *error);

#endif
