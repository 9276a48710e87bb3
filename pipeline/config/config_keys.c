/* The schema of run files: the rows of config_keys.def as fields of struct icestream_config. */
#include "pipeline/config/config_keys.h"

#include "pipeline/config/config_fields.h"

#include <math.h>
#include <string.h>

/* ---- choices that are registered elsewhere ----------------------------------------------------
 */

static const char *schedules(const char *path, size_t index)
{
    (void)path;
    return index < ICS_SCHEDULE_COUNT ? ics_graph_schedule_name((ics_schedule)index) : NULL;
}

static const char *variants_of(const char *stage, size_t index)
{
    static const struct {
        const char *stage, *name;
    } registry[] = {
#define ICE_VARIANT(stage, name, yaml, text) {#stage, yaml},
#include "physics/detect/registry.def"
#include "stages/registry.def"
#undef ICE_VARIANT
    };
    for (size_t i = 0; i < sizeof registry / sizeof *registry; ++i) {
        if (strcmp(registry[i].stage, stage) == 0 && index-- == 0) {
            return registry[i].name;
        }
    }
    return NULL;
}

/* The stage is the last part of the path "stages.STAGE". */
static const char *stage_variants(const char *path, size_t index)
{
    return variants_of(strrchr(path, '.') + 1, index);
}

/* ---- kinds of keys ----------------------------------------------------------------------------
 */

/* A kind is a piece of an initializer of ics_schema_field. */
/* clang-format off */
#define WORDS(...) .words = (const char *const[]){__VA_ARGS__, NULL}
#define BOOL .type = ICS_SCHEMA_BOOL
#define WHOLE(from, to) .type = ICS_SCHEMA_UNSIGNED, .least = (from), .most = (to)
/* The word stands for 0. */
#define WHOLE_OR(a_word, from, to) WHOLE(from, to), .word = (a_word)
#define MULTIPLE_OR(a_word, of, from, to) WHOLE_OR(a_word, from, to), .multiple = (of)
#define BYTES(from, to) .type = ICS_SCHEMA_BYTES, .least = (from), .most = (to)
#define BYTES_OR(a_word, from, to) BYTES(from, to), .word = (a_word)
#define NUMBER(from, to) .type = ICS_SCHEMA_NUMBER, .low = (from), .high = (to)
/* The word stands for a number outside the range. */
#define NUMBER_OR(a_word, number, from, to) NUMBER(from, to), .word = (a_word), .word_value = (number)
/* As many as the array has. */
#define NUMBERS(from, to) .type = ICS_SCHEMA_NUMBERS, .low = (from), .high = (to)
/* An enum or a bool, by the order of the words. */
#define CHOICE(...) .type = ICS_SCHEMA_CHOICE, WORDS(__VA_ARGS__)
#define CHOICE_BY(function) .type = ICS_SCHEMA_CHOICE, .choice = (function)
#define NAME(...) .type = ICS_SCHEMA_NAME, WORDS(__VA_ARGS__)
#define REGISTERED(function) .type = ICS_SCHEMA_NAME, .choice = (function), .growing = true
#define VARIANT(stage)                                                                             \
    .type = ICS_SCHEMA_VARIANT, .choice = stage_variants, .growing = true,                         \
    .source_offset = offsetof(struct icestream_config, stages.custom[ICS_STAGE_##stage])
#define HEADER_OR(stage, ...)                                                                      \
    .type = ICS_SCHEMA_VARIANT, WORDS(__VA_ARGS__),                                                \
    .source_offset = offsetof(struct icestream_config, stages.custom[ICS_STAGE_##stage])
#define TEXT .type = ICS_SCHEMA_TEXT
#define PATH .type = ICS_SCHEMA_PATH
#define PATH_OR(...) .type = ICS_SCHEMA_PATH, WORDS(__VA_ARGS__)
#define COUNTED(count) .count_offset = offsetof(struct icestream_config, count)
#define PATTERNS(count) .type = ICS_SCHEMA_PATTERNS, COUNTED(count)
#define LIST(count, description) .type = ICS_SCHEMA_LIST, .list = &(description), COUNTED(count)
#define CUSTOM(code) .type = ICS_SCHEMA_CUSTOM, .custom = &(code)
#define ONE_OF(name) , .group = (name)
/* clang-format on */

#define ICS_SECTION(name)
#define ICS_MEMBER(member)
#define ICS_END(name)
#define ICS_KEY(section, key, member, kind, standard, a_unit, hits, text)                          \
    {.path = #section "." #key,                                                                    \
     ICS_SCHEMA_AT(struct icestream_config, section.key),                                          \
     kind,                                                                                         \
     .fallback = (standard),                                                                       \
     .unit = (a_unit),                                                                             \
     .help = (text)},

const ics_schema_field ics_config_keys[] = {
#include "pipeline/config/config_keys.def"
};

const size_t ics_config_key_count = sizeof ics_config_keys / sizeof *ics_config_keys;

#undef ICS_KEY
#define ICS_KEY(section, key, member, kind, standard, a_unit, hits, text) ICS_HITS_##hits,

const ics_config_hits ics_config_key_hits[] = {
#include "pipeline/config/config_keys.def"
};

const char *ics_config_choice(const char *key_path, size_t index)
{
    size_t i = ics_schema_find(key_path, ics_config_keys, ics_config_key_count);
    return ics_schema_choice(&ics_config_keys[i], index);
}

void ics_config_document(FILE *out)
{
    ics_schema_document(ics_config_keys, ics_config_key_count, out);
}

void ics_config_print_keys(FILE *out)
{
    ics_schema_print_table(ics_config_keys, ics_config_key_count, out);
}

bool ics_config_print_section(const char *name, FILE *out)
{
    const size_t length = strlen(name);
    size_t first = 0, count = 0;
    /* The keys of a section follow each other. */
    for (size_t i = 0; i < ics_config_key_count; ++i) {
        const char *path = ics_config_keys[i].path;
        if (strncmp(path, name, length) == 0 && (path[length] == '.' || path[length] == '\0')) {
            first = count == 0 ? i : first;
            count = i + 1 - first;
        }
    }
    if (count > 0) {
        ics_schema_print_table(ics_config_keys + first, count, out);
    }
    return count > 0;
}

bool ics_config_keys_ending(const char *word, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < ics_config_key_count && used < size; ++i) {
        const char *path = ics_config_keys[i].path, *point = strrchr(path, '.');
        if (strcmp(point != NULL ? point + 1 : path, word) == 0) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", path);
        }
    }
    return used > 0;
}

int ics_config_print_json_schema(FILE *out, icestream_error *error)
{
    return ics_schema_print_json(ics_config_keys, ics_config_key_count, "run file of icestream",
                                 out, error);
}
