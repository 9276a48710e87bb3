/* Distributions of transit times: the member transit_times of a type or of a PMT in YAML
 * (docs/detection.md, physics.md 8.18). */
#ifndef ICS_PHOTONS_MODELS_TYPES_TRANSIT_TIMES_H
#define ICS_PHOTONS_MODELS_TYPES_TRANSIT_TIMES_H

#include "physics/model.h"
#include "pipeline/photons/config/yaml/yaml.h"
#include "pipeline/photons/models/text/text.h"

/* Reads the file that a node names. ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY; *out is empty then. The
 * caller frees *out. */
int ics_transit_times_read(const ics_yaml_node *node, ice_transit *out, icestream_error *error);
/* The same for a text: CSV with the columns time (ns, ascending) and density, which is linear
 * between the rows, or counts, of which each row has those from its time to the time of the next
 * row. Without names there are two columns, between blanks or tabs: time and density. */
int ics_transit_times_read_csv(const ics_text *text, ice_transit *out, icestream_error *error);

/* Reads the distribution of one PMT, appends it to those of its type, and gives the PMT the number.
 * The same errors; the type owns the distribution. */
int ics_transit_times_add(const ics_yaml_node *node, ice_module_type *type, ice_pmt *pmt,
                          icestream_error *error);
/* Checks that no PMT has both a distribution and a spread. `node`: that of the type. */
int ics_transit_times_check(const ics_yaml_node *node, const ice_module_type *type,
                            icestream_error *error);

/* Copies. ICESTREAM_E_MEMORY; *out is empty then. The caller frees *out. */
int ics_transit_times_copy(const ice_transit *from, ice_transit *out, icestream_error *error);
/* Frees the array and empties the distribution. */
void ics_transit_times_free(ice_transit *transit);

/* Returns the probability of a range without a normalisation: its area. */
static inline double ics_transit_area(const ice_transit_range *range)
{
    return (range->to - range->from) * (range->low / 2 + range->high / 2);
}
/* Returns the mean (ns) of a distribution; count > 0. */
double ics_transit_times_mean(const ice_transit *transit);

#endif
