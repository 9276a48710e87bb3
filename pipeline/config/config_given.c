#include "pipeline/config/config_given.h"

#include "pipeline/config/config_keys.h"

bool ics_config_is_changed(const icestream_config *config, const char *key)
{
    return config->origin->changed[ics_schema_find(key, ics_config_keys, ics_config_key_count)];
}

bool ics_config_is_overridden(const icestream_config *config, const char *key, const char *off)
{
    const ics_yaml_node *const *given = config->origin->given;
    const ics_yaml_node *of_key =
        given[ics_schema_find(key, ics_config_keys, ics_config_key_count)];
    const ics_yaml_node *of_switch =
        given[ics_schema_find(off, ics_config_keys, ics_config_key_count)];
    return of_key != NULL && of_switch != NULL && of_key->line > 0 && of_switch->line == 0;
}
