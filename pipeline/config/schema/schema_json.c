/* A schema as a JSON Schema (draft 7), by which editors check and complete YAML files.
 *
 * A JSON Schema cannot say which files exist and which keys need each other. Otherwise it accepts
 * what ics_schema_read() accepts; tests/cli/check_schema.py compares both.
 */
#include "base/error.h"
#include "base/json_dump.h"
#include "pipeline/config/schema/number.h"
#include "pipeline/config/schema/schema.h"

#include <stdlib.h>
#include <string.h>

/* Every function returns a new value, or NULL without memory. jansson's functions accept NULL and
 * pass it on, so only the end of the work looks for it. */

/* ---- values of one field --------------------------------------------------------------------- */

/* A whole number below 2^53 as an integer; others as the nearest double. */
static json_t *number(double value)
{
    const double most = 9007199254740992.0;
    return value >= -most && value <= most && value == (double)(json_int_t)value
               ? json_integer((json_int_t)value)
               : json_real(value);
}

static json_t *numbers(const ics_schema_field *field)
{
    const bool is_whole = field->type == ICS_SCHEMA_UNSIGNED;
    const bool has_whole_range = is_whole || field->type == ICS_SCHEMA_BYTES;
    json_t *shape =
        json_pack("{s:s, s:o, s:o}", "type", is_whole ? "integer" : "number", "minimum",
                  number(has_whole_range ? (double)field->least : field->low), "maximum",
                  number(has_whole_range ? (double)field->most : field->high));
    if (field->multiple != 0) {
        json_object_set_new(shape, "multipleOf", json_integer((json_int_t)field->multiple));
    }
    return shape;
}

/* A word of a choice. YAML reads true and false as logical values. */
static json_t *word(const char *text)
{
    const bool is_true = strcmp(text, "true") == 0;
    return is_true || strcmp(text, "false") == 0 ? json_boolean(is_true) : json_string(text);
}

static json_t *choices(const ics_schema_field *field)
{
    json_t *list = json_array();
    const char *name = NULL;
    for (size_t i = 0; (name = ics_schema_choice(field, i)) != NULL; ++i) {
        json_array_append_new(list, word(name));
    }
    return list;
}

/* YAML reads a name such as 7 as a number, and icestream takes its text. */
static json_t *text(void)
{
    return json_pack("{s:[s, s], s:i}", "type", "string", "number", "minLength", 1);
}

/* Adds a shape that a value may have instead. */
static void add_other(json_t *shapes, json_t *other)
{
    json_array_append_new(shapes, other);
}

static json_t *size_with_unit(void)
{
    return json_pack("{s:s, s:s}", "type", "string", "pattern",
                     "^\\+?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][-+]?[0-9]+)? ?"
                     "([kMGT]?B|[KMGT]iB)?$");
}

static json_t *one_of_texts(const ics_schema_field *field)
{
    json_t *list = choices(field);
    if (json_array_size(list) == 0) {
        json_decref(list);
        return text();
    }
    return json_pack("{s:[{s:o}, o]}", "anyOf", "enum", list, text());
}

static json_t *variant(const ics_schema_field *field)
{
    return json_pack("{s:[{s:o}, {s:s, s:b, s:[s], s:{s:o}}]}", "anyOf", "enum", choices(field),
                     "type", "object", "additionalProperties", 0, "required", "source",
                     "properties", "source", text());
}

static json_t *number_list(const ics_schema_field *field)
{
    const int length = (int)(field->size / sizeof(double));
    return json_pack("{s:s, s:o, s:i, s:i}", "type", "array", "items", numbers(field), "minItems",
                     length, "maxItems", length);
}

static json_t *patterns(void)
{
    return json_pack("{s:[o, {s:s, s:o, s:i}]}", "anyOf", text(), "type", "array", "items", text(),
                     "minItems", 1);
}

static json_t *number_or_word(const ics_schema_field *field)
{
    json_t *shapes = json_pack("[o]", numbers(field));
    if (field->type == ICS_SCHEMA_BYTES) {
        add_other(shapes, size_with_unit());
    }
    if (field->word != NULL) {
        add_other(shapes, json_pack("{s:s}", "const", field->word));
    }
    if (json_array_size(shapes) == 1) {
        json_decref(shapes);
        return numbers(field);
    }
    return json_pack("{s:o}", "anyOf", shapes);
}

static json_t *own_shape(const char *shape)
{
    return shape != NULL ? json_loads(shape, JSON_REJECT_DUPLICATES, NULL) : json_object();
}

