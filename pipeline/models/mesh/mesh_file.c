#include "pipeline/models/mesh/mesh_file.h"

#include "base/visible_text.h"

#include <stdio.h>
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
