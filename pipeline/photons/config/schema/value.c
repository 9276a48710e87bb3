/* Members of a structure by their fields: reaching and clearing them, and what they may be. */
#include "pipeline/photons/config/schema/value.h"

#include "pipeline/photons/config/schema/number.h"

#include <stdlib.h>
#include <string.h>

/* ---- members of the target ------------------------------------------------------------------ */

static void *member(const ics_schema_field *field, void *target)
{
    return (char *)target + field->offset;
}

/* Numbers have their lowest byte first (files/format/layout.c), so the first bytes of a wide number
 * are a narrow one. */
void ics_schema_value_set_unsigned(const ics_schema_field *field, void *target, uint64_t value)
{
    memcpy(member(field, target), &value, field->size);
}

uint64_t ics_schema_value_unsigned(const ics_schema_field *field, const void *target)
{
    uint64_t value = 0;
    memcpy(&value, (const char *)target + field->offset, field->size);
    return value;
}

void ics_schema_value_set_text(const ics_schema_field *field, void *target, char *text)
{
    char **slot = member(field, target);
    free(*slot);
    *slot = text;
}

void ics_schema_value_set_source(const ics_schema_field *field, void *target, char *path)
{
    char **slot = (char **)((char *)target + field->source_offset);
    free(*slot);
    *slot = path;
}

uint32_t ics_schema_value_structures(const ics_schema_list *list, const char *item)
{
    uint32_t count = 1;
    if (list->several.most > 0) {
        memcpy(&count, item + list->several.count_offset, sizeof count);
    }
    return count;
}

void ics_schema_value_free_list(const ics_schema_list *list, char *items, size_t count)
{
    for (size_t i = 0; items != NULL && i < count; ++i) {
        char *item = items + i * list->item_size;
        if (list->fields == NULL) {
            free(*(char **)item);
            continue;
        }
        for (uint32_t k = 0; k < ics_schema_value_structures(list, item); ++k) {
            for (size_t f = 0; f < list->field_count; ++f) {
                ics_schema_value_clear(&list->fields[f], item + k * list->several.size);
            }
        }
    }
    free(items);
}

void ics_schema_value_set_array(const ics_schema_field *field, void *target, void *items,
                                size_t count)
{
    static const ics_schema_list words = {.item_size = sizeof(char *)};
    void *counter = (char *)target + field->count_offset;
    char *old = NULL;
    size_t old_count = 0;
    memcpy(&old, member(field, target), sizeof old);
    memcpy(&old_count, counter, sizeof old_count);
    ics_schema_value_free_list(field->type == ICS_SCHEMA_LIST ? field->list : &words, old,
                               old_count);
    memcpy(member(field, target), &items, sizeof items);
    memcpy(counter, &count, sizeof count);
}

void ics_schema_value_clear(const ics_schema_field *field, void *target)
{
    switch (field->type) {
    case ICS_SCHEMA_NAME:
    case ICS_SCHEMA_TEXT:
    case ICS_SCHEMA_PATH:
        ics_schema_value_set_text(field, target, NULL);
        break;
    case ICS_SCHEMA_VARIANT:
        ics_schema_value_set_text(field, target, NULL);
        ics_schema_value_set_source(field, target, NULL);
        break;
    case ICS_SCHEMA_PATTERNS:
    case ICS_SCHEMA_LIST:
        ics_schema_value_set_array(field, target, NULL, 0);
        break;
    case ICS_SCHEMA_CUSTOM:
        if (field->custom->clear != NULL) {
            field->custom->clear(target);
        }
        break;
    default:
        memset(member(field, target), 0, field->size);
    }
}

/* ---- what is expected ----------------------------------------------------------------------- */

const char *ics_schema_choice(const ics_schema_field *field, size_t index)
{
    if (field->choice != NULL) {
        return field->choice(field->path, index);
    }
    for (size_t i = 0; field->words != NULL && field->words[i] != NULL; ++i) {
        if (i == index) {
            return field->words[i];
        }
    }
    return NULL;
}

