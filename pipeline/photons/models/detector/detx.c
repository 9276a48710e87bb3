/* The format, from the public programs that read it (km3det, km3pipe, KM3io):
 *
 *   version 1:      ID MODULES
 *   versions 2-5:   ID vN or ID VN         first line
 *                   FROM TO                validity
 *                   UTM ELLIPSOID ZONE x y z
 *                   MODULES
 *   for a module:   ID LINE FLOOR [x y z q0 qx qy qz t0 [STATUS]] PMTS
 *                   x .. t0 from version 4 on, STATUS in version 5
 *   for a PMT:      ID x y z dx dy dz t0 [STATUS]     STATUS from version 3 on
 *
 * Lengths in m, times in ns, places and directions in the frame of the detector. Lines that begin
 * with # are comments. Not used: the UTM reference, the quaternions (the places of PMTs are turned
 * already), and the times t0, which calibrate data. */
#include "pipeline/photons/models/detector/detx.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/memory.h"
#include "physics/body.h"
#include "pipeline/photons/models/types/direction.h"
#include "pipeline/photons/models/types/pmt_acceptance.h"
#include "pipeline/photons/models/types/transit_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct detx_module {
    double centre[3];
    double line, floor;
    size_t pmts;
    size_t row; /* row in the file */
} detx_module;

typedef struct detx_reader {
    ics_text_reader text;
    ics_text_line *line;
    const ice_module_type *sphere;
    double pmt_radius; /* m */
    ics_types *types;
    int version;
    double modules;               /* number of modules that the header gives */
    double last_line, next_floor; /* line and floor of modules whose floor is -1 */
    ice_pmt *pmts;                /* [ICE_PMTS_MAX], of one module, in the frame of the detector */
    ics_listed_oddity status, skipped; /* oddities of ics_module_list */
} detx_reader;

/* ---- header ---------------------------------------------------------------------------------- */

static bool next_line(detx_reader *reader, const char *expected)
{
    if (ics_text_next(&reader->text, reader->line)) {
        return true;
    }
    ics_text_fault(&reader->text, 0, 0, "found the end of the file, expected %s", expected);
    return false;
}

static bool read_count(detx_reader *reader, size_t field, const char *what, double least,
                       double most, double *out)
{
    if (!ics_text_number(&reader->text, reader->line, field, what, out)) {
        return false;
    }
    if (!(*out >= least && *out <= most) || *out != floor(*out)) {
        ics_text_fault(&reader->text, reader->line->number, reader->line->fields[field].column,
                       "%s: found %.10g, expected a whole number from %g to %g", what, *out, least,
                       most);
        return false;
    }
    return true;
}

/* Returns the version in a first line such as 49 v5; 0: none, -1: one that is not known. */
static int version_of(const ics_text_line *line)
{
    const ics_text_field *second = &line->fields[1];
    if (line->count != 2 || second->length == 0 ||
        (second->start[0] != 'v' && second->start[0] != 'V')) {
        return 0;
    }
    const int digit = second->length == 2 ? second->start[1] : '0';
    return digit >= '1' && digit <= '5' ? digit - '0' : -1;
}

/* Skips the lines before the one with the version, if there is one. Comments of Jpp that are broken
 * over lines leave such lines. */
static void skip_broken_comments(detx_reader *reader)
{
    ics_text_reader ahead = reader->text;
    ics_listed_oddity skipped = {0};
    while (ics_text_next(&ahead, reader->line)) {
        if (version_of(reader->line) != 0) {
            reader->skipped = skipped;
            for (size_t i = 0; i < skipped.count; ++i) {
                ics_text_next(&reader->text, reader->line);
            }
            return;
        }
        ics_listed_oddity_add(&skipped, reader->line->number);
    }
}

