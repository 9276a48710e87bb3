/* The detector of a run: hex86, a geo-f2k file, or a CSV file of modules anywhere. */
#ifndef ICS_MODELS_DETECTOR_DETECTOR_H
#define ICS_MODELS_DETECTOR_DETECTOR_H

#include "physics/model.h"
#include "pipeline/config/config.h"
#include "pipeline/models/warnings.h"

/* Makes the detector that the configuration names and what its modules detect (sensors.h), modules
 * sorted by (string, module), so that the same modules are the same detector in whatever order
 * their file lists them. Checked: labels
 * unique, coordinates within 10 km, no two modules overlapping, excluded labels exist; all errors
 * together. ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. The caller owns *out. */
int ics_detector_create(const icestream_config *config, ice_detector **out, ics_warnings *warnings,
                        icestream_error *error);
/* Accepts NULL. */
void ics_detector_destroy(ice_detector *detector);

/* The largest efficiency among the modules of any acceptance that record light; 1 where none does.
 */
double ics_detector_efficiency(const ice_detector *detector);
/* The same by acceptance; 0 for one that no such module has. All of them 0: none records light. */
void ics_detector_efficiencies(const ice_detector *detector, double largest[ICE_ACCEPTANCES]);

#endif
