/* The command `icestream stages`. */
#include "pipeline/commands/command.h"

enum { OPTION_JSON, OPTIONS };

static const ics_option options[OPTIONS] = {
    [OPTION_JSON] = ICS_OPTION_ROW_JSON,
};

static int execute(const ics_arguments *given, icestream_error *error)
{
    return icestream_stages(given->options[OPTION_JSON].given, stdout, error);
}

const ics_command ics_command_stages = {
    .name = "stages",
    .operands = "",
    .summary = "lists the stages and their variants",
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
