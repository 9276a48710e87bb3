/* Ice from a YAML file, with the layers in it or in a CSV file beside it. */
#include "pipeline/config/schema.h"
#include "pipeline/error.h"
#include "pipeline/models/ice_layers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct ice_file {
    char *name;
    ice_medium scalars; /* only the numbers */
    is_layer_list layers;
    char *table; /* the CSV file, or NULL */
} ice_file;

/* ---- layers ---------------------------------------------------------------------------------- */

int is_csv_layers_read(const is_text *text, is_layer_list *out, is_error *error)
{
    enum { DEPTH, SCATTERING, ABSORPTION, DELTA_TAU, BUBBLES, COLUMNS };
    static const is_csv_column columns[] = {
        {.name = "depth_m", .index = DEPTH, .required = true},
        {.name = "be400_per_m", .index = SCATTERING, .required = true},
        {.name = "adust400_per_m", .index = ABSORPTION, .required = true},
        {.name = "delta_tau_K", .index = DELTA_TAU, .required = true},
        {.name = "bubbles_per_m", .index = BUBBLES},
    };
    is_number_table table;
    *out = (is_layer_list){.name = text->name};
    int status = is_csv_read(
        text, columns, sizeof columns / sizeof *columns, COLUMNS, ICE_LAYERS_MAX,
        "depth_m,be400_per_m,adust400_per_m,delta_tau_K[,bubbles_per_m]", &table, error);
    for (size_t i = 0; i < table.rows && status == IS_OK; ++i) {
        const double *row = is_number_row(&table, i);
        status = is_layer_list_add(
            out, &(is_layer_row){.depth = row[DEPTH],
                                 .layer = {.effective_scattering = row[SCATTERING],
                                           .bubbles = row[BUBBLES],
                                           .dust_absorption = row[ABSORPTION],
                                           .delta_tau = row[DELTA_TAU]},
                                 .line = table.lines[i]});
        if (status == IS_E_MEMORY)
            is_error_add(error, IS_E_MEMORY, "%s: error: out of memory", text->name);
    }
    is_number_table_free(&table);
    if (status != IS_OK)
        is_layer_list_free(out);
    return status;
}

/* One inline layer: [depth_m, be400, adust400, dtau] or with a fifth number, the bubbles. */
static int read_inline_layer(const is_yaml_node *node, size_t index, is_layer_list *layers,
                             is_error *error)
{
    static const char *const names[] = {"depth", "be400", "adust400", "dtau", "bubbles"};
    double numbers[5] = {0};
    char found[128];
    if (node->kind != IS_YAML_LIST || node->count < 4 || node->count > 5)
        return is_yaml_error(error, node,
                             "layers[%zu]: found %s, expected [depth_m, be400, adust400, dtau] or "
                             "[depth_m, be400, adust400, dtau, bubbles]",
                             index, is_yaml_describe(node, found, sizeof found));
    int status = IS_OK;
    for (size_t i = 0; i < node->count; ++i) {
        char what[64];
        snprintf(what, sizeof what, "layers[%zu].%s", index, names[i]);
        int result = is_schema_number(node->items[i], what, -1e9, 1e9, &numbers[i], error);
        status = status ? status : result;
    }
    if (status != IS_OK)
        return status;
    is_layer_row row = {.depth = numbers[0],
                        .layer = {.effective_scattering = numbers[1],
                                  .bubbles = numbers[4],
                                  .dust_absorption = numbers[2],
                                  .delta_tau = numbers[3]},
                        .line = node->line,
                        .column = node->column};
    status = is_layer_list_add(layers, &row);
    if (status == IS_E_MEMORY)
        is_error_add(error, IS_E_MEMORY, "%s: error: out of memory", node->source->name);
    return status;
}

static void clear_layers(void *target)
{
    ice_file *file = target;
    is_layer_list_free(&file->layers);
    free(file->table);
    file->table = NULL;
}

