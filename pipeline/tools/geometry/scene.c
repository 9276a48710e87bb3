#include "pipeline/tools/geometry/scene.h"

#include "base/error.h"
#include "physics/body.h"
#include "pipeline/models/mesh/body_surface.h"
#include "pipeline/models/mesh/mesh.h"

void ics_scene_vertex(const ics_scene_body *body, size_t vertex, double out[3])
{
    const float *v = body->surface->vertices[vertex];
    const double own[3] = {(double)v[0], (double)v[1], (double)v[2]};
    ice_orient(&body->turn, own, out);
    for (int n = 0; n < 3; ++n) {
        out[n] += body->origin[n];
    }
}

/* Fills the surfaces of all types; a detector without types has one, a sphere. The caller frees
 * them in every case. */
static int make_surfaces(const ice_detector *detector, ice_mesh surfaces[ICE_TYPES_MAX],
                         icestream_error *error)
{
    if (detector->type_count == 0) {
        const ice_module_type sphere = {.shape = ICE_SHAPE_SPHERE,
                                        .radius = detector->radius,
                                        .half_height = detector->radius,
                                        .reach = detector->radius};
        return ics_body_surface(&sphere, &surfaces[0], error);
    }
    for (size_t i = 0; i < detector->type_count; ++i) {
        ICS_TRY(ics_body_surface(&detector->types[i], &surfaces[i], error));
    }
    return ICESTREAM_OK;
}

static int check_size(const ice_detector *detector, const ice_mesh *surfaces,
                      icestream_error *error)
{
    uint64_t count = 0;
    for (size_t i = 0; i < detector->module_count; ++i) {
        count += surfaces[detector->modules[i].type].triangle_count;
    }
    if (count > ICS_SCENE_TRIANGLES_MAX) {
        return ics_error_set(
            error, ICESTREAM_E_CONFIG,
            "geometry: found %llu triangles of %zu modules, expected at most %d in "
            "a picture; .csv and .npy hold any detector",
            (unsigned long long)count, detector->module_count, ICS_SCENE_TRIANGLES_MAX);
    }
    return ICESTREAM_OK;
}

static int visit_modules(const ice_detector *detector, const ice_mesh *surfaces,
                         int (*visit)(void *, const ics_scene_body *, icestream_error *),
                         void *user, icestream_error *error)
{
    for (size_t i = 0; i < detector->module_count; ++i) {
        const ice_module *module = &detector->modules[i];
        const ics_scene_body body = {.surface = &surfaces[module->type],
                                     .origin = {module->x, module->y, module->z},
                                     .turn = module->orientation > 0
                                                 ? detector->orientations[module->orientation]
                                                 : (ice_orientation){.w = 1},
                                     .string = module->string,
                                     .module = module->module,
                                     .type = (uint16_t)module->type};
        ICS_TRY(visit(user, &body, error));
    }
    return ICESTREAM_OK;
}

static int visit_cables(const ice_detector *detector,
                        int (*visit)(void *, const ics_scene_body *, icestream_error *), void *user,
                        icestream_error *error)
{
    for (size_t i = 0; i < detector->cable_count; ++i) {
        const ice_cable *cable = &detector->cables[i];
        ice_mesh tube = {0};
        ICS_TRY(ics_body_surface_cable(cable, &tube, error));
        const ics_scene_body body = {.surface = &tube,
                                     .origin = {cable->from[0], cable->from[1], cable->from[2]},
                                     .turn = {.w = 1},
                                     .string = cable->string,
                                     .module = (uint16_t)i,
                                     .is_cable = true};
        const int status = visit(user, &body, error);
        ics_mesh_free(&tube);
        ICS_TRY(status);
    }
    return ICESTREAM_OK;
}

int ics_scene_visit(const ice_detector *detector,
                    int (*visit)(void *user, const ics_scene_body *body, icestream_error *error),
                    void *user, icestream_error *error)
{
    ice_mesh surfaces[ICE_TYPES_MAX] = {0};
    int status = make_surfaces(detector, surfaces, error);
    if (status == ICESTREAM_OK) {
        status = check_size(detector, surfaces, error);
    }
    if (status == ICESTREAM_OK) {
        status = visit_modules(detector, surfaces, visit, user, error);
    }
    if (status == ICESTREAM_OK) {
        status = visit_cables(detector, visit, user, error);
    }
    for (size_t i = 0; i < ICE_TYPES_MAX; ++i) {
        ics_mesh_free(&surfaces[i]);
    }
    return status;
}
