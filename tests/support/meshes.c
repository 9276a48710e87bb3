#include "tests/support/meshes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *enlarged(void *memory, size_t bytes)
{
    void *more = realloc(memory, bytes);
    if (more == NULL) {
        abort();
    }
    return more;
}

static uint32_t add_vertex(ice_mesh *mesh, const double at[3])
{
    mesh->vertices = enlarged(mesh->vertices, (mesh->vertex_count + 1) * sizeof *mesh->vertices);
    for (int k = 0; k < 3; ++k) {
        mesh->vertices[mesh->vertex_count][k] = (float)at[k];
    }
    return (uint32_t)mesh->vertex_count++;
}

static void add_face(ice_mesh *mesh, uint32_t a, uint32_t b, uint32_t c, int part)
{
    const size_t count = mesh->triangle_count + 1;
    mesh->triangles = enlarged(mesh->triangles, count * sizeof *mesh->triangles);
    mesh->parts = enlarged(mesh->parts, count * sizeof *mesh->parts);
    const uint32_t corners[3] = {a, b, c};
    memcpy(mesh->triangles[count - 1], corners, sizeof corners);
    mesh->parts[count - 1] = (int16_t)part;
    mesh->triangle_count = count;
}

void mesh_add_triangle(ice_mesh *mesh, const double a[3], const double b[3], const double c[3],
                       int part)
{
    const uint32_t first = add_vertex(mesh, a);
    const uint32_t second = add_vertex(mesh, b);
    add_face(mesh, first, second, add_vertex(mesh, c), part);
}

