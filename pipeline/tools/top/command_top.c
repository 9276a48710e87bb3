/* The command `icestream top`. */
#include "pipeline/tools/command.h"
#include "pipeline/tools/top/top.h"

#include <unistd.h>

enum { OPTION_ONCE, OPTIONS };

static const ics_option options[OPTIONS] = {
    [OPTION_ONCE] = {.name = "once",
                     .help = "write the state once; the default if standard output is no terminal"},
};

static int execute(const ics_arguments *given, icestream_error *error)
{
    const char *folder = given->operands[0];
    const bool once = given->options[OPTION_ONCE].given || isatty(STDOUT_FILENO) != 1;
    return once ? ics_top_once(folder, stdout, error) : ics_top_follow(folder, error);
}

const ics_command ics_command_top = {
    .name = "top",
    .operands = "DIR",
    .summary = "shows every second how the runs that write into a folder are doing",
    .details = "DIR is a sink.directory. On a terminal the report is renewed every second until\n"
               "Ctrl-C; the runs go on. It shows what `icestream status` reads, in short.",
    .operands_min = 1,
    .operands_max = 1,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
