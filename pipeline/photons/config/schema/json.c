/* A schema as a JSON Schema (draft 7), by which editors check and complete YAML files.
 *
 * A JSON Schema cannot say which files exist and which keys need each other. Otherwise it accepts
 * what ics_schema_read() accepts; tests/cli/keys/check_schema.py compares both.
 */
#include "base/error.h"
#include "base/json_dump.h"
#include "pipeline/photons/config/schema/number.h"
#include "pipeline/photons/config/schema/schema.h"

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
        json_array_append_new(shapes, size_with_unit());
    }
    if (field->word != NULL) {
        json_array_append_new(shapes, json_pack("{s:s}", "const", field->word));
    }
    if (json_array_size(shapes) == 1) {
        json_decref(shapes);
        return numbers(field);
    }
    return json_pack("{s:o}", "anyOf", shapes);
}

/* A node of YAML as JSON. */
static json_t *json_of(const ics_yaml_node *node)
{
    double value = 0;
    if (node->kind == ICS_YAML_SCALAR) {
        return node->quoted                                             ? json_string(node->text)
               : ics_number_double(node->text, &value) == ICS_NUMBER_OK ? number(value)
                                                                        : word(node->text);
    }
    const bool is_list = node->kind == ICS_YAML_LIST;
    json_t *all = is_list ? json_array() : json_object();
    for (size_t i = 0; i < node->count; ++i) {
        if (is_list) {
            json_array_append_new(all, json_of(node->items[i]));
        } else {
            json_object_set_new(all, node->entries[i].key->text, json_of(node->entries[i].value));
        }
    }
    return all;
}

/* A text in YAML as JSON: a default, or a shape. */
static json_t *json_of_text(const char *text)
{
    ics_yaml *document = NULL;
    if (ics_yaml_read_value("schema", "", text, &document, NULL) != ICESTREAM_OK) {
        return NULL;
    }
    json_t *value = json_of(ics_yaml_root(document));
    ics_yaml_destroy(document);
    return value;
}

static json_t *own_shape(const char *shape)
{
    return shape != NULL ? json_of_text(shape) : json_object();
}

static json_t *word_of_list(const ics_schema_list *list)
{
    return list->pattern != NULL
               ? json_pack("{s:s, s:s}", "type", "string", "pattern", list->pattern)
               : json_pack("{s:[s, s, s, s]}", "type", "string", "number", "boolean", "null");
}

static json_t *values(const ics_schema_field *field);

/* [1, 2] in the order of the fields. */
static json_t *row_of_list(const ics_schema_list *list)
{
    json_t *items = json_array();
    for (size_t i = 0; i < list->field_count; ++i) {
        json_array_append_new(items, values(&list->fields[i]));
    }
    return json_pack("{s:s, s:o, s:i, s:i}", "type", "array", "items", items, "minItems",
                     (int)list->field_count, "maxItems", (int)list->field_count);
}

static json_t *structures(const ics_schema_list *list)
{
    json_t *one = list->is_row ? row_of_list(list)
                               : ics_schema_members_shape(list->fields, list->field_count);
    if (list->several.most == 0) {
        return one;
    }
    return json_pack("{s:[O, {s:s, s:i, s:i, s:o}]}", "oneOf", one, "type", "array", "minItems", 1,
                     "maxItems", (int)list->several.most, "items", one);
}

static json_t *list_of_items(const ics_schema_list *list)
{
    json_t *shape = json_pack("{s:s}", "type", "array");
    if (list->most != 0) {
        json_object_set_new(shape, "maxItems", json_integer((json_int_t)list->most));
    }
    json_object_set_new(shape, "items",
                        list->fields == NULL ? word_of_list(list) : structures(list));
    return shape;
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
        return field->pattern != NULL
                   ? json_pack("{s:s, s:s}", "type", "string", "pattern", field->pattern)
                   : one_of_texts(field);
    case ICS_SCHEMA_PATTERNS:
        return patterns();
    case ICS_SCHEMA_LIST:
        return list_of_items(field->list);
    case ICS_SCHEMA_NODE:
        return own_shape(field->node->json_shape);
    case ICS_SCHEMA_CUSTOM:
        return field->custom->shape != NULL ? field->custom->shape()
                                            : own_shape(field->custom->json_shape);
    }
    return NULL;
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

/* Returns the array of a key, which is made if it is not there. The object owns it. */
static json_t *array_of(json_t *object, const char *key)
{
    if (json_object_get(object, key) == NULL) {
        json_object_set_new(object, key, json_array());
    }
    return json_object_get(object, key);
}

static const char *last_word(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot != NULL ? dot + 1 : path;
}

/* Forbids a field together with every later field of its group. A group lies in one section. */
static void exclude_group(json_t *parent, const ics_schema_field *fields, size_t count, size_t i)
{
    for (size_t k = i + 1; fields[i].group != NULL && k < count; ++k) {
        if (fields[k].group != NULL && strcmp(fields[i].group, fields[k].group) == 0) {
            json_array_append_new(array_of(parent, "allOf"),
                                  json_pack("{s:{s:[s, s]}}", "not", "required",
                                            last_word(fields[i].path), last_word(fields[k].path)));
        }
    }
}

/* A field that must be given, or another one of its group. */
static void require(json_t *parent, const ics_schema_field *fields, size_t count, size_t i)
{
    if (fields[i].group == NULL) {
        json_array_append_new(array_of(parent, "required"), json_string(last_word(fields[i].path)));
    }
    for (size_t k = 0; fields[i].group != NULL && k < count; ++k) {
        if (fields[k].group != NULL && strcmp(fields[i].group, fields[k].group) == 0) {
            json_array_append_new(array_of(parent, "anyOf"),
                                  json_pack("{s:[s]}", "required", last_word(fields[k].path)));
        }
    }
}

static int add_field(json_t *root, const ics_schema_field *fields, size_t count, size_t i)
{
    const ics_schema_field *field = &fields[i];
    json_t *parent = root, *shape = values(field);
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
        failed |= json_object_set_new(shape, "default", json_of_text(field->fallback));
    }
    if (field->required) {
        require(parent, fields, count, i);
    }
    exclude_group(parent, fields, count, i);
    return failed | json_object_set_new(json_object_get(parent, "properties"), key, shape);
}

/* Adds the fields to an object that section() made. Returns it; NULL: no memory. */
static json_t *add_fields(json_t *object, const ics_schema_field *fields, size_t count)
{
    int failed = object == NULL;
    for (size_t i = 0; !failed && i < count; ++i) {
        failed = add_field(object, fields, count, i);
    }
    if (failed) {
        json_decref(object);
        return NULL;
    }
    return object;
}

json_t *ics_schema_members_shape(const ics_schema_field *fields, size_t count)
{
    json_t *shape =
        json_pack("{s:s, s:b, s:{}}", "type", "object", "additionalProperties", 0, "properties");
    return add_fields(shape, fields, count);
}

int ics_schema_print_json(const ics_schema_field *fields, size_t count, const char *title,
                          FILE *out, icestream_error *error)
{
    json_t *root = json_pack("{s:s, s:s}", "$schema", "http://json-schema.org/draft-07/schema#",
                             "title", title);
    json_t *rest = section();
    if (root != NULL && json_object_update(root, rest) != 0) {
        json_decref(root);
        root = NULL;
    }
    json_decref(rest);
    root = add_fields(root, fields, count);
    char *text_of_all =
        root == NULL ? NULL : ics_json_dump(root, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    json_decref(root);
    if (text_of_all == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for the JSON Schema");
    }
    fprintf(out, "%s\n", text_of_all);
    free(text_of_all);
    return ICESTREAM_OK;
}
