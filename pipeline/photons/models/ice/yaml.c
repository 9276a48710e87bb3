/* Ice from a YAML file. Its layers stand in the file or in a CSV file. */
#include "base/cleanup.h"
#include "base/error.h"
#include "pipeline/photons/config/schema/kinds.def"
#include "pipeline/photons/models/ice/features.h"
#include "pipeline/photons/models/ice/medium.h"
#include "pipeline/photons/models/ice/scatter.h"
#include "pipeline/photons/models/ice/sources.h"
#include "pipeline/photons/models/ice/tilt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- layers ---------------------------------------------------------------------------------- */

int ics_ice_csv_layers_read(const ics_text *text, const double anisotropy[2], ics_layer_list *out,
                            icestream_error *error)
{
    enum { DEPTH, BE400, ADUST400, DELTA_TAU, BUBBLES, ALONG, ACROSS, STRENGTH, FACTOR };
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
    ICS_CLEANUP(ics_text_table_free) ics_text_table table = {0};
    int status = ICESTREAM_OK;
    *out = (ics_layer_list){.name = text->name};
    ICS_TRY(ics_text_csv_read(text, columns, sizeof columns / sizeof *columns, ICE_LAYERS_MAX,
                              "depth_m,be400_per_m,adust400_per_m,delta_tau_K[,bubbles_per_m,"
                              "anisotropy_along,anisotropy_across,birefringence,"
                              "birefringence_mean_factor]",
                              &table, error));
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
        status = ics_ice_layer_list_add(out, &layer, error);
    }
    if (status != ICESTREAM_OK) {
        ics_ice_layer_list_free(out);
    }
    return status;
}

/* Reads one layer of the list: [depth_m, be400, adust400, dtau], or with a fifth number, the
 * bubbles. */
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
        status = ics_error_first(
            status, ics_schema_number(node->items[i], what, -1e9, 1e9, &numbers[i], error));
    }
    ICS_TRY(status);
    const ics_layer_row row = {.depth = numbers[0],
                               .layer = {.effective_scattering = numbers[1],
                                         .bubbles = numbers[4],
                                         .dust_absorption = numbers[2],
                                         .delta_tau = numbers[3],
                                         .birefringence = 1,
                                         .birefringence_mean = 1},
                               .line = node->line,
                               .column = node->column};
    return ics_ice_layer_list_add(layers, &row, error);
}

static void clear_layers(void *target)
{
    ics_ice_file *file = target;
    ics_ice_layer_list_free(&file->layers);
    free(file->table);
    file->table = NULL;
    file->lengths.node = NULL;
}

/* Reads {file: ...}, or the lengths of homogeneous ice. */
static int read_layer_keys(const ics_yaml_node *node, ics_ice_file *file, icestream_error *error)
{
    static const ics_schema_field table_fields[] = {
        FIELD(ics_ice_file, "file", table, PATH REQUIRED)};
    static const ics_schema_field length_fields[] = {
        FIELD(ics_ice_file, "effective_scattering_length", lengths.scattering,
              NUMBER(1e-3, 1e6) REQUIRED),
        FIELD(ics_ice_file, "absorption_length", lengths.absorption, NUMBER(1e-3, 1e6) REQUIRED)};
    if (ics_yaml_find(node, "effective_scattering_length") == NULL &&
        ics_yaml_find(node, "absorption_length") == NULL) {
        return ics_schema_read(node, table_fields, 1, file, NULL, error);
    }
    file->lengths.node = node;
    return ics_schema_read(node, length_fields, 2, file, NULL, error);
}

/* Makes the layer of homogeneous ice. Its dust absorbs what pure ice (physics.md 4.2) does not. */
static int add_homogeneous_layer(ics_ice_file *file, icestream_error *error)
{
    const ics_yaml_node *node = file->lengths.node;
    const double pure = file->medium.absorption_a * exp(-file->medium.absorption_b / 400);
    const double dust = 1 / file->lengths.absorption - pure;
    if (!(dust >= 0)) {
        return ics_yaml_error(error, node,
                              "layers.absorption_length: found %.10g m, expected at most %.10g m, "
                              "because pure ice absorbs so much at 400 nm (absorption_a, "
                              "absorption_b)",
                              file->lengths.absorption, 1 / pure);
    }
    const ics_layer_row row = {.depth = ICE_DETECTOR_DEPTH,
                               .layer = {.effective_scattering = 1 / file->lengths.scattering,
                                         .dust_absorption = dust,
                                         .birefringence = 1,
                                         .birefringence_mean = 1},
                               .line = node->line,
                               .column = node->column};
    file->layers.name = node->source->name;
    return ics_ice_layer_list_add(&file->layers, &row, error);
}

