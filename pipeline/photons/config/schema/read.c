/* Reading the value of one field from a node, by the field's type. */
#include "base/url.h"
#include "pipeline/photons/config/schema/nearest.h"
#include "pipeline/photons/config/schema/number.h"
#include "pipeline/photons/config/schema/value.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static void *member(const ics_schema_field *field, void *target)
{
    return (char *)target + field->offset;
}

static int unexpected_value(const ics_schema_field *field, const ics_yaml_node *node,
                            const char *nearest, icestream_error *error)
{
    char expected[512];
    ics_schema_value_expected(field, expected, sizeof expected);
    return nearest == NULL ? ics_yaml_unexpected(error, node, field->path, "%s", expected)
                           : ics_yaml_unexpected(error, node, field->path, "%s; did you mean '%s'?",
                                                 expected, nearest);
}

/* ---- numbers -------------------------------------------------------------------------------- */

/* Whether a node may be a number: a quoted text is none. */
static bool is_plain(const ics_yaml_node *node)
{
    return node->kind == ICS_YAML_SCALAR && !node->quoted;
}

static bool parse_number(const ics_yaml_node *node, double low, double high, double *out)
{
    double value = 0;
    if (!is_plain(node) || ics_number_double(node->text, &value) != ICS_NUMBER_OK) {
        return false;
    }
    if (value < low || value > high) {
        return false;
    }
    *out = value;
    return true;
}

static bool parse_unsigned(const ics_yaml_node *node, uint64_t least, uint64_t most, uint64_t *out)
{
    uint64_t value = 0;
    if (!is_plain(node) || ics_number_unsigned(node->text, &value) != ICS_NUMBER_OK) {
        return false;
    }
    if (value < least || value > most) {
        return false;
    }
    *out = value;
    return true;
}

static bool is_word(const ics_schema_field *field, const ics_yaml_node *node)
{
    return field->word != NULL && node->kind == ICS_YAML_SCALAR &&
           strcmp(node->text, field->word) == 0;
}

static const char *nearest_word(const ics_schema_field *field, const ics_yaml_node *node)
{
    ics_nearest best = {0};
    if (field->word != NULL && is_plain(node)) {
        ics_nearest_try(&best, node->text, field->word);
    }
    return best.word;
}

static int read_unsigned(const ics_schema_field *field, const ics_yaml_node *node, void *target,
                         icestream_error *error)
{
    uint64_t value = (uint64_t)field->word_value;
    if (!is_word(field, node) && (!parse_unsigned(node, field->least, field->most, &value) ||
                                  (field->multiple && value % field->multiple != 0))) {
        return unexpected_value(field, node, nearest_word(field, node), error);
    }
    ics_schema_value_set_unsigned(field, target, value);
    return ICESTREAM_OK;
}

static int read_bytes(const ics_schema_field *field, const ics_yaml_node *node, void *target,
                      icestream_error *error)
{
    /* A size may stand in quotes, because people write them around a text with a blank. */
    uint64_t value = (uint64_t)field->word_value;
    const bool is_size = node->kind == ICS_YAML_SCALAR && !is_word(field, node) &&
                         ics_number_bytes(node->text, &value) == ICS_NUMBER_OK;
    if (!is_word(field, node) && (!is_size || value < field->least || value > field->most)) {
        return unexpected_value(field, node, nearest_word(field, node), error);
    }
    ics_schema_value_set_unsigned(field, target, value);
    return ICESTREAM_OK;
}

static int read_number(const ics_schema_field *field, const ics_yaml_node *node, void *target,
                       icestream_error *error)
{
    double value = field->word_value;
    if (!is_word(field, node) && !parse_number(node, field->low, field->high, &value)) {
        return unexpected_value(field, node, nearest_word(field, node), error);
    }
    memcpy(member(field, target), &value, sizeof value);
    return ICESTREAM_OK;
}

static int read_numbers(const ics_schema_field *field, const ics_yaml_node *node, void *target,
                        icestream_error *error)
{
    size_t length = field->size / sizeof(double);
    if (node->kind != ICS_YAML_LIST || node->count != length) {
        return unexpected_value(field, node, NULL, error);
    }
    for (size_t i = 0; i < length; ++i) {
        double value = 0;
        if (!parse_number(node->items[i], field->low, field->high, &value)) {
            return unexpected_value(field, node->items[i], NULL, error);
        }
        memcpy((char *)member(field, target) + i * sizeof value, &value, sizeof value);
    }
    return ICESTREAM_OK;
}

/* ---- words and texts ------------------------------------------------------------------------ */

