/* Tables of the transit times of PMTs (physics.md 8.18). */
#ifndef ICS_MODELS_DETECTOR_TRANSIT_TABLES_H
#define ICS_MODELS_DETECTOR_TRANSIT_TABLES_H

#include "physics/detect/pmt.h"
#include "physics/model.h"

/* Returns the bytes of the tables; 0: no PMT has a distribution. */
size_t ics_transit_tables_bytes(const ice_detector *detector);
/* Makes the tables in `memory`, which has these bytes, and sets the members of *out that belong to
 * them. The distributions of types come first, and then those of single PMTs, type by type. */
void ics_transit_tables_fill(const ice_detector *detector, void *memory, ice_pmt_tables *out);

#endif
