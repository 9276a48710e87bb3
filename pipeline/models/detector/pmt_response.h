/* Tables of what the PMTs of types accept by angle and by wavelength (physics.md 8.17). */
#ifndef ICS_MODELS_DETECTOR_PMT_RESPONSE_H
#define ICS_MODELS_DETECTOR_PMT_RESPONSE_H

#include "physics/detect/pmt.h"
#include "physics/model.h"

/* Returns the largest value of the acceptances of PMT k by which detection multiplies.
 * `has_angles`, here and below: detection asks for the acceptance by angle (pmt-place). */
double ics_pmt_response_maximum(const ice_module_type *type, size_t k, bool has_angles);

/* Returns the bytes of the tables; 0: no PMT has an acceptance. */
size_t ics_pmt_response_bytes(const ice_detector *detector, bool has_angles);
/* Makes the tables in `memory`, which has these bytes, and sets the members of *out that belong to
 * them. The responses of types come first, and then those of single PMTs, type by type. */
void ics_pmt_response_fill(const ice_detector *detector, bool has_angles, void *memory,
                           ice_pmt_tables *out);

#endif
