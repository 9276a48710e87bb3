/* The command `icestream tabulate`: the table of the photons of a configuration. */
#include "base/error.h"
#include "pipeline/commands/command.h"
#include "pipeline/commands/tabulate/tabulate.h"
#include "pipeline/photons/files/output.h"

enum { OPTION_SET, OPTION_OUTPUT, OPTION_FORCE, OPTION_THREADS, OPTIONS };

static const ics_option options[OPTIONS] = {
    [OPTION_SET] = ICS_OPTION_ROW_SET,
    [OPTION_OUTPUT] = {.name = "output",
                       .letter = 'o',
                       .type = ICS_OPTION_TEXT,
                       .value = "FILE",
                       .help = "the table to write",
                       .initial = "photons.table.npy"},
    [OPTION_FORCE] = ICS_OPTION_ROW_FORCE,
    [OPTION_THREADS] = ICS_OPTION_ROW_THREADS,
};

static int tabulate(const ics_arguments *given, const icestream_config *config,
                    icestream_error *error)
{
    const char *text = given->options[OPTION_OUTPUT].text;
    const char *path = text != NULL ? text : "photons.table.npy";
    ICS_TRY(ics_config_check_output(config, "--output", path, error));
    ICS_TRY(ics_output_check_ending("--output", path, ".npy", error));
    return ics_tabulate_make(config, path, given->options[OPTION_FORCE].given, stderr, error);
}

static int execute(const ics_arguments *given, icestream_error *error)
{
    return ics_command_with_config(given, NULL, 0, tabulate, error);
}

const ics_command ics_command_tabulate = {
    .name = "tabulate",
    .operands = "[CONFIG]",
    .summary = "makes a table of the light that passes around a source",
    .details =
        "Follows the photons of source.files, of the particles or of the workload, and writes the\n"
        "table that stages.tabulate and the keys of table describe (docs/tabulate.md). The same\n"
        "photons give the same file, in every schedule and on any number of threads. A command\n"
        "that was ended has left FILE.checkpoint (table.checkpoint): the same command continues\n"
        "from there.",
    .operands_max = 1,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
