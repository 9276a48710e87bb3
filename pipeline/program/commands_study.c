/* Commands that look into what runs do: schedules against each other, single photons, stages. */
#include "pipeline/program/commands.h"

int command_compare(const arguments *given, icestream_error *error)
{
    icestream_config *config = NULL, *against = NULL;
    bool markdown = false;
    int status = take_table(given, &markdown, error);
    if (status == ICESTREAM_OK) {
        status = load_first_config(given, &config, error);
    }
    if (status == ICESTREAM_OK && given->given[OPTION_AGAINST]) {
        status = load_config(given, given->values[OPTION_AGAINST], &against, error);
    }
    if (status == ICESTREAM_OK) {
        const icestream_compare_options options = {.schedules = given->values[OPTION_SCHEDULES],
                                                   .against = against,
                                                   .json = given->given[OPTION_JSON],
                                                   .markdown = markdown};
        status = icestream_compare(config, &options, stdout, error);
    }
    icestream_config_destroy(against);
    icestream_config_destroy(config);
    return status;
}

int command_trace(const arguments *given, icestream_error *error)
{
    if (!given->given[OPTION_OUTPUT]) {
        return usage_fault(error, "icestream trace: expected --output FILE");
    }
    icestream_config *config = NULL;
    int status = load_first_config(given, &config, error);
    if (status == ICESTREAM_OK) {
        const icestream_trace_options options = {.hits = given->values[OPTION_HITS],
                                                 .select = given->values[OPTION_SELECT],
                                                 .photons = given->photons,
                                                 .photon_count = given->photon_count,
                                                 .steps = given->values[OPTION_STEP_FILE],
                                                 .output = given->values[OPTION_OUTPUT],
                                                 .force = given->given[OPTION_FORCE]};
        status = icestream_trace(config, &options, stdout, error);
    }
    icestream_config_destroy(config);
    return status;
}

int command_stages(const arguments *given, icestream_error *error)
{
    return icestream_stages(given->given[OPTION_JSON], stdout, error);
}
