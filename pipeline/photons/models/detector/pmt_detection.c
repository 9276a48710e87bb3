#include "pipeline/photons/models/detector/pmt_detection.h"

#include "physics/body.h"
#include "pipeline/photons/models/detector/pmt_tables.h"

#include <math.h>
#include <string.h>

/* A window that lies deeper than this share of its radius is warned of. It loses 1 % of its light
 * there, and the square of the depth counts. */
#define DEPTH_WARNING 0.1

bool ics_pmt_detection_is(const char *variant)
{
    return strcmp(variant, ICS_PMT_PLANE) == 0 || strcmp(variant, ICS_PMT_PLACE) == 0 ||
           strcmp(variant, ICS_PMT_TABLE) == 0;
}

/* ---- the largest value ----------------------------------------------------------------------- */

/* Along the axis of a cylinder without ends the area of the module vanishes. Directions that are
 * closer to the axis than this do not count for the largest value. */
#define CLOSEST_TO_AXIS (0.5 * M_PI / 180)

/* Returns the sum of effective areas over the area of the module for light along `direction`.
 * `areas`: of each PMT for light from its front, m2. */
static double plane_value(const ice_module_type *type, const double *areas,
                          const double direction[3])
{
    const double across = hypot(direction[0], direction[1]);
    double sum = 0;
    if (type->open_ends && across < sin(CLOSEST_TO_AXIS)) {
        return 0;
    }
    for (size_t k = 0; k < type->pmt_count; ++k) {
        const ice_pmt *pmt = &type->pmts[k];
        const double x = -(direction[0] * pmt->axis[0] + direction[1] * pmt->axis[1] +
                           direction[2] * pmt->axis[2]);
        sum += areas[k] * ice_pmt_share(fmax(fmin(x, 1), -1), type->beta);
    }
    return sum / ice_body_area(type->shape, type->open_ends, type->radius, type->half_height,
                               direction[2]);
}

static void normalise(double v[3])
{
    const double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int i = 0; i < 3; ++i) {
        v[i] /= length;
    }
}

/* Climbs from a direction to the nearest maximum, with steps that become shorter. A ridge cannot
 * hold the climb, because a length of steps lasts for few moves. */
static double climb(const ice_module_type *type, const double *areas, const double start[3])
{
    enum { LENGTHS = 24, MOVES = 6 };
    double at[3] = {start[0], start[1], start[2]}, best = plane_value(type, areas, at), step = 0.03;
    for (int round = 0; round < LENGTHS * MOVES; ++round) {
        bool has_moved = false;
        for (int move = 0; move < 6; ++move) {
            double next[3] = {at[0], at[1], at[2]};
            next[move / 2] += move % 2 ? step : -step;
            normalise(next);
            const double value = plane_value(type, areas, next);
            if (value > best) {
                best = value;
                memcpy(at, next, sizeof at);
                has_moved = true;
            }
        }
        step = has_moved && (round + 1) % MOVES != 0 ? step : step / 2;
    }
    return best;
}

/* The sensitivity of PMTs has edges, so the best of many directions, which are spread evenly on the
 * sphere (a spiral with the golden angle), and the axes of all PMTs begin the search. */
static double plane_maximum(const ice_module_type *type, const double *areas)
{
    enum { DIRECTIONS = 4000, CLIMBS = 16 };
    double starts[CLIMBS][3] = {{0}}, values[CLIMBS] = {0}, best = 0;
    for (size_t i = 0; i < DIRECTIONS + type->pmt_count; ++i) {
        const double z = 1 - (2 * (double)i + 1) / DIRECTIONS;
        const double r = sqrt(fmax(0, 1 - z * z)), a = M_PI * (3 - sqrt(5)) * (double)i;
        double direction[3] = {r * cos(a), r * sin(a), z};
        for (int c = 0; i >= DIRECTIONS && c < 3; ++c) {
            direction[c] = -type->pmts[i - DIRECTIONS].axis[c];
        }
        const double value = plane_value(type, areas, direction);
        int lowest = 0;
        for (int k = 1; k < CLIMBS; ++k) {
            lowest = values[k] < values[lowest] ? k : lowest;
        }
        if (value > values[lowest]) {
            values[lowest] = value;
            memcpy(starts[lowest], direction, sizeof direction);
        }
    }
    for (int k = 0; k < CLIMBS; ++k) {
        best = values[k] > 0 ? fmax(best, climb(type, areas, starts[k])) : best;
    }
    return best;
}

static double place_maximum(const ice_module_type *type, const double *factors)
{
    double best = 0;
    for (size_t k = 0; k < type->pmt_count; ++k) {
        best = fmax(best, type->pmts[k].efficiency * factors[k]);
    }
    return best;
}

/* The radius of every window must be known. */
static int check_windows(const icestream_config *config, const char *variant,
                         const ice_module_type *type, icestream_error *error)
{
    for (size_t k = 0; k < type->pmt_count; ++k) {
        if (!(type->pmts[k].radius > 0)) {
            return ics_config_error(config, "stages.detect", error,
                                    "%s needs the radius of every PMT's window, and PMT %zu of the "
                                    "type %s has none; expected radius in pmts, or pmt_radius",
                                    variant, k, type->name);
        }
    }
    return ICESTREAM_OK;
}

