/* Meshes that a tree might treat badly. All are inside the sphere of 0.5 m around the origin. */
#ifndef NASTY_MESHES_H
#define NASTY_MESHES_H

#include "tests/support/meshes.h"
#include "tests/support/test_scale.h"

static inline void random_point(uint64_t *state, double size, double at[3])
{
    for (int k = 0; k < 3; ++k) {
        at[k] = test_between(state, -size, size);
    }
}

static inline ice_mesh soup(uint64_t *state, int count, double size, double spread)
{
    ice_mesh mesh = {0};
    for (int i = 0; i < count; ++i) {
        double centre[3], at[3][3];
        random_point(state, spread, centre);
        for (int c = 0; c < 3; ++c) {
            random_point(state, size, at[c]);
            for (int k = 0; k < 3; ++k) {
                at[c][k] += centre[k];
            }
        }
        mesh_add_triangle(&mesh, at[0], at[1], at[2], i % 5);
    }
    return mesh;
}

/* Triangles of half a metre that are some 1e-7 m wide. */
static inline ice_mesh slivers(uint64_t *state)
{
    ice_mesh mesh = {0};
    for (int i = 0; i < 400; ++i) {
        double a[3], b[3], c[3];
        random_point(state, 0.25, a);
        random_point(state, 0.25, b);
        random_point(state, 1e-7, c);
        for (int k = 0; k < 3; ++k) {
            c[k] += (a[k] + b[k]) / 2.0;
        }
        mesh_add_triangle(&mesh, a, b, c, 0);
    }
    return mesh;
}

/* The same triangle again and again: no plane divides them, and all of them tie. */
static inline ice_mesh copies(void)
{
    static const double a[3] = {-0.2, -0.2, 0.1}, b[3] = {0.2, -0.2, 0.1}, c[3] = {0.0, 0.2, 0.1};
    ice_mesh mesh = {0};
    for (int i = 0; i < 1000; ++i) {
        mesh_add_triangle(&mesh, a, b, c, 0);
    }
    return mesh;
}

/* Triangles that shrink by a half each: without a bound the tree would be as deep as their number.
 */
static inline ice_mesh shrinking(void)
{
    ice_mesh mesh = {0};
    for (int i = 0; i < 120; ++i) {
        const double s = 0.25 * pow(0.5, i);
        const double a[3] = {s, 0.0, s}, b[3] = {2.0 * s, s, 0.0}, c[3] = {s, s, s};
        for (int n = 0; n < 9; ++n) {
            mesh_add_triangle(&mesh, a, n % 2 ? b : c, n % 2 ? c : b, 0);
        }
    }
    return mesh;
}

enum { MESHES = 9 };

static inline ice_mesh nasty_mesh(int which)
{
    static const double half[3] = {0.25, 0.25, 0.25}, flat[3] = {0.25, 0.25, 0.0};
    uint64_t state = 77 + (uint64_t)which;
    switch (which) {
    case 0:
        return mesh_icosphere(0.4, 4);
    case 1:
        return mesh_box(half, 16); /* edges and vertices at multiples of 1/32 */
    case 2:
        return mesh_box(flat, 8); /* without thickness: fronts on both sides */
    case 3:
        return soup(&state, 500, 0.1, 0.2);
    case 4:
        return slivers(&state);
    case 5:
        return copies();
    case 6:
        return shrinking();
    case 7:
        return soup(&state, 1, 0.2, 0.1);
    default:
        return soup(&state, 300, 1e-4, 0.25);
    }
}

#endif
