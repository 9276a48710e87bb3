#include "pipeline/models/ice/ice_water_file.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "pipeline/config/schema/kinds.def"
#include "pipeline/models/ice/ice_scatter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables ---------------------------------------------------------------------------------- */

static const ics_wavelength_column optics_columns[ICS_WATER_OPTICS] = {
    [ICS_WATER_ABSORPTION_LENGTH] = {"absorption_length_m", 1e-4, 1e6},
    [ICS_WATER_ABSORPTION] = {"absorption_per_m", 1e-6, 1e4},
    [ICS_WATER_SCATTERING_LENGTH] = {"scattering_length_m", 1e-4, 1e6},
    [ICS_WATER_SCATTERING] = {"scattering_per_m", 1e-6, 1e4},
    [ICS_WATER_EFFECTIVE_LENGTH] = {"effective_scattering_length_m", 1e-4, 1e6},
    [ICS_WATER_EFFECTIVE] = {"effective_scattering_per_m", 1e-6, 1e4},
};

static const ics_wavelength_column index_columns[ICS_WATER_INDICES] = {
    [ICS_WATER_PHASE_INDEX] = {"phase_index", ICS_WATER_INDEX_MIN, ICS_WATER_INDEX_MAX},
    [ICS_WATER_GROUP_INDEX] = {"group_index", ICS_WATER_INDEX_MIN, ICS_WATER_INDEX_MAX},
};

static void clear_optics(void *target)
{
    ics_wavelength_table_free(&((ics_water_file *)target)->optics);
}

static int read_optics(const ics_yaml_node *node, void *target, icestream_error *error)
{
    clear_optics(target);
    return ics_wavelength_table_read_yaml(node, optics_columns, ICS_WATER_OPTICS,
                                          &((ics_water_file *)target)->optics, error);
}

static void clear_index(void *target)
{
    ics_wavelength_table_free(&((ics_water_file *)target)->index);
}

static int read_index(const ics_yaml_node *node, void *target, icestream_error *error)
{
    clear_index(target);
    return ics_wavelength_table_read_yaml(node, index_columns, ICS_WATER_INDICES,
                                          &((ics_water_file *)target)->index, error);
}

/* Reads the CSV file of a table, if there is one. */
static int read_csv(const char *path, const ics_wavelength_column *columns, size_t count,
                    ics_wavelength_table *out, icestream_error *error)
{
    ICS_CLEANUP(ics_text_free) ics_text text = {0};
    if (path == NULL) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_text_read(path, &text, error));
    return ics_wavelength_table_read_text(&text, columns, count, out, error);
}

/* ---- layers ---------------------------------------------------------------------------------- */

static void clear_layers(void *target)
{
    ics_water_file *file = target;
    free(file->layers);
    file->layers = NULL;
    file->layer_count = 0;
}

static int read_layer(const ics_yaml_node *node, size_t i, ics_water_layer *layer,
                      icestream_error *error)
{
    static const char *const names[] = {"z", "scattering", "absorption"};
    double *const numbers[] = {&layer->z, &layer->scattering, &layer->absorption};
    char found[128];
    int status = ICESTREAM_OK;
    if (node->kind != ICS_YAML_LIST || node->count != 3) {
        return ics_yaml_error(error, node,
                              "layers[%zu]: found %s, expected [z_m, factor of scattering, factor "
                              "of absorption]",
                              i, ics_yaml_describe(node, found, sizeof found));
    }
    for (size_t k = 0; k < 3; ++k) {
        char what[64];
        snprintf(what, sizeof what, "layers[%zu].%s", i, names[k]);
        int result = ics_schema_number(node->items[k], what, k ? 1e-3 : -20000, k ? 1e3 : 20000,
                                       numbers[k], error);
        status = status ? status : result;
    }
    return status;
}