static int read_bool(const ics_schema_field *field, const ics_yaml_node *node, void *target,
                     icestream_error *error)
{
    const char *text = is_plain(node) ? node->text : "";
    static const char *const yes[] = {"yes", "on", "y", "True", "TRUE"};
    static const char *const no[] = {"no", "off", "n", "False", "FALSE"};
    const char *nearest = NULL;
    for (size_t i = 0; i < sizeof yes / sizeof *yes; ++i) {
        nearest = strcmp(text, yes[i]) == 0 ? "true" : strcmp(text, no[i]) == 0 ? "false" : nearest;
    }
    bool value = strcmp(text, "true") == 0;
    if (!value && strcmp(text, "false") != 0) {
        return unexpected_value(field, node, nearest, error);
    }
    ics_schema_value_set_unsigned(field, target, value);
    return ICESTREAM_OK;
}

/* The index of a node's text among the choices. SIZE_MAX: it is none of them; then `*nearest` is
 * the nearest choice, or NULL. */
static size_t find_choice(const ics_schema_field *field, const ics_yaml_node *node,
                          const char **nearest)
{
    ics_nearest best = {0};
    const char *name;
    for (size_t i = 0;
         node->kind == ICS_YAML_SCALAR && (name = ics_schema_choice(field, i)) != NULL; ++i) {
        if (strcmp(name, node->text) == 0) {
            return i;
        }
        ics_nearest_try(&best, node->text, name);
    }
    *nearest = best.word;
    return SIZE_MAX;
}

static int read_choice(const ics_schema_field *field, const ics_yaml_node *node, void *target,
                       icestream_error *error)
{
    const char *nearest = NULL;
    size_t index = find_choice(field, node, &nearest);
    if (index == SIZE_MAX) {
        return unexpected_value(field, node, nearest, error);
    }
    if (field->type == ICS_SCHEMA_CHOICE) {
        ics_schema_value_set_unsigned(field, target, index);
        return ICESTREAM_OK;
    }
    char *copy = strdup(node->text);
    if (copy == NULL) {
        return ics_yaml_no_memory(error, node);
    }
    ics_schema_value_set_text(field, target, copy);
    if (field->type == ICS_SCHEMA_VARIANT) {
        ics_schema_value_set_source(field, target, NULL);
    }
    return ICESTREAM_OK;
}

static bool is_text(const ics_yaml_node *node)
{
    return node->kind == ICS_YAML_SCALAR && *node->text && !ics_yaml_is_null(node);
}

/* Refuses "~/hits" and "$HOME/hits": a shell replaces their beginnings only where a word begins, so
 * that a folder with the name ~ would be made. */
static int check_path(const ics_schema_field *field, const ics_yaml_node *node,
                      icestream_error *error)
{
    const char *text = node->text;
    const bool is_variable = text[0] == '$' && (text[1] == '{' || isalpha((unsigned char)text[1]));
    if (strncmp(text, "~/", 2) != 0 && !is_variable) {
        return ICESTREAM_OK;
    }
    return ics_yaml_error(error, node,
                          "%s: found '%s', expected the whole path (%s is for shells; ./%s is a "
                          "file of this name)",
                          field->path, text, is_variable ? "$" : "~", text);
}

static int read_text(const ics_schema_field *field, const ics_yaml_node *node, void *target,
                     icestream_error *error)
{
    if (!is_text(node)) {
        return unexpected_value(field, node, NULL, error);
    }
    const char *nearest = NULL;
    bool is_path = field->type == ICS_SCHEMA_PATH && find_choice(field, node, &nearest) == SIZE_MAX;
    if (is_path) {
        ICS_TRY(check_path(field, node, error));
    }
    char *copy =
        is_path ? ics_schema_join(node->source->folder, node->text, false) : strdup(node->text);
    if (copy == NULL) {
        return ics_yaml_no_memory(error, node);
    }
    ics_schema_value_set_text(field, target, copy);
    return ICESTREAM_OK;
}

char *ics_schema_join(const char *folder, const char *name, bool is_pattern)
{
    if (*folder == 0 || *name == '/' || strcmp(name, "-") == 0 ||
        (is_pattern && ics_url_is(name))) {
        return strdup(name);
    }
    size_t folder_length = strlen(folder), name_length = strlen(name);
    char *path = malloc(2 * folder_length + name_length + 2);
    if (path == NULL) {
        return NULL;
    }
    size_t used = 0;
    for (size_t i = 0; i < folder_length; ++i) {
        if (is_pattern && strchr("*?[]\\", folder[i]) != NULL) {
            path[used++] = '\\';
        }
        path[used++] = folder[i];
    }
    if (folder[folder_length - 1] != '/') {
        path[used++] = '/';
    }
    memcpy(path + used, name, name_length + 1);
    return path;
}

