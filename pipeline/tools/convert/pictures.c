#include "pipeline/tools/convert/pictures.h"

#include "base/error.h"
#include "pipeline/files/hit_csv.h"
#include "pipeline/files/hit_reader.h"
#include "pipeline/files/vtp_output.h"
#include "pipeline/models/detector/detector.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 14 }; /* hits in a piece */

typedef float position[3]; /* x, y, z (m) */

/* The names of the columns of a layout, which the arrays of a piece refer to. */
typedef struct column_names {
    char text[ICS_LAYOUT_FIELDS_MAX][ICS_COLUMN_NAME];
} column_names;

/* An array of a member of the rows of a table. */
#define MEMBER(title, kind, table, member, count)                                                  \
    {                                                                                              \
        .name = (title), .type = {kind, sizeof(table)->member}, .components = (count),             \
        .first = &(table)->member, .stride = sizeof *(table)                                       \
    }

static ics_vtp_array positions_of(const position *positions, size_t stride)
{
    return (ics_vtp_array){.name = "points",
                           .type = {'f', sizeof(float)},
                           .components = 3,
                           .first = positions,
                           .stride = stride};
}

/* Makes an array of each field of the rows but x, y, z and dx, dy, dz, which are vectors. */
static size_t add_fields(const ics_layout *layout, const void *rows, column_names *names,
                         ics_vtp_array *arrays)
{
    size_t count = 0;
    for (size_t i = 0; i < layout->field_count; ++i) {
        const ics_layout_field *field = &layout->fields[i];
        const char *name = field->name + (field->name[0] == 'd');
        if (strlen(name) == 1 && strchr("xyz", name[0]) != NULL) {
            continue;
        }
        arrays[count++] = (ics_vtp_array){.name = ics_hit_csv_column(field, names->text[i]),
                                          .type = field->type,
                                          .components = 1,
                                          .first = (const unsigned char *)rows + field->offset,
                                          .stride = layout->row_bytes};
    }
    return count;
}

/* ---- modules --------------------------------------------------------------------------------- */

static int make_detector(const icestream_convert_options *options, ice_detector **out,
                         icestream_error *error)
{
    ics_warnings warnings = {0};
    int status = ics_detector_create(options->detector, out, &warnings, error);
    for (size_t i = 0; options->notes != NULL && i < warnings.count; ++i) {
        fprintf(options->notes, "warning: %s\n", warnings.items[i]);
    }
    ics_warnings_free(&warnings);
    return status;
}

/* What the picture shows of a module. */
typedef struct module_dot {
    position position;
    float radius, efficiency;
    uint16_t string, module;
    uint16_t is_dark; /* the module absorbs light and detects none */
} module_dot;

static int put_modules(const ice_detector *detector, ics_vtp_output *file, icestream_error *error)
{
    const size_t count = detector->module_count;
    module_dot *dots = calloc(count, sizeof *dots);
    if (dots == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "convert: out of memory for %zu modules",
                             count);
    }
    for (size_t i = 0; i < count; ++i) {
        const ice_module *module = &detector->modules[i];
        dots[i] = (module_dot){.position = {(float)module->x, (float)module->y, (float)module->z},
                               .radius = (float)detector->radius,
                               .efficiency = (float)module->efficiency,
                               .string = module->string,
                               .module = module->module,
                               .is_dark = module->absorbs || module->is_off};
    }
    const ics_vtp_piece piece = {.point_count = count,
                                 .positions = positions_of(&dots->position, sizeof *dots),
                                 .point_data = {MEMBER("string", 'u', dots, string, 1),
                                                MEMBER("module", 'u', dots, module, 1),
                                                MEMBER("efficiency", 'f', dots, efficiency, 1),
                                                MEMBER("radius_m", 'f', dots, radius, 1),
                                                MEMBER("is_dark", 'u', dots, is_dark, 1)},
                                 .point_array_count = 5};
    const int status = ics_vtp_output_put(file, &piece, error);
    free(dots);
    return status;
}

