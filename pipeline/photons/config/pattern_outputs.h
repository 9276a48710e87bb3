/* Whether a pattern of step files also fits names that a run gives to its own outputs. Private to
 * pipeline/photons/config. */
#ifndef ICS_PHOTONS_CONFIG_PATTERN_OUTPUTS_H
#define ICS_PHOTONS_CONFIG_PATTERN_OUTPUTS_H

#include <limits.h>
#include <stdbool.h>

/* Whether an output has a name that the pattern (fnmatch) fits: the hit file of a step file that
 * the pattern fits, the journal or the summary. `hit_name` is sink.name. `name` gets an example. */
bool ics_pattern_fits_outputs(const char *pattern, const char *hit_name, char name[NAME_MAX + 1]);
/* Whether both paths are the same folder, which exists. */
bool ics_pattern_same_folder(const char *left, const char *right);

#endif
