/* The photomultipliers of a type, from a list in YAML or a CSV file. */
#ifndef ICS_MODELS_TYPES_PMTS_H
#define ICS_MODELS_TYPES_PMTS_H

#include "physics/model.h"
#include "pipeline/config/yaml/yaml.h"
#include "pipeline/models/text/text.h"

/* Reads the PMTs of a type whose shape, sizes and acceptance are known. A PMT is [zenith, azimuth],
 * or a mapping with some of zenith, azimuth (of the direction in which it looks, degrees), x, y, z
 * (the middle of its window, m), radius (m), efficiency, delay, spread (ns), angular_polynomial,
 * acceptance_ratio (pmt_acceptance.h), transit_times (transit_times.h). A PMT without a place is
 * where the line from the centre in its direction meets the surface; a PMT without a direction
 * looks away from the centre. A text is the name of a CSV file with columns of the
 * numbers. `radius` is that
 * of PMTs that do not give one (m; 0: not known). ICESTREAM_E_CONFIG: all faults are reported
 * together; ICESTREAM_E_MEMORY. */
int ics_pmts_read_yaml(const ics_yaml_node *node, double radius, ice_module_type *type,
                       icestream_error *error);
int ics_pmts_read_csv(const ics_text *text, double radius, ice_module_type *type,
                      icestream_error *error);

#endif
