/* Triangle meshes from OBJ, STL and PLY files, which the library Assimp reads. */
#ifndef ICS_PHOTONS_MODELS_MESH_MESH_H
#define ICS_PHOTONS_MODELS_MESH_MESH_H

#include "base/icestream_error.h"
#include "physics/model.h"
#include "pipeline/photons/models/warnings.h"

/* What the triangles of an object or of a material are. */
typedef struct ics_mesh_part {
    const char *name; /* name of an object or of a material in the file; "*": all that no other part
                         names */
    int16_t part;     /* index of a PMT, ICE_PART_GLASS or ICE_PART_ABSORBER */
} ics_mesh_part;

typedef struct ics_mesh_settings {
    const ics_mesh_part *parts; /* [part_count]; none: all triangles are glass */
    size_t part_count;
    double unit;  /* m, length of one unit of the file, > 0; 0.001 for a drawing in mm */
    double reach; /* m; all vertices must be inside the sphere of this radius around the origin */
} ics_mesh_settings;

/* The largest reach of a mesh, m. */
#define ICS_MESH_REACH_MAX 10.0

/* Reads a mesh from a file with the ending .obj, .stl or .ply, in any letters; the caller owns
 * *out. Vertices at the same position become one. Triangles without area are left out with a
 * warning. A part that names the object wins over one that names the material.
 *
 * Warnings: triangles without area; open edges (edges of triangles that no neighbour shares in the
 * opposite sense). ICESTREAM_E_CONFIG: the file cannot be read as a mesh, has no triangles or more
 * than ICS_TREE_TRIANGLES_MAX, a vertex is not finite or outside the reach, the mesh or an object
 * without open edges is inside out (negative volume), an object matches no part, or a part
 * matches no object; this icestream was built without Assimp. ICESTREAM_E_MEMORY. The error names
 * the file, the object, and the number of the triangle in its object, from 1. */
int ics_mesh_read(const char *path, const ics_mesh_settings *settings, ice_mesh *out,
                  ics_warnings *warnings, icestream_error *error);

/* The same for a file in memory. `name` is for messages; its ending says what the file is. */
int ics_mesh_read_memory(const char *name, const char *data, size_t size,
                         const ics_mesh_settings *settings, ice_mesh *out, ics_warnings *warnings,
                         icestream_error *error);

/* Returns the largest distance (m) of a vertex from the origin. */
double ics_mesh_reach(const ice_mesh *mesh);

/* Frees the arrays and empties the mesh; accepts NULL. */
void ics_mesh_free(ice_mesh *mesh);

#endif
