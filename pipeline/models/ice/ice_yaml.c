/* Ice from a YAML file, with the layers in it or in a CSV file beside it. */
#include "base/error.h"
#include "pipeline/config/schema/schema.h"
#include "pipeline/models/ice/ice_features.h"
#include "pipeline/models/ice/ice_tilt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct ice_file {
    char *name;
    ice_medium scalars;              /* only the numbers; flow_azimuth in degrees, as in the file */
    double anisotropy[2];            /* ln k1, ln k2 */
    double absorption_anisotropy[3]; /* ln K, not scaled yet */
    unsigned subtraction;            /* index of a choice below */
    ics_layer_list layers;
    char *table; /* the CSV file, or NULL */
    struct {
        char *file; /* CSV, with its azimuth in degrees */
        double azimuth;
        char *stations, *axes, *shifts; /* as ppc has them */
    } tilt;
} ice_file;

/* ---- layers ---------------------------------------------------------------------------------- */

int ics_ice_csv_layers_read(const ics_text *text, const double anisotropy[2], ics_layer_list *out,
                            icestream_error *error)
{
    enum { DEPTH, BE400, ADUST400, DELTA_TAU, BUBBLES, ALONG, ACROSS, STRENGTH, FACTOR, COLUMNS };
    const ics_csv_column columns[] = {
        {.name = "depth_m", .index = DEPTH, .required = true},
        {.name = "be400_per_m", .index = BE400, .required = true},
        {.name = "adust400_per_m", .index = ADUST400, .required = true},
        {.name = "delta_tau_K", .index = DELTA_TAU, .required = true},
        {.name = "bubbles_per_m", .index = BUBBLES},
        {.name = "anisotropy_along", .index = ALONG, .missing = anisotropy[0]},
        {.name = "anisotropy_across", .index = ACROSS, .missing = anisotropy[1]},
        {.name = "birefringence", .index = STRENGTH, .missing = 1},
        {.name = "birefringence_mean_factor", .index = FACTOR, .missing = 1},
    };
    ics_text_table table;
    *out = (ics_layer_list){.name = text->name};
    int status =
        ics_text_csv_read(text, columns, sizeof columns / sizeof *columns, COLUMNS, ICE_LAYERS_MAX,
                          "depth_m,be400_per_m,adust400_per_m,delta_tau_K[,bubbles_per_m,"
                          "anisotropy_along,anisotropy_across,birefringence,"
                          "birefringence_mean_factor]",
                          &table, error);
    for (size_t i = 0; i < table.rows && status == ICESTREAM_OK; ++i) {
        const double *row = ics_text_table_row(&table, i);
        const ics_layer_row layer = {.depth = row[DEPTH],
                                     .layer = {.effective_scattering = row[BE400],
                                               .bubbles = row[BUBBLES],
                                               .dust_absorption = row[ADUST400],
                                               .delta_tau = row[DELTA_TAU],
                                               .anisotropy_along = row[ALONG],
                                               .anisotropy_across = row[ACROSS],
                                               .birefringence = row[STRENGTH],
                                               .birefringence_mean = row[STRENGTH] * row[FACTOR]},
                                     .line = table.lines[i]};
        status = ics_ice_layer_list_add(out, &layer);
        if (status == ICESTREAM_E_MEMORY) {
            ics_error_add(error, ICESTREAM_E_MEMORY, "%s: error: out of memory", text->name);
        }
    }
    ics_text_table_free(&table);
    if (status != ICESTREAM_OK) {
        ics_ice_layer_list_free(out);
    }
    return status;
}

/* One inline layer: [depth_m, be400, adust400, dtau] or with a fifth number, the bubbles. */
static int read_inline_layer(const ics_yaml_node *node, size_t index, ics_layer_list *layers,
                             icestream_error *error)
{
    static const char *const names[] = {"depth", "be400", "adust400", "dtau", "bubbles"};
    double numbers[5] = {0};
    char found[128];
    if (node->kind != ICS_YAML_LIST || node->count < 4 || node->count > 5) {
        return ics_yaml_error(error, node,
                              "layers[%zu]: found %s, expected [depth_m, be400, adust400, dtau] or "
                              "[depth_m, be400, adust400, dtau, bubbles]",
                              index, ics_yaml_describe(node, found, sizeof found));
    }
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < node->count; ++i) {
        char what[64];
        snprintf(what, sizeof what, "layers[%zu].%s", index, names[i]);
        int result = ics_schema_number(node->items[i], what, -1e9, 1e9, &numbers[i], error);
        status = status ? status : result;
    }
    if (status != ICESTREAM_OK) {
        return status;
    }
    ics_layer_row row = {.depth = numbers[0],
                         .layer = {.effective_scattering = numbers[1],
                                   .bubbles = numbers[4],
                                   .dust_absorption = numbers[2],
                                   .delta_tau = numbers[3],
                                   .birefringence = 1,
                                   .birefringence_mean = 1},
                         .line = node->line,
                         .column = node->column};
    status = ics_ice_layer_list_add(layers, &row);
    if (status == ICESTREAM_E_MEMORY) {
        ics_error_add(error, ICESTREAM_E_MEMORY, "%s: error: out of memory", node->source->name);
    }
    return status;
}

