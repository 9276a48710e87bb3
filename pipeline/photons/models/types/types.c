#include "pipeline/photons/models/types/types.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "pipeline/photons/config/schema/kinds.def"
#include "pipeline/photons/config/schema/schema.h"
#include "pipeline/photons/models/file.h"
#include "pipeline/photons/models/types/direction.h"
#include "pipeline/photons/models/types/members.h"
#include "pipeline/photons/models/types/pmt_acceptance.h"
#include "pipeline/photons/models/types/pmt_areas.h"
#include "pipeline/photons/models/types/transit_times.h"
#include "tables/tables.h"

#include <stdlib.h>
#include <string.h>

/* ---- the members of a type ------------------------------------------------------------------- */

/* A type as YAML has it. */
typedef struct type_values {
    ice_shape shape;
    double radius, half_height, beta, pmt_radius;
    double orientation[3]; /* zenith, azimuth, roll: degrees */
    bool open_ends;
    double unit; /* m, of the mesh */
} type_values;

/* What is read later, when the sizes of the type are known, stays a node of YAML. */
static const ics_schema_node parts_node = {.expected =
                                               "a mapping of names to glass, absorber or PMTs"};
static const ics_schema_node pmts_node = {.expected = "a list of PMTs"};
static const ics_schema_node angular_node = {.expected = "a list of numbers"};
static const ics_schema_node acceptance_node = {.expected = "standard, or the name of a file"};
static const ics_schema_node file_node = {.expected = "the name of a file"};

/* In the order of ice_shape. */
#define SHAPE_WORD(NAME, name, yaml, sizes, text) yaml,
static const char *const shapes[] = {ICE_SHAPES(SHAPE_WORD) NULL};

enum {
    SHAPE,
    RADIUS,
    HALF_HEIGHT,
    OPEN_ENDS,
    BETA,
    PMT_RADIUS,
    ORIENTATION,
    PMTS,
    TABLE,
    ANGULAR,
    RATIO,
    ACCEPTANCE,
    TRANSIT,
    MESH,
    UNIT,
    PARTS,
    FIELDS
};
#define ROW(key, member, kind) FIELD(type_values, key, member, kind)
static const ics_schema_field fields[FIELDS] = {
    [SHAPE] = ROW("shape", shape, CHOICE_OF(shapes) REQUIRED),
    [RADIUS] = ROW("radius", radius, NUMBER(1e-3, 10) REQUIRED),
    [HALF_HEIGHT] = ROW("half_height", half_height, NUMBER(1e-3, 10)),
    [OPEN_ENDS] = ROW("open_ends", open_ends, BOOL),
    [BETA] = ROW("beta", beta, NUMBER(0, 1) DEFAULT("1")),
    [PMT_RADIUS] = ROW("pmt_radius", pmt_radius, NUMBER(0, 10)),
    [ORIENTATION] = ROW("orientation", orientation, NUMBERS(-360, 360)),
    [PMTS] = {.path = "pmts", NODE(pmts_node)},
    [TABLE] = {.path = "table", NODE(file_node)},
    [ANGULAR] = {.path = "angular_polynomial", NODE(angular_node)},
    [RATIO] = {.path = "acceptance_ratio", NODE(file_node)},
    [ACCEPTANCE] = {.path = "acceptance", NODE(acceptance_node)},
    [TRANSIT] = {.path = "transit_times", NODE(file_node)},
    [MESH] = {.path = "mesh", NODE(file_node)},
    [UNIT] = ROW("unit", unit, NUMBER(1e-6, 10) DEFAULT("1")),
    [PARTS] = {.path = "parts", NODE(parts_node)},
};

/* Checks that the sizes of a type belong to its shape. `given`: the nodes of the fields. */
static int check_sizes(const ics_yaml_node *node, const type_values *values,
                       const ics_yaml_node *const given[FIELDS], icestream_error *error)
{
#define SHAPE_SIZES(NAME, name, yaml, sizes, text) (sizes),
    static const int sizes_of[] = {ICE_SHAPES(SHAPE_SIZES)};
    const bool has_height = (sizes_of[values->shape] & ICE_SIZE_HALF_HEIGHT) != 0;
    if (!has_height && given[HALF_HEIGHT] != NULL) {
        return ics_yaml_error(error, given[HALF_HEIGHT],
                              "half_height: is not for a %s, whose size is its radius",
                              shapes[values->shape]);
    }
    if (has_height && given[HALF_HEIGHT] == NULL) {
        return ics_yaml_error(error, node, "found no half_height, which a %s needs",
                              shapes[values->shape]);
    }
    if (values->shape == ICE_SHAPE_CAPSULE && values->half_height < values->radius) {
        return ics_yaml_error(error, given[HALF_HEIGHT],
                              "half_height: found %g m, expected at least the radius of the "
                              "capsule, %g m",
                              values->half_height, values->radius);
    }
    if (!(sizes_of[values->shape] & ICE_SIZE_OPEN_ENDS) && values->open_ends) {
        return ics_yaml_error(error, given[OPEN_ENDS], "open_ends: is for cylinders, not for a %s",
                              shapes[values->shape]);
    }
    return ICESTREAM_OK;
}

