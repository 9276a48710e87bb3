/* shape: mesh. A surface of triangles (physics.md 8.12).
 *
 * The test of a triangle is that of Woop, Benthin and Wald, "Watertight Ray/Triangle Intersection",
 * J. Computer Graphics Techniques 2(1), 2013: the line becomes the z axis by a shear, and the signs
 * of three edge functions decide. Two triangles with a common edge compute the same numbers for it,
 * so that no line slips through between them. That test repeats an edge function in double
 * precision if it is 0. Here an edge function is computed with fma so that its sign is always that
 * of the exact difference of the two products (ice_product_difference). So 0 means that the line
 * meets the edge. Then it meets both triangles, and no double precision is needed.
 *
 * The result is the smallest pair (distance, number of the triangle) over all triangles. The tree
 * only leaves out triangles that the line cannot meet, so it never changes a result:
 * tests/stages/test_shape_mesh.c compares it with a loop over all triangles, bit by bit. */
#ifndef ICS_STAGES_SHAPES_SHAPE_MESH_H
#define ICS_STAGES_SHAPES_SHAPE_MESH_H

#include "stages/shape.h"

#define ICE_NO_TRIANGLE 0xffffffffu

/* What a search does at each node of a tree and before it tests the triangles of a leaf: nothing.
 * A file that counts them (pipeline/commands/bench/shape_visits.c) defines both before it includes
 * this header. */
#ifndef ICE_MESH_AT_NODE
#define ICE_MESH_AT_NODE()           ((void)0)
#define ICE_MESH_AT_TRIANGLES(count) ((void)0)
#endif

/* The nearest entry that a search has found. */
typedef struct ice_mesh_entry {
    float distance;  /* distance from the point of the line (m); ICE_INFINITY: none */
    int32_t part;    /* part of the triangle */
    uint32_t number; /* number of the triangle in its mesh; ICE_NO_TRIANGLE: none */
} ice_mesh_entry;

/* The sheared frame of a line, in which the line is the z axis. */
typedef struct ice_mesh_shear {
    int32_t kx, ky, kz; /* the axes of the module that are x, y and z here */
    float x, y, z;      /* the point of the line, m */
    float sx, sy, sz;
} ice_mesh_shear;

/* Returns a b - c d with a relative error of at most 2^-23, and so with the right sign. This is
 * Kahan's method; Jeannerod, Louvet and Muller (Math. Comp. 82, 2013) prove the error. */
ICE_FN float ice_product_difference(float a, float b, float c, float d)
{
    const float second = c * d;
    const float rounding = fmaf(-c, d, second);
    return fmaf(a, b, -second) + rounding;
}

ICE_FN float ice_mesh_component(float x, float y, float z, int32_t k)
{
    return k == 0 ? x : k == 1 ? y : z;
}

ICE_FN ice_mesh_shear ice_mesh_shear_of(const ice_line *line)
{
    const ice_direction n = line->direction;
    const float across = ice_max(fabsf(n.x), fabsf(n.y));
    ice_mesh_shear s;
    s.kz = fabsf(n.z) >= across ? 2 : fabsf(n.y) >= fabsf(n.x) ? 1 : 0;
    const float forward = ice_mesh_component(n.x, n.y, n.z, s.kz);
    const int32_t next = s.kz == 2 ? 0 : s.kz + 1;
    const int32_t last = 3 - s.kz - next;
    /* the sense of rotation of a triangle stays what it is as seen against the line */
    s.kx = forward < 0.0f ? last : next;
    s.ky = forward < 0.0f ? next : last;
    s.x = ice_mesh_component(line->x, line->y, line->z, s.kx);
    s.y = ice_mesh_component(line->x, line->y, line->z, s.ky);
    s.z = ice_mesh_component(line->x, line->y, line->z, s.kz);
    s.sz = ice_div(1.0f, forward);
    s.sx = ice_mesh_component(n.x, n.y, n.z, s.kx) * s.sz;
    s.sy = ice_mesh_component(n.x, n.y, n.z, s.ky) * s.sz;
    return s;
}

/* Sums of edge functions below this (m^2) belong to triangles that are narrower than 1e-15 m as
 * seen along the line. The line passes them: their products may underflow. */
#define ICE_MESH_LEAST_AREA 0x1p-100f

/* Returns the distance (m) at which the line enters the front of a triangle, or ICE_INFINITY. */
ICE_FN float ice_mesh_meet(const ice_mesh_shear *s, const ice_mesh_triangle *triangle)
{
    const float *a = triangle->vertices[0], *b = triangle->vertices[1], *c = triangle->vertices[2];
    const float az = a[s->kz] - s->z, bz = b[s->kz] - s->z, cz = c[s->kz] - s->z;
    const float ax = fmaf(-s->sx, az, a[s->kx] - s->x), ay = fmaf(-s->sy, az, a[s->ky] - s->y);
    const float bx = fmaf(-s->sx, bz, b[s->kx] - s->x), by = fmaf(-s->sy, bz, b[s->ky] - s->y);
    const float cx = fmaf(-s->sx, cz, c[s->kx] - s->x), cy = fmaf(-s->sy, cz, c[s->ky] - s->y);
    const float u = ice_product_difference(cx, by, cy, bx);
    const float v = ice_product_difference(ax, cy, ay, cx);
    const float w = ice_product_difference(bx, ay, by, ax);
    const float area = u + v + w;
    if (u < 0.0f || v < 0.0f || w < 0.0f || area < ICE_MESH_LEAST_AREA) {
        return ICE_INFINITY;
    }
    return ice_div(fmaf(u, az, fmaf(v, bz, w * cz)), area) * s->sz;
}

