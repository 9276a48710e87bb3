/* The keys detector.types and detector.om_tables, whose mappings pipeline/photons/models/types
 * reads. */
#include "pipeline/photons/config/fields.h"
#include "pipeline/photons/config/schema/value.h"

#include <stdlib.h>
#include <string.h>

/* How deep a node is in the mapping: its values are types, or files with one; the values of a type
 * are its members; those of a PMT are deeper. */
enum { OF_TYPE = 1, OF_MEMBER = 2 };

/* Whether a text is the name of a file: of a whole type, or of a member of a type or of a PMT. */
static bool is_path(int depth, const char *key, const ics_yaml_node *node)
{
    static const char *const keys[] = {"pmts", "mesh", "table", "acceptance_ratio",
                                       "transit_times"};
    if (depth == OF_TYPE) {
        return !ics_yaml_is_null(node);
    }
    bool found = strcmp(key, "acceptance") == 0 && strcmp(node->text, "standard") != 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) {
        found |= strcmp(key, keys[i]) == 0;
    }
    return found;
}

/* Prints a value of `key`. Names of files become absolute paths: what is printed may be read in
 * another folder. Within a member only PMTs, which are items of a list, have keys. */
static void print_value(int depth, const char *key, const ics_yaml_node *node, FILE *out)
{
    const bool is_mapping = node->kind == ICS_YAML_MAPPING && depth != OF_MEMBER;
    if (node->kind == ICS_YAML_SCALAR && is_path(depth, key, node)) {
        ICS_FREES char *path = ics_schema_join(node->source->folder, node->text, false);
        ics_schema_print_path(path != NULL ? path : node->text, out);
        return;
    }
    if (!is_mapping && node->kind != ICS_YAML_LIST) {
        ics_yaml_print(node, out);
        return;
    }
    fputc(is_mapping ? '{' : '[', out);
    for (size_t i = 0; i < node->count; ++i) {
        fputs(i ? ", " : "", out);
        if (is_mapping) {
            const ics_yaml_entry *entry = &node->entries[i];
            ics_yaml_print_text(entry->key->text, out);
            fputs(": ", out);
            print_value(depth + 1, entry->key->text, entry->value, out);
        } else {
            print_value(depth + 1, "", node->items[i], out);
        }
    }
    fputc(is_mapping ? '}' : ']', out);
}

static void print_types(const ics_yaml_node *types, FILE *out)
{
    print_value(0, "", types, out);
}

const ics_schema_node ics_config_types = {
    .expected = "a mapping of names to types of modules",
    .example = "{dom: {shape: sphere, radius: 0.1651, pmts: [[180, 0]]}}",
    .json_shape = "{type: object, additionalProperties: {type: [object, string]}}",
    .kind = ICS_YAML_MAPPING,
    .print = print_types};

const ics_schema_node ics_config_om_tables = {
    .expected = "a mapping of names of types to files",
    .example = "{DEgg: degg.csv}",
    .json_shape = "{type: object, additionalProperties: {type: string}}",
    .kind = ICS_YAML_MAPPING,
    .print = print_types};
