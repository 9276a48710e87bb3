/* Which type each module of a detector has, and how it hangs. */
#ifndef ICS_MODELS_DETECTOR_MODULE_TYPES_H
#define ICS_MODELS_DETECTOR_MODULE_TYPES_H

#include "pipeline/models/detector/module_list.h"
#include "pipeline/models/types/types.h"

/* Gives the modules of a detector, which stand in the order of `list`, their types and
 * orientations, and moves the types to the detector. Sets the radius of the detector to the largest
 * reach of a type. Without types the detector stays as it is. ICESTREAM_E_CONFIG: a module has no
 * type, or an orientation and no type, or the cable of a string needs types; ICESTREAM_E_MEMORY. */
int ics_module_types_apply(const icestream_config *config, ics_types *types,
                           const ics_module_list *list, ice_detector *detector,
                           icestream_error *error);

#endif
