/* Prints the keys of a run file whose values hits depend on. */
#include "pipeline/config/config_keys.h"

#include <string.h>

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
    const size_t index = ics_schema_find(key_path, ics_config_keys, ics_config_key_count);
    return index < ics_config_key_count ? ics_schema_field_text(&ics_config_keys[index], config)
                                        : strdup("");
}

const char *ics_config_model_key(size_t k)
{
    for (size_t i = 0; i < ics_config_key_count; ++i) {
        if (ics_config_key_hits[i] == ICS_HITS_TABLES && k-- == 0) {
            return ics_config_keys[i].path;
        }
    }
    return NULL;
}

void ics_config_print_hit_settings(const icestream_config *config, FILE *out)
{
    for (size_t i = 0; i < ics_config_key_count; ++i) {
        if (ics_config_key_hits[i] == ICS_HITS_VALUE) {
            fprintf(out, "%s: ", ics_config_keys[i].path);
            print_value(&ics_config_keys[i], config, out);
            fputc('\n', out);
        }
    }
}
