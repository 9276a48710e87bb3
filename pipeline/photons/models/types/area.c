#include "pipeline/photons/models/types/area.h"

#include "physics/body.h"
#include "stages/shapes/shape_mesh.h"

#include <math.h>

/* Neighbours of the Fibonacci numbers, which make a lattice of LINES points in a square. */
enum { LINES = 17711, LATTICE = 10946 };

int ics_type_area_create(const ice_module_type *type, ics_type_area *out, icestream_error *error)
{
    *out = (ics_type_area){.type = type};
    return type->shape == ICE_SHAPE_MESH
               ? ics_tables_tree_add(&out->forest, &type->mesh, type->reach, &out->root, error)
               : ICESTREAM_OK;
}

void ics_type_area_free(ics_type_area *area)
{
    ics_tables_tree_free(&area->forest);
}

/* Returns the share of a square of side 2 reach across the light in which lines become hits. */
static double mesh_share(const ics_type_area *area, double zenith, double azimuth)
{
    const double reach = area->type->reach;
    const double cz = cos(zenith), sz = sin(zenith), ca = cos(azimuth), sa = sin(azimuth);
    const double flat[3] = {-sa, ca, 0}, up[3] = {-cz * ca, -cz * sa, sz};
    ice_line line = {.direction = {(float)(-sz * ca), (float)(-sz * sa), (float)-cz},
                     .from = (float)-reach,
                     .to = (float)reach,
                     .oversize = 1};
    size_t hits = 0;
    for (int i = 0; i < LINES; ++i) {
        const int64_t turns = (int64_t)i * LATTICE % LINES;
        const double u = reach * ((2.0 * i + 1) / LINES - 1);
        const double v = reach * ((2.0 * (double)turns + 1) / LINES - 1);
        line.x = (float)(u * flat[0] + v * up[0]);
        line.y = (float)(u * flat[1] + v * up[1]);
        line.z = (float)(u * flat[2] + v * up[2]);
        line.square = (float)(u * u + v * v);
        const ice_mesh_entry entry = ice_mesh_enter(area->forest.meshes, area->root, &line);
        hits += entry.number != ICE_NO_TRIANGLE && entry.part != ICE_PART_ABSORBER;
    }
    return (double)hits / LINES;
}

double ics_type_area_at(const ics_type_area *area, double zenith, double azimuth)
{
    const ice_module_type *type = area->type;
    if (type->shape == ICE_SHAPE_MESH) {
        return 4 * type->reach * type->reach * mesh_share(area, zenith, azimuth);
    }
    return ice_body_area(type->shape, type->open_ends, type->radius, type->half_height,
                         cos(zenith));
}