/* A window whose middle is not on the surface takes less light than its radius says. */
static void warn_of_depths(const icestream_config *config, const ice_module_type *type,
                           ics_warnings *warnings)
{
    char place[512];
    for (size_t k = 0; k < type->pmt_count; ++k) {
        const ice_pmt *pmt = &type->pmts[k];
        const double *c = pmt->centre;
        const double distance = sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
        if (!(distance > 0)) {
            continue;
        }
        const double unit[3] = {c[0] / distance, c[1] / distance, c[2] / distance};
        double point[3];
        ice_body_point(type->shape, type->radius, type->half_height, unit, point);
        const double surface =
            sqrt(point[0] * point[0] + point[1] * point[1] + point[2] * point[2]);
        if (fabs(surface - distance) > DEPTH_WARNING * pmt->radius) {
            ics_warnings_add(
                warnings,
                "%s: stages.detect: pmt-place: found the middle of PMT %zu of the type %s %.3g m "
                "from the surface, with a window of radius %.3g m, which light meets on the "
                "surface; usual: x, y and z on the surface",
                ics_config_place(config, "stages.detect", place, sizeof place), k, type->name,
                surface - distance, pmt->radius);
            return;
        }
    }
}

/* pmt-place: of a mesh, parts say which triangles are windows. A PMT without a part detects
 * nothing, which is an error if there is no other one, and a warning otherwise. */
static int check_parts(const icestream_config *config, const ice_module_type *type,
                       ics_warnings *warnings, icestream_error *error)
{
    bool has_part[ICE_PMTS_MAX + 1] = {false};
    size_t missing = 0, first = 0;
    for (size_t i = 0; i < type->mesh.triangle_count; ++i) {
        const int part = type->mesh.parts[i]; /* below pmt_count (types/mesh.c) */
        if (part >= 0) {
            has_part[part] = true;
        }
    }
    for (size_t k = 0; k < type->pmt_count; ++k) {
        if (!has_part[k] && missing++ == 0) {
            first = k;
        }
    }
    if (missing > 0 && missing == type->pmt_count) {
        return ics_config_error(
            config, "stages.detect", error,
            "pmt-place needs to know which triangles of a mesh are windows of PMTs, and no part of "
            "the type %s is the number of a PMT; expected names of objects or materials of the "
            "mesh in parts, as in parts: {window_0: 0, window_1: 1, \"*\": glass}",
            type->name);
    }
    if (missing > 0) {
        ics_warnings_add(warnings,
                         "type %s: found no part of the mesh for %zu of %zu PMTs (first: "
                         "%zu), which therefore detect nothing",
                         type->name, missing, type->pmt_count, first);
    }
    return ICESTREAM_OK;
}

/* Checks that a type has what the variant needs. */
static int check_type(const icestream_config *config, const ice_module_type *type,
                      ics_warnings *warnings, icestream_error *error)
{
    if (strcmp(config->stages.detect, ICS_PMT_PLACE) == 0) {
        if (type->shape == ICE_SHAPE_MESH) {
            return check_parts(config, type, warnings, error);
        }
        ICS_TRY(check_windows(config, ICS_PMT_PLACE, type, error));
        warn_of_depths(config, type, warnings);
        return ICESTREAM_OK;
    }
    if (strcmp(config->stages.detect, ICS_PMT_PLANE) == 0 && type->acceptance.is_of_window) {
        ICS_TRY(check_windows(config, ICS_PMT_PLANE, type, error));
    }
    if (type->shape == ICE_SHAPE_MESH && strcmp(config->stages.detect, ICS_PMT_PLANE) == 0) {
        return ics_config_error(config, "stages.detect", error,
                                "%s needs the area of a module in all directions, which the mesh "
                                "of the type %s does not have; expected pmt-place, or pmt-table",
                                config->stages.detect, type->name);
    }
    if (strcmp(config->stages.detect, ICS_PMT_TABLE) == 0 && type->pmt_count > 0 &&
        type->table.ring_count == 0) {
        return ics_config_error(
            config, "stages.detect", error,
            "pmt-table needs the effective areas of the PMTs, and the type %s has none; expected "
            "table in detector.types, or a row of detector.om_tables",
            type->name);
    }
    return ICESTREAM_OK;
}

static double maximum_of(const char *variant, const ice_module_type *type)
{
    const bool has_angles = strcmp(variant, ICS_PMT_PLACE) == 0;
    double factors[ICE_PMTS_MAX]; /* the largest acceptance of each PMT */
    for (size_t k = 0; k < type->pmt_count; ++k) {
        factors[k] = ics_pmt_response_maximum(type, k, has_angles);
    }
    if (has_angles) {
        return place_maximum(type, factors);
    }
    if (strcmp(variant, ICS_PMT_TABLE) == 0) {
        return ics_pmt_area_maximum(type, factors);
    }
    for (size_t k = 0; k < type->pmt_count; ++k) {
        factors[k] *= ics_pmt_effective_area(type, &type->pmts[k]);
    }
    return plane_maximum(type, factors);
}

int ics_pmt_detection_maximum(const icestream_config *config, const ice_detector *detector,
                              double *out, ics_warnings *warnings, icestream_error *error)
{
    *out = 0;
    if (detector->type_count == 0) {
        return ics_config_error(config, "stages.detect", error,
                                "%s needs types of modules with PMTs, and there are none; expected "
                                "detector.types, or a DETX file, or pe",
                                config->stages.detect);
    }
    for (size_t i = 0; i < detector->type_count; ++i) {
        const ice_module_type *type = &detector->types[i];
        ICS_TRY(check_type(config, type, warnings, error));
        *out = fmax(*out, maximum_of(config->stages.detect, type));
    }
    if (!(*out > 0)) {
        return ics_config_error(config, "stages.detect", error,
                                "%s: found no type with a PMT whose efficiency is above 0, "
                                "expected pmts in detector.types",
                                config->stages.detect);
    }
    return ICESTREAM_OK;
}
