/* The tables of the detect stage for modules with several PMTs: windows, what they accept
 * (physics.md 8.17), their transit times (8.18), and effective areas (8.16). */
#ifndef ICS_PHOTONS_MODELS_DETECTOR_PMT_TABLES_H
#define ICS_PHOTONS_MODELS_DETECTOR_PMT_TABLES_H

#include "physics/detect/pmt.h"
#include "physics/model.h"

/* The variants of detect for modules with several PMTs. */
#define ICS_PMT_PLANE "pmt-plane"
#define ICS_PMT_PLACE "pmt-place"
#define ICS_PMT_TABLE "pmt-table"

/* Returns the effective area (m2) of a PMT for light from the front, in units of the acceptance of
 * light by wavelength: the area of its window times its efficiency. Without a radius all PMTs of
 * the type together have the effective area of the standard module, averaged over directions, times
 * their mean efficiency (physics.md 8.13). */
double ics_pmt_effective_area(const ice_module_type *type, const ice_pmt *pmt);
/* Returns the effective area (m2) of the standard module, averaged over directions, by which the
 * PMTs of a type without radii are measured, relative to the acceptance by wavelength. */
double ics_pmt_standard_area(const ice_module_type *type);

/* Returns the bytes of all tables of a detector. `variant` is that of detect. */
size_t ics_pmt_tables_bytes(const ice_detector *detector, const char *variant);
/* Makes the tables in `memory`, which has these bytes. */
void ics_pmt_tables_fill(const ice_detector *detector, const char *variant, void *memory,
                         ice_pmt_tables *out);

/* Returns the largest value of the acceptances of PMT k by which detection multiplies.
 * `has_angles`: detection asks for the acceptance by angle (pmt-place). */
double ics_pmt_response_maximum(const ice_module_type *type, size_t k, bool has_angles);

/* Returns the bytes of the tables of transit times; 0: no PMT has a distribution. */
size_t ics_pmt_transit_bytes(const ice_detector *detector);
/* Makes the tables in `memory`, which has these bytes, and sets the members of *out that belong to
 * them. The distributions of types come first, and then those of single PMTs, type by type. */
void ics_pmt_transit_fill(const ice_detector *detector, void *memory, ice_pmt_tables *out);

/* Returns the largest sum of effective areas, times efficiencies, over the area that the module
 * turns to the light, of all directions in the table of a type. `factors` [pmt_count]: by which the
 * areas of each PMT are multiplied. 0: no table. */
double ics_pmt_area_maximum(const ice_module_type *type, const double *factors);

/* Returns the bytes of the tables of effective areas of all types. */
size_t ics_pmt_area_tables_bytes(const ice_detector *detector);
/* Makes the tables in `memory`, which has these bytes, and sets the members of *out that belong to
 * pmt-table. Sums are divided by `maximum`. */
void ics_pmt_area_tables_fill(const ice_detector *detector, double maximum, void *memory,
                              ice_pmt_tables *out);

#endif
