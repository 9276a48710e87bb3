/* The detector of a run: hex86, a geo-f2k file, or a CSV file of modules anywhere. */
#ifndef ICS_PHOTONS_MODELS_DETECTOR_DETECTOR_H
#define ICS_PHOTONS_MODELS_DETECTOR_DETECTOR_H

#include "physics/model.h"
#include "pipeline/photons/config/config.h"
#include "pipeline/photons/models/warnings.h"

/* Makes the detector that the configuration names, and what its modules detect (sensors.h). Modules
 * are sorted by string and module number, so that files that list the same modules in different
 * orders give the same detector. Checks that numbers of modules are unique, that coordinates are
 * within 10 km, that no two modules overlap, and that excluded modules exist; all errors are
 * reported together. ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. The caller owns *out. */
int ics_detector_create(const icestream_config *config, ice_detector **out, ics_warnings *warnings,
                        icestream_error *error);
/* Accepts NULL. */
void ics_detector_destroy(ice_detector *detector);

/* Gives the largest efficiency for each acceptance; 0 if no module that records light has the
 * acceptance. */
void ics_detector_efficiencies(const ice_detector *detector, double largest[ICE_ACCEPTANCES]);

/* Returns the radius (m) of the sphere around a module. */
static inline double ics_detector_reach(const ice_detector *detector, const ice_module *module)
{
    return detector->type_count > 0 ? detector->types[module->type].reach : detector->radius;
}

#endif