/* Reads the first lines. */
static bool read_header(detx_reader *reader)
{
    char shown[48];
    skip_broken_comments(reader);
    if (!next_line(reader, "the number of the detector and the version, as in 49 v5")) {
        return false;
    }
    if (reader->line->count != 2) {
        ics_text_fault(&reader->text, reader->line->number, 0,
                       "found %zu fields, expected 2: the number of the detector, and the version "
                       "or (version 1) the number of modules",
                       reader->line->count);
        return false;
    }
    reader->version = version_of(reader->line);
    if (reader->version < 0) {
        const ics_text_field *second = &reader->line->fields[1];
        ics_text_fault(&reader->text, reader->line->number, second->column,
                       "found version %s, expected v1 to v5", ics_text_field_show(second, shown));
        return false;
    }
    if (reader->version == 0) {
        reader->version = 1;
        return read_count(reader, 1, "modules", 1, ICE_MODULES_MAX, &reader->modules);
    }
    if (!next_line(reader, "the validity") || !next_line(reader, "the UTM reference") ||
        !next_line(reader, "the number of modules")) {
        return false;
    }
    return read_count(reader, 0, "modules", 1, ICE_MODULES_MAX, &reader->modules);
}

/* ---- PMTs ------------------------------------------------------------------------------------ */

static bool read_pmt(detx_reader *reader, ice_pmt *pmt)
{
    static const char *const names[] = {"x", "y", "z", "dx", "dy", "dz", "t0", "status"};
    const size_t fields = reader->version >= 3 ? 9 : 8;
    double n[8] = {0};
    if (!next_line(reader, "a row of a PMT")) {
        return false;
    }
    if (reader->line->count != fields) {
        ics_text_fault(&reader->text, reader->line->number, 0,
                       "found %zu fields, expected %zu of a PMT: id, x, y, z, dx, dy, dz, t0%s",
                       reader->line->count, fields, fields == 9 ? ", status" : "");
        return false;
    }
    if (!ics_text_numbers(&reader->text, reader->line, 1, names, fields - 1, n)) {
        return false;
    }
    if (n[7] != 0) {
        ics_listed_oddity_add(&reader->status, reader->line->number);
    }
    const double length = sqrt(n[3] * n[3] + n[4] * n[4] + n[5] * n[5]);
    if (!(fabs(length - 1) <= 0.01) || !(fabs(n[0]) + fabs(n[1]) + fabs(n[2]) <= 1e7)) {
        ics_text_fault(
            &reader->text, reader->line->number, 0,
            "found a position (%g, %g, %g) and a direction of length %g, expected a position "
            "within 1e7 m and a unit vector",
            n[0], n[1], n[2], length);
        return false;
    }
    *pmt = (ice_pmt){.centre = {n[0], n[1], n[2]},
                     .axis = {n[3] / length, n[4] / length, n[5] / length},
                     .radius = reader->pmt_radius,
                     .efficiency = 1};
    return true;
}

/* Finds the point that is nearest to the axes of PMTs: sum (1 - a a^T) (p - c) = 0. Returns false
 * if the axes are parallel. */
static bool find_centre(const ice_pmt *pmts, size_t count, double out[3])
{
    double m[3][4] = {{0}};
    for (size_t k = 0; k < count; ++k) {
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
                const double part = (i == j) - pmts[k].axis[i] * pmts[k].axis[j];
                m[i][j] += part;
                /* Relative to the first place, so that no digits are lost. */
                m[i][3] += part * (pmts[k].centre[j] - pmts[0].centre[j]);
            }
        }
    }
    const double least = 1e-6 * (double)count;
    for (int i = 0; i < 3; ++i) { /* the matrix is positive, so no rows have to change places */
        if (!(m[i][i] > least)) {
            return false;
        }
        for (int r = 0; r < 3; ++r) {
            const double factor = m[r][i] / m[i][i];
            for (int j = i; r != i && j < 4; ++j) {
                m[r][j] -= factor * m[i][j];
            }
        }
    }
    for (int i = 0; i < 3; ++i) {
        out[i] = m[i][3] / m[i][i] + pmts[0].centre[i];
    }
    return true;
}

/* ---- whether the PMTs of two modules stand alike ----------------------------------------------
 */

