#include "pipeline/photons/config/waveforms.h"

#include "base/error.h"
#include "pipeline/photons/config/faults.h"
#include "pipeline/photons/config/keys.h"

#include <string.h>

static int check_range(const icestream_config *config, icestream_error *error)
{
    const double low = config->sink.waveform_range[0], high = config->sink.waveform_range[1];
    const double bins = (high - low) / config->sink.waveform_bin;
    if (low == 0.0 && high == 0.0) {
        return ICESTREAM_OK;
    }
    if (!(low < high)) {
        return ics_config_fault(
            config, "sink.waveform_range", "sink.hits", error,
            "found [%.9g, %.9g], expected [LOW, HIGH] in ns, LOW below HIGH, or [0, 0] "
            "for all times",
            low, high);
    }
    return bins < INT32_MAX
               ? ICESTREAM_OK
               : ics_config_fault(config, "sink.waveform_range", "sink.hits", error,
                                  "found %.9g bins of %.9g ns, expected fewer than 2^31", bins,
                                  config->sink.waveform_bin);
}

int ics_config_waveforms_check(const icestream_config *config, icestream_error *error)
{
    static const char *const keys[] = {"sink.waveform_bin", "sink.waveform_range"};
    if (config->sink.hits != ICS_CONTENT_WAVEFORMS) {
        char text[80];
        snprintf(text, sizeof text, "is for sink.hits: waveforms, and it is %s",
                 ics_config_choice("sink.hits", config->sink.hits));
        return ics_config_refuse_keys(config, keys, 2, "sink.hits", error, text);
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
            const int fault =
                ics_config_fault(config, "sink.hits", "sink.hits", error, "%s", others[i].text);
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
               : ics_config_fault(
                     config, "sink.hits", "sink.hits", error,
                     "is waveforms, and %s gives hits; expected icestream run, or --set "
                     "sink.hits=auto",
                     what);
}