static int check_spacing(const ics_yaml_node *node, const ics_water_layer *layers,
                         icestream_error *error)
{
    const double spacing = node->count > 1 ? layers[1].z - layers[0].z : 100;
    if (!(spacing >= 0.1 && spacing <= 10000)) {
        return ics_yaml_error(error, node->items[1],
                              "layers[1].z: found %.10g after %.10g, expected it to rise by 0.1 .. "
                              "10000 m",
                              layers[1].z, layers[0].z);
    }
    for (size_t i = 2; i < node->count; ++i) {
        if (!(fabs(layers[i].z - layers[i - 1].z - spacing) <= 1e-5 * spacing)) {
            return ics_yaml_error(error, node->items[i],
                                  "layers[%zu].z: found %.10g, expected %.10g: equal spacing of "
                                  "%.10g m",
                                  i, layers[i].z, layers[i - 1].z + spacing, spacing);
        }
    }
    return ICESTREAM_OK;
}

static int read_layers(const ics_yaml_node *node, void *target, icestream_error *error)
{
    ics_water_file *file = target;
    clear_layers(file);
    if (node->kind != ICS_YAML_LIST || node->count < 1 || node->count > ICE_LAYERS_MAX) {
        return ics_yaml_unexpected(error, node, "layers", "a list of 1 .. %d layers",
                                   ICE_LAYERS_MAX);
    }
    file->layers = calloc(node->count, sizeof *file->layers);
    if (file->layers == NULL) {
        return ics_yaml_no_memory(error, node);
    }
    file->layer_count = node->count;
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < node->count; ++i) {
        int result = read_layer(node->items[i], i, &file->layers[i], error);
        status = status ? status : result;
    }
    return status ? status : check_spacing(node, file->layers, error);
}

/* ---- the file -------------------------------------------------------------------------------- */

static const ics_schema_custom optics_field = {
    .expected = "a list of the columns' names and lists of numbers",
    .read = read_optics,
    .clear = clear_optics,
};
static const ics_schema_custom index_field = {
    .expected = "a list of the columns' names and lists of numbers",
    .read = read_index,
    .clear = clear_index,
};
static const ics_schema_custom layers_field = {
    .expected = "a list of [z_m, factor of scattering, factor of absorption]",
    .read = read_layers,
    .clear = clear_layers,
};

#define ROW(key, member, kind) FIELD(ics_water_file, key, member, kind)
static const ics_schema_field fields[] = {
    ROW("name", name, TEXT),
    ROW("optics.file", optics_path, PATH REQUIRED ONE_OF("optics")),
    ROW("optics.table", optics, CUSTOM(optics_field) ONE_OF("optics")),
    ROW("optics.extend", optics_extend, CHOICE("none", "constant")),
    ROW("scattering.rayleigh_fraction", rayleigh_fraction, NUMBER(0, 1)),
    ROW("scattering.mean_cosine", mean_cosine, NUMBER(-0.999, 0.9999) REQUIRED),
    ROW("index.salinity", water.salinity, NUMBER(0, 45)),
    ROW("index.temperature", water.temperature, NUMBER(-2, 40)),
    ROW("index.pressure", water.pressure, NUMBER(0, 1200)),
    ROW("index.file", index_path, PATH ONE_OF("index")),
    ROW("index.table", index, CUSTOM(index_field) ONE_OF("index")),
    ROW("index.extend", index_extend, CHOICE("none", "constant")),
    ROW("density", density, NUMBER(0.5, 2)),
    ROW("layers", layers, CUSTOM(layers_field)),
};

int ics_ice_water_file_read(const ics_yaml_node *root, ics_ice_keys *keys, ics_water_file *file,
                            icestream_error *error)
{
    memcpy(keys->fields, fields, sizeof fields);
    keys->count = sizeof fields / sizeof *fields;
    ics_ice_scatter_add_keys(keys, true, offsetof(ics_water_file, scatter));
    int status = ics_schema_defaults(keys->fields, keys->count, file, error);
    int result = ics_schema_read(root, keys->fields, keys->count, file, keys->given, error);
    status = status ? status : result;
    result = read_csv(file->optics_path, optics_columns, ICS_WATER_OPTICS, &file->optics, error);
    status = status ? status : result;
    result = read_csv(file->index_path, index_columns, ICS_WATER_INDICES, &file->index, error);
    return status ? status : result;
}

void ics_ice_water_file_clear(const ics_ice_keys *keys, ics_water_file *file)
{
    ics_schema_clear(keys->fields, keys->count, file);
}
