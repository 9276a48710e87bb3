/* How a detector is completed: the types of its modules, what they accept, and the cables between
 * them. */
#ifndef ICS_PHOTONS_MODELS_DETECTOR_PARTS_H
#define ICS_PHOTONS_MODELS_DETECTOR_PARTS_H

#include "base/error.h"
#include "physics/model.h"
#include "pipeline/photons/config/config.h"
#include "pipeline/photons/models/detector/module_list.h"
#include "pipeline/photons/models/types/types.h"
#include "pipeline/photons/models/warnings.h"

/* With detect: pmt-plane and light.acceptance: auto, gives the types of om.conf with a number of 0
 * or more the acceptance of their om.wv_NUMBER.KIND, which lies next to om.conf. A type whose
 * modules have PMTs of both kinds becomes two. The efficiencies of the modules must be complete.
 * Warns of WOMs, whose inside is not simulated. ICESTREAM_E_CONFIG: a file is missing or wrong;
 * ICESTREAM_E_MEMORY. */
int ics_om_acceptances_read(const icestream_config *config, ice_detector *detector,
                            ics_warnings *warnings, icestream_error *error);

/* Checks that the types of a detector say how likely their PMTs detect light, if the run asks for
 * it, and that the detect stage knows PMTs. With light.acceptance: auto it makes the acceptance of
 * the detector: the largest one of all types, and the ratios of the types to it.
 * ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. */
int ics_detector_acceptance_create(const icestream_config *config, ice_detector *detector,
                                   ics_warnings *warnings, icestream_error *error);

/* Gives the modules of a detector, which stand in the order of `list`, their types and
 * orientations, and moves the types to the detector. Sets the radius of the detector to the largest
 * reach of a type. Without types the detector stays as it is. ICESTREAM_E_CONFIG: a module has no
 * type, or an orientation and no type, or the cable of a string needs types; ICESTREAM_E_MEMORY. */
int ics_module_types_apply(const icestream_config *config, ics_types *types,
                           const ics_module_list *list, ice_detector *detector,
                           icestream_error *error);

/* Fills detector->cables as detector.string_cables says: a straight cylinder between every two
 * neighbours of a string, from the end of one module to the end of the next (straight), or past the
 * modules at detector.string_cable_azimuth (side). The modules, their types and what they detect
 * must be complete. ICESTREAM_E_CONFIG: two neighbours leave no room for a cable, the radius of
 * cables is 0, or modules have shadows of cables, too; ICESTREAM_E_MEMORY. */
int ics_string_cables_create(const icestream_config *config, ice_detector *detector,
                             icestream_error *error);

#endif
