#include "pipeline/photons/config/faults.h"

#include "pipeline/photons/config/keys.h"

#include <stdarg.h>

bool ics_config_is_changed(const icestream_config *config, const char *key)
{
    return config->origin->changed[ics_config_find(key)];
}

bool ics_config_is_overridden(const icestream_config *config, const char *key, const char *off)
{
    const ics_yaml_node *of_key = config->origin->given[ics_config_find(key)];
    const ics_yaml_node *of_switch = config->origin->given[ics_config_find(off)];
    return of_key != NULL && of_switch != NULL && of_key->line > 0 && of_switch->line == 0;
}

int ics_config_fault(const icestream_config *config, const char *key, const char *other,
                     icestream_error *error, const char *format, ...)
{
    const ics_config_origin *origin = config->origin;
    const size_t i = ics_config_find(key);
    if (origin->refused[i] || origin->refused[ics_config_find(other)]) {
        return ICESTREAM_OK;
    }
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (origin->given[i] != NULL) {
        return ics_yaml_error(error, origin->given[i], "%s: %s", key, message);
    }
    ics_error_add(error, ICESTREAM_E_CONFIG, "default: error: %s: %s", key, message);
    return ICESTREAM_E_CONFIG;
}

int ics_config_refuse_keys(const icestream_config *config, const char *const *keys, size_t count,
                           const char *off, icestream_error *error, const char *text)
{
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < count; ++i) {
        if (ics_config_is_changed(config, keys[i]) &&
            !ics_config_is_overridden(config, keys[i], off)) {
            const int fault = ics_config_fault(config, keys[i], off, error, "%s", text);
            status = status ? status : fault;
        }
    }
    return status;
}
