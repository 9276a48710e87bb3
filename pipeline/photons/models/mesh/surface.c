#include "base/cleanup.h"
#include "base/error.h"
#include "base/visible_text.h"
#include "pipeline/photons/models/mesh/file.h"

#include <stdlib.h>
#include <string.h>

/* An edge of a triangle. */
typedef struct edge {
    uint32_t low, high; /* the numbers of its vertices */
    uint32_t triangle;
    bool is_down; /* the triangle runs from high to low */
} edge;

/* What the edges say. */
typedef struct openness {
    bool *object_is_open; /* [object_count]: of the triangles of the object alone */
    size_t open;          /* edges of the mesh without a partner */
    size_t triangle;      /* the triangle of the first of them */
} openness;

static int compare_edges(const void *left, const void *right)
{
    const edge *a = left, *b = right;
    if (a->low != b->low) {
        return a->low < b->low ? -1 : 1;
    }
    if (a->high != b->high) {
        return a->high < b->high ? -1 : 1;
    }
    return (a->triangle > b->triangle) - (a->triangle < b->triangle);
}

/* Writes the edges with two different ends, sorted. `out` has room for three of each triangle.
 * Returns their number. */
static size_t sort_edges(const ice_mesh *mesh, edge *out)
{
    size_t count = 0;
    for (size_t i = 0; i < mesh->triangle_count; ++i) {
        for (int k = 0; k < 3; ++k) {
            const uint32_t from = mesh->triangles[i][k], to = mesh->triangles[i][(k + 1) % 3];
            if (from != to) {
                out[count++] = (edge){.low = from < to ? from : to,
                                      .high = from < to ? to : from,
                                      .triangle = (uint32_t)i,
                                      .is_down = from > to};
            }
        }
    }
    qsort(out, count, sizeof *out, compare_edges);
    return count;
}

/* Looks at the `count` triangles with one edge: as many must run along it in one sense as in the
 * other. */
static void look_at_edge(const ics_mesh_file *file, const edge *items, size_t count,
                         openness *found)
{
    long all = 0, of_object = 0;
    size_t object = ics_mesh_file_object(file, items[0].triangle);
    for (size_t i = 0; i < count; ++i) {
        const size_t next = ics_mesh_file_object(file, items[i].triangle);
        if (next != object) {
            found->object_is_open[object] |= of_object != 0;
            of_object = 0;
            object = next;
        }
        const int sense = items[i].is_down ? -1 : 1;
        all += sense;
        of_object += sense;
    }
    found->object_is_open[object] |= of_object != 0;
    if (all != 0) {
        if (found->open == 0 || items[0].triangle < found->triangle) {
            found->triangle = items[0].triangle;
        }
        ++found->open;
    }
}

static void look_at_edges(const ics_mesh_file *file, const edge *all, size_t count, openness *found)
{
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && all[end].low == all[i].low && all[end].high == all[i].high;
             ++end) {
        }
        look_at_edge(file, all + i, end - i, found);
    }
}

/* Six times the volume (m^3) between the origin and a triangle; negative if its back looks out. */
static double volume_of(const ice_mesh *mesh, size_t triangle)
{
    double at[3][3];
    for (int c = 0; c < 9; ++c) {
        at[c / 3][c % 3] = (double)mesh->vertices[mesh->triangles[triangle][c / 3]][c % 3];
    }
    return at[0][0] * (at[1][1] * at[2][2] - at[1][2] * at[2][1]) +
           at[0][1] * (at[1][2] * at[2][0] - at[1][0] * at[2][2]) +
           at[0][2] * (at[1][0] * at[2][1] - at[1][1] * at[2][0]);
}

static int inside_out(const ics_mesh_file *file, const char *what, const char *name, double volume,
                      icestream_error *error)
{
    char shown[2 * ICS_MESH_NAME_BYTES];
    return ics_error_add(error, ICESTREAM_E_CONFIG,
                         "%s: error: %s%s: found a volume of %.3g m3, expected more than 0: the "
                         "vertices of its triangles must run anticlockwise as seen from outside",
                         file->name, what, ics_visible_text(name, false, shown, sizeof shown),
                         volume);
}

static int check_volumes(const ics_mesh_file *file, const ice_mesh *mesh, const openness *found,
                         icestream_error *error)
{
    double total = 0.0;
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < file->object_count; ++i) {
        const ics_mesh_object *object = &file->objects[i];
        double volume = 0.0;
        for (uint64_t t = 0; t < object->count; ++t) {
            volume += volume_of(mesh, (size_t)(object->first + t)) / 6.0;
        }
        total += volume;
        if (!found->object_is_open[i] && volume < 0.0) {
            status = inside_out(file, "object ", object->name, volume, error);
        }
    }
    if (status == ICESTREAM_OK && found->open == 0 && total < 0.0) {
        status = inside_out(file, "the mesh", "", total, error);
    }
    return status;
}

int ics_mesh_surface_check(const ics_mesh_file *file, const ice_mesh *mesh, ics_warnings *warnings,
                           icestream_error *error)
{
    ICS_FREES edge *all = malloc(3 * mesh->triangle_count * sizeof *all);
    ICS_FREES bool *object_is_open = calloc(file->object_count, sizeof *object_is_open);
    openness found = {.object_is_open = object_is_open};
    char text[ICS_MESH_TEXT_BYTES];
    if (object_is_open == NULL || all == NULL) {
        return ics_error_no_memory(error, file->name);
    }
    look_at_edges(file, all, sort_edges(mesh, all), &found);
    if (found.open > 0) {
        ics_warnings_add(warnings,
                         "%s: an edge has no neighbour that runs along it in the opposite "
                         "sense; the mesh has %zu such open edges, through which light may "
                         "get behind its surface and leave without a hit",
                         ics_mesh_file_triangle(file, found.triangle, "", text), found.open);
    }
    return check_volumes(file, mesh, &found, error);
}

static bool has_area(const ice_mesh *mesh, size_t triangle)
{
    double p[3], q[3];
    for (int k = 0; k < 3; ++k) {
        const double a = (double)mesh->vertices[mesh->triangles[triangle][0]][k];
        p[k] = (double)mesh->vertices[mesh->triangles[triangle][1]][k] - a;
        q[k] = (double)mesh->vertices[mesh->triangles[triangle][2]][k] - a;
    }
    return p[1] * q[2] != p[2] * q[1] || p[2] * q[0] != p[0] * q[2] || p[0] * q[1] != p[1] * q[0];
}

int ics_mesh_surface_clean(const ics_mesh_file *file, ice_mesh *mesh, ics_warnings *warnings,
                           icestream_error *error)
{
    size_t kept = 0, first = 0;
    const size_t count = mesh->triangle_count;
    for (size_t i = 0; i < count; ++i) {
        if (has_area(mesh, i)) {
            memmove(mesh->triangles[kept], mesh->triangles[i], sizeof *mesh->triangles);
            mesh->parts[kept++] = mesh->parts[i];
        } else if (kept == i) {
            first = i;
        }
    }
    mesh->triangle_count = kept;
    if (kept == count) {
        return ICESTREAM_OK;
    }
    char text[ICS_MESH_TEXT_BYTES];
    if (kept == 0) {
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             "%s: found no area, as in all %zu triangles, expected a surface",
                             ics_mesh_file_triangle(file, 0, "error: ", text), count);
    }
    ics_warnings_add(warnings, "%s: found no area; %zu such triangles are left out",
                     ics_mesh_file_triangle(file, first, "", text), count - kept);
    return ICESTREAM_OK;
}
