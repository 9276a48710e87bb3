/* Triangle meshes for tests. */
#ifndef MESHES_H
#define MESHES_H

#include "physics/model.h"

/* Appends a triangle and three vertices; anticlockwise from outside. Zero-initialise
 * the mesh before the first call. Aborts without memory, like all functions here. */
void mesh_add_triangle(ice_mesh *mesh, const double a[3], const double b[3], const double c[3],
                       int part);

/* Returns a sphere of 20 x 4^level triangles, whose vertices are `radius` (m) away from the
 * centre. Neighbours share vertices. All parts are glass. */
ice_mesh mesh_icosphere(double radius, int level);

/* Returns a box from -half to +half (m), whose faces are `cells` x `cells` squares of two triangles
 * each. The part of a face is its number: -x, +x, -y, +y, -z, +z. */
ice_mesh mesh_box(const double half[3], int cells);

/* Moves all vertices. */
void mesh_move(ice_mesh *mesh, double x, double y, double z);

/* Returns the area (m^2) of a mesh as seen against the direction: the sum over the triangles that
 * face it. For a convex mesh this is its projected area. */
double mesh_area_against(const ice_mesh *mesh, const double direction[3]);

void mesh_free(ice_mesh *mesh);

#endif
