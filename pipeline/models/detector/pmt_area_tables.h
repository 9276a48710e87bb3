/* The tables of detect: pmt-table, from the effective areas of the types (physics.md 8.16). */
#ifndef ICS_MODELS_DETECTOR_PMT_AREA_TABLES_H
#define ICS_MODELS_DETECTOR_PMT_AREA_TABLES_H

#include "physics/detect/pmt.h"
#include "physics/model.h"

/* Returns the largest sum of effective areas, times efficiencies, over the area that the module
 * turns to the light, of all directions in the table of a type. `factors` [pmt_count]: by which the
 * areas of each PMT are multiplied. 0: no table. */
double ics_pmt_area_maximum(const ice_module_type *type, const double *factors);

/* Returns the bytes of the tables of all types. */
size_t ics_pmt_area_tables_bytes(const ice_detector *detector);
/* Makes the tables in `memory`, which has these bytes, and sets the members of *out that belong to
 * pmt-table. Sums are divided by `maximum`. */
void ics_pmt_area_tables_fill(const ice_detector *detector, double maximum, void *memory,
                              ice_pmt_tables *out);

#endif
