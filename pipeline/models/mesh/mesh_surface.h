/* What a surface must be so that light enters it from outside only. */
#ifndef ICS_MODELS_MESH_MESH_SURFACE_H
#define ICS_MODELS_MESH_MESH_SURFACE_H

#include "pipeline/models/mesh/mesh.h"
#include "pipeline/models/mesh/mesh_file.h"

/* Looks for open edges (a warning), then for objects that are closed and inside out and for a whole
 * mesh that is (ICESTREAM_E_CONFIG). ICESTREAM_E_MEMORY. The triangles of the mesh are those of the
 * file. */
int ics_mesh_surface_check(const ics_mesh_file *file, const ice_mesh *mesh, ics_warnings *warnings,
                           icestream_error *error);

/* Leaves out triangles without area, with a warning. ICESTREAM_E_CONFIG: none is left.
 * ICESTREAM_E_MEMORY. */
int ics_mesh_surface_clean(const ics_mesh_file *file, ice_mesh *mesh, ics_warnings *warnings,
                           icestream_error *error);

#endif