static int read_layers(const ics_yaml_node *node, void *target, icestream_error *error)
{
    ics_ice_file *file = target;
    clear_layers(file);
    if (node->kind == ICS_YAML_MAPPING) {
        return read_layer_keys(node, file, error);
    }
    if (node->kind != ICS_YAML_LIST || node->count < 1 || node->count > ICE_LAYERS_MAX) {
        return ics_yaml_unexpected(
            error, node, "layers",
            "a list of 1 .. %d layers, or {file: a CSV file}, or {effective_scattering_length: m, "
            "absorption_length: m} at 400 nm",
            ICE_LAYERS_MAX);
    }
    file->layers.name = node->source->name;
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < node->count; ++i) {
        status =
            ics_error_first(status, read_inline_layer(node->items[i], i, &file->layers, error));
    }
    return status;
}

/* ---- the file -------------------------------------------------------------------------------- */

static const ics_schema_custom layers_field = {
    .expected = "a list of [depth_m, be400, adust400, dtau], or {file: a CSV file}, or "
                "{effective_scattering_length: m, absorption_length: m} at 400 nm",
    .read = read_layers,
    .clear = clear_layers,
};

/* Returns the subtraction that the configuration chooses; auto means the choice of the file. */
static ics_subtraction subtraction_of(const icestream_config *config, const ics_ice_file *file)
{
    static const ics_subtraction meanings[] = {ICS_SUBTRACTION_NONE, ICS_SUBTRACTION_CONSTANT,
                                               ICS_SUBTRACTION_SCALED};
    if (config->ice.birefringence_subtraction != ICS_SUBTRACTION_AUTO) {
        return config->ice.birefringence_subtraction;
    }
    return meanings[file->subtraction];
}

/* The range of such a key is that of ics_ice_property_check(), for files of all kinds. */
#define PROPERTY(key, number) ICS_ICE_FILE_NUMBER(#key, medium.key, -1e9, 1e9, number)

/* The defaults are the values of the published tables since SPICE Mie. */
static const ics_schema_field fields[] = {
    FIELD(ics_ice_file, "name", name, TEXT),
    PROPERTY(mean_cosine, "0.9"),
    PROPERTY(liu_fraction, "0.35"),
    PROPERTY(alpha, "0.898608505726"),
    PROPERTY(kappa, "1.08410680294"),
    PROPERTY(absorption_a, "6954.09033"),
    PROPERTY(absorption_b, "6617.75439"),
    ICS_ICE_FILE_NUMBER("flow_azimuth", medium.flow_azimuth, -360, 360, "0"),
    FIELD(ics_ice_file, "layers", layers, CUSTOM(layers_field) REQUIRED),
};
enum { FIELDS = sizeof fields / sizeof *fields };

static void list_keys(ics_ice_keys *keys)
{
    memcpy(keys->fields, fields, sizeof fields);
    keys->count = FIELDS;
    ics_ice_scatter_add_keys(keys, false, offsetof(ics_ice_file, scatter));
    ics_ice_features_add_keys(keys);
}

static int check_properties(const ics_ice_file *file, const ics_ice_keys *keys,
                            icestream_error *error)
{
    int status = ICESTREAM_OK;
    char place[512];
    for (size_t i = 0; i < FIELDS; ++i) {
        if (fields[i].type != ICS_SCHEMA_NUMBER || keys->given[i] == NULL) {
            continue;
        }
        double value = *(const double *)((const char *)file + fields[i].offset);
        if (ics_ice_property_check(ics_yaml_place(keys->given[i], place, sizeof place),
                                   fields[i].path, value, error)) {
            status = ICESTREAM_E_CONFIG;
        }
    }
    return status;
}

