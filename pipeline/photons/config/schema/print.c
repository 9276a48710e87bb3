/* Writing a structure as YAML, and its schema as documentation. */
#include "base/url.h"
#include "pipeline/photons/config/schema/number.h"
#include "pipeline/photons/config/schema/value.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const void *member(const ics_schema_field *field, const void *target)
{
    return (const char *)target + field->offset;
}

static void print_double(double value, FILE *out)
{
    char digits[ICS_NUMBER_DIGITS];
    fputs(ics_number_print(value, digits), out);
}

/* A URL is printed without what may be a secret: printed configurations are kept and passed on. */
static void print_text(const char *text, FILE *out)
{
    char shown[ICS_URL_MOST + 1];
    const bool hides = ics_url_is(text) && ics_url_may_be_secret(text);
    ics_yaml_print_text(hides ? ics_url_shown(text, shown) : text, out);
}

/* Prints an absolute path, so that the printed file means the same in every folder. */
static void print_path(const char *path, bool is_pattern, FILE *out)
{
    char *folder = getcwd(NULL, 0);
    char *absolute = folder != NULL ? ics_schema_join(folder, path, is_pattern) : NULL;
    print_text(absolute != NULL ? absolute : path, out);
    free(absolute);
    free(folder);
}

void ics_schema_print_path(const char *path, FILE *out)
{
    print_path(path, false, out);
}

/* Prints the sections and the key of a path; not the sections that the previous path is in, too. */
static void print_keys(const char *previous, const char *path, FILE *out)
{
    size_t shared = 0; /* length of the sections that both paths are in */
    for (size_t i = 0; previous[i] && previous[i] == path[i]; ++i) {
        if (path[i] == '.') {
            shared = i + 1;
        }
    }
    int level = 0;
    for (size_t start = 0; path[start];) {
        size_t length = strcspn(path + start, ".");
        bool is_last = path[start + length] == 0;
        if (start >= shared) {
            fprintf(out, "%*s%.*s:%s", 2 * level, "", (int)length, path + start,
                    is_last ? " " : "\n");
        }
        start += length + (is_last ? 0 : 1);
        ++level;
    }
}

static void print_patterns(const ics_schema_field *field, const void *target, FILE *out)
{
    char *const *texts;
    size_t count;
    memcpy(&texts, member(field, target), sizeof texts);
    memcpy(&count, (const char *)target + field->count_offset, sizeof count);
    fputc('[', out);
    for (size_t i = 0; i < count; ++i) {
        fputs(i ? ", " : "", out);
        print_path(texts[i], true, out);
    }
    fputc(']', out);
}

static bool is_choice(const ics_schema_field *field, const char *text)
{
    const char *choice = NULL;
    for (size_t i = 0; (choice = ics_schema_choice(field, i)) != NULL; ++i) {
        if (strcmp(choice, text) == 0) {
            return true;
        }
    }
    return false;
}

static void print_texts(const ics_schema_field *field, const char *text, FILE *out)
{
    if (field->plain || is_choice(field, text)) {
        fputs(text, out);
    } else if (field->type == ICS_SCHEMA_PATH) {
        ics_schema_print_path(text, out);
    } else {
        print_text(text, out);
    }
}

static void print_whole(const ics_schema_field *field, const void *target, FILE *out)
{
    const uint64_t value = ics_schema_value_unsigned(field, target);
    char digits[ICS_NUMBER_DIGITS];
    if (field->word != NULL && value == (uint64_t)field->word_value) {
        fputs(field->word, out);
    } else if (field->type == ICS_SCHEMA_BYTES) {
        fputs(ics_number_print_bytes(value, digits), out);
    } else {
        fprintf(out, "%llu", (unsigned long long)value);
    }
}

static void print_number(const ics_schema_field *field, const void *target, FILE *out)
{
    double value;
    memcpy(&value, member(field, target), sizeof value);
    if (field->word != NULL && value == field->word_value) {
        fputs(field->word, out);
    } else {
        print_double(value, out);
    }
}

void ics_schema_print_numbers(const double *values, size_t count, FILE *out)
{
    fputc('[', out);
    for (size_t i = 0; i < count; ++i) {
        fputs(i ? ", " : "", out);
        print_double(values[i], out);
    }
    fputc(']', out);
}

static void print_node(const ics_schema_field *field, const void *target, FILE *out)
{
    const ics_yaml_node *node;
    memcpy(&node, member(field, target), sizeof node);
    if (node == NULL) {
        fputs(field->node->kind == ICS_YAML_LIST ? "[]" : "{}", out);
    } else if (field->node->print != NULL) {
        field->node->print(node, out);
    } else {
        ics_yaml_print(node, out);
    }
}

/* Whether a field is written: one that may be left out is not, if it was left out. */
static bool is_written(const ics_schema_field *field, const char *target)
{
    bool found = (field->required && field->group == NULL) || field->fallback != NULL;
    for (size_t i = 0; i < field->size && !found; ++i) {
        found = target[field->offset + i] != 0;
    }
    return found;
}

void ics_schema_print_members(const ics_schema_field *fields, size_t count, const void *target,
                              FILE *out)
{
    const char *between = "";
    fputc('{', out);
    for (size_t i = 0; i < count; ++i) {
        if (is_written(&fields[i], target)) {
            fprintf(out, "%s%s: ", between, fields[i].path);
            ics_schema_print_field(&fields[i], target, out);
            between = ", ";
        }
    }
    fputc('}', out);
}

static void print_row(const ics_schema_list *list, const void *target, FILE *out)
{
    for (size_t i = 0; i < list->field_count; ++i) {
        fputs(i ? ", " : "[", out);
        ics_schema_print_field(&list->fields[i], target, out);
    }
    fputc(']', out);
}

