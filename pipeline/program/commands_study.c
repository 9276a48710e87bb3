/* Commands that look into what runs do: schedules against each other, single photons, stages. */
#include "pipeline/program/commands.h"

int command_compare(const arguments *given, is_error *error)
{
    is_config *config = NULL, *against = NULL;
    bool markdown = false;
    int status = take_table(given, &markdown, error);
    if (status == IS_OK) {
        status = load_first_config(given, &config, error);
    }
    if (status == IS_OK && given->given[OPTION_AGAINST]) {
        status = load_config(given, given->values[OPTION_AGAINST], &against, error);
    }
    if (status == IS_OK) {
        const is_compare_options options = {.schedules = given->values[OPTION_SCHEDULES],
                                            .against = against,
                                            .json = given->given[OPTION_JSON],
                                            .markdown = markdown};
        status = is_compare(config, &options, stdout, error);
    }
    is_config_destroy(against);
    is_config_destroy(config);
    return status;
}

int command_trace(const arguments *given, is_error *error)
{
    if (!given->given[OPTION_OUTPUT]) {
        return usage_fault(error, "icestream trace: expected --output FILE");
    }
    is_config *config = NULL;
    int status = load_first_config(given, &config, error);
    if (status == IS_OK) {
        const is_trace_options options = {.hits = given->values[OPTION_HITS],
                                          .select = given->values[OPTION_SELECT],
                                          .photons = given->photons,
                                          .photon_count = given->photon_count,
                                          .steps = given->values[OPTION_STEP_FILE],
                                          .output = given->values[OPTION_OUTPUT],
                                          .force = given->given[OPTION_FORCE]};
        status = is_trace(config, &options, stdout, error);
    }
    is_config_destroy(config);
    return status;
}

int command_stages(const arguments *given, is_error *error)
{
    return is_stages(given->given[OPTION_JSON], stdout, error);
}
