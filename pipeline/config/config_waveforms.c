#include "pipeline/config/config_waveforms.h"

#include "base/error.h"
#include "pipeline/config/config_given.h"
#include "pipeline/config/config_keys.h"

#include <stdarg.h>
#include <string.h>

/* Adds an error about a key, with the place where it was given, unless its value or that of
 * sink.hits was refused. */
__attribute__((format(printf, 4, 5))) static int fault_at(const icestream_config *config,
                                                          const char *key, icestream_error *error,
                                                          const char *format, ...)
{
    const size_t i = ics_schema_find(key, ics_config_keys, ics_config_key_count);
    const size_t hits = ics_schema_find("sink.hits", ics_config_keys, ics_config_key_count);
    if (config->origin->refused[i] || config->origin->refused[hits]) {
        return ICESTREAM_OK;
    }
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const ics_yaml_node *node = config->origin->given[i];
    if (node != NULL) {
        return ics_yaml_error(error, node, "%s: %s", key, text);
    }
    ics_error_add(error, ICESTREAM_E_CONFIG, "default: error: %s: %s", key, text);
    return ICESTREAM_E_CONFIG;
}

/* Keys of waveforms, and sink.hits is something else. */
static int refuse_keys(const icestream_config *config, icestream_error *error)
{
    static const char *const keys[] = {"sink.waveform_bin", "sink.waveform_range"};
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) {
        if (ics_config_is_changed(config, keys[i]) &&
            !ics_config_is_overridden(config, keys[i], "sink.hits")) {
            const int fault =
                fault_at(config, keys[i], error, "is for sink.hits: waveforms, and it is %s",
                         ics_config_choice("sink.hits", config->sink.hits));
            status = status ? status : fault;
        }
    }
    return status;
}

static int check_range(const icestream_config *config, icestream_error *error)
{
    const double low = config->sink.waveform_range[0], high = config->sink.waveform_range[1];
    const double bins = (high - low) / config->sink.waveform_bin;
    if (low == 0.0 && high == 0.0) {
        return ICESTREAM_OK;
    }
    if (!(low < high)) {
        return fault_at(config, "sink.waveform_range", error,
                        "found [%.9g, %.9g], expected [LOW, HIGH] in ns, LOW below HIGH, or [0, 0] "
                        "for all times",
                        low, high);
    }
    return bins < INT32_MAX ? ICESTREAM_OK
                            : fault_at(config, "sink.waveform_range", error,
                                       "found %.9g bins of %.9g ns, expected fewer than 2^31", bins,
                                       config->sink.waveform_bin);
}

int ics_config_waveforms_check(const icestream_config *config, icestream_error *error)
{
    if (config->sink.hits != ICS_CONTENT_WAVEFORMS) {
        return refuse_keys(config, error);
    }
    const struct {
        bool is_given;
        const char *text;
    } others[] = {
        {strcmp(config->sink.directory, "-") == 0,
         "found waveforms with sink.directory: '-', expected a folder, because a message has hits"},
        {config->source.listen != NULL, "found waveforms with source.listen, expected hits, which "
                                        "clients check when they come back"}};
    int status = check_range(config, error);
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
        if (others[i].is_given) {
            const int fault = fault_at(config, "sink.hits", error, "%s", others[i].text);
            status = status ? status : fault;
        }
    }
    return status;
}

int ics_config_waveforms_refuse(const icestream_config *config, const char *what,
                                icestream_error *error)
{
    return config->sink.hits != ICS_CONTENT_WAVEFORMS
               ? ICESTREAM_OK
               : fault_at(config, "sink.hits", error,
                          "is waveforms, and %s gives hits; expected icestream run, or --set "
                          "sink.hits=auto",
                          what);
}
