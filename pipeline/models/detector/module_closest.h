/* Finds the two closest modules without a comparison of all pairs. */
#ifndef ICS_MODELS_DETECTOR_MODULE_CLOSEST_H
#define ICS_MODELS_DETECTOR_MODULE_CLOSEST_H

#include "physics/model.h"

/* Sets *distance to the distance (m) of the two closest centres; +INFINITY for fewer than two
 * modules. The coordinates are within 1e5 m. The time grows as count * log(count), whatever the
 * positions are. Returns ICESTREAM_OK or ICESTREAM_E_MEMORY. */
int ics_module_closest(const ice_module *modules, size_t count, double *distance);

#endif
