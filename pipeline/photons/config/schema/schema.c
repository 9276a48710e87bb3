/* Reading a structure by its schema: keys, sections, groups, and errors about keys. */
#include "pipeline/photons/config/schema/schema.h"

#include "base/cleanup.h"
#include "base/replaced.h"
#include "pipeline/photons/config/schema/kinds.def"
#include "pipeline/photons/config/schema/nearest.h"
#include "pipeline/photons/config/schema/number.h"
#include "pipeline/photons/config/schema/value.h"

#include <stdlib.h>
#include <string.h>

enum { PATH_LONGEST = 128 };

typedef struct reader {
    const ics_schema_field *fields;
    size_t count;
    void *target;
    const ics_yaml_node **given; /* nodes of all readings (run file, --set); may be NULL */
    const ics_yaml_node **here;  /* [count], of this reading */
    icestream_error *error;
    size_t unknown; /* number of unknown keys so far */
    int status;     /* status of the worst error so far; ICESTREAM_E_MEMORY ends the reading */
} reader;

static void note(reader *read, int status)
{
    if (status != ICESTREAM_OK && read->status != ICESTREAM_E_MEMORY) {
        read->status = status;
    }
}

size_t ics_schema_find(const char *path, const ics_schema_field *fields, size_t count)
{
    size_t i = 0;
    while (i < count && strcmp(fields[i].path, path) != 0) {
        ++i;
    }
    return i;
}

/* Returns whether a field is in a section; "" is the whole schema. `*rest` is the part of the path
 * below the section. */
static bool is_below(const ics_schema_field *field, const char *section, const char **rest)
{
    size_t length = strlen(section);
    *rest = field->path;
    if (length == 0) {
        return true;
    }
    if (strncmp(field->path, section, length) != 0 || field->path[length] != '.') {
        return false;
    }
    *rest = field->path + length + 1;
    return true;
}

static bool is_section(const reader *read, const char *path)
{
    const char *rest;
    for (size_t i = 0; i < read->count; ++i) {
        if (is_below(&read->fields[i], path, &rest)) {
            return true;
        }
    }
    return false;
}

/* ---- unknown keys --------------------------------------------------------------------------- */

static bool same_group(const ics_schema_field *a, const ics_schema_field *b)
{
    return a != b && a->group != NULL && b->group != NULL && strcmp(a->group, b->group) == 0;
}

/* Finds the key that was probably meant. First it compares with the keys of the section. Then it
 * compares with the last parts of all paths, because a key may stand in the wrong section; there it
 * accepts only a difference of one letter, because the keys are many, and one of them resembles any
 * word. */
static const char *nearest_key(const reader *read, const char *section, const char *typed,
                               char *buffer, size_t size)
{
    ics_nearest best = {0};
    const char *in_section = *section ? section : NULL;
    const char *dot = strrchr(typed, '.');
    for (size_t i = 0; i < read->count && dot == NULL; ++i) {
        const char *rest;
        if (!is_below(&read->fields[i], section, &rest)) {
            continue;
        }
        char key[PATH_LONGEST];
        snprintf(key, sizeof key, "%.*s", (int)strcspn(rest, "."), rest);
        ics_nearest_try(&best, typed, key);
        if (best.word == key) { /* a copy, because `key` is gone after the loop */
            snprintf(buffer, size, "%s%s%s", in_section != NULL ? in_section : "",
                     in_section != NULL ? "." : "", key);
            best.word = buffer;
        }
    }
    if (best.word != NULL) {
        return buffer;
    }
    const ics_schema_field *found = NULL;
    for (size_t i = 0; i < read->count; ++i) {
        const char *path = read->fields[i].path, *last = strrchr(path, '.');
        const bool is_here = dot != NULL && last != NULL && last - path == dot - typed &&
                             strncmp(path, typed, dot - typed) == 0;
        ics_nearest tried = {0};
        ics_nearest_try(&tried, dot != NULL ? dot + 1 : typed, last != NULL ? last + 1 : path);
        if (tried.word != NULL && (is_here || tried.distance <= 1) &&
            (found == NULL || tried.distance < best.distance)) {
            best = tried;
            found = &read->fields[i];
        }
    }
    snprintf(buffer, size, "%s", found != NULL ? found->path : "");
    return found != NULL ? buffer : NULL;
}

/* Lists the keys of a section: "seed, bounce_limit". */
static void list_keys(const reader *read, const char *section, char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = 0;
    const char *previous = "";
    size_t previous_length = 0;
    for (size_t i = 0; i < read->count; ++i) {
        const char *rest;
        if (!is_below(&read->fields[i], section, &rest)) {
            continue;
        }
        size_t length = strcspn(rest, ".");
        if (length == previous_length && strncmp(rest, previous, length) == 0) {
            continue; /* in an inner section that is listed already */
        }
        previous = rest;
        previous_length = length;
        int written =
            snprintf(buffer + used, size - used, "%s%.*s", used ? ", " : "", (int)length, rest);
        if (written < 0 || (size_t)written >= size - used) {
            return;
        }
        used += (size_t)written;
    }
}