static void clear_layers(void *target)
{
    ice_file *file = target;
    ics_ice_layer_list_free(&file->layers);
    free(file->table);
    file->table = NULL;
}

static int read_layers(const ics_yaml_node *node, void *target, icestream_error *error)
{
    static const ics_schema_field table_fields[] = {{.path = "file",
                                                     .type = ICS_SCHEMA_PATH,
                                                     ICS_SCHEMA_AT(ice_file, table),
                                                     .required = true}};
    ice_file *file = target;
    char found[128];
    clear_layers(file);
    if (node->kind == ICS_YAML_MAPPING) {
        return ics_schema_read(node, table_fields, 1, file, NULL, error);
    }
    if (node->kind != ICS_YAML_LIST || node->count < 1 || node->count > ICE_LAYERS_MAX) {
        return ics_yaml_error(
            error, node,
            "layers: found %s, expected a list of 1 .. %d layers, or {file: a CSV "
            "file}",
            ics_yaml_describe(node, found, sizeof found), ICE_LAYERS_MAX);
    }
    file->layers.name = node->source->name;
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < node->count; ++i) {
        int result = read_inline_layer(node->items[i], i, &file->layers, error);
        status = status ? status : result;
    }
    return status;
}

/* ---- the file -------------------------------------------------------------------------------- */

static const ics_schema_custom layers_field = {
    .expected = "a list of [depth_m, be400, adust400, dtau], or {file: a CSV file}",
    .read = read_layers,
    .clear = clear_layers,
};

/* As ics_subtraction, without "auto": the file itself is asked. */
static const char *subtractions(const char *path, size_t index)
{
    static const char *const names[] = {"none", "constant", "scaled"};
    (void)path;
    return index < sizeof names / sizeof *names ? names[index] : NULL;
}

static ics_subtraction subtraction_of(const icestream_config *config, const ice_file *file)
{
    static const ics_subtraction meanings[] = {ICS_SUBTRACTION_NONE, ICS_SUBTRACTION_CONSTANT,
                                               ICS_SUBTRACTION_SCALED};
    if (config->ice.birefringence_subtraction != ICS_SUBTRACTION_AUTO) {
        return config->ice.birefringence_subtraction;
    }
    return meanings[file->subtraction];
}

/* clang-format off */
#define NUMBER(key, member, from, to, number)                                                      \
    {.path = (key), .type = ICS_SCHEMA_NUMBER, ICS_SCHEMA_AT(ice_file, member),                      \
     .fallback = (number), .low = (from), .high = (to)}
/* Its range is that of ics_ice_property_check(), for files of all kinds. */
#define PROPERTY(key, number) NUMBER(#key, scalars.key, -1e9, 1e9, number)
#define NUMBERS(key, member, from, to)                                                             \
    {.path = (key), .type = ICS_SCHEMA_NUMBERS, ICS_SCHEMA_AT(ice_file, member), .low = (from),      \
     .high = (to)}
#define A_PATH(key, member, alternatives)                                                          \
    {.path = (key), .type = ICS_SCHEMA_PATH, ICS_SCHEMA_AT(ice_file, member), .group = (alternatives)}

