#include "base/cleanup.h"
#include "physics/body.h"
#include "pipeline/photons/models/detector/detector.h"
#include "pipeline/photons/models/detector/parts.h"

#include <math.h>
#include <stdlib.h>

/* The largest horizontal distance (m) between neighbours of a string that a cable connects. Tables
 * refuse cables that are 100 m away from the modules of their string (tables/cables.c). */
#define APART_MAX 80.0

/* Sorts pointers to modules by string and, within a string, from the lowest to the highest. */
static int compare_heights(const void *a, const void *b)
{
    const ice_module *left = *(const ice_module *const *)a, *right = *(const ice_module *const *)b;
    if (left->string != right->string) {
        return left->string < right->string ? -1 : 1;
    }
    if (left->z != right->z) {
        return left->z < right->z ? -1 : 1;
    }
    return (left->module > right->module) - (left->module < right->module);
}

/* Whether the axis of a module is vertical: it is upright or upside down, which is the same for
 * every body but a mesh. */
static bool is_vertical(const ice_detector *detector, const ice_module *module)
{
    double axis[3] = {0, 0, 1};
    if (module->orientation != 0) {
        ice_orient(&detector->orientations[module->orientation], axis, axis);
    }
    return hypot(axis[0], axis[1]) < 1e-6;
}

/* The type of a module whose sizes say where its surface is; NULL: the sphere around it counts,
 * because the module is a sphere or a mesh, or its axis is not vertical. */
static const ice_module_type *type_of(const ice_detector *detector, const ice_module *module)
{
    if (detector->type_count == 0 || detector->types[module->type].shape == ICE_SHAPE_MESH ||
        !is_vertical(detector, module)) {
        return NULL;
    }
    return &detector->types[module->type];
}

/* How far (m) from its vertical axis a cable passes the module, and how far above and below its
 * centre a straight cable ends. */
static double radius_of(const ice_detector *detector, const ice_module *module)
{
    const ice_module_type *type = type_of(detector, module);
    return type != NULL ? type->radius : ics_detector_reach(detector, module);
}

static double height_of(const ice_detector *detector, const ice_module *module)
{
    const ice_module_type *type = type_of(detector, module);
    return type != NULL ? type->half_height : ics_detector_reach(detector, module);
}

/* Makes the cable from one module to the next one above. Returns NULL, or what is wrong with the
 * two modules and what is expected. */
static const char *make_cable(const ice_detector *detector, const ice_module *low,
                              const ice_module *high, const icestream_config *config,
                              ice_cable *out)
{
    const double from[3] = {low->x, low->y, low->z}, to[3] = {high->x, high->y, high->z};
    const double azimuth = config->detector.string_cable_azimuth * (M_PI / 180);
    const double away =
        fmax(radius_of(detector, low), radius_of(detector, high)) + config->detector.cable_radius;
    double length = 0;
    *out = (ice_cable){.radius = config->detector.cable_radius, .string = low->string};
    for (int i = 0; i < 3; ++i) {
        length += (to[i] - from[i]) * (to[i] - from[i]);
    }
    length = sqrt(length);
    const bool is_at_side = config->detector.string_cables == ICS_CABLES_SIDE;
    const double start = is_at_side ? 0 : height_of(detector, low) / length;
    const double end = is_at_side ? 1 : 1 - height_of(detector, high) / length;
    const double offset[3] = {is_at_side ? away * cos(azimuth) : 0,
                              is_at_side ? away * sin(azimuth) : 0, 0};
    for (int i = 0; i < 3; ++i) {
        out->from[i] = from[i] + start * (to[i] - from[i]) + offset[i];
        out->to[i] = from[i] + end * (to[i] - from[i]) + offset[i];
    }
    if (hypot(to[0] - from[0], to[1] - from[1]) > APART_MAX) {
        return "more than 80 m apart as seen from above, expected at most 80 m, because cables "
               "follow their string";
    }
    return start < end ? NULL
                       : "so close to each other that no cable fits between their ends, expected "
                         "more room, or side";
}

static int make_all(const icestream_config *config, ice_detector *detector,
                    const ice_module *const *modules, icestream_error *error)
{
    size_t faults = 0;
    char place[512];
    ics_config_place(config, "detector.string_cables", place, sizeof place);
    for (size_t i = 1; i < detector->module_count; ++i) {
        ice_cable *cable = &detector->cables[detector->cable_count];
        if (modules[i]->string != modules[i - 1]->string) {
            continue;
        }
        const char *fault = make_cable(detector, modules[i - 1], modules[i], config, cable);
        if (fault == NULL) {
            ++detector->cable_count;
            continue;
        }
        ics_error_add_counted(error, &faults, ICESTREAM_E_CONFIG, "detector.string_cables",
                              "%s: error: detector.string_cables: string %u: found modules %u and "
                              "%u %s",
                              place, modules[i]->string, modules[i - 1]->module, modules[i]->module,
                              fault);
    }
    return faults > 0 ? ICESTREAM_E_CONFIG : ICESTREAM_OK;
}

/* A cable that absorbs light must not hide it from its module a second time. */
static int check_shadows(const icestream_config *config, const ice_detector *detector,
                         icestream_error *error)
{
    size_t shadows = 0;
    for (size_t i = 0; i < detector->module_count; ++i) {
        shadows += detector->modules[i].has_cable;
    }
    if (shadows == 0) {
        return ICESTREAM_OK;
    }
    return ics_config_error(
        config, "detector.string_cables", error,
        "found cables between modules, and detector.cables gives %zu module%s the shadow of a "
        "cable, which takes the same light; expected none for one of these two keys",
        shadows, shadows == 1 ? "" : "s");
}

int ics_string_cables_create(const icestream_config *config, ice_detector *detector,
                             icestream_error *error)
{
    if (config->detector.string_cables == ICS_CABLES_NONE) {
        return ICESTREAM_OK;
    }
    if (!(config->detector.cable_radius > 0)) {
        return ics_config_error(config, "detector.cable_radius", error,
                                "found 0 m, expected more than 0 with detector.string_cables");
    }
    ICS_TRY(check_shadows(config, detector, error));
    ICS_FREES const ice_module **modules = malloc(detector->module_count * sizeof *modules);
    detector->cables = malloc(detector->module_count * sizeof *detector->cables);
    if (modules == NULL || detector->cables == NULL) {
        return ics_error_no_memory(error, "detector");
    }
    for (size_t i = 0; i < detector->module_count; ++i) {
        modules[i] = &detector->modules[i];
    }
    qsort(modules, detector->module_count, sizeof *modules, compare_heights);
    return make_all(config, detector, modules, error);
}