/* Checks that a type has a mesh if its shape is one, and no member of meshes if it is not. */
static int check_mesh(const ics_yaml_node *node, const type_values *values,
                      const ics_yaml_node *const given[FIELDS], icestream_error *error)
{
    static const int of_meshes[] = {MESH, UNIT, PARTS};
    if (values->shape == ICE_SHAPE_MESH) {
        return given[MESH] != NULL
                   ? ICESTREAM_OK
                   : ics_yaml_error(error, node, "found no mesh, which the shape mesh needs");
    }
    for (size_t i = 0; i < sizeof of_meshes / sizeof *of_meshes; ++i) {
        if (given[of_meshes[i]] != NULL) {
            return ics_yaml_error(error, given[of_meshes[i]],
                                  "%s: is for the shape mesh, not for a %s",
                                  fields[of_meshes[i]].path, shapes[values->shape]);
        }
    }
    return ICESTREAM_OK;
}

/* Reads the files and lists of a type whose sizes are known. `given`: the nodes of the fields. */
static int read_rest(const type_values *values, const ics_yaml_node *const given[FIELDS],
                     ice_module_type *type, ics_warnings *warnings, icestream_error *error)
{
    const ics_type_mesh mesh = {.file = given[MESH], .parts = given[PARTS], .unit = values->unit};
    const ics_pmt_acceptance_nodes acceptance = {
        .angular = given[ANGULAR], .ratio = given[RATIO], .own = given[ACCEPTANCE]};
    if (type->shape == ICE_SHAPE_MESH) {
        ICS_TRY(ics_type_mesh_read(&mesh, type, warnings, error));
    }
    type->reach = ics_tables_type_reach(type);
    ICS_TRY(ics_pmt_acceptance_read(&acceptance, &type->acceptance, error));
    if (given[PMTS] != NULL) {
        ICS_TRY(ics_pmts_read_yaml(given[PMTS], values->pmt_radius, type, error));
    }
    if (given[TRANSIT] != NULL) {
        ICS_TRY(ics_transit_times_read(given[TRANSIT], &type->transit, error));
        ICS_TRY(ics_transit_times_check(given[TRANSIT], type, error));
    }
    if (given[TABLE] != NULL) {
        ICS_TRY(ics_pmt_areas_read_yaml(given[TABLE], type, error));
    }
    return type->shape == ICE_SHAPE_MESH ? ics_type_mesh_check(&mesh, type, error) : ICESTREAM_OK;
}

/* Reads a type from a mapping and appends it. */
static int read_type(const ics_yaml_node *node, const char *name, double oversize, ics_types *types,
                     ics_warnings *warnings, icestream_error *error)
{
    type_values values = {0};
    const ics_yaml_node *given[FIELDS] = {0};
    char found[128];
    if (node->kind != ICS_YAML_MAPPING) {
        return ics_yaml_error(error, node,
                              "type %.60s: found %s, expected a mapping as in {shape: "
                              "sphere, radius: 0.1651}",
                              name, ics_yaml_describe(node, found, sizeof found));
    }
    ICS_TRY(ics_schema_defaults(fields, FIELDS, "", &values, error));
    ICS_TRY(ics_schema_read(node, fields, FIELDS, &values, given, error));
    ICS_TRY(check_sizes(node, &values, given, error));
    ICS_TRY(check_mesh(node, &values, given, error));
    ice_module_type *type = &types->items[types->count];
    *type = (ice_module_type){.name = strdup(name),
                              .shape = values.shape,
                              .open_ends = values.open_ends,
                              .radius = values.radius,
                              .half_height =
                                  given[HALF_HEIGHT] != NULL ? values.half_height : values.radius,
                              .oversize = oversize,
                              .beta = values.beta};
    if (type->name == NULL) {
        return ics_yaml_no_memory(error, node);
    }
    types->turns[types->count] =
        ics_orientation_of(values.orientation[0], values.orientation[1], values.orientation[2]);
    types->pmt_radius[types->count] = values.pmt_radius;
    ++types->count;
    return read_rest(&values, given, type, warnings, error);
}

/* ---- detector.types -------------------------------------------------------------------------- */

/* Reads a type from its file. */
static int read_type_file(const ics_yaml_node *node, const char *name, double oversize,
                          ics_types *types, ics_warnings *warnings, icestream_error *error)
{
    ICS_FREES char *path = NULL;
    ics_yaml *document;
    ICS_TRY(ics_type_file_path(node, name, "the name of a file", &path, error));
    ICS_TRY(ics_yaml_read_file(path, &document, error));
    const int status = read_type(ics_yaml_root(document), name, oversize, types, warnings, error);
    ics_yaml_destroy(document);
    return status;
}

