/* The keys detector.types and detector.om_tables: mappings that pipeline/models/types reads. */
#include "pipeline/config/config.h"
#include "pipeline/config/config_fields.h"
#include "pipeline/config/schema/schema_value.h"

#include <stdlib.h>
#include <string.h>

static int read_types(const ics_yaml_node *node, void *target, icestream_error *error)
{
    icestream_config *config = target;
    char found[128];
    if (node->kind != ICS_YAML_MAPPING) {
        return ics_yaml_error(error, node,
                              "detector.types: found %s, expected a mapping of names to types, as "
                              "in {degg: {shape: spheroid, radius: 0.15, half_height: 0.267}}",
                              ics_yaml_describe(node, found, sizeof found));
    }
    config->detector.types = node->count > 0 ? node : NULL;
    return ICESTREAM_OK;
}

/* Prints a path as an absolute one: what is printed may be read in another folder. */
static void print_path(const ics_yaml_node *node, FILE *out)
{
    char *path = ics_schema_join(node->source->folder, node->text, false);
    if (path != NULL) {
        ics_schema_print_path(path, out);
    }
    free(path);
}

/* Whether a member of a type or of a PMT may be the name of a file. */
static bool may_be_path(const char *key, const char *value)
{
    static const char *const keys[] = {"pmts", "mesh", "table", "acceptance_ratio",
                                       "transit_times"};
    bool found = strcmp(key, "acceptance") == 0 && strcmp(value, "standard") != 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) {
        found |= strcmp(key, keys[i]) == 0;
    }
    return found;
}

/* Prints the members of a PMT. Names of files become absolute paths. */
static void print_pmt(const ics_yaml_node *pmt, FILE *out)
{
    if (pmt->kind != ICS_YAML_MAPPING) {
        ics_yaml_print(pmt, out);
        return;
    }
    fputc('{', out);
    for (size_t i = 0; i < pmt->count; ++i) {
        const ics_yaml_node *key = pmt->entries[i].key, *value = pmt->entries[i].value;
        fputs(i ? ", " : "", out);
        ics_yaml_print_text(key->text, out);
        fputs(": ", out);
        if (value->kind == ICS_YAML_SCALAR && may_be_path(key->text, value->text)) {
            print_path(value, out);
        } else {
            ics_yaml_print(value, out);
        }
    }
    fputc('}', out);
}

/* Prints a member of a type: the name of a file as an absolute path, PMTs one by one. */
static void print_member(const char *key, const ics_yaml_node *value, FILE *out)
{
    if (value->kind == ICS_YAML_SCALAR && may_be_path(key, value->text)) {
        print_path(value, out);
        return;
    }
    if (value->kind != ICS_YAML_LIST || strcmp(key, "pmts") != 0) {
        ics_yaml_print(value, out);
        return;
    }
    fputc('[', out);
    for (size_t i = 0; i < value->count; ++i) {
        fputs(i ? ", " : "", out);
        print_pmt(value->items[i], out);
    }
    fputc(']', out);
}

/* Prints a type. Names of files become absolute paths. */
static void print_type(const ics_yaml_node *type, FILE *out)
{
    if (type->kind == ICS_YAML_SCALAR && !ics_yaml_is_null(type)) {
        print_path(type, out);
        return;
    }
    if (type->kind != ICS_YAML_MAPPING) {
        ics_yaml_print(type, out);
        return;
    }
    fputc('{', out);
    for (size_t i = 0; i < type->count; ++i) {
        const char *key = type->entries[i].key->text;
        fputs(i ? ", " : "", out);
        ics_yaml_print_text(key, out);
        fputs(": ", out);
        print_member(key, type->entries[i].value, out);
    }
    fputc('}', out);
}

static void print_types(const void *target, FILE *out)
{
    const ics_yaml_node *types = ((const icestream_config *)target)->detector.types;
    fputc('{', out);
    for (size_t i = 0; types != NULL && i < types->count; ++i) {
        fputs(i ? ", " : "", out);
        ics_yaml_print_text(types->entries[i].key->text, out);
        fputs(": ", out);
        print_type(types->entries[i].value, out);
    }
    fputc('}', out);
}

static void clear_types(void *target)
{
    ((icestream_config *)target)->detector.types = NULL;
}

const ics_schema_custom ics_config_types = {
    .expected = "a mapping of names to types of modules",
    .example = "{dom: {shape: sphere, radius: 0.1651, pmts: [[180, 0]]}}",
    .json_shape = "{\"type\": \"object\", \"additionalProperties\": {\"type\": [\"object\", "
                  "\"string\"]}}",
    .read = read_types,
    .print = print_types,
    .clear = clear_types};

/* ---- detector.om_tables ---------------------------------------------------------------------- */

static int read_om_tables(const ics_yaml_node *node, void *target, icestream_error *error)
{
    icestream_config *config = target;
    char found[128];
    if (node->kind != ICS_YAML_MAPPING) {
        return ics_yaml_error(error, node,
                              "detector.om_tables: found %s, expected a mapping of names of types "
                              "to files, as in {DEgg: degg.csv}",
                              ics_yaml_describe(node, found, sizeof found));
    }
    config->detector.om_tables = node->count > 0 ? node : NULL;
    return ICESTREAM_OK;
}

static void print_om_tables(const void *target, FILE *out)
{
    const ics_yaml_node *tables = ((const icestream_config *)target)->detector.om_tables;
    fputc('{', out);
    for (size_t i = 0; tables != NULL && i < tables->count; ++i) {
        const ics_yaml_node *value = tables->entries[i].value;
        fputs(i ? ", " : "", out);
        ics_yaml_print_text(tables->entries[i].key->text, out);
        fputs(": ", out);
        print_type(value, out); /* the name of a file becomes an absolute path */
    }
    fputc('}', out);
}

static void clear_om_tables(void *target)
{
    ((icestream_config *)target)->detector.om_tables = NULL;
}

const ics_schema_custom ics_config_om_tables = {
    .expected = "a mapping of names of types to files",
    .example = "{DEgg: degg.csv}",
    .json_shape = "{\"type\": \"object\", \"additionalProperties\": {\"type\": \"string\"}}",
    .read = read_om_tables,
    .print = print_om_tables,
    .clear = clear_om_tables};
