/* The command `icestream info`. */
#include "pipeline/tools/command.h"

enum { OPTION_VERIFY, OPTION_JSON, OPTIONS };

static const ics_option options[OPTIONS] = {
    [OPTION_VERIFY] = {.name = "verify",
                       .help = "read all rows and check digests, fields and order"},
    [OPTION_JSON] = ICS_OPTION_ROW_JSON,
};

static int execute(const ics_arguments *given, icestream_error *error)
{
    return icestream_info(given->operands[0], given->options[OPTION_VERIFY].given,
                          given->options[OPTION_JSON].given, stdout, error);
}

const ics_command ics_command_info = {
    .name = "info",
    .operands = "FILE",
    .summary = "describes a file of steps, hits, paths or waveforms, or a checkpoint",
    .operands_min = 1,
    .operands_max = 1,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