/* Reads a list of paths or patterns, or a single one. */
static int read_patterns(const ics_schema_field *field, const ics_yaml_node *node, void *target,
                         icestream_error *error)
{
    const ics_yaml_node *const *items = node->kind == ICS_YAML_SCALAR ? &node : node->items;
    size_t count = node->kind == ICS_YAML_SCALAR ? 1 : node->count;
    if (node->kind == ICS_YAML_MAPPING || count == 0) {
        return unexpected_value(field, node, NULL, error);
    }
    char **texts = calloc(count, sizeof *texts);
    if (texts == NULL) {
        return ics_yaml_no_memory(error, node);
    }
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < count && status == ICESTREAM_OK; ++i) {
        if (!is_text(items[i])) {
            status = unexpected_value(field, items[i], NULL, error);
        } else if (check_path(field, items[i], error) != ICESTREAM_OK) {
            status = ICESTREAM_E_CONFIG;
        } else if ((texts[i] = ics_schema_join(node->source->folder, items[i]->text, true)) ==
                   NULL) {
            status = ics_yaml_no_memory(error, node);
        }
    }
    if (status != ICESTREAM_OK) {
        for (size_t i = 0; i < count; ++i) {
            free(texts[i]);
        }
        free(texts);
        return status;
    }
    ics_schema_value_set_array(field, target, texts, count);
    return ICESTREAM_OK;
}

/* Keeps the node itself. */
static int read_node(const ics_schema_field *field, const ics_yaml_node *node, void *target,
                     icestream_error *error)
{
    const ics_schema_node *about = field->node;
    if (ics_yaml_is_null(node)) {
        return unexpected_value(field, node, NULL, error);
    }
    if (field->size == 0) {
        return ICESTREAM_OK;
    }
    if (node->kind != about->kind) {
        return ics_yaml_unexpected(error, node, field->path, "%s, as in %s", about->expected,
                                   about->example);
    }
    const ics_yaml_node *kept = node->count > 0 ? node : NULL;
    memcpy(member(field, target), &kept, sizeof kept);
    return ICESTREAM_OK;
}

int ics_schema_value_read(const ics_schema_field *field, const ics_yaml_node *node, void *target,
                          icestream_error *error)
{
    switch (field->type) {
    case ICS_SCHEMA_BOOL:
        return read_bool(field, node, target, error);
    case ICS_SCHEMA_UNSIGNED:
        return read_unsigned(field, node, target, error);
    case ICS_SCHEMA_BYTES:
        return read_bytes(field, node, target, error);
    case ICS_SCHEMA_NUMBER:
        return read_number(field, node, target, error);
    case ICS_SCHEMA_NUMBERS:
        return read_numbers(field, node, target, error);
    case ICS_SCHEMA_CHOICE:
    case ICS_SCHEMA_NAME:
    case ICS_SCHEMA_VARIANT:
        return read_choice(field, node, target, error);
    case ICS_SCHEMA_TEXT:
    case ICS_SCHEMA_PATH:
        return read_text(field, node, target, error);
    case ICS_SCHEMA_PATTERNS:
        return read_patterns(field, node, target, error);
    case ICS_SCHEMA_LIST:
        break; /* schema.c reads lists, because their items may be mappings */
    case ICS_SCHEMA_NODE:
        return read_node(field, node, target, error);
    case ICS_SCHEMA_CUSTOM:
        if (ics_yaml_is_null(node)) {
            return unexpected_value(field, node, NULL, error);
        }
        return field->custom->read(node, target, error);
    }
    return ICESTREAM_E_CONFIG;
}

/* ---- single values -------------------------------------------------------------------------- */

int ics_schema_number(const ics_yaml_node *node, const char *what, double low, double high,
                      double *out, icestream_error *error)
{
    char range[128];
    if (parse_number(node, low, high, out)) {
        return ICESTREAM_OK;
    }
    ics_schema_value_range(range, sizeof range, low, high);
    return ics_yaml_unexpected(error, node, what, "a number%s", range);
}

int ics_schema_numbers(const ics_yaml_node *list, const char *what, double low, double high,
                       double *out, icestream_error *error)
{
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < list->count; ++i) {
        const int result = ics_schema_number(list->items[i], what, low, high, &out[i], error);
        status = status ? status : result;
    }
    return status;
}

int ics_schema_unsigned(const ics_yaml_node *node, const char *what, uint64_t least, uint64_t most,
                        uint64_t *out, icestream_error *error)
{
    return parse_unsigned(node, least, most, out)
               ? ICESTREAM_OK
               : ics_yaml_unexpected(error, node, what, "a whole number from %llu to %llu",
                                     (unsigned long long)least, (unsigned long long)most);
}
