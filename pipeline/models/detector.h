/* The detector of a run: hex86, a geo-f2k file, or a CSV file of modules anywhere. */
#ifndef IS_DETECTOR_H
#define IS_DETECTOR_H

#include "pipeline/config/config.h"
#include "pipeline/models/warnings.h"
#include "stages/model.h"

/* Makes the detector that the configuration names and what its modules detect (sensors.h), modules
 * sorted by (string, module), so that the same modules are the same detector in whatever order
 * their file lists them. Checked: labels
 * unique, coordinates within 10 km, no two modules overlapping, excluded labels exist; all errors
 * together. IS_E_CONFIG, IS_E_MEMORY. The caller owns *out. */
int is_detector_create(const is_config *config, ice_detector **out, is_warnings *warnings,
                       is_error *error);
/* Accepts NULL. */
void is_detector_destroy(ice_detector *detector);

/* The largest efficiency among the modules of any acceptance that record light; 1 where none does.
 */
double is_detector_efficiency(const ice_detector *detector);
/* The same by acceptance; 0 for one that no such module has. All of them 0: none records light. */
void is_detector_efficiencies(const ice_detector *detector, double largest[ICE_ACCEPTANCES]);

#endif