/* Directions and places of two modules are alike if they differ by no more than this. */
#define ALIKE_DIRECTION 2e-3
#define ALIKE_PLACE     2e-3 /* m */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* Gives three perpendicular unit vectors of two directions. Returns false if these are parallel. */
static bool frame_of(const double a[3], const double b[3], double out[3][3])
{
    double normal[3];
    cross(a, b, normal);
    const double length = sqrt(dot(normal, normal));
    if (!(length > 1e-3)) {
        return false;
    }
    for (int i = 0; i < 3; ++i) {
        out[0][i] = a[i];
        out[2][i] = normal[i] / length;
    }
    cross(out[2], out[0], out[1]);
    return true;
}

/* Makes the quaternion of a rotation matrix. */
static ice_orientation quaternion_of(const double r[3][3])
{
    /* The largest of the four numbers is the one from which the others are computed. */
    const double squares[4] = {1 + r[0][0] + r[1][1] + r[2][2], 1 + r[0][0] - r[1][1] - r[2][2],
                               1 - r[0][0] + r[1][1] - r[2][2], 1 - r[0][0] - r[1][1] + r[2][2]};
    int best = 0;
    for (int i = 1; i < 4; ++i) {
        best = squares[i] > squares[best] ? i : best;
    }
    const double s = 2 * sqrt(squares[best]);
    const double wx = (r[2][1] - r[1][2]) / s, wy = (r[0][2] - r[2][0]) / s,
                 wz = (r[1][0] - r[0][1]) / s, xy = (r[0][1] + r[1][0]) / s,
                 xz = (r[0][2] + r[2][0]) / s, yz = (r[1][2] + r[2][1]) / s;
    const ice_orientation all[4] = {
        {s / 4, wx, wy, wz}, {wx, s / 4, xy, xz}, {wy, xy, s / 4, yz}, {wz, xz, yz, s / 4}};
    ice_orientation q = all[best];
    const double length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    q = (ice_orientation){q.w / length, q.x / length, q.y / length, q.z / length};
    return q;
}

/* Finds the rotation from the PMTs of a type to `count` PMTs of a module, whose positions are
 * relative to its centre. The PMTs must have the same order. Returns false if there is no rotation
 * with which all directions and positions agree. If the PMTs of the type are parallel, only a
 * module that hangs upright is alike. */
static bool find_turn(const ice_module_type *type, const ice_pmt *pmts, size_t count,
                      ice_orientation *out)
{
    double from[3][3], to[3][3], r[3][3];
    size_t second = 1;
    if (type->pmt_count != count) {
        return false;
    }
    while (second < count && !frame_of(type->pmts[0].axis, type->pmts[second].axis, from)) {
        ++second;
    }
    if (second >= count) { /* all axes are parallel: only modules that hang alike are alike */
        *out = ics_upright;
    } else {
        if (!frame_of(pmts[0].axis, pmts[second].axis, to)) {
            return false;
        }
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
                r[i][j] = to[0][i] * from[0][j] + to[1][i] * from[1][j] + to[2][i] * from[2][j];
            }
        }
        *out = quaternion_of((const double(*)[3])r);
    }
    for (size_t k = 0; k < count; ++k) {
        double axis[3], place[3];
        ice_orient(out, type->pmts[k].axis, axis);
        ice_orient(out, type->pmts[k].centre, place);
        for (int i = 0; i < 3; ++i) {
            if (!(fabs(axis[i] - pmts[k].axis[i]) <= ALIKE_DIRECTION) ||
                !(fabs(place[i] - pmts[k].centre[i]) <= ALIKE_PLACE)) {
                return false;
            }
        }
    }
    /* A module that hangs as the first one is upright, whatever was rounded. */
    if (fabs(out->x) + fabs(out->y) + fabs(out->z) < ALIKE_DIRECTION) {
        *out = ics_upright;
    }
    return true;
}

/* ---- arrangements ---------------------------------------------------------------------------- */

