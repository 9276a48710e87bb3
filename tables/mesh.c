/* Tables of the meshes of types (physics.md 8.12): all trees and triangles in one array. */
#include "base/error.h"
#include "tables/geometry.h"
#include "tables/tree.h"

#include <stdlib.h>
#include <string.h>

static bool has_absorber(const ice_mesh *mesh)
{
    for (size_t i = 0; i < mesh->triangle_count; ++i) {
        if (mesh->parts[i] == ICE_PART_ABSORBER) {
            return true;
        }
    }
    return false;
}

/* Builds the trees of all types, and writes into each body where its tree begins. */
static int build_trees(ics_table_builder *builder, const ice_detector *detector, ice_body *bodies,
                       ics_tree_forest *forest)
{
    for (size_t i = 0; i < detector->type_count; ++i) {
        const ice_module_type *type = &detector->types[i];
        if (type->shape != ICE_SHAPE_MESH) {
            continue;
        }
        if (type->mesh.triangle_count == 0) {
            return ics_error_set(builder->error, ICESTREAM_E_CONFIG,
                                 "type %s: found a mesh without triangles, expected a surface",
                                 type->name);
        }
        ICS_TRY(ics_tables_tree_add(forest, &type->mesh, (double)bodies[i].reach, &bodies[i].mesh,
                                    builder->error));
        if (has_absorber(&type->mesh)) {
            builder->tables->features |= ICE_HAS_ABSORBERS;
        }
    }
    return ICESTREAM_OK;
}

int ics_tables_build_meshes(ics_table_builder *builder, const ice_detector *detector,
                            ice_body *bodies)
{
    ics_tree_forest forest = {0};
    int status = build_trees(builder, detector, bodies, &forest);
    if (status == ICESTREAM_OK && forest.count > 0) {
        ice_mesh_node *meshes;
        status = ics_tables_array(builder, &builder->tables->shapes.meshes, forest.count,
                                  sizeof *meshes, &meshes);
        if (status == ICESTREAM_OK) {
            memcpy(meshes, forest.meshes, forest.count * sizeof *meshes);
        }
    }
    ics_tables_tree_free(&forest);
    return status;
}
