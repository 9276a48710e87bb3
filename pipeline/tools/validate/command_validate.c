/* The command `icestream validate`. */
#include "pipeline/tools/command.h"

enum { OPTION_SET, OPTION_PRINT_EFFECTIVE, OPTIONS };

static const ics_option options[OPTIONS] = {
    [OPTION_SET] = ICS_OPTION_ROW_SET,
    [OPTION_PRINT_EFFECTIVE] = {.name = "print-effective",
                                .help = "also write the configuration with all defaults"},
};

static int execute(const ics_arguments *given, icestream_error *error)
{
    const bool print = given->options[OPTION_PRINT_EFFECTIVE].given;
    icestream_config *config = NULL;
    int status = ics_command_config(given, &config, error);
    if (status == ICESTREAM_OK) {
        /* With --print-effective standard output carries YAML and nothing else. */
        status = icestream_validate(config, print ? stderr : stdout, error);
    }
    if (status == ICESTREAM_OK && print) {
        status = icestream_config_print(config, stdout, error);
    }
    icestream_config_destroy(config);
    return status;
}

const ics_command ics_command_validate = {
    .name = "validate",
    .operands = "[CONFIG]",
    .summary = "checks a configuration with its ice, detector, light and device",
    .details = "Describes what it finds. Without CONFIG every key has its default.",
    .operands_max = 1,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
