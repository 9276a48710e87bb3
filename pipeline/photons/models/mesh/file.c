#include "pipeline/photons/models/mesh/file.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/visible_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void ics_mesh_file_close(ics_mesh_file *file)
{
    if (file->memory != NULL) {
        munmap(file->memory, file->bytes);
    }
    *file = (ics_mesh_file){0};
}

size_t ics_mesh_file_object(const ics_mesh_file *file, size_t triangle)
{
    size_t low = 0, high = file->object_count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (file->objects[middle].first <= triangle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

const char *ics_mesh_file_triangle(const ics_mesh_file *file, size_t triangle, const char *error,
                                   char text[ICS_MESH_TEXT_BYTES])
{
    const ics_mesh_object *object = &file->objects[ics_mesh_file_object(file, triangle)];
    char shown[2 * ICS_MESH_NAME_BYTES];
    snprintf(text, ICS_MESH_TEXT_BYTES, "%s: %striangle %zu of object '%s'", file->name, error,
             triangle - (size_t)object->first + 1,
             ics_visible_text(object->name, false, shown, sizeof shown));
    return text;
}

/* ---- from a file to a mesh --------------------------------------------------------------------
 */

/* A table of vertices by their positions, with open addresses. */
typedef struct finder {
    uint32_t *vertices; /* [mask + 1]; index + 1, 0: empty */
    size_t mask;
} finder;

static uint32_t hash(const float at[3])
{
    uint32_t words[3], sum = 0x9e3779b9u;
    memcpy(words, at, sizeof words);
    for (int k = 0; k < 3; ++k) {
        sum = (sum ^ words[k]) * 0x85ebca6bu;
        sum ^= sum >> 15;
    }
    sum *= 0xc2b2ae35u;
    return sum ^ (sum >> 16);
}

/* Returns the index of the vertex at a position, which is added if it is new. */
static uint32_t find(const finder *known, ice_mesh *mesh, const float at[3])
{
    size_t slot = hash(at) & known->mask;
    while (known->vertices[slot] != 0) {
        const uint32_t index = known->vertices[slot] - 1;
        const float *other = mesh->vertices[index];
        if (other[0] == at[0] && other[1] == at[1] && other[2] == at[2]) {
            return index;
        }
        slot = (slot + 1) & known->mask;
    }
    memcpy(mesh->vertices[mesh->vertex_count], at, sizeof *mesh->vertices);
    known->vertices[slot] = (uint32_t)++mesh->vertex_count;
    return (uint32_t)(mesh->vertex_count - 1);
}

/* Computes a position in metres. */
static int take_corner(const ics_mesh_file *file, const ics_mesh_settings *settings, size_t corner,
                       float at[3], icestream_error *error)
{
    const float *found = file->corners[corner];
    double square = 0.0;
    for (int k = 0; k < 3; ++k) {
        at[k] = (float)(settings->unit * (double)found[k]) + 0.0f; /* -0 becomes 0 */
        square += (double)at[k] * (double)at[k];
    }
    char text[ICS_MESH_TEXT_BYTES];
    if (!isfinite(square)) {
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             "%s: found a vertex (%g, %g, %g), expected finite numbers",
                             ics_mesh_file_triangle(file, corner / 3, "error: ", text),
                             (double)found[0], (double)found[1], (double)found[2]);
    }
    if (square > settings->reach * settings->reach) {
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             "%s: found a vertex %.6g m from the centre, expected at most %g m; "
                             "one unit of the file is taken as %g m",
                             ics_mesh_file_triangle(file, corner / 3, "error: ", text),
                             sqrt(square), settings->reach, settings->unit);
    }
    return ICESTREAM_OK;
}

static int weld(const ics_mesh_file *file, const ics_mesh_settings *settings, const finder *known,
                ice_mesh *out, icestream_error *error)
{
    for (size_t i = 0; i < file->triangle_count; ++i) {
        for (size_t c = 0; c < 3; ++c) {
            float at[3];
            ICS_TRY(take_corner(file, settings, 3 * i + c, at, error));
            out->triangles[i][c] = find(known, out, at);
        }
        out->parts[i] = ICE_PART_GLASS;
    }
    return ICESTREAM_OK;
}

int ics_mesh_weld(const ics_mesh_file *file, const ics_mesh_settings *settings, ice_mesh *out,
                  icestream_error *error)
{
    const size_t count = file->triangle_count;
    finder known = {.mask = 7};
    while (known.mask < 4 * count) {
        known.mask = 2 * known.mask + 1;
    }
    ICS_FREES uint32_t *vertices = calloc(known.mask + 1, sizeof *vertices);
    known.vertices = vertices;
    *out = (ice_mesh){.vertices = calloc(3 * count, sizeof *out->vertices),
                      .triangles = calloc(count, sizeof *out->triangles),
                      .parts = calloc(count, sizeof *out->parts),
                      .triangle_count = count};
    if (vertices == NULL || out->vertices == NULL || out->triangles == NULL || out->parts == NULL) {
        return ics_error_add(error, ICESTREAM_E_MEMORY,
                             "%s: error: out of memory for %zu triangles", file->name, count);
    }
    ICS_TRY(weld(file, settings, &known, out, error));
    void *fitting = realloc(out->vertices, out->vertex_count * sizeof *out->vertices);
    out->vertices = fitting != NULL ? fitting : out->vertices;
    return ICESTREAM_OK;
}