static int read_layers(const is_yaml_node *node, void *target, is_error *error)
{
    static const is_schema_field table_fields[] = {
        {.path = "file", .type = IS_SCHEMA_PATH, IS_SCHEMA_AT(ice_file, table), .required = true}};
    ice_file *file = target;
    char found[128];
    clear_layers(file);
    if (node->kind == IS_YAML_MAPPING)
        return is_schema_read(node, table_fields, 1, file, NULL, error);
    if (node->kind != IS_YAML_LIST || node->count < 1 || node->count > ICE_LAYERS_MAX)
        return is_yaml_error(error, node,
                             "layers: found %s, expected a list of 1 .. %d layers, or {file: a CSV "
                             "file}",
                             is_yaml_describe(node, found, sizeof found), ICE_LAYERS_MAX);
    file->layers.name = node->source->name;
    int status = IS_OK;
    for (size_t i = 0; i < node->count; ++i) {
        int result = read_inline_layer(node->items[i], i, &file->layers, error);
        status = status ? status : result;
    }
    return status;
}

/* ---- the file -------------------------------------------------------------------------------- */

static const is_schema_custom layers_field = {
    .expected = "a list of [depth_m, be400, adust400, dtau], or {file: a CSV file}",
    .read = read_layers,
    .clear = clear_layers,
};

#define PROPERTY(key, number)                                                                      \
    {                                                                                              \
        .path = #key, .type = IS_SCHEMA_NUMBER, IS_SCHEMA_AT(ice_file, scalars.key),               \
        .fallback = (number), .low = -1e9, .high = 1e9                                             \
    }

/* What is not given is as in the published tables since SPICE Mie. */
static const is_schema_field fields[] = {
    {.path = "name", .type = IS_SCHEMA_TEXT, IS_SCHEMA_AT(ice_file, name)},
    PROPERTY(mean_cosine, "0.9"),
    PROPERTY(liu_fraction, "0.35"),
    PROPERTY(alpha, "0.898608505726"),
    PROPERTY(kappa, "1.08410680294"),
    PROPERTY(absorption_a, "6954.09033"),
    PROPERTY(absorption_b, "6617.75439"),
    {.path = "layers",
     .type = IS_SCHEMA_CUSTOM,
     IS_SCHEMA_AT(ice_file, layers),
     .custom = &layers_field,
     .required = true},
};
enum { FIELDS = sizeof fields / sizeof *fields };

static int check_properties(const ice_file *file, const is_yaml_node *const *given, is_error *error)
{
    int status = IS_OK;
    for (size_t i = 0; i < FIELDS; ++i) {
        if (fields[i].type != IS_SCHEMA_NUMBER || !given[i])
            continue;
        char place[512];
        double value = *(const double *)((const char *)file + fields[i].offset);
        if (is_ice_property_check(is_yaml_place(given[i], place, sizeof place), fields[i].path,
                                  value, error))
            status = IS_E_CONFIG;
    }
    return status;
}

static int read_table(ice_file *file, is_error *error)
{
    is_text text;
    int status = is_text_read(file->table, &text, error);
    if (status == IS_OK)
        status = is_csv_layers_read(&text, &file->layers, error);
    is_text_free(&text);
    return status;
}

int is_medium_from_yaml(const is_config *config, ice_medium **out, is_error *error)
{
    const char *path = config->ice.file;
    is_yaml *document;
    const is_yaml_node *given[FIELDS] = {0};
    ice_file file = {0};
    *out = NULL;
    int status = is_yaml_read_file(path, &document, error);
    if (status != IS_OK)
        return status;
    status = is_schema_defaults(fields, FIELDS, &file, error);
    if (status == IS_OK) {
        status = is_schema_read(is_yaml_root(document), fields, FIELDS, &file, given, error);
        int result = check_properties(&file, given, error);
        status = status ? status : result;
    }
    if (file.table) {
        int result = read_table(&file, error);
        status = status ? status : result;
    }
    if (status == IS_OK)
        status = is_medium_from_layers(file.name ? file.name : path, &file.layers, &file.scalars,
                                       IS_SUBTRACTION_NONE, out, error);
    is_schema_clear(fields, FIELDS, &file);
    is_yaml_destroy(document);
    return status;
}
