/* Vertices of triangles that share nothing become the vertices of a surface. */
#ifndef ICS_MODELS_MESH_MESH_WELD_H
#define ICS_MODELS_MESH_MESH_WELD_H

#include "pipeline/models/mesh/mesh.h"
#include "pipeline/models/mesh/mesh_file.h"

/* Fills vertices and triangles of *out; equal positions are one vertex. The parts are all glass.
 * ICESTREAM_E_CONFIG: a vertex is not finite or outside the reach. ICESTREAM_E_MEMORY. The caller
 * frees *out in every case. */
int ics_mesh_weld(const ics_mesh_file *file, const ics_mesh_settings *settings, ice_mesh *out,
                  icestream_error *error);

#endif
