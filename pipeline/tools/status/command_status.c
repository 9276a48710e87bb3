/* The command `icestream status`. */
#include "pipeline/tools/command.h"

enum { OPTION_JSON, OPTIONS };

static const ics_option options[OPTIONS] = {
    [OPTION_JSON] = ICS_OPTION_ROW_JSON,
};

static int execute(const ics_arguments *given, icestream_error *error)
{
    return icestream_folder_status(given->operands[0], given->options[OPTION_JSON].given, stdout,
                                   error);
}

const ics_command ics_command_status = {
    .name = "status",
    .operands = "DIR",
    .summary = "reports how the runs that write into a folder are doing",
    .details = "DIR is a sink.directory. The report has what run.journal in DIR records and which\n"
               "files really exist. The command can be used while runs are working.",
    .operands_min = 1,
    .operands_max = 1,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
