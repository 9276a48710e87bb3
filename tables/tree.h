/* The tree of boxes over the triangles of a mesh (physics.md 8.12). */
#ifndef ICS_TABLES_TREE_H
#define ICS_TABLES_TREE_H

#include "base/icestream_error.h"
#include "physics/model.h"
#include "stages/shapes/mesh_tree.h"

/* Trees and triangles of several meshes in one array, as stages read them. Zeros are a forest
 * without trees. */
typedef struct ics_tree_forest {
    ice_mesh_node *meshes; /* [count], owned */
    size_t count;
    uint32_t deepest; /* inner nodes on the longest way from a root to a leaf, <= ICE_MESH_DEPTH */
} ics_tree_forest;

/* The largest number of triangles of a mesh. */
enum { ICS_TREE_TRIANGLES_MAX = 10000000 };

/* Adds the tree of a mesh with 1 .. ICS_TREE_TRIANGLES_MAX triangles, all inside the sphere of
 * radius `reach` (m). *root becomes the index of its first
 * node. Equal meshes give equal trees.
 * Returns ICESTREAM_OK or ICESTREAM_E_MEMORY; the forest is as before then. */
int ics_tables_tree_add(ics_tree_forest *forest, const ice_mesh *mesh, double reach, uint32_t *root,
                        icestream_error *error);
/* Frees the arrays and empties the forest. */
void ics_tables_tree_free(ics_tree_forest *forest);

#endif
