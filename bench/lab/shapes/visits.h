/* What a search in the mesh of a module costs: nodes and triangles that it visits. */
#ifndef ICS_BENCH_LAB_SHAPES_VISITS_H
#define ICS_BENCH_LAB_SHAPES_VISITS_H

#include "base/icestream_error.h"
#include "physics/model.h"

/* Figures of the trees of all meshes of a detector. Zeros: it has none. */
typedef struct ics_shape_visits {
    uint64_t triangles;           /* triangles of all meshes */
    uint64_t bytes;               /* bytes of trees and triangles in the tables */
    double build_seconds;         /* time (s) to build the trees, without reading files */
    double nodes, triangle_tests; /* per candidate: means over all meshes */
} ics_shape_visits;

/* Builds the trees of the meshes and sends lines through them. A candidate is a line of which the
 * stages of a run know only that it passes the sphere around a module. Here the lines are isotropic
 * and uniform across the sphere, as they are in a uniform light field, and the segment of a line
 * goes from one end of the sphere to the other; the lines of a run are the same for all oversizes,
 * because the impact vector is divided by F (physics.md 8.9). 20,000 lines for each mesh, from a
 * fixed seed. ICESTREAM_E_MEMORY. */
int ics_shape_visits_count(const ice_detector *detector, ics_shape_visits *out,
                           icestream_error *error);

#endif