static json_t *values(const ics_schema_field *field)
{
    switch (field->type) {
    case ICS_SCHEMA_BOOL:
        return json_pack("{s:s}", "type", "boolean");
    case ICS_SCHEMA_UNSIGNED:
    case ICS_SCHEMA_BYTES:
    case ICS_SCHEMA_NUMBER:
        return number_or_word(field);
    case ICS_SCHEMA_NUMBERS:
        return number_list(field);
    case ICS_SCHEMA_CHOICE:
    case ICS_SCHEMA_NAME:
        return json_pack("{s:o}", "enum", choices(field));
    case ICS_SCHEMA_VARIANT:
        return variant(field);
    case ICS_SCHEMA_TEXT:
    case ICS_SCHEMA_PATH:
        return one_of_texts(field);
    case ICS_SCHEMA_PATTERNS:
        return patterns();
    case ICS_SCHEMA_LIST:
        return own_shape(field->list->json_shape);
    case ICS_SCHEMA_CUSTOM:
        return own_shape(field->custom->json_shape);
    }
    return NULL;
}

/* ---- defaults -------------------------------------------------------------------------------- */

static json_t *scalar(const ics_yaml_node *node)
{
    double value = 0;
    if (node->quoted) {
        return json_string(node->text);
    }
    return ics_number_double(node->text, &value) == ICS_NUMBER_OK ? number(value)
                                                                  : word(node->text);
}

/* The default of a field as JSON; NULL: it has none. Defaults are scalars, lists of scalars, and
 * empty mappings. */
static json_t *fallback(const ics_schema_field *field)
{
    ics_yaml *document = NULL;
    json_t *value = NULL;
    if (field->fallback == NULL ||
        ics_yaml_read_value("default", field->fallback, &document, NULL) != ICESTREAM_OK) {
        return NULL;
    }
    const ics_yaml_node *root = ics_yaml_root(document);
    if (root->kind == ICS_YAML_SCALAR) {
        value = scalar(root);
    } else if (root->kind == ICS_YAML_LIST) {
        value = json_array();
        for (size_t i = 0; i < root->count; ++i) {
            json_array_append_new(value, scalar(root->items[i]));
        }
    } else if (root->count == 0) {
        value = json_object();
    }
    ics_yaml_destroy(document);
    return value;
}

/* ---- sections -------------------------------------------------------------------------------- */

static json_t *section(void)
{
    return json_pack("{s:[s, s], s:b, s:{}}", "type", "object", "null", "additionalProperties", 0,
                     "properties");
}

/* Returns the object of a section in the section `parent`, which has it afterwards. The parent owns
 * it. */
static json_t *inner_section(json_t *parent, const char *name)
{
    json_t *properties = json_object_get(parent, "properties");
    if (json_object_get(properties, name) == NULL) {
        json_object_set_new(properties, name, section());
    }
    return json_object_get(properties, name);
}

/* Forbids a field together with every later field of its group. A group lies in one section. */
static void exclude_group(json_t *parent, const ics_schema_field *fields, size_t count, size_t i)
{
    for (size_t k = i + 1; fields[i].group != NULL && k < count; ++k) {
        if (fields[k].group == NULL || strcmp(fields[i].group, fields[k].group) != 0) {
            continue;
        }
        json_t *rules = json_object_get(parent, "allOf");
        if (rules == NULL) {
            json_object_set_new(parent, "allOf", json_array());
            rules = json_object_get(parent, "allOf");
        }
        json_array_append_new(rules, json_pack("{s:{s:[s, s]}}", "not", "required",
                                               strrchr(fields[i].path, '.') + 1,
                                               strrchr(fields[k].path, '.') + 1));
    }
}

static int add_field(json_t *root, const ics_schema_field *fields, size_t count, size_t i)
{
    const ics_schema_field *field = &fields[i];
    json_t *parent = root, *shape = values(field), *standard = fallback(field);
    char part[64], sentence[1024];
    const char *key = field->path, *dot = NULL;
    while ((dot = strchr(key, '.')) != NULL) {
        snprintf(part, sizeof part, "%.*s", (int)(dot - key), key);
        parent = inner_section(parent, part);
        key = dot + 1;
    }
    snprintf(sentence, sizeof sentence, "%s%s%s%s", field->help, field->unit != NULL ? " (" : "",
             field->unit != NULL ? field->unit : "", field->unit != NULL ? ")" : "");
    int failed = json_object_set_new(shape, "description", json_string(sentence));
    if (field->fallback != NULL) {
        failed |= json_object_set_new(shape, "default", standard);
    }
    exclude_group(parent, fields, count, i);
    return failed | json_object_set_new(json_object_get(parent, "properties"), key, shape);
}

int ics_schema_print_json(const ics_schema_field *fields, size_t count, const char *title,
                          FILE *out, icestream_error *error)
{
    json_t *root = json_pack("{s:s, s:s}", "$schema", "http://json-schema.org/draft-07/schema#",
                             "title", title);
    json_t *rest = section();
    int failed = root == NULL || json_object_update(root, rest);
    json_decref(rest);
    for (size_t i = 0; !failed && i < count; ++i) {
        failed = add_field(root, fields, count, i);
    }
    char *text_of_all =
        failed ? NULL : ics_json_dump(root, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    json_decref(root);
    if (text_of_all == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for the JSON Schema");
    }
    fprintf(out, "%s\n", text_of_all);
    free(text_of_all);
    return ICESTREAM_OK;
}
