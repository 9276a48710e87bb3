/* Commands about a run: before it, the run itself, and while it goes on. */
#include "pipeline/program/commands.h"

#include <string.h>

/* Those of `run` that are more than a switch. */
static int take_run_options(const arguments *given, icestream_run_options *options,
                            icestream_error *error)
{
    long limit = 0, unfinished = 75;
    const char *log = given->given[OPTION_LOG] ? given->values[OPTION_LOG] : "text";
    options->log_json = strcmp(log, "json") == 0;
    if (!options->log_json && strcmp(log, "text") != 0) {
        return usage_fault(error, "--log: found '%.64s', expected text or json", log);
    }
    int status = take_whole(given, OPTION_TIME_LIMIT, 1, 100000000, &limit, error);
    if (status == ICESTREAM_OK) {
        status = take_whole(given, OPTION_UNFINISHED_EXIT, 75, 85, &unfinished, error);
    }
    if (status == ICESTREAM_OK && unfinished != 75 && unfinished != 85) {
        return usage_fault(error, "--unfinished-exit: found '%ld', expected 75 or 85", unfinished);
    }
    options->time_limit = (double)limit;
    return status;
}

int command_run(const arguments *given, icestream_error *error)
{
    icestream_config *config = NULL;
    int status = load_first_config(given, &config, error);
    if (status != ICESTREAM_OK) {
        return status;
    }
    if (given->given[OPTION_PRINT_CONFIG]) {
        status = icestream_config_print(config, stdout, error);
    } else {
        icestream_run_options options = {.force = given->given[OPTION_FORCE],
                                         .resume = given->given[OPTION_RESUME],
                                         .quiet = given->given[OPTION_QUIET],
                                         .fail_fast = given->given[OPTION_FAIL_FAST],
                                         .tell_unfinished = given->given[OPTION_UNFINISHED_EXIT],
                                         .progress = stderr,
                                         .metrics_path = given->values[OPTION_METRICS],
                                         .summary_path = given->values[OPTION_SUMMARY]};
        status = take_run_options(given, &options, error);
        if (status == ICESTREAM_OK) {
            status = icestream_run(config, &options, error);
        }
    }
    icestream_config_destroy(config);
    return status;
}

int command_validate(const arguments *given, icestream_error *error)
{
    bool print = given->given[OPTION_PRINT_EFFECTIVE];
    icestream_config *config = NULL;
    int status = load_first_config(given, &config, error);
    if (status == ICESTREAM_OK) {
        /* What is written must be YAML and nothing else. */
        status = icestream_validate(config, print ? stderr : stdout, error);
    }
    if (status == ICESTREAM_OK && print) {
        status = icestream_config_print(config, stdout, error);
    }
    icestream_config_destroy(config);
    return status;
}

int command_plan(const arguments *given, icestream_error *error)
{
    icestream_config *config = NULL;
    long architecture = 0;
    int status = take_whole(given, OPTION_ARCHITECTURE, 50, 999, &architecture, error);
    if (status == ICESTREAM_OK) {
        status = load_first_config(given, &config, error);
    }
    if (status == ICESTREAM_OK) {
        const icestream_plan_options options = {.architecture = (int)architecture,
                                                .json = given->given[OPTION_JSON]};
        status = icestream_plan(config, &options, stdout, error);
    }
    icestream_config_destroy(config);
    return status;
}

int command_status(const arguments *given, icestream_error *error)
{
    return icestream_folder_status(given->positional[0], given->given[OPTION_JSON], stdout, error);
}
