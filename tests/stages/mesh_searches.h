/* Searches in meshes, with the tree and without it. */
#ifndef MESH_SEARCHES_H
#define MESH_SEARCHES_H

#include "stages/shapes/shape_mesh.h"
#include "tables/tree.h"

#include <check.h>
#include <math.h>

#define REACH 0.5 /* m, of all meshes here */

static inline ics_tree_forest forest_of(const ice_mesh *mesh)
{
    ics_tree_forest forest = {0};
    uint32_t root;
    icestream_error error = {0};
    ck_assert_msg(ics_tables_tree_add(&forest, mesh, REACH, &root, &error) == ICESTREAM_OK, "%s",
                  error.text);
    ck_assert_uint_eq(root, 0);
    return forest;
}

/* The smallest pair (distance, number) over all triangles, without the tree. */
static inline ice_mesh_entry loop_over_all(const ice_mesh *mesh, const ice_line *line)
{
    const ice_mesh_shear shear = ice_mesh_shear_of(line);
    ice_mesh_entry nearest = {ICE_INFINITY, 0, ICE_NO_TRIANGLE};
    for (size_t i = 0; i < mesh->triangle_count; ++i) {
        ice_mesh_triangle triangle = {.number = (uint32_t)i};
        for (int c = 0; c < 9; ++c) {
            triangle.vertices[c / 3][c % 3] = mesh->vertices[mesh->triangles[i][c / 3]][c % 3];
        }
        const float distance = ice_mesh_meet(&shear, &triangle);
        if (distance < nearest.distance && distance >= line->from && distance <= line->to) {
            nearest = (ice_mesh_entry){distance, mesh->parts[i], (uint32_t)i};
        }
    }
    return nearest;
}

static inline ice_mesh_entry enter(const ics_tree_forest *forest, const ice_line *line)
{
    return ice_mesh_enter(forest->meshes, 0, line);
}

/* The line through a point along a direction, which gets length 1. The point of the line is the one
 * nearest to the origin, as in contact.h. */
static inline ice_line line_through(const double point[3], const double direction[3], double from)
{
    double n[3], length = 0.0, along = 0.0;
    for (int k = 0; k < 3; ++k) {
        length += direction[k] * direction[k];
    }
    for (int k = 0; k < 3; ++k) {
        n[k] = direction[k] / sqrt(length);
        along += n[k] * point[k];
    }
    return (ice_line){.x = (float)(point[0] - along * n[0]),
                      .y = (float)(point[1] - along * n[1]),
                      .z = (float)(point[2] - along * n[2]),
                      .direction = {(float)n[0], (float)n[1], (float)n[2]},
                      .from = (float)from,
                      .to = 2.0f};
}

#endif
