/* A mesh as it stands in a file: triangles that share nothing, object by object. */
#ifndef ICS_PHOTONS_MODELS_MESH_FILE_H
#define ICS_PHOTONS_MODELS_MESH_FILE_H

#include "pipeline/photons/models/mesh/mesh.h"

#include <stddef.h>
#include <stdint.h>

enum { ICS_MESH_NAME_BYTES = 128 };

/* Triangles of one object that have one material. */
typedef struct ics_mesh_object {
    char name[ICS_MESH_NAME_BYTES]; /* longer names are cut */
    char material[ICS_MESH_NAME_BYTES];
    uint64_t first, count; /* triangles */
} ics_mesh_object;

typedef struct ics_mesh_file {
    const char *name;               /* for messages, not owned */
    const ics_mesh_object *objects; /* [object_count], in the order of their triangles */
    size_t object_count;
    const float (*corners)[3]; /* [3 triangle_count], in units of the file; may be not finite */
    size_t triangle_count;     /* 1 .. ICS_TREE_TRIANGLES_MAX */
    void *memory;              /* what ics_mesh_file_close() releases */
    size_t bytes;
} ics_mesh_file;

/* Reads the text or bytes of a file by Assimp, in a child process, because Assimp does not check
 * all that it reads. `format` is "obj", "stl" or "ply". ICESTREAM_E_CONFIG: the file cannot be
 * read, has no or too many triangles, or this icestream was built without Assimp.
 * ICESTREAM_E_MEMORY, ICESTREAM_E_FAILED. */
int ics_mesh_file_open(const char *name, const char *data, size_t size, const char *format,
                       ics_mesh_file *out, icestream_error *error);
void ics_mesh_file_close(ics_mesh_file *file);

/* Returns the index of the object that has the triangle. */
size_t ics_mesh_file_object(const ics_mesh_file *file, size_t triangle);

/* Writes "NAME: error: triangle 3 of object 'x'", for the begin of a message, or without "error: "
 * for a warning. Returns `text`. */
enum { ICS_MESH_TEXT_BYTES = 1024 };
const char *ics_mesh_file_triangle(const ics_mesh_file *file, size_t triangle, const char *error,
                                   char text[ICS_MESH_TEXT_BYTES]);

/* ---- from a file to a mesh --------------------------------------------------------------------
 */

/* Fills vertices and triangles of *out; equal positions are one vertex. The parts are all glass.
 * ICESTREAM_E_CONFIG: a vertex is not finite or outside the reach. ICESTREAM_E_MEMORY. The caller
 * frees *out in every case. */
int ics_mesh_weld(const ics_mesh_file *file, const ics_mesh_settings *settings, ice_mesh *out,
                  icestream_error *error);

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