void ics_schema_value_range(char *buffer, size_t size, double low, double high)
{
    char from[ICS_NUMBER_DIGITS], to[ICS_NUMBER_DIGITS];
    snprintf(buffer, size, " from %s to %s", ics_number_print(low, from),
             ics_number_print(high, to));
}

/* Lists the choices: "balanced or shuffled", "one of a, b, c". Returns their number. */
static size_t list_choices(const ics_schema_field *field, char *buffer, size_t size)
{
    size_t count = 0, used = 0;
    while (ics_schema_choice(field, count) != NULL) {
        ++count;
    }
    buffer[0] = 0;
    for (size_t i = 0; i < count && used < size; ++i) {
        const char *gap = i == 0 ? (count > 2 ? "one of " : "") : count == 2 ? " or " : ", ";
        used +=
            (size_t)snprintf(buffer + used, size - used, "%s%s", gap, ics_schema_choice(field, i));
    }
    return count;
}

/* Describes numbers, without the word that may stand for a number. */
static void expect_number(const ics_schema_field *field, char *buffer, size_t size)
{
    char range[256], to[ICS_NUMBER_DIGITS], from[ICS_NUMBER_DIGITS];
    if (field->type == ICS_SCHEMA_BYTES) {
        snprintf(buffer, size, "a size from %s to %s", ics_number_print_bytes(field->least, from),
                 ics_number_print_bytes(field->most, to));
    } else if (field->type == ICS_SCHEMA_UNSIGNED) {
        snprintf(range, sizeof range, " from %llu to %llu", (unsigned long long)field->least,
                 (unsigned long long)field->most);
        if (field->multiple) {
            snprintf(buffer, size, "a multiple of %llu%s", (unsigned long long)field->multiple,
                     range);
        } else {
            snprintf(buffer, size, "a whole number%s", range);
        }
    } else {
        ics_schema_value_range(range, sizeof range, field->low, field->high);
        if (field->type == ICS_SCHEMA_NUMBERS) {
            snprintf(buffer, size, "a list of %zu numbers%s", field->size / sizeof(double), range);
        } else {
            snprintf(buffer, size, "a number%s", range);
        }
    }
}

const char *ics_schema_value_expected(const ics_schema_field *field, char *buffer, size_t size)
{
    char detail[384];
    switch (field->type) {
    case ICS_SCHEMA_BOOL:
        snprintf(buffer, size, "true or false");
        break;
    case ICS_SCHEMA_UNSIGNED:
    case ICS_SCHEMA_BYTES:
    case ICS_SCHEMA_NUMBER:
    case ICS_SCHEMA_NUMBERS:
        expect_number(field, detail, sizeof detail);
        snprintf(buffer, size, "%s%s%s", detail, field->word != NULL ? ", or " : "",
                 field->word != NULL ? field->word : "");
        break;
    case ICS_SCHEMA_CHOICE:
    case ICS_SCHEMA_NAME:
        list_choices(field, buffer, size);
        break;
    case ICS_SCHEMA_VARIANT:
        list_choices(field, detail, sizeof detail);
        snprintf(buffer, size, "%s, or {source: path}", detail);
        break;
    case ICS_SCHEMA_TEXT:
        snprintf(buffer, size, "a text that is not empty");
        break;
    case ICS_SCHEMA_PATH:
        list_choices(field, detail, sizeof detail);
        snprintf(buffer, size, "%s%sa path", detail, detail[0] ? ", or " : "");
        break;
    case ICS_SCHEMA_PATTERNS:
        snprintf(buffer, size, "a list of paths or patterns");
        break;
    case ICS_SCHEMA_LIST:
        snprintf(buffer, size, "%s", field->list->expected);
        break;
    case ICS_SCHEMA_NODE:
        snprintf(buffer, size, "%s", field->node->expected);
        break;
    case ICS_SCHEMA_CUSTOM:
        snprintf(buffer, size, "%s", field->custom->expected);
        break;
    }
    return buffer;
}