static ice_mesh icosahedron(double radius)
{
    static const uint32_t faces[20][3] = {
        {0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
        {11, 10, 2}, {10, 7, 6}, {7, 1, 8},  {3, 9, 4},  {3, 4, 2},   {3, 2, 6}, {3, 6, 8},
        {3, 8, 9},   {4, 9, 5},  {2, 4, 11}, {6, 2, 10}, {8, 6, 7},   {9, 8, 1}};
    const double t = (1.0 + sqrt(5.0)) / 2.0, scale = radius / sqrt(1.0 + t * t);
    const double corners[12][3] = {{-1, t, 0}, {1, t, 0}, {-1, -t, 0}, {1, -t, 0},
                                   {0, -1, t}, {0, 1, t}, {0, -1, -t}, {0, 1, -t},
                                   {t, 0, -1}, {t, 0, 1}, {-t, 0, -1}, {-t, 0, 1}};
    ice_mesh mesh = {0};
    for (int i = 0; i < 12; ++i) {
        const double at[3] = {scale * corners[i][0], scale * corners[i][1], scale * corners[i][2]};
        (void)add_vertex(&mesh, at);
    }
    for (int i = 0; i < 20; ++i) {
        add_face(&mesh, faces[i][0], faces[i][1], faces[i][2], ICE_PART_GLASS);
    }
    return mesh;
}

/* Returns the vertex in the middle of an edge. Both triangles of the edge call this with its ends
 * in opposite orders, and the second call finds the vertex that the first has made: the vertices of
 * middles stand behind `old`, and made[] has the other end for each. */
static uint32_t middle_of(ice_mesh *mesh, double radius, uint32_t a, uint32_t b,
                          uint32_t (*made)[8], uint32_t (*ends)[8], uint8_t *counts)
{
    const uint32_t low = a < b ? a : b, high = a < b ? b : a;
    for (int i = 0; i < counts[low]; ++i) {
        if (ends[low][i] == high) {
            return made[low][i];
        }
    }
    double at[3], length = 0.0;
    for (int k = 0; k < 3; ++k) {
        at[k] = (double)mesh->vertices[a][k] + (double)mesh->vertices[b][k];
        length += at[k] * at[k];
    }
    for (int k = 0; k < 3; ++k) {
        at[k] *= radius / sqrt(length);
    }
    ends[low][counts[low]] = high;
    return made[low][counts[low]++] = add_vertex(mesh, at);
}

ice_mesh mesh_icosphere(double radius, int level)
{
    ice_mesh mesh = icosahedron(radius);
    for (int step = 0; step < level; ++step) {
        const size_t count = mesh.triangle_count;
        uint32_t(*made)[8] = enlarged(NULL, mesh.vertex_count * sizeof *made);
        uint32_t(*ends)[8] = enlarged(NULL, mesh.vertex_count * sizeof *ends);
        uint8_t *counts = enlarged(NULL, mesh.vertex_count);
        memset(counts, 0, mesh.vertex_count);
        for (size_t i = 0; i < count; ++i) {
            uint32_t corner[3], middle[3];
            memcpy(corner, mesh.triangles[i], sizeof corner);
            for (int k = 0; k < 3; ++k) {
                middle[k] =
                    middle_of(&mesh, radius, corner[k], corner[(k + 1) % 3], made, ends, counts);
            }
            memcpy(mesh.triangles[i], middle, sizeof middle);
            for (int k = 0; k < 3; ++k) {
                add_face(&mesh, corner[k], middle[k], middle[(k + 2) % 3], ICE_PART_GLASS);
            }
        }
        free(made);
        free(ends);
        free(counts);
    }
    return mesh;
}

/* Adds two triangles of a square of a face: `axis` is its normal, `side` is -1 or 1. */
static void add_square(ice_mesh *mesh, const double half[3], int cells, int axis, int side, int i,
                       int j)
{
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    double corner[4][3];
    for (int c = 0; c < 4; ++c) {
        corner[c][axis] = side * half[axis];
        corner[c][u] = half[u] * (2.0 * (i + (c == 1 || c == 2)) / cells - 1.0);
        corner[c][v] = half[v] * (2.0 * (j + (c >= 2)) / cells - 1.0);
    }
    const int part = 2 * axis + (side > 0);
    mesh_add_triangle(mesh, corner[0], corner[side > 0 ? 1 : 2], corner[side > 0 ? 2 : 1], part);
    mesh_add_triangle(mesh, corner[0], corner[side > 0 ? 2 : 3], corner[side > 0 ? 3 : 2], part);
}

ice_mesh mesh_box(const double half[3], int cells)
{
    ice_mesh mesh = {0};
    for (int face = 0; face < 6; ++face) {
        for (int i = 0; i < cells; ++i) {
            for (int j = 0; j < cells; ++j) {
                add_square(&mesh, half, cells, face / 2, face % 2 ? 1 : -1, i, j);
            }
        }
    }
    return mesh;
}

void mesh_move(ice_mesh *mesh, double x, double y, double z)
{
    for (size_t i = 0; i < mesh->vertex_count; ++i) {
        mesh->vertices[i][0] += (float)x;
        mesh->vertices[i][1] += (float)y;
        mesh->vertices[i][2] += (float)z;
    }
}

double mesh_area_against(const ice_mesh *mesh, const double direction[3])
{
    double area = 0.0;
    for (size_t i = 0; i < mesh->triangle_count; ++i) {
        double p[3], q[3];
        for (int k = 0; k < 3; ++k) {
            const double a = (double)mesh->vertices[mesh->triangles[i][0]][k];
            p[k] = (double)mesh->vertices[mesh->triangles[i][1]][k] - a;
            q[k] = (double)mesh->vertices[mesh->triangles[i][2]][k] - a;
        }
        const double seen = direction[0] * (p[1] * q[2] - p[2] * q[1]) +
                            direction[1] * (p[2] * q[0] - p[0] * q[2]) +
                            direction[2] * (p[0] * q[1] - p[1] * q[0]);
        area -= fmin(seen, 0.0) / 2.0;
    }
    return area;
}

void mesh_free(ice_mesh *mesh)
{
    free(mesh->vertices);
    free(mesh->triangles);
    free(mesh->parts);
    *mesh = (ice_mesh){0};
}
