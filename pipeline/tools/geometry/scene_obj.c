#include "base/error.h"
#include "pipeline/files/text_output.h"
#include "pipeline/tools/geometry/scene.h"

#include <inttypes.h>

typedef struct obj_file {
    ics_text_output *text;
    uint64_t vertices; /* written so far */
} obj_file;

static const char *material_of(const ics_scene_body *body, int part, char name[24])
{
    if (part >= 0) {
        snprintf(name, 24, "pmt_%d", part);
        return name;
    }
    return body->is_cable ? "cable" : part == ICE_PART_ABSORBER ? "absorber" : "glass";
}

static int put_faces(obj_file *file, const ics_scene_body *body, icestream_error *error)
{
    const ice_mesh *surface = body->surface;
    char name[24];
    for (size_t i = 0; i < surface->triangle_count; ++i) {
        const uint32_t *corner = surface->triangles[i];
        if (i == 0 || surface->parts[i] != surface->parts[i - 1]) {
            ICS_TRY(ics_text_output_put(file->text, error, "usemtl %s\n",
                                        material_of(body, surface->parts[i], name)));
        }
        ICS_TRY(ics_text_output_put(file->text, error, "f %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                                    file->vertices + corner[0] + 1, file->vertices + corner[1] + 1,
                                    file->vertices + corner[2] + 1));
    }
    return ICESTREAM_OK;
}

static int put_body(void *user, const ics_scene_body *body, icestream_error *error)
{
    obj_file *file = user;
    ICS_TRY(ics_text_output_put(
        file->text, error, body->is_cable ? "o string_%u_cable_%u\n" : "o string_%u_module_%u\n",
        body->string, body->module));
    for (size_t i = 0; i < body->surface->vertex_count; ++i) {
        double at[3];
        ics_scene_vertex(body, i, at);
        ICS_TRY(
            ics_text_output_put(file->text, error, "v %.10g %.10g %.10g\n", at[0], at[1], at[2]));
    }
    ICS_TRY(put_faces(file, body, error));
    file->vertices += body->surface->vertex_count;
    return ICESTREAM_OK;
}

int ics_scene_write_obj(const ice_detector *detector, const char *path, bool force,
                        icestream_error *error)
{
    obj_file file = {0};
    ICS_TRY(ics_text_output_create(path, force, &file.text, error));
    int status = ics_text_output_put(file.text, error,
                                     "# icestream " ICESTREAM_VERSION ", modules and cables, m\n");
    if (status == ICESTREAM_OK) {
        status = ics_scene_visit(detector, put_body, &file, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_text_output_commit(file.text, error);
    }
    ics_text_output_destroy(file.text);
    return status;
}