static int read_table(ics_ice_file *file, icestream_error *error)
{
    ICS_CLEANUP(ics_text_free) ics_text text = {0};
    ICS_TRY(ics_text_read(file->table, &text, error));
    return ics_ice_csv_layers_read(&text, file->anisotropy, &file->layers, error);
}

static int make_medium(const icestream_config *config, ics_ice_file *file, ice_medium **out,
                       icestream_error *error)
{
    ice_medium unused = {0};
    file->medium.flow_azimuth *= M_PI / 180;
    ics_ice_features_convert(file);
    ics_ice_scatter_choose(config->stages.scatter, file->scatter, &file->medium);
    ics_ice_features_switch_off(config, &file->medium, &file->layers);
    int status =
        ics_ice_from_layers(file->name != NULL ? file->name : config->ice.file, &file->layers,
                            &file->medium, subtraction_of(config, file), out, error);
    /* Errors in the files of the features are reported together with those of the layers. */
    status = ics_error_first(
        status, ics_ice_features_load(config, file, *out != NULL ? *out : &unused, error));
    ics_ice_tilt_free(&unused.tilt);
    if (status != ICESTREAM_OK) {
        ics_ice_destroy(*out);
        *out = NULL;
    }
    return status;
}

/* Reads the file and all tables that it names. */
static int read_file(const ics_yaml_node *root, ics_ice_keys *keys, ics_ice_file *file,
                     icestream_error *error)
{
    int status = ics_schema_defaults(keys->fields, keys->count, "", file, error);
    if (status == ICESTREAM_OK) {
        status = ics_schema_read(root, keys->fields, keys->count, file, keys->given, error);
        status = ics_error_first(status, check_properties(file, keys, error));
        status = ics_error_first(status, ics_ice_features_check(file, keys, error));
    }
    if (status == ICESTREAM_OK && file->lengths.node != NULL) {
        status = add_homogeneous_layer(file, error);
    }
    if (file->table != NULL) {
        status = ics_error_first(status, read_table(file, error));
    }
    return status;
}

/* Without a radius there is no hole ice, whatever else is given about it. */
static void warn_of_no_radius(const ics_ice_keys *keys, ics_warnings *warnings)
{
    static const char prefix[] = "hole.";
    char place[512];
    if (ics_ice_file_given(keys, "hole.radius") != NULL) {
        return;
    }
    for (size_t i = 0; i < keys->count; ++i) {
        const char *key = keys->fields[i].path;
        if (keys->given[i] != NULL && strncmp(key, prefix, sizeof prefix - 1) == 0) {
            ics_warnings_add(
                warnings,
                "%s: %s: has no effect, because hole.radius is not given; usual: a radius of 0.08 "
                "to 0.3 m",
                ics_yaml_place(keys->given[i], place, sizeof place), key);
            return;
        }
    }
}

/* Reads a file of layers. */
static int read_ice(const icestream_config *config, const ics_yaml_node *root, ice_medium **out,
                    ics_warnings *warnings, icestream_error *error)
{
    ics_ice_keys keys = {.count = 0};
    ics_ice_file file = {0};
    list_keys(&keys);
    int status = read_file(root, &keys, &file, error);
    if (status == ICESTREAM_OK) {
        status = make_medium(config, &file, out, error);
    }
    if (status == ICESTREAM_OK) {
        warn_of_no_radius(&keys, warnings);
        ics_ice_scatter_warn(ics_ice_scatter_variant(0), config->stages.scatter, false, &keys,
                             warnings);
    }
    ics_schema_clear(keys.fields, keys.count, &file);
    return status;
}

int ics_ice_from_yaml(const icestream_config *config, ice_medium **out, ics_warnings *warnings,
                      icestream_error *error)
{
    ics_yaml *document;
    *out = NULL;
    ICS_TRY(ics_yaml_read_file(config->ice.file, &document, error));
    const ics_yaml_node *root = ics_yaml_root(document);
    const bool is_water = root->kind == ICS_YAML_MAPPING && ics_yaml_find(root, "optics") != NULL;
    const int status = is_water
                           ? ics_ice_from_spectral(config->ice.file, root, config->stages.scatter,
                                                   out, warnings, error)
                           : read_ice(config, root, out, warnings, error);
    ics_yaml_destroy(document);
    return status;
}
