/* Reading lists of structures, and of words, by the fields of an item. */
#include "pipeline/photons/config/schema/value.h"

#include <stdlib.h>
#include <string.h>

static int read_word(const ics_schema_field *field, const ics_yaml_node *node, void *item,
                     icestream_error *error)
{
    const ics_schema_list *list = field->list;
    if (node->kind != ICS_YAML_SCALAR) {
        return ics_yaml_unexpected(error, node, field->path, "%s", list->item);
    }
    char *copy = strdup(node->text);
    memcpy(item, &copy, sizeof copy);
    if (copy == NULL) {
        return ics_yaml_no_memory(error, node);
    }
    return list->check != NULL ? list->check(node, item, error) : ICESTREAM_OK;
}

/* Reads [1, 2] in the order of the fields. */
static int read_row(const ics_schema_field *field, const ics_yaml_node *node, void *target,
                    icestream_error *error)
{
    const ics_schema_list *list = field->list;
    if (node->kind != ICS_YAML_LIST || node->count != list->field_count) {
        return ics_yaml_unexpected(error, node, field->path, "%s", list->item);
    }
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < list->field_count; ++i) {
        const int result = ics_schema_value_read(&list->fields[i], node->items[i], target, error);
        status = status ? status : result;
    }
    return status;
}

static int read_structure(const ics_schema_field *field, const ics_yaml_node *node, void *target,
                          ics_schema_mapping_reader *read, icestream_error *error)
{
    const ics_schema_list *list = field->list;
    ICS_TRY(list->is_row ? read_row(field, node, target, error) : read(list, node, target, error));
    return list->check != NULL ? list->check(node, target, error) : ICESTREAM_OK;
}

/* Reads one structure, or a list of them. */
static int read_structures(const ics_schema_field *field, const ics_yaml_node *node, char *item,
                           ics_schema_mapping_reader *read, icestream_error *error)
{
    const ics_schema_list *list = field->list;
    const bool is_list = node->kind == ICS_YAML_LIST;
    const size_t count = is_list ? node->count : 1;
    if (count < 1 || count > list->several.most) {
        return ics_yaml_error(error, node, "%s: found a list of %zu %s, expected one to %u",
                              field->path, count, list->several.name, list->several.most);
    }
    const uint32_t counted = (uint32_t)count;
    memcpy(item + list->several.count_offset, &counted, sizeof counted);
    for (size_t i = 0; i < count; ++i) {
        ICS_TRY(read_structure(field, is_list ? node->items[i] : node,
                               item + i * list->several.size, read, error));
    }
    return list->several.check != NULL ? list->several.check(node, item, error) : ICESTREAM_OK;
}

int ics_schema_list_read(const ics_schema_field *field, const ics_yaml_node *node, void *target,
                         ics_schema_mapping_reader *read, icestream_error *error)
{
    const ics_schema_list *list = field->list;
    if (node->kind != ICS_YAML_LIST || (list->most != 0 && node->count > list->most) ||
        (list->fits != NULL && !list->fits(node))) {
        return ics_yaml_unexpected(error, node, field->path, "%s", list->expected);
    }
    char *items = calloc(node->count + 1, list->item_size);
    if (items == NULL) {
        return ics_yaml_no_memory(error, node);
    }
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < node->count; ++i) {
        char *item = items + i * list->item_size;
        const int result = list->fields == NULL ? read_word(field, node->items[i], item, error)
                           : list->several.most > 0
                               ? read_structures(field, node->items[i], item, read, error)
                               : read_structure(field, node->items[i], item, read, error);
        status = status ? status : result;
    }
    if (status == ICESTREAM_OK) {
        ics_schema_value_set_array(field, target, items, node->count);
    } else {
        ics_schema_value_free_list(list, items, node->count);
    }
    return status;
}
