/* The cables between the modules of a string, as geometry that absorbs light (physics.md 8.15). */
#ifndef ICS_MODELS_DETECTOR_STRING_CABLES_H
#define ICS_MODELS_DETECTOR_STRING_CABLES_H

#include "base/error.h"
#include "physics/model.h"
#include "pipeline/config/config.h"

/* Fills detector->cables as detector.string_cables says: a straight cylinder between every two
 * neighbours of a string, from the end of one module to the end of the next (straight), or past the
 * modules at detector.string_cable_azimuth (side). The modules, their types and what they detect
 * must be complete. ICESTREAM_E_CONFIG: two neighbours leave no room for a cable, the radius of
 * cables is 0, or modules have shadows of cables, too; ICESTREAM_E_MEMORY. */
int ics_string_cables_create(const icestream_config *config, ice_detector *detector,
                             icestream_error *error);

#endif
