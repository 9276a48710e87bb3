/* The tables of meshes: triangles, and the tree of boxes over them (physics.md 8.12). */
#ifndef ICS_STAGES_SHAPES_MESH_TREE_H
#define ICS_STAGES_SHAPES_MESH_TREE_H

#include "stages/platform.h"

/* The tree has at most this number of inner nodes on the way from its root to a leaf, and a leaf
 * has at most ICE_MESH_LEAF triangles. The builder (tables/tree.c) keeps both promises. */
enum { ICE_MESH_DEPTH = 24, ICE_MESH_LEAF = 8 };

/* A box with edges along the axes of the module's own frame, m. Boxes of the tree are wider than
 * their triangles (ICE_MESH_MARGIN). */
typedef struct ice_mesh_box {
    float low[3], high[3];
} ice_mesh_box;

/* A node of the tree (64 bytes): the boxes of both children and where the children are. All meshes
 * are in one array, because every pointer is a parameter of all kernels (graphs/cuda/loop.c). Each
 * mesh has its nodes first, beginning with its root, and its triangles behind them. */
typedef struct ice_mesh_node {
    ICE_ALIGNED(16)
    ice_mesh_box boxes[2];
    /* of a node: its index in the array; of a leaf: where its first triangle is, in units of 16
     * bytes from the begin of the array */
    uint32_t first[2];
    uint32_t count[2]; /* number of triangles of a leaf, 1 .. ICE_MESH_LEAF; 0: a node */
} ice_mesh_node;

/* A triangle (48 bytes). */
typedef struct ice_mesh_triangle {
    ICE_ALIGNED(16)
    float vertices[3][3]; /* m, in the module's own frame, anticlockwise from outside */
    int32_t part;         /* index of a PMT, or a negative number (physics/model.h, ICE_PART_...) */
    uint32_t number;      /* index of the triangle in the mesh; the smaller one wins a tie */
    uint32_t unused;
} ice_mesh_triangle;

ICE_FN const ice_mesh_triangle *ice_mesh_triangle_at(const ice_mesh_node *meshes, uint32_t offset)
{
    return (const ice_mesh_triangle *)(const void *)((const char *)meshes + 16 * (size_t)offset);
}

/* By how much the boxes of a tree are wider than their triangles on every side, in units of the
 * reach, the radius of the sphere around the module's centre that contains the mesh. The lines of a
 * search pass through this sphere, so that all numbers of the test of a triangle are at most 4
 * reach, and its point of entry is in the plane and inside the edges within some 20 roundings of
 * 2^-24 times that: less than 2^-17 reach. */
#define ICE_MESH_MARGIN 0x1p-16f

#endif
