/* Spheres of triangles, for `icestream-lab shapes`. */
#ifndef ICS_BENCH_LAB_SHAPES_ICOSPHERE_H
#define ICS_BENCH_LAB_SHAPES_ICOSPHERE_H

#include <stdio.h>

/* Writes a sphere of 20 frequency^2 triangles as binary STL: each edge of an icosahedron is cut
 * into `frequency` parts, and all vertices are `radius` (m) away from the centre. Neighbours have
 * exactly equal vertices. Write errors stay in the stream. */
void ics_icosphere_write(double radius, int frequency, FILE *out);

#endif
