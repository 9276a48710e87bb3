#include "bench/lab/shapes/visits.h"

#include <stdint.h>

/* This file counts what the search of stages/shapes/shape_mesh.h visits. */
static uint64_t visited_nodes, tested_triangles;
#define ICE_MESH_AT_NODE()           ((void)++visited_nodes)
#define ICE_MESH_AT_TRIANGLES(count) ((void)(tested_triangles += (count)))

#include "base/clock.h"
#include "stages/shapes/shape_mesh.h"
#include "tables/tree.h"

#include <math.h>

enum { LINES = 20000 };

/* A number in [0, 1) from splitmix64. */
static double draw(uint64_t *state)
{
    uint64_t word = *state += UINT64_C(0x9e3779b97f4a7c15);
    word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((word ^ (word >> 31)) >> 11) * 0x1p-53;
}

/* Returns an isotropic line whose distance to the origin is that of lines which are uniform across
 * a sphere of this radius (m). Its point is the one nearest to the origin. */
static ice_line draw_line(double radius, uint64_t *state)
{
    const double cosine = 2 * draw(state) - 1, azimuth = 2 * ICE_PI * draw(state);
    const double sine = sqrt(fmax(1 - cosine * cosine, 0));
    const double turn = 2 * ICE_PI * draw(state);
    const double distance = radius * sqrt(draw(state));
    const double half = sqrt(fmax(radius * radius - distance * distance, 0));
    /* Two unit vectors across the direction: the one that rises most, and the horizontal one. */
    const double up[3] = {-cosine * cos(azimuth), -cosine * sin(azimuth), sine};
    const double flat[3] = {-sin(azimuth), cos(azimuth), 0};
    double point[3];
    for (int k = 0; k < 3; ++k) {
        point[k] = distance * (cos(turn) * up[k] + sin(turn) * flat[k]);
    }
    return (ice_line){
        .x = (float)point[0],
        .y = (float)point[1],
        .z = (float)point[2],
        .direction = {(float)(sine * cos(azimuth)), (float)(sine * sin(azimuth)), (float)cosine},
        .from = (float)-half,
        .to = (float)half,
        .oversize = 1,
        .square = (float)(distance * distance)};
}

int ics_shape_visits_count(const ice_detector *detector, ics_shape_visits *out,
                           icestream_error *error)
{
    ics_tree_forest forest = {0};
    uint64_t state = 15, lines = 0;
    int status = ICESTREAM_OK;
    *out = (ics_shape_visits){0};
    visited_nodes = tested_triangles = 0;
    for (size_t i = 0; status == ICESTREAM_OK && i < detector->type_count; ++i) {
        const ice_module_type *type = &detector->types[i];
        uint32_t root;
        if (type->shape != ICE_SHAPE_MESH) {
            continue;
        }
        const double start = ics_clock_seconds();
        status = ics_tables_tree_add(&forest, &type->mesh, type->reach, &root, error);
        out->build_seconds += ics_clock_seconds() - start;
        for (int line = 0; status == ICESTREAM_OK && line < LINES; ++line) {
            const ice_line drawn = draw_line(type->reach, &state);
            (void)ice_mesh_enter(forest.meshes, root, &drawn);
        }
        out->triangles += type->mesh.triangle_count;
        lines += LINES;
    }
    out->bytes = forest.count * sizeof *forest.meshes;
    if (lines > 0) {
        out->nodes = (double)visited_nodes / (double)lines;
        out->triangle_tests = (double)tested_triangles / (double)lines;
    }
    ics_tables_tree_free(&forest);
    return status;
}
