/* The surfaces of modules and cables as triangles, for pictures. Photons meet the exact shapes. */
#ifndef ICS_MODELS_MESH_BODY_SURFACE_H
#define ICS_MODELS_MESH_BODY_SURFACE_H

#include "base/icestream_error.h"
#include "physics/model.h"

enum {
    ICS_SURFACE_SIDES = 24,  /* of the polygon around the axis of a body */
    ICS_SURFACE_RISES = 12,  /* steps from the lowest to the highest point of a rounded body */
    ICS_SURFACE_WINDOW = 12, /* sides of the window of a PMT */
    ICS_SURFACE_TUBE = 8     /* sides of a cable */
};

/* A PMT whose radius is not known has this one, but at most half of the reach of its module (m). */
#define ICS_SURFACE_PMT_RADIUS 0.05

/* Makes the surface of a type in its own frame. The body is a polyhedron whose vertices lie on the
 * true surface; a mesh is copied. Every PMT is a cap of 1 mm height on the glass with the number of
 * the PMT as its part, unless the mesh has parts that are PMTs. ICESTREAM_E_MEMORY. The caller
 * frees *out (ics_mesh_free). */
int ics_body_surface(const ice_module_type *type, ice_mesh *out, icestream_error *error);

/* Makes the tube of a cable, closed at both ends; its vertices are relative to cable->from, and its
 * part is ICE_PART_ABSORBER. ICESTREAM_E_MEMORY. The caller frees *out. */
int ics_body_surface_cable(const ice_cable *cable, ice_mesh *out, icestream_error *error);

#endif