/* Improves *nearest by triangles. */
ICE_FN void ice_mesh_try(const ice_mesh_shear *s, const ice_mesh_triangle *triangles,
                         uint32_t count, float from, ice_mesh_entry *nearest)
{
    ICE_MESH_AT_TRIANGLES(count);
    for (uint32_t i = 0; i < count; ++i) {
        const float distance = ice_mesh_meet(s, &triangles[i]);
        if (distance < from || distance > nearest->distance || distance == ICE_INFINITY) {
            continue;
        }
        if (distance < nearest->distance || triangles[i].number < nearest->number) {
            nearest->distance = distance;
            nearest->part = triangles[i].part;
            nearest->number = triangles[i].number;
        }
    }
}

/* 1 / (component of the direction). A component near 0 counts as 1e-18, which moves no point of a
 * line near a module by more than the margin of the boxes, and never gives 0 times infinity. */
ICE_FN float ice_mesh_inverse(float component)
{
    return ice_div(1.0f, ice_with_sign_of(ice_max(fabsf(component), 1e-18f), component));
}

/* Returns the distance (m) at which the line enters a box, or ICE_INFINITY if the box has no point
 * between line->from and `to`. */
ICE_FN float ice_mesh_box_enter(const ice_mesh_box *box, const ice_line *line, float ix, float iy,
                                float iz, float to)
{
    const float x0 = (box->low[0] - line->x) * ix, x1 = (box->high[0] - line->x) * ix;
    const float y0 = (box->low[1] - line->y) * iy, y1 = (box->high[1] - line->y) * iy;
    const float z0 = (box->low[2] - line->z) * iz, z1 = (box->high[2] - line->z) * iz;
    const float in = ice_max(ice_max(ice_min(x0, x1), ice_min(y0, y1)), ice_min(z0, z1));
    const float out = ice_min(ice_min(ice_max(x0, x1), ice_max(y0, y1)), ice_max(z0, z1));
    return in <= out && in <= to && out >= line->from ? in : ICE_INFINITY;
}

/* Returns the first entry of a line through the front of a triangle, from line->from to line->to.
 * `root` is the node at which the tree of the mesh begins. Triangles that the line leaves through,
 * or touches from the side, do not count: a line that begins inside a closed mesh leaves it without
 * an entry. */
ICE_RARE_FN ice_mesh_entry ice_mesh_enter(const ice_mesh_node *meshes, uint32_t root,
                                          const ice_line *line)
{
    const ice_mesh_shear shear = ice_mesh_shear_of(line);
    const float ix = ice_mesh_inverse(line->direction.x);
    const float iy = ice_mesh_inverse(line->direction.y);
    const float iz = ice_mesh_inverse(line->direction.z);
    ice_mesh_entry nearest = {line->to, 0, ICE_NO_TRIANGLE};
    uint32_t stack[ICE_MESH_DEPTH];
    uint32_t waiting = 0;
    stack[waiting++] = root;
    while (waiting > 0) {
        const ice_mesh_node *node = &meshes[stack[--waiting]];
        ICE_MESH_AT_NODE();
        const float in0 = ice_mesh_box_enter(&node->boxes[0], line, ix, iy, iz, nearest.distance);
        const float in1 = ice_mesh_box_enter(&node->boxes[1], line, ix, iy, iz, nearest.distance);
        /* leaves at once, the nearer one first */
        const int32_t near = in1 < in0;
        uint32_t wanted = 0;
        for (int32_t k = 0; k < 2; ++k) {
            const int32_t child = k == 0 ? near : 1 - near;
            if ((child ? in1 : in0) <= nearest.distance && (child ? in1 : in0) < ICE_INFINITY) {
                if (node->count[child] > 0) {
                    ice_mesh_try(&shear, ice_mesh_triangle_at(meshes, node->first[child]),
                                 node->count[child], line->from, &nearest);
                } else {
                    wanted |= 1u << child;
                }
            }
        }
        /* then the nodes: the nearer one is the next that the stack gives back */
        if (wanted & (2u >> near)) {
            stack[waiting++] = node->first[1 - near];
        }
        if (wanted & (1u << near)) {
            stack[waiting++] = node->first[near];
        }
    }
    nearest.distance = nearest.number == ICE_NO_TRIANGLE ? ICE_INFINITY : nearest.distance;
    return nearest;
}

/* The builder of the tables knows the reach of a mesh. */
ICE_FN float ice_reach_mesh(const ice_body *body)
{
    return body->reach;
}

ICE_FN ice_body_entry ice_enter_mesh(ice_shapes shapes, const ice_body *body, const ice_line *line)
{
    const ice_mesh_entry nearest = ice_mesh_enter(shapes.meshes, body->mesh, line);
    const ice_body_entry entry = {nearest.distance, nearest.part};
    return entry;
}

#endif
