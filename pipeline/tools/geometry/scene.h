/* The surfaces of all modules and cables of a detector, as files of triangles. */
#ifndef ICS_TOOLS_GEOMETRY_SCENE_H
#define ICS_TOOLS_GEOMETRY_SCENE_H

#include "physics/model.h"
#include "pipeline/icestream.h"

/* A picture of more triangles takes more memory than programs for pictures have. */
#define ICS_SCENE_TRIANGLES_MAX 50000000

/* The part of the triangles of cables in .vtp files; those of modules have ICE_PART_... or the
 * number of a PMT. */
enum { ICS_SCENE_CABLE = -3 };

/* One surface, and where it is. */
typedef struct ics_scene_body {
    const ice_mesh *surface;
    double origin[3]; /* m */
    ice_orientation turn;
    uint16_t string, module; /* of a cable: the string, and the number of the cable in the detector
                                modulo 2^16, from 0 */
    uint16_t type;           /* of a cable: 0 */
    bool is_cable;
} ics_scene_body;

/* Writes OBJ (Wavefront): an object for each module and cable with the materials glass, pmt_0,
 * pmt_1, ..., absorber and cable. ICESTREAM_E_CONFIG: more than ICS_SCENE_TRIANGLES_MAX triangles;
 * ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY. */
int ics_scene_write_obj(const ice_detector *detector, const char *path, bool force,
                        icestream_error *error);
/* Writes .vtp (VTK PolyData): each triangle has string, module, type and part. Errors as above. */
int ics_scene_write_vtp(const ice_detector *detector, const char *path, bool force,
                        icestream_error *error);

/* Gives each module and cable to `visit`, until it returns an error. For the functions above. */
int ics_scene_visit(const ice_detector *detector,
                    int (*visit)(void *user, const ics_scene_body *body, icestream_error *error),
                    void *user, icestream_error *error);
/* Gives a vertex of the surface in the frame of the detector, m. */
void ics_scene_vertex(const ics_scene_body *body, size_t vertex, double out[3]);

#endif
