/* The schema of run files: the rows of keys.def as fields of struct icestream_config. */
#include "pipeline/photons/config/keys.h"

#include "pipeline/photons/config/fields.h"
#include "pipeline/photons/config/schema/kinds.def"

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

/* clang-format off */
#define VARIANT(stage)                                                                             \
    .type = ICS_SCHEMA_VARIANT, .choice = stage_variants, .growing = true,                         \
    .source_offset = offsetof(struct icestream_config, stages.custom[ICS_STAGE_##stage])
#define HEADER_OR(stage, ...)                                                                      \
    .type = ICS_SCHEMA_VARIANT, WORDS(__VA_ARGS__),                                                \
    .source_offset = offsetof(struct icestream_config, stages.custom[ICS_STAGE_##stage])
#define COUNTED(count) .count_offset = offsetof(struct icestream_config, count)
#define PATTERNS(count) .type = ICS_SCHEMA_PATTERNS, COUNTED(count)
#define LIST(count, description) .type = ICS_SCHEMA_LIST, .list = &(description), COUNTED(count)
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

const ics_schema_field ics_config_keys[ICS_CONFIG_KEYS] = {
#include "pipeline/photons/config/keys.def"
};

#undef ICS_KEY
#define ICS_KEY(section, key, member, kind, standard, a_unit, hits, text) ICS_HITS_##hits,

const ics_config_hits ics_config_key_hits[ICS_CONFIG_KEYS] = {
#include "pipeline/photons/config/keys.def"
};

size_t ics_config_find(const char *key_path)
{
    return ics_schema_find(key_path, ics_config_keys, ICS_CONFIG_KEYS);
}

const char *ics_config_choice(const char *key_path, size_t index)
{
    return ics_schema_choice(&ics_config_keys[ics_config_find(key_path)], index);
}

/* ---- what hits depend on ---------------------------------------------------------------------
 */

/* A stage that has a user's header is written as ICS_CONFIG_CUSTOM: the content of the header
 * counts, not its name. */
static void print_value(const ics_schema_field *field, const icestream_config *config, FILE *out)
{
    const char *name;
    if (field->type != ICS_SCHEMA_VARIANT) {
        ics_schema_print_field(field, config, out);
        return;
    }
    memcpy(&name, (const char *)config + field->offset, sizeof name);
    fputs(name, out);
}

char *ics_config_value_text(const icestream_config *config, const char *key_path)
{
    const size_t index = ics_config_find(key_path);
    return index < ICS_CONFIG_KEYS ? ics_schema_field_text(&ics_config_keys[index], config)
                                   : strdup("");
}

const char *ics_config_model_key(size_t k)
{
    for (size_t i = 0; i < ICS_CONFIG_KEYS; ++i) {
        if (ics_config_key_hits[i] == ICS_HITS_TABLES && k-- == 0) {
            return ics_config_keys[i].path;
        }
    }
    return NULL;
}

void ics_config_print_hit_settings(const icestream_config *config, FILE *out)
{
    for (size_t i = 0; i < ICS_CONFIG_KEYS; ++i) {
        if (ics_config_key_hits[i] == ICS_HITS_VALUE) {
            fprintf(out, "%s: ", ics_config_keys[i].path);
            print_value(&ics_config_keys[i], config, out);
            fputc('\n', out);
        }
    }
}

/* ---- printing ---------------------------------------------------------------------------------
 */

void ics_config_print_keys(FILE *out)
{
    ics_schema_print_table(ics_config_keys, ICS_CONFIG_KEYS, out);
}

bool ics_config_print_section(const char *name, FILE *out)
{
    const size_t length = strlen(name);
    size_t first = 0, count = 0;
    /* The keys of a section follow each other. */
    for (size_t i = 0; i < ICS_CONFIG_KEYS; ++i) {
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
    for (size_t i = 0; i < ICS_CONFIG_KEYS && used < size; ++i) {
        const char *path = ics_config_keys[i].path, *point = strrchr(path, '.');
        if (strcmp(point != NULL ? point + 1 : path, word) == 0) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", path);
        }
    }
    return used > 0;
}

int ics_config_print_json_schema(FILE *out, icestream_error *error)
{
    return ics_schema_print_json(ics_config_keys, ICS_CONFIG_KEYS, "run file of icestream", out,
                                 error);
}