/* What is not given is as in the published tables since SPICE Mie, or not there. */
static const ics_schema_field fields[] = {
    {.path = "name", .type = ICS_SCHEMA_TEXT, ICS_SCHEMA_AT(ice_file, name)},
    PROPERTY(mean_cosine, "0.9"),
    PROPERTY(liu_fraction, "0.35"),
    PROPERTY(alpha, "0.898608505726"),
    PROPERTY(kappa, "1.08410680294"),
    PROPERTY(absorption_a, "6954.09033"),
    PROPERTY(absorption_b, "6617.75439"),
    NUMBER("flow_azimuth", scalars.flow_azimuth, -360, 360, "0"),
    NUMBERS("anisotropy", anisotropy, -3, 3),
    NUMBER("absorption_exponent", scalars.absorption_exponent, -10, 10, "1"),
    NUMBERS("absorption_anisotropy", absorption_anisotropy, -3, 3),
    NUMBERS("birefringence.along", scalars.birefringence.along, -1e12, 1e12),
    NUMBERS("birefringence.across", scalars.birefringence.across, -1e12, 1e12),
    NUMBERS("birefringence.mean", scalars.birefringence.mean, -1e12, 1e12),
    {.path = "birefringence.subtraction", .type = ICS_SCHEMA_CHOICE, .choice = subtractions,
     ICS_SCHEMA_AT(ice_file, subtraction), .fallback = "none"},
    NUMBER("hole.radius", scalars.hole.radius, 0, 20, "0"),
    NUMBER("hole.effective_scattering", scalars.hole.effective_scattering, 1e-6, 1e6, "0.03"),
    NUMBER("hole.absorption", scalars.hole.absorption, 1e-6, 1e6, "100"),
    NUMBER("hole.mean_cosine", scalars.hole.mean_cosine, -0.9999, 0.9999, "0.9"),
    NUMBER("hole.liu_fraction", scalars.hole.liu_fraction, 0, 1, "0.35"),
    A_PATH("tilt.file", tilt.file, "tilt"),
    A_PATH("tilt.stations", tilt.stations, "tilt"),
    A_PATH("tilt.axes", tilt.axes, "tilt"),
    A_PATH("tilt.shifts", tilt.shifts, NULL),
    NUMBER("tilt.azimuth", tilt.azimuth, -360, 360, "225"),
    {.path = "layers", .type = ICS_SCHEMA_CUSTOM, ICS_SCHEMA_AT(ice_file, layers),
     .custom = &layers_field, .required = true},
};
/* clang-format on */
enum { FIELDS = sizeof fields / sizeof *fields };

/* Where a key was given; NULL: it was not. */
static const ics_yaml_node *given_at(const ics_yaml_node *const *given, const char *path)
{
    return given[ics_schema_find(path, fields, FIELDS)];
}

static int check_properties(const ice_file *file, const ics_yaml_node *const *given,
                            icestream_error *error)
{
    int status = ICESTREAM_OK;
    char place[512];
    for (size_t i = 0; i < FIELDS; ++i) {
        if (fields[i].type != ICS_SCHEMA_NUMBER || given[i] == NULL) {
            continue;
        }
        double value = *(const double *)((const char *)file + fields[i].offset);
        if (ics_ice_property_check(ics_yaml_place(given[i], place, sizeof place), fields[i].path,
                                   value, error)) {
            status = ICESTREAM_E_CONFIG;
        }
    }
    static const char *const deflections[] = {"birefringence.along", "birefringence.across",
                                              "birefringence.mean"};
    for (size_t i = 0; i < 3; ++i) {
        const ics_yaml_node *node = given_at(given, deflections[i]);
        if (node == NULL) {
            continue;
        }
        /* All three at once, at the first of them. */
        if (ics_ice_birefringence_check(ics_yaml_place(node, place, sizeof place),
                                        &file->scalars.birefringence, error)) {
            status = ICESTREAM_E_CONFIG;
        }
        break;
    }
    return status;
}

/* Keys of one way to give a tilt that stand beside another. */
static int check_tilt(const ics_yaml_node *const *given, icestream_error *error)
{
    const ics_yaml_node *azimuth = given_at(given, "tilt.azimuth");
    const ics_yaml_node *shifts = given_at(given, "tilt.shifts");
    const ics_yaml_node *stations = given_at(given, "tilt.stations");
    const ics_yaml_node *axes = given_at(given, "tilt.axes");
    int status = ICESTREAM_OK;
    if (azimuth != NULL && given_at(given, "tilt.file") == NULL) {
        status =
            ics_yaml_error(error, azimuth, "tilt.azimuth: is for tilt.file, which is not given");
    }
    if (shifts != NULL && stations == NULL && axes == NULL) {
        status = ics_yaml_error(error, shifts,
                                "tilt.shifts: needs tilt.stations or tilt.axes beside it");
    }
    if ((stations != NULL || axes != NULL) && shifts == NULL) {
        status = ics_yaml_error(error, stations != NULL ? stations : axes,
                                "%s: needs tilt.shifts beside it",
                                stations != NULL ? "tilt.stations" : "tilt.axes");
    }
    return status;
}