int ics_pictures_put_modules(const char *to, const icestream_convert_options *options,
                             icestream_error *error)
{
    ice_detector *detector = NULL;
    ics_vtp_output *file = NULL;
    int status = make_detector(options, &detector, error);
    if (status == ICESTREAM_OK) {
        status = ics_vtp_output_create(to, "modules", options->force, &file, error);
    }
    if (status == ICESTREAM_OK) {
        status = put_modules(detector, file, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_vtp_output_commit(file, error);
    }
    ics_vtp_output_destroy(file);
    ics_detector_destroy(detector);
    return status;
}

/* ---- hits ------------------------------------------------------------------------------------ */

static int compare_modules(const void *a, const void *b)
{
    const ice_module *left = a, *right = b;
    return left->string != right->string ? (int)left->string - right->string
                                         : (int)left->module - right->module;
}

/* Finds where in the detector each of the hits is. `from` and `first`, the number of the first hit,
 * are for errors. */
static int find_positions(const ice_detector *detector, const icestream_hit *hits, size_t count,
                          const char *from, uint64_t first, position *positions,
                          icestream_error *error)
{
    for (size_t i = 0; i < count; ++i) {
        const icestream_hit *hit = &hits[i];
        const ice_module key = {.string = hit->string, .module = hit->module};
        const ice_module *module = bsearch(&key, detector->modules, detector->module_count,
                                           sizeof *detector->modules, compare_modules);
        if (module == NULL) {
            return ics_error_set(error, ICESTREAM_E_INPUT,
                                 "%s: hit %" PRIu64 ": found string %u, module %u, expected a "
                                 "module of the detector %s",
                                 from, first + i, hit->string, hit->module, detector->name);
        }
        positions[i][0] = (float)(module->x + (double)hit->x);
        positions[i][1] = (float)(module->y + (double)hit->y);
        positions[i][2] = (float)(module->z + (double)hit->z);
    }
    return ICESTREAM_OK;
}

static int put_hits(const icestream_hit *hits, const position *positions, size_t count,
                    ics_vtp_output *file, icestream_error *error)
{
    column_names names;
    ics_vtp_piece piece = {
        .point_count = count,
        .positions = positions_of(positions, sizeof *positions),
        .point_data = {MEMBER("impact_m", 'f', hits, x, 3), MEMBER("direction", 'f', hits, dx, 3)}};
    piece.point_array_count = 2 + add_fields(ics_layout_hits(), hits, &names, piece.point_data + 2);
    return ics_vtp_output_put(file, &piece, error);
}

static int copy_hits(ics_hit_reader *reader, const char *from, const ice_detector *detector,
                     ics_vtp_output *file, icestream_error *error)
{
    uint64_t first = 0;
    icestream_hit *hits = malloc(BLOCK * sizeof *hits);
    position *positions = malloc(BLOCK * sizeof *positions);
    int status = ICESTREAM_OK;
    if (hits == NULL || positions == NULL) {
        free(positions);
        free(hits);
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", from);
    }
    for (size_t got = 1; status == ICESTREAM_OK && got > 0; first += got) {
        status = ics_hit_reader_read(reader, hits, BLOCK, &got, error);
        if (status == ICESTREAM_OK) {
            status = find_positions(detector, hits, got, from, first, positions, error);
        }
        if (status == ICESTREAM_OK && got > 0) {
            status = put_hits(hits, positions, got, file, error);
        }
    }
    free(positions);
    free(hits);
    return status;
}

int ics_pictures_put_hits(const char *from, const char *to,
                          const icestream_convert_options *options, icestream_error *error)
{
    ice_detector *detector = NULL;
    ics_hit_reader *reader = NULL;
    ics_vtp_output *file = NULL;
    int status = make_detector(options, &detector, error);
    if (status == ICESTREAM_OK) {
        status = ics_hit_reader_open(from, true, &reader, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_vtp_output_create(to, "hits", options->force, &file, error);
    }
    if (status == ICESTREAM_OK) {
        const char *name = strcmp(from, "-") == 0 ? "standard input" : from;
        status = copy_hits(reader, name, detector, file, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_vtp_output_commit(file, error);
    }
    ics_vtp_output_destroy(file);
    ics_hit_reader_destroy(reader);
    ics_detector_destroy(detector);
    return status;
}
