#include "pipeline/models/ice/ice_water_file.h"

#include "base/error.h"
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
    ics_text text;
    if (path == NULL) {
        return ICESTREAM_OK;
    }
    int status = ics_text_read(path, &text, error);
    if (status == ICESTREAM_OK) {
        status = ics_wavelength_table_read_text(&text, columns, count, out, error);
    }
    ics_text_free(&text);
    return status;
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
    char found[128];
    clear_layers(file);
    if (node->kind != ICS_YAML_LIST || node->count < 1 || node->count > ICE_LAYERS_MAX) {
        return ics_yaml_error(error, node, "layers: found %s, expected a list of 1 .. %d layers",
                              ics_yaml_describe(node, found, sizeof found), ICE_LAYERS_MAX);
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

static const char *extend_names(const char *path, size_t index)
{
    static const char *const names[] = {"none", "constant"};
    (void)path;
    return index < sizeof names / sizeof *names ? names[index] : NULL;
}

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

#define AT(member)          ICS_SCHEMA_AT(ics_water_file, member)
#define EXTEND(member)      .type = ICS_SCHEMA_CHOICE, AT(member), .choice = extend_names
#define WITHIN(least, most) .type = ICS_SCHEMA_NUMBER, .low = (least), .high = (most)

static const ics_schema_field fields[] = {
    {.path = "name", .type = ICS_SCHEMA_TEXT, AT(name)},
    {.path = "optics.file",
     .type = ICS_SCHEMA_PATH,
     AT(optics_path),
     .group = "optics",
     .required = true},
    {.path = "optics.table",
     .type = ICS_SCHEMA_CUSTOM,
     AT(optics),
     .custom = &optics_field,
     .group = "optics"},
    {.path = "optics.extend", EXTEND(optics_extend)},
    {.path = "scattering.rayleigh_fraction", WITHIN(0, 1), AT(rayleigh_fraction)},
    {.path = "scattering.mean_cosine", WITHIN(-0.999, 0.9999), AT(mean_cosine), .required = true},
    {.path = "index.salinity", WITHIN(0, 45), AT(water.salinity)},
    {.path = "index.temperature", WITHIN(-2, 40), AT(water.temperature)},
    {.path = "index.pressure", WITHIN(0, 1200), AT(water.pressure)},
    {.path = "index.file", .type = ICS_SCHEMA_PATH, AT(index_path), .group = "index"},
    {.path = "index.table",
     .type = ICS_SCHEMA_CUSTOM,
     AT(index),
     .custom = &index_field,
     .group = "index"},
    {.path = "index.extend", EXTEND(index_extend)},
    {.path = "density", WITHIN(0.5, 2), AT(density)},
    {.path = "layers", .type = ICS_SCHEMA_CUSTOM, AT(layers), .custom = &layers_field},
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
