#include "pipeline/photons/models/mesh/mesh.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file_kind.h"
#include "base/visible_text.h"
#include "pipeline/photons/models/mesh/file.h"
#include "pipeline/photons/models/text/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#define BYTES_MAX (UINT32_C(1) << 31)

/* Returns the format that the ending of a name says, or NULL. */
static const char *format_of(const char *name)
{
    static const char *const formats[] = {"obj", "stl", "ply"};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot != NULL && i < sizeof formats / sizeof *formats; ++i) {
        if (strcasecmp(dot + 1, formats[i]) == 0) {
            return formats[i];
        }
    }
    return NULL;
}

/* Returns the part of an object; NULL: none. */
static const ics_mesh_part *part_of(const ics_mesh_settings *settings,
                                    const ics_mesh_object *object)
{
    const char *const names[] = {object->name, object->material, "*"};
    for (size_t n = 0; n < sizeof names / sizeof *names; ++n) {
        for (size_t i = 0; i < settings->part_count; ++i) {
            if (strcmp(settings->parts[i].name, names[n]) == 0) {
                return &settings->parts[i];
            }
        }
    }
    return NULL;
}

static void report_part(const ics_mesh_file *file, const char *name, icestream_error *error)
{
    const ics_mesh_object *object = &file->objects[0];
    char shown[3][2 * ICS_MESH_NAME_BYTES];
    (void)ics_error_add(
        error, ICESTREAM_E_CONFIG,
        "%s: error: found no triangles for the part '%s', expected the name of an object or of a "
        "material; the first of %zu objects is '%s' with material '%s'",
        file->name, ics_visible_text(name, false, shown[0], sizeof shown[0]), file->object_count,
        ics_visible_text(object->name, false, shown[1], sizeof shown[1]),
        ics_visible_text(object->material, false, shown[2], sizeof shown[2]));
}

static void report_object(const ics_mesh_file *file, const ics_mesh_object *object, size_t *faults,
                          icestream_error *error)
{
    char shown[2][2 * ICS_MESH_NAME_BYTES], text[ICS_MESH_TEXT_BYTES];
    (void)ics_error_add_counted(
        error, faults, ICESTREAM_E_CONFIG, file->name,
        "%s: found no part for object '%s' with material '%s', expected a part with one of these "
        "names, or a part '*' for the rest",
        ics_mesh_file_triangle(file, (size_t)object->first, "error: ", text),
        ics_visible_text(object->name, false, shown[0], sizeof shown[0]),
        ics_visible_text(object->material, false, shown[1], sizeof shown[1]));
}

/* Gives every triangle its part. */
static int give_parts(const ics_mesh_file *file, const ics_mesh_settings *settings, ice_mesh *mesh,
                      icestream_error *error)
{
    if (settings->part_count == 0) {
        return ICESTREAM_OK;
    }
    ICS_FREES bool *used = calloc(settings->part_count, sizeof *used);
    if (used == NULL) {
        return ics_error_no_memory(error, file->name);
    }
    size_t faults = 0, unused = 0;
    for (size_t i = 0; i < file->object_count; ++i) {
        const ics_mesh_object *object = &file->objects[i];
        const ics_mesh_part *found = part_of(settings, object);
        if (found == NULL) {
            report_object(file, object, &faults, error);
            continue;
        }
        used[found - settings->parts] = true;
        for (uint64_t t = 0; t < object->count; ++t) {
            mesh->parts[object->first + t] = found->part;
        }
    }
    for (size_t i = 0; i < settings->part_count; ++i) {
        if (!used[i] && strcmp(settings->parts[i].name, "*") != 0) {
            report_part(file, settings->parts[i].name, error);
            ++unused;
        }
    }
    return faults + unused > 0 ? ICESTREAM_E_CONFIG : ICESTREAM_OK;
}

static int make_mesh(const ics_mesh_file *file, const ics_mesh_settings *settings, ice_mesh *out,
                     ics_warnings *warnings, icestream_error *error)
{
    ICS_TRY(ics_mesh_weld(file, settings, out, error));
    ICS_TRY(give_parts(file, settings, out, error));
    ICS_TRY(ics_mesh_surface_check(file, out, warnings, error));
    return ics_mesh_surface_clean(file, out, warnings, error);
}

int ics_mesh_read_memory(const char *name, const char *data, size_t size,
                         const ics_mesh_settings *settings, ice_mesh *out, ics_warnings *warnings,
                         icestream_error *error)
{
    *out = (ice_mesh){0};
    const char *format = format_of(name);
    if (format == NULL) {
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             "%s: error: found a mesh with another ending, expected a name that "
                             "ends with .obj, .stl or .ply",
                             name);
    }
    if (size == 0) {
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             "%s: error: found an empty file, expected a mesh", name);
    }
    ics_mesh_file file;
    ICS_TRY(ics_mesh_file_open(name, data, size, format, &file, error));
    const int status = make_mesh(&file, settings, out, warnings, error);
    ics_mesh_file_close(&file);
    if (status != ICESTREAM_OK) {
        ics_mesh_free(out);
    }
    return status;
}

int ics_mesh_read(const char *path, const ics_mesh_settings *settings, ice_mesh *out,
                  ics_warnings *warnings, icestream_error *error)
{
    int descriptor;
    size_t size;
    *out = (ice_mesh){0};
    ICS_TRY(ics_text_open_file(path, BYTES_MAX, &descriptor, &size, error));
    void *data = size > 0 ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0) : NULL;
    const int cause = errno;
    close(descriptor);
    if (data == MAP_FAILED) {
        return ics_error_add(error, ICESTREAM_E_CONFIG, "%s: error: %s", path, strerror(cause));
    }
    const int status = ics_mesh_read_memory(path, data, size, settings, out, warnings, error);
    if (data != NULL) {
        munmap(data, size);
    }
    return status;
}

double ics_mesh_reach(const ice_mesh *mesh)
{
    double square = 0.0;
    for (size_t i = 0; i < mesh->vertex_count; ++i) {
        const double x = (double)mesh->vertices[i][0], y = (double)mesh->vertices[i][1];
        const double z = (double)mesh->vertices[i][2];
        square = fmax(square, x * x + y * y + z * z);
    }
    return sqrt(square);
}

void ics_mesh_free(ice_mesh *mesh)
{
    if (mesh == NULL) {
        return;
    }
    free(mesh->vertices);
    free(mesh->triangles);
    free(mesh->parts);
    *mesh = (ice_mesh){0};
}