/* Appends a type with these PMTs. */
static int add_type(detx_reader *reader, const ice_pmt *pmts, size_t count)
{
    ics_types *types = reader->types;
    const ice_module_type *sphere = reader->sphere;
    icestream_error *error = reader->text.error;
    if (types->count == ICE_TYPES_MAX) {
        return ics_text_fault(&reader->text, reader->line->number, 0,
                              "found another arrangement of PMTs, expected at most %d arrangements",
                              ICE_TYPES_MAX);
    }
    char name[256], tail[16] = "";
    if (types->count > 0) {
        snprintf(tail, sizeof tail, "-%zu", types->count + 1);
    }
    snprintf(name, sizeof name, "%.200s%s", sphere->name, tail);
    ice_module_type *type = &types->items[types->count];
    *type = (ice_module_type){.name = strdup(name),
                              .shape = ICE_SHAPE_SPHERE,
                              .radius = sphere->radius,
                              .half_height = sphere->radius,
                              .reach = sphere->radius,
                              .oversize = sphere->oversize,
                              .beta = sphere->beta,
                              .pmts = ics_memory_zeros(count, sizeof *pmts),
                              .pmt_count = count};
    types->turns[types->count] = ics_upright;
    ++types->count;
    if (type->name == NULL || type->pmts == NULL) {
        return ics_error_no_memory(error, reader->text.name);
    }
    memcpy(type->pmts, pmts, count * sizeof *pmts);
    ICS_TRY(ics_pmt_acceptance_copy(&sphere->acceptance, &type->acceptance, error));
    type->acceptance.is_of_window = true;
    return ics_transit_times_copy(&sphere->transit, &type->transit, error);
}

/* Moves a PMT along its axis to the sphere of its module. DETX has the middle of the photocathode,
 * which lies inside the glass, and a window is where the light meets the sphere. */
static void move_to_sphere(ice_pmt *pmt, double radius)
{
    double along = 0, square = 0;
    for (int i = 0; i < 3; ++i) {
        along += pmt->centre[i] * pmt->axis[i];
        square += pmt->centre[i] * pmt->centre[i];
    }
    const double way = sqrt(fmax(along * along + radius * radius - square, 0)) - along;
    for (int i = 0; i < 3; ++i) {
        pmt->centre[i] += way * pmt->axis[i];
    }
}

/* Moves the PMTs to the frame of their module, and finds or makes their type. */
static int find_type(detx_reader *reader, const detx_module *module, ice_module *out,
                     ice_orientation *turn)
{
    ics_types *types = reader->types;
    for (size_t k = 0; k < module->pmts; ++k) {
        ice_pmt *pmt = &reader->pmts[k];
        for (int i = 0; i < 3; ++i) {
            pmt->centre[i] -= module->centre[i];
        }
        const double *c = pmt->centre;
        const double distance = sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
        if (!(distance <= reader->sphere->radius * 1.001)) {
            return ics_text_fault(&reader->text, module->row, 0,
                                  "found a PMT %.4g m away from the centre of its module, expected "
                                  "at most the radius of the sphere, %.4g m (detector.radius, or "
                                  "the radius of the type)",
                                  distance, reader->sphere->radius);
        }
        move_to_sphere(pmt, reader->sphere->radius);
    }
    for (size_t i = 0; i < types->count; ++i) {
        if (find_turn(&types->items[i], reader->pmts, module->pmts, turn)) {
            out->type = (uint32_t)i;
            return ICESTREAM_OK;
        }
    }
    *turn = ics_upright;
    out->type = (uint32_t)types->count;
    return add_type(reader, reader->pmts, module->pmts);
}

/* ---- modules --------------------------------------------------------------------------------- */

