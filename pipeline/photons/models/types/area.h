/* The area that a module turns to light, for tables of effective areas (physics.md 8.16). */
#ifndef ICS_PHOTONS_MODELS_TYPES_AREA_H
#define ICS_PHOTONS_MODELS_TYPES_AREA_H

#include "tables/tree.h"

typedef struct ics_type_area {
    const ice_module_type *type;
    ics_tree_forest forest; /* trees of a mesh */
    uint32_t root;
} ics_type_area;

/* Prepares a type, which must outlive *out. The caller frees *out. ICESTREAM_E_MEMORY. */
int ics_type_area_create(const ice_module_type *type, ics_type_area *out, icestream_error *error);
void ics_type_area_free(ics_type_area *area);

/* Returns the area (m2) on which parallel light meets the module and becomes a hit, at true size.
 * zenith, azimuth (rad): the direction from which the light comes, in the module's own frame. Of a
 * mesh it is what 17,711 lines find that do not meet an absorber first; the lines are a Fibonacci
 * lattice, so that the error is some 0.1 % (tests/models/test_pmt_table_mesh.c). */
double ics_type_area_at(const ics_type_area *area, double zenith, double azimuth);

#endif