static void unknown_key(reader *read, const ics_yaml_node *key, const char *section,
                        const char *typed)
{
    char nearest[2 * PATH_LONGEST], keys[512];
    note(read, ICESTREAM_E_CONFIG);
    const char *dot = *section ? "." : "";
    if (strcmp(typed, "<<") == 0) {
        ics_yaml_error(read->error, key, "merge keys (<<) are not supported, write the keys out");
        return;
    }
    char left[512];
    if (ics_replaced_say(left, sizeof left, "the key '%s%s%s'", section, dot, typed)) {
        ics_yaml_error(read->error, key, "%s", left);
        return;
    }
    if (!*section && ics_schema_find(typed, read->fields, read->count) < read->count) {
        ics_yaml_error(read->error, key,
                       "unknown key '%s', write its parts inside each other, as "
                       "in %.*s: {%s: ...}",
                       typed, (int)strcspn(typed, "."), typed, strchr(typed, '.') + 1);
        return;
    }
    if (++read->unknown > ICS_ERROR_KIND) { /* is only counted; the search takes time */
        ics_yaml_error(read->error, key, "unknown key '%s%s%.60s'", section, dot, typed);
        return;
    }
    if (nearest_key(read, section, typed, nearest, sizeof nearest) != NULL) {
        ics_yaml_error(read->error, key, "unknown key '%s%s%.60s', did you mean '%s'?", section,
                       dot, typed, nearest);
        return;
    }
    list_keys(read, section, keys, sizeof keys);
    ics_yaml_error(read->error, key, "unknown key '%s%s%.60s', expected one of %s", section, dot,
                   typed, keys);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Two fields of a group contradict each other in one document. In several documents (run file, then
 * --set) the last field counts, and the others are cleared. */
static int choose_in_group(reader *read, size_t chosen, const ics_yaml_node *value)
{
    const ics_schema_field *field = &read->fields[chosen];
    for (size_t i = 0; i < read->count; ++i) {
        if (!same_group(field, &read->fields[i])) {
            continue;
        }
        char place[512];
        if (read->here[i] != NULL) {
            return ics_yaml_error(read->error, value,
                                  "only one of '%s' and '%s' can be given, the other is at %s",
                                  field->path, read->fields[i].path,
                                  ics_yaml_place(read->here[i], place, sizeof place));
        }
        ics_schema_clear(&read->fields[i], 1, read->target);
        if (read->given != NULL) {
            read->given[i] = NULL;
        }
    }
    return ICESTREAM_OK;
}

/* Reads {source: PATH}, which may stand instead of the name of a variant. */
static int read_source(const ics_schema_field *field, const ics_yaml_node *node, void *target,
                       icestream_error *error)
{
    struct custom {
        char *source;
    } custom = {NULL};
    const ics_schema_field source = FIELD(struct custom, "source", source, PATH REQUIRED);
    const int status = ics_schema_read(node, &source, 1, &custom, NULL, error);
    ICS_FREES char *path = custom.source, *name = strdup(ICS_SCHEMA_FROM_SOURCE);
    ICS_TRY(status);
    if (name == NULL) {
        return ics_yaml_no_memory(error, node);
    }
    ics_schema_value_set_text(field, target, ICS_HAND_OVER(name));
    ics_schema_value_set_source(field, target, ICS_HAND_OVER(path));
    return ICESTREAM_OK;
}

static int read_structure(const ics_schema_list *list, const ics_yaml_node *mapping, void *target,
                          icestream_error *error)
{
    ICS_TRY(ics_schema_defaults(list->fields, list->field_count, mapping->source->folder, target,
                                error));
    return ics_schema_read(mapping, list->fields, list->field_count, target, NULL, error);
}

static int read_value(const ics_schema_field *field, const ics_yaml_node *node, void *target,
                      icestream_error *error)
{
    if (field->type == ICS_SCHEMA_LIST) {
        return ics_schema_list_read(field, node, target, read_structure, error);
    }
    return field->type == ICS_SCHEMA_VARIANT && node->kind == ICS_YAML_MAPPING
               ? read_source(field, node, target, error)
               : ics_schema_value_read(field, node, target, error);
}

static void read_field(reader *read, size_t i, const ics_yaml_node *value)
{
    int status = choose_in_group(read, i, value);
    /* The key was given, also if its value is wrong. */
    read->here[i] = value;
    if (status == ICESTREAM_OK) {
        status = read_value(&read->fields[i], value, read->target, read->error);
    }
    if (status == ICESTREAM_OK && read->given != NULL) {
        read->given[i] = value;
    }
    note(read, status);
}

static void read_mapping(reader *read, const ics_yaml_node *mapping, const char *section);

static void read_section(reader *read, const ics_yaml_node *value, const char *path)
{
    if (ics_yaml_is_null(value)) {
        return;
    }
    if (value->kind == ICS_YAML_MAPPING) {
        read_mapping(read, value, path);
        return;
    }
    char keys[512];
    list_keys(read, path, keys, sizeof keys);
    note(read, ics_yaml_unexpected(read->error, value, path, "a mapping with keys of %s", keys));
}

static void read_mapping(reader *read, const ics_yaml_node *mapping, const char *section)
{
    for (size_t i = 0; i < mapping->count && read->status != ICESTREAM_E_MEMORY; ++i) {
        const ics_yaml_entry *entry = &mapping->entries[i];
        const char *key = entry->key->text;
        if (entry->duplicate_of != NULL) {
            char place[512];
            ics_yaml_place(entry->duplicate_of, place, sizeof place);
            note(read, ics_yaml_error(read->error, entry->key,
                                      "the key '%.60s' is given twice, first at %s", key, place));
            continue;
        }
        char path[PATH_LONGEST];
        int length = snprintf(path, sizeof path, "%s%s%s", section, *section ? "." : "", key);
        /* A key with a dot is no path: the same key could be given in two ways. */
        bool possible = length > 0 && (size_t)length < sizeof path && strchr(key, '.') == NULL;
        size_t field = possible ? ics_schema_find(path, read->fields, read->count) : read->count;
        if (field < read->count) {
            read_field(read, field, entry->value);
        } else if (possible && *key && is_section(read, path)) {
            read_section(read, entry->value, path);
        } else {
            unknown_key(read, entry->key, section, key);
        }
    }
}

static bool is_given(const reader *read, size_t i)
{
    return read->here[i] != NULL || (read->given != NULL && read->given[i] != NULL);
}

static void check_required(reader *read, const ics_yaml_node *mapping)
{
    for (size_t i = 0; i < read->count; ++i) {
        bool present = !read->fields[i].required || is_given(read, i);
        for (size_t k = 0; k < read->count && !present; ++k) {
            present = same_group(&read->fields[i], &read->fields[k]) && is_given(read, k);
        }
        if (!present) {
            note(read, ics_yaml_error(read->error, mapping, "the key '%s' is missing",
                                      read->fields[i].path));
        }
    }
}

int ics_schema_read(const ics_yaml_node *mapping, const ics_schema_field *fields, size_t count,
                    void *target, const ics_yaml_node **given, icestream_error *error)
{
    ICS_FREES const ics_yaml_node **here = calloc(count + 1, sizeof(void *));
    reader read = {.fields = fields,
                   .count = count,
                   .target = target,
                   .given = given,
                   .here = here,
                   .error = error};
    if (here == NULL) {
        return ics_yaml_no_memory(error, mapping);
    }
    if (mapping->kind == ICS_YAML_MAPPING) {
        read_mapping(&read, mapping, "");
        check_required(&read, mapping);
    } else if (ics_yaml_is_null(mapping)) {
        check_required(&read, mapping);
    } else {
        char keys[512];
        list_keys(&read, "", keys, sizeof keys);
        note(&read, ics_yaml_unexpected(error, mapping, NULL, "a mapping with keys of %s", keys));
    }
    return read.status;
}

int ics_schema_set(const char *path, const ics_yaml_node *value, const ics_schema_field *fields,
                   size_t count, void *target, const ics_yaml_node **given, icestream_error *error)
{
    ICS_FREES const ics_yaml_node **here = calloc(count + 1, sizeof(void *));
    reader read = {.fields = fields,
                   .count = count,
                   .target = target,
                   .given = given,
                   .here = here,
                   .error = error};
    if (here == NULL) {
        return ics_yaml_no_memory(error, value);
    }
    const size_t field = ics_schema_find(path, fields, count);
    if (field < count) {
        read_field(&read, field, value);
    } else if (is_section(&read, path) && value->kind == ICS_YAML_MAPPING) {
        read_mapping(&read, value, path);
    } else if (is_section(&read, path)) {
        char keys[512];
        list_keys(&read, path, keys, sizeof keys);
        note(&read, ics_yaml_error(error, value, "'%s' is a section, expected a key in it: %s",
                                   path, keys));
    } else {
        /* Only the key may be wrong, or the section, too. */
        char section[PATH_LONGEST];
        const char *dot = strrchr(path, '.');
        snprintf(section, sizeof section, "%.*s", dot != NULL ? (int)(dot - path) : 0, path);
        bool known = dot != NULL && is_section(&read, section);
        unknown_key(&read, value, known ? section : "", known ? dot + 1 : path);
    }
    return read.status;
}

int ics_schema_defaults(const ics_schema_field *fields, size_t count, const char *folder,
                        void *target, icestream_error *error)
{
    for (size_t i = 0; i < count; ++i) {
        if (fields[i].fallback == NULL) {
            continue;
        }
        ICS_DESTROYS(ics_yaml_destroy) ics_yaml *document = NULL;
        ICS_TRY(ics_yaml_read_value("default", folder, fields[i].fallback, &document, error));
        ICS_TRY(read_value(&fields[i], ics_yaml_root(document), target, error));
    }
    return ICESTREAM_OK;
}

void ics_schema_clear(const ics_schema_field *fields, size_t count, void *target)
{
    for (size_t i = 0; i < count; ++i) {
        ics_schema_value_clear(&fields[i], target);
    }
}