/* Reads the row of a module. */
static bool read_row(detx_reader *reader, detx_module *module)
{
    static const char *const names[] = {"x", "y", "z"};
    static const size_t fields[] = {0, 4, 4, 4, 12, 13};
    const size_t expected = fields[reader->version];
    double count = 0;
    *module = (detx_module){0};
    if (!next_line(reader, "a row of a module")) {
        return false;
    }
    module->row = reader->line->number;
    if (reader->line->count != expected) {
        ics_text_fault(
            &reader->text, module->row, 0,
            "found %zu fields, expected %zu of a module in version %d: id, line, floor%s, "
            "number of PMTs",
            reader->line->count, expected, reader->version,
            reader->version == 5   ? ", x, y, z, q0, qx, qy, qz, t0, status"
            : reader->version == 4 ? ", x, y, z, q0, qx, qy, qz, t0"
                                   : "");
        return false;
    }
    bool good = read_count(reader, 1, "line", 0, UINT16_MAX, &module->line);
    good &= read_count(reader, 2, "floor", -1, UINT16_MAX, &module->floor);
    good &= read_count(reader, expected - 1, "PMTs", 0, ICE_PMTS_MAX, &count);
    if (reader->version >= 4) {
        good &= ics_text_numbers(&reader->text, reader->line, 3, names, 3, module->centre);
    }
    module->pmts = good ? (size_t)count : 0;
    return good;
}

/* Reads a module with its PMTs and appends it. */
static int read_module(detx_reader *reader, ics_module_list *out)
{
    detx_module module;
    if (!read_row(reader, &module)) {
        return ICESTREAM_E_CONFIG;
    }
    for (size_t k = 0; k < module.pmts; ++k) {
        if (!read_pmt(reader, &reader->pmts[k])) {
            return ICESTREAM_E_CONFIG;
        }
    }
    if (module.pmts == 0) {
        return ICESTREAM_OK; /* the base of a line */
    }
    if (module.floor < 0) {
        reader->next_floor = reader->last_line == module.line ? reader->next_floor + 1 : 1;
        reader->last_line = module.line;
        module.floor = reader->next_floor;
    }
    if (reader->version < 4 && !find_centre(reader->pmts, module.pmts, module.centre)) {
        return ics_text_fault(
            &reader->text, module.row, 0,
            "found PMTs with parallel axes, expected axes that meet in the centre "
            "of the module, which this version of DETX does not give");
    }
    ics_listed_module made = {.module = {.x = module.centre[0],
                                         .y = module.centre[1],
                                         .z = module.centre[2],
                                         .efficiency = 1},
                              .line = module.row,
                              .has_type = true};
    if (reader->types != NULL) {
        ICS_TRY(find_type(reader, &module, &made.module, &made.turn));
    }
    return ics_module_list_add_row(&reader->text, module.line, module.floor, &made, out);
}

int ics_detx_read(const ics_text *text, const ice_module_type *sphere, double pmt_radius,
                  ics_types *types, ics_module_list *out, icestream_error *error)
{
    ICS_FREES ics_text_line *line = malloc(sizeof *line);
    ICS_FREES ice_pmt *pmts = malloc(ICE_PMTS_MAX * sizeof *pmts);
    detx_reader reader = {.text = ics_text_open(text, ' ', error),
                          .line = line,
                          .sphere = sphere,
                          .pmt_radius = pmt_radius,
                          .types = types,
                          .last_line = -1,
                          .pmts = pmts};
    *out = (ics_module_list){0};
    if (line == NULL || pmts == NULL) {
        return ics_error_no_memory(error, text->name);
    }
    int status = read_header(&reader) ? ICESTREAM_OK : ICESTREAM_E_CONFIG;
    for (double i = 0; status == ICESTREAM_OK && i < reader.modules; i += 1) {
        status = read_module(&reader, out);
    }
    if (status == ICESTREAM_OK && ics_text_next(&reader.text, line)) {
        ics_text_fault(&reader.text, line->number, 0,
                       "found more rows, expected the end after %.0f modules", reader.modules);
    }
    out->status = reader.status;
    out->skipped = reader.skipped;
    out->surroundings = ICE_SURROUNDINGS_WATER; /* a format of KM3NeT */
    return ics_module_list_finish(&reader.text, status, out);
}
