#include "base/error.h"
#include "pipeline/files/vtp_output.h"
#include "pipeline/tools/geometry/scene.h"

#include <stdlib.h>

/* A piece ends when it has this number of triangles, so that memory stays small and a file has few
 * pieces. */
enum { PIECE = 1 << 16 };

typedef struct cell {
    uint16_t string, module, type;
    int16_t part;
} cell;

typedef struct vtp_file {
    ics_vtp_output *output;
    double (*points)[3];
    size_t point_count, point_room;
    int32_t (*corners)[3];
    cell *cells;
    size_t triangle_count, triangle_room;
} vtp_file;

/* Makes room for one more surface. */
static int reserve(vtp_file *file, const ice_mesh *surface, icestream_error *error)
{
    const size_t points = file->point_count + surface->vertex_count;
    const size_t triangles = file->triangle_count + surface->triangle_count;
    if (points > file->point_room) {
        void *grown = realloc(file->points, 2 * points * sizeof *file->points);
        if (grown == NULL) {
            return ics_error_set(error, ICESTREAM_E_MEMORY, "geometry: out of memory");
        }
        file->points = grown;
        file->point_room = 2 * points;
    }
    if (triangles > file->triangle_room) {
        void *corners = realloc(file->corners, 2 * triangles * sizeof *file->corners);
        file->corners = corners != NULL ? corners : file->corners;
        void *cells = realloc(file->cells, 2 * triangles * sizeof *file->cells);
        file->cells = cells != NULL ? cells : file->cells;
        if (corners == NULL || cells == NULL) {
            return ics_error_set(error, ICESTREAM_E_MEMORY, "geometry: out of memory");
        }
        file->triangle_room = 2 * triangles;
    }
    return ICESTREAM_OK;
}

static int put_piece(vtp_file *file, icestream_error *error)
{
    if (file->triangle_count == 0) {
        return ICESTREAM_OK;
    }
    const size_t stride = sizeof *file->cells;
    const ics_vtp_piece piece = {
        .point_count = file->point_count,
        .positions = {"points (m)", {'f', 8}, 3, file->points, sizeof *file->points},
        .triangle_count = file->triangle_count,
        .corners = {"connectivity", {'i', 4}, 1, file->corners, sizeof(int32_t)},
        .line_data = {{"string", {'u', 2}, 1, &file->cells->string, stride},
                      {"module", {'u', 2}, 1, &file->cells->module, stride},
                      {"type", {'u', 2}, 1, &file->cells->type, stride},
                      {"part", {'i', 2}, 1, &file->cells->part, stride}},
        .line_array_count = 4};
    ICS_TRY(ics_vtp_output_put(file->output, &piece, error));
    file->point_count = 0;
    file->triangle_count = 0;
    return ICESTREAM_OK;
}

static int put_body(void *user, const ics_scene_body *body, icestream_error *error)
{
    vtp_file *file = user;
    const ice_mesh *surface = body->surface;
    ICS_TRY(reserve(file, surface, error));
    const int32_t first = (int32_t)file->point_count;
    for (size_t i = 0; i < surface->vertex_count; ++i) {
        ics_scene_vertex(body, i, file->points[file->point_count++]);
    }
    for (size_t i = 0; i < surface->triangle_count; ++i) {
        const size_t at = file->triangle_count++;
        for (int c = 0; c < 3; ++c) {
            file->corners[at][c] = first + (int32_t)surface->triangles[i][c];
        }
        const int part = body->is_cable ? ICS_SCENE_CABLE : surface->parts[i];
        file->cells[at] = (cell){body->string, body->module, body->type, (int16_t)part};
    }
    return file->triangle_count >= PIECE ? put_piece(file, error) : ICESTREAM_OK;
}

int ics_scene_write_vtp(const ice_detector *detector, const char *path, bool force,
                        icestream_error *error)
{
    vtp_file file = {0};
    ICS_TRY(ics_vtp_output_create(path, "modules and cables", force, &file.output, error));
    int status = ics_scene_visit(detector, put_body, &file, error);
    if (status == ICESTREAM_OK) {
        status = put_piece(&file, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_vtp_output_commit(file.output, error);
    }
    ics_vtp_output_destroy(file.output);
    free(file.points);
    free(file.corners);
    free(file.cells);
    return status;
}