static void print_item(const ics_schema_list *list, const char *item, FILE *out)
{
    if (list->fields == NULL) {
        ics_yaml_print_text(*(char *const *)item, out);
        return;
    }
    const uint32_t count = ics_schema_value_structures(list, item);
    fputs(count > 1 ? "[" : "", out);
    for (uint32_t i = 0; i < count; ++i) {
        const char *target = item + i * list->several.size;
        fputs(i ? ", " : "", out);
        if (list->is_row) {
            print_row(list, target, out);
        } else {
            ics_schema_print_members(list->fields, list->field_count, target, out);
        }
    }
    fputs(count > 1 ? "]" : "", out);
}

static void print_list(const ics_schema_field *field, const void *target, FILE *out)
{
    const char *items;
    size_t count;
    memcpy(&items, member(field, target), sizeof items);
    memcpy(&count, (const char *)target + field->count_offset, sizeof count);
    fputc('[', out);
    for (size_t i = 0; i < count; ++i) {
        fputs(i ? ", " : "", out);
        print_item(field->list, items + i * field->list->item_size, out);
    }
    fputc(']', out);
}

static void print_variant(const ics_schema_field *field, const void *target, FILE *out)
{
    const char *name, *source;
    memcpy(&name, member(field, target), sizeof name);
    memcpy(&source, (const char *)target + field->source_offset, sizeof source);
    if (source == NULL) {
        print_texts(field, name, out);
        return;
    }
    fputs("{source: ", out);
    ics_schema_print_path(source, out);
    fputc('}', out);
}

void ics_schema_print_field(const ics_schema_field *field, const void *target, FILE *out)
{
    const char *text;
    switch (field->type) {
    case ICS_SCHEMA_BOOL:
        fputs(ics_schema_value_unsigned(field, target) ? "true" : "false", out);
        break;
    case ICS_SCHEMA_UNSIGNED:
    case ICS_SCHEMA_BYTES:
        print_whole(field, target, out);
        break;
    case ICS_SCHEMA_NUMBER:
        print_number(field, target, out);
        break;
    case ICS_SCHEMA_NUMBERS:
        ics_schema_print_numbers(member(field, target), field->size / sizeof(double), out);
        break;
    case ICS_SCHEMA_CHOICE:
        fputs(ics_schema_choice(field, (size_t)ics_schema_value_unsigned(field, target)), out);
        break;
    case ICS_SCHEMA_VARIANT:
        print_variant(field, target, out);
        break;
    case ICS_SCHEMA_NAME:
    case ICS_SCHEMA_TEXT:
    case ICS_SCHEMA_PATH:
        memcpy(&text, member(field, target), sizeof text);
        print_texts(field, text, out);
        break;
    case ICS_SCHEMA_PATTERNS:
        print_patterns(field, target, out);
        break;
    case ICS_SCHEMA_LIST:
        print_list(field, target, out);
        break;
    case ICS_SCHEMA_NODE:
        print_node(field, target, out);
        break;
    case ICS_SCHEMA_CUSTOM:
        field->custom->print(target, out);
        break;
    }
}

/* Whether a field is printed: texts and lists of patterns that are NULL are not. */
static bool is_there(const ics_schema_field *field, const void *target)
{
    bool is_pointer = field->type == ICS_SCHEMA_NAME || field->type == ICS_SCHEMA_VARIANT ||
                      field->type == ICS_SCHEMA_TEXT || field->type == ICS_SCHEMA_PATH ||
                      field->type == ICS_SCHEMA_PATTERNS;
    const void *pointer = NULL;
    if (field->type == ICS_SCHEMA_NODE && field->node->is_there != NULL) {
        return field->node->is_there(target);
    }
    if (is_pointer) {
        memcpy(&pointer, member(field, target), sizeof pointer);
    }
    return !is_pointer || pointer != NULL;
}

char *ics_schema_field_text(const ics_schema_field *field, const void *target)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        return NULL;
    }
    if (is_there(field, target)) {
        ics_schema_print_field(field, target, out);
    }
    const bool is_complete = !ferror(out);
    if (fclose(out) != 0 || !is_complete) {
        free(text);
        return NULL;
    }
    return text;
}

void ics_schema_print(const ics_schema_field *fields, size_t count, const void *target, FILE *out)
{
    const char *previous = "";
    for (size_t i = 0; i < count; ++i) {
        if (!is_there(&fields[i], target)) {
            continue;
        }
        print_keys(previous, fields[i].path, out);
        ics_schema_print_field(&fields[i], target, out);
        fputc('\n', out);
        previous = fields[i].path;
    }
}

void ics_schema_print_table(const ics_schema_field *fields, size_t count, FILE *out)
{
    int widths[] = {(int)strlen("key"), (int)strlen("default"), (int)strlen("unit")};
    for (size_t i = 0; i < count; ++i) {
        const char *const texts[] = {fields[i].path, fields[i].fallback, fields[i].unit};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; ++k) {
            const int width = texts[k] != NULL ? (int)strlen(texts[k]) : 0;
            widths[k] = width > widths[k] ? width : widths[k];
        }
    }
    fprintf(out, "%-*s  %-*s  %-*s  %s\n", widths[0], "key", widths[1], "default", widths[2],
            "unit", "value; meaning");
    for (size_t i = 0; i < count; ++i) {
        char expected[512];
        const ics_schema_field *field = &fields[i];
        fprintf(out, "%-*s  %-*s  %-*s  %s; %s\n", widths[0], field->path, widths[1],
                field->fallback != NULL ? field->fallback : "", widths[2],
                field->unit != NULL ? field->unit : "",
                ics_schema_value_expected(field, expected, sizeof expected), field->help);
    }
}