static int read_named(const ics_yaml_node *mapping, double oversize, ics_types *types,
                      ics_warnings *warnings, icestream_error *error)
{
    int status = ICESTREAM_OK;
    if (mapping->count > ICE_TYPES_MAX) {
        return ics_yaml_error(error, mapping,
                              "detector.types: found %zu types, expected at most %d",
                              mapping->count, ICE_TYPES_MAX);
    }
    for (size_t i = 0; i < mapping->count; ++i) {
        const ics_yaml_entry *entry = &mapping->entries[i];
        const ics_yaml_node *value = entry->value;
        int result;
        if (entry->duplicate_of != NULL) {
            result =
                ics_yaml_error(error, entry->key, "detector.types: the type '%.60s' is given twice",
                               entry->key->text);
        } else if (value->kind == ICS_YAML_SCALAR && !ics_yaml_is_null(value)) {
            result = read_type_file(value, entry->key->text, oversize, types, warnings, error);
        } else {
            result = read_type(value, entry->key->text, oversize, types, warnings, error);
        }
        status = ics_error_first(status, result);
    }
    return status;
}

/* ---- om.conf --------------------------------------------------------------------------------- */

/* Reads the tables of types by their names. */
static int read_om_tables(const ics_yaml_node *tables, ics_types *types, icestream_error *error)
{
    char names[256];
    int status = ICESTREAM_OK;
    for (size_t i = 0; tables != NULL && i < tables->count; ++i) {
        const ics_yaml_entry *entry = &tables->entries[i];
        const size_t found = ics_types_find(types, entry->key->text, strlen(entry->key->text));
        int result;
        if (entry->duplicate_of != NULL) {
            result = ics_yaml_error(error, entry->key,
                                    "detector.om_tables: the type '%.60s' is given twice",
                                    entry->key->text);
        } else if (found == types->count) {
            result = ics_yaml_error(error, entry->key,
                                    "detector.om_tables: found '%.60s', expected a type of "
                                    "om.conf: %s",
                                    entry->key->text, ics_types_names(types, names, sizeof names));
        } else {
            result = ics_pmt_areas_read_yaml(entry->value, &types->items[found], error);
        }
        status = ics_error_first(status, result);
    }
    return status;
}

static int read_om_conf(const icestream_config *config, ics_types *types, icestream_error *error)
{
    ICS_CLEANUP(ics_text_free) ics_text text = {0};
    ICS_TRY(ics_types_om_file(config, config->detector.om_conf, "om.conf", &text, error));
    if (text.name == NULL) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_types_read_om_conf(&text, config->detector.oversize, types, error));
    return read_om_tables(config->detector.om_tables, types, error);
}

int ics_types_om_file(const icestream_config *config, const char *value, const char *name,
                      ics_text *out, icestream_error *error)
{
    const bool is_unused = strcmp(value, "auto") == 0 && config->detector.types != NULL;
    return ics_model_file_read(config, is_unused ? "none" : value, name, out, error);
}

/* ---- all together ---------------------------------------------------------------------------- */

static bool is_path(const char *value)
{
    return strcmp(value, "auto") != 0 && strcmp(value, "none") != 0;
}

/* Reports that there are tables for types of om.conf, which the run does not use. */
static int no_om_conf(const icestream_config *config, icestream_error *error)
{
    return ics_config_error(config, "detector.om_tables", error,
                            "is about types of om.conf, which is not used; expected "
                            "detector.om_conf, too, and no detector.types");
}

/* Types come from one source, and om.map and om_tables are about the types of om.conf. */
static int check_sources(const icestream_config *config, icestream_error *error)
{
    if (config->detector.types != NULL && is_path(config->detector.om_conf)) {
        return ics_config_error(config, "detector.om_conf", error,
                                "is given, and so are detector.types; expected one of them");
    }
    if (is_path(config->detector.om_map) &&
        (config->detector.types != NULL || strcmp(config->detector.om_conf, "none") == 0 ||
         (config->ice.directory == NULL && !is_path(config->detector.om_conf)))) {
        return ics_config_error(config, "detector.om_map", error,
                                "has the numbers of types of om.conf, which is not given; expected "
                                "detector.om_conf, too");
    }
    return config->detector.om_tables != NULL && config->detector.types != NULL
               ? no_om_conf(config, error)
               : ICESTREAM_OK;
}

int ics_types_read(const icestream_config *config, ics_types *out, ics_warnings *warnings,
                   icestream_error *error)
{
    *out = (ics_types){0};
    ICS_TRY(check_sources(config, error));
    int status =
        config->detector.types != NULL
            ? read_named(config->detector.types, config->detector.oversize, out, warnings, error)
            : read_om_conf(config, out, error);
    if (status == ICESTREAM_OK && config->detector.om_tables != NULL && out->count == 0) {
        status = no_om_conf(config, error);
    }
    if (status != ICESTREAM_OK) {
        ics_types_free(out);
    }
    return status;
}