static int read_table(ice_file *file, icestream_error *error)
{
    ics_text text;
    int status = ics_text_read(file->table, &text, error);
    if (status == ICESTREAM_OK) {
        status = ics_ice_csv_layers_read(&text, file->anisotropy, &file->layers, error);
    }
    ics_text_free(&text);
    return status;
}

static int read_tilt(const ice_file *file, ice_tilt *out, icestream_error *error)
{
    const char *first = file->tilt.file != NULL       ? file->tilt.file
                        : file->tilt.stations != NULL ? file->tilt.stations
                                                      : file->tilt.axes;
    ics_text texts[2] = {0};
    if (first == NULL) {
        return ICESTREAM_OK;
    }
    int status = ics_text_read(first, &texts[0], error);
    if (file->tilt.file == NULL) {
        int second = ics_text_read(file->tilt.shifts, &texts[1], error);
        status = status ? status : second;
    }
    if (status == ICESTREAM_OK && file->tilt.file != NULL) {
        status = ics_ice_csv_tilt_read(&texts[0], file->tilt.azimuth * M_PI / 180, out, error);
    } else if (status == ICESTREAM_OK && file->tilt.stations != NULL) {
        status = ics_ice_ppc_tilt_line_read(&texts[0], &texts[1], out, error);
    } else if (status == ICESTREAM_OK) {
        status = ics_ice_ppc_tilt_map_read(&texts[0], &texts[1], out, error);
    }
    ics_text_free(&texts[0]);
    ics_text_free(&texts[1]);
    return status;
}

/* From the numbers of the file to those of the model. */
static void set_features(ice_file *file)
{
    ice_medium *scalars = &file->scalars;
    scalars->flow_azimuth *= M_PI / 180;
    ics_ice_absorption_anisotropy_scale(file->absorption_anisotropy,
                                        scalars->absorption_anisotropy);
    if (!(scalars->hole.radius > 0)) {
        scalars->hole = (ice_hole){0};
    }
    /* A table has read its own. */
    for (size_t i = 0; i < file->layers.count && file->table == NULL; ++i) {
        file->layers.rows[i].layer.anisotropy_along = file->anisotropy[0];
        file->layers.rows[i].layer.anisotropy_across = file->anisotropy[1];
    }
}

static int make_medium(const icestream_config *config, ice_file *file, ice_medium **out,
                       icestream_error *error)
{
    ice_tilt tilt = {0};
    set_features(file);
    ics_ice_switch_off(config, &file->scalars, &file->layers);
    int status =
        ics_ice_from_layers(file->name != NULL ? file->name : config->ice.file, &file->layers,
                            &file->scalars, subtraction_of(config, file), out, error);
    int result = config->ice.tilt ? read_tilt(file, &tilt, error) : ICESTREAM_OK;
    status = status ? status : result;
    if (status != ICESTREAM_OK) {
        ics_ice_tilt_free(&tilt);
        ics_ice_destroy(*out);
        *out = NULL;
        return status;
    }
    (*out)->tilt = tilt;
    return ICESTREAM_OK;
}

int ics_ice_from_yaml(const icestream_config *config, ice_medium **out, ics_warnings *warnings,
                      icestream_error *error)
{
    ics_yaml *document;
    const ics_yaml_node *given[FIELDS] = {0};
    ice_file file = {0};
    *out = NULL;
    int status = ics_yaml_read_file(config->ice.file, &document, error);
    if (status != ICESTREAM_OK) {
        return status;
    }
    const ics_yaml_node *root = ics_yaml_root(document);
    if (root->kind == ICS_YAML_MAPPING && ics_yaml_find(root, "optics") != NULL) {
        status = ics_ice_from_spectral(config->ice.file, root, out, warnings, error);
        ics_yaml_destroy(document);
        return status;
    }
    status = ics_schema_defaults(fields, FIELDS, &file, error);
    if (status == ICESTREAM_OK) {
        status = ics_schema_read(root, fields, FIELDS, &file, given, error);
        int result = check_properties(&file, given, error);
        status = status ? status : result;
        result = check_tilt(given, error);
        status = status ? status : result;
    }
    if (file.table != NULL) {
        int result = read_table(&file, error);
        status = status ? status : result;
    }
    if (status == ICESTREAM_OK) {
        status = make_medium(config, &file, out, error);
    }
    ics_schema_clear(fields, FIELDS, &file);
    ics_yaml_destroy(document);
    return status;
}
