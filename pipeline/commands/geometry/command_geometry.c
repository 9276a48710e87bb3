/* The command `icestream geometry`: the modules of a run as a table. */
#include "base/error.h"
#include "base/replaced.h"
#include "pipeline/commands/command.h"
#include "pipeline/photons/config/config.h"
#include "pipeline/photons/files/output.h"

#include <string.h>

enum { OPTION_SET, OPTION_OUTPUT, OPTION_PMTS, OPTION_FORCE, OPTIONS };

static const ics_option options[OPTIONS] = {
    [OPTION_SET] = ICS_OPTION_ROW_SET,
    [OPTION_OUTPUT] = {.name = "output",
                       .letter = 'o',
                       .type = ICS_OPTION_TEXT,
                       .value = "FILE",
                       .help = "the table to write, .csv or .npy; - is standard output",
                       .initial = "standard output"},
    [OPTION_PMTS] = {.name = "pmts",
                     .help = "write a row for every PMT, too; .npy always has these rows"},
    [OPTION_FORCE] = ICS_OPTION_ROW_FORCE,
};

/* Refuses a name that ends as another format does. */
static int check_path(const char *path, icestream_error *error)
{
    const char *ending = strrchr(path, '.');
    char left[256];
    if (ending != NULL && (strcmp(ending, ".csv") == 0 || strcmp(ending, ".npy") == 0)) {
        return ICESTREAM_OK;
    }
    if (ending != NULL &&
        ics_replaced_say(left, sizeof left, "the ending %.40s of geometry", ending)) {
        return ics_error_set(error, ICESTREAM_E_USAGE, "--output: %s: %s", path, left);
    }
    /* Any ending that no format has, such as .txt, is a table. */
    return ics_output_check_ending("--output", path, ".csv or .npy", error);
}

static int write_table(const ics_arguments *given, const icestream_config *config,
                       icestream_error *error)
{
    const char *path = given->options[OPTION_OUTPUT].text;
    if (path != NULL) {
        ICS_TRY(ics_config_check_output(config, "--output", path, error));
        ICS_TRY(check_path(path, error));
    }
    return (given->options[OPTION_PMTS].given ? icestream_geometry_pmts : icestream_geometry)(
        config, path != NULL ? path : "-", given->options[OPTION_FORCE].given, stderr, error);
}

static int execute(const ics_arguments *given, icestream_error *error)
{
    return ics_command_with_config(given, NULL, 0, write_table, error);
}

const ics_command ics_command_geometry = {
    .name = "geometry",
    .operands = "[CONFIG]",
    .summary = "writes the positions of the modules as a table",
    .details =
        "A table is CSV: string, module, x, y, z (m) and efficiency. detector.file reads it;\n"
        "the column type needs the detector.types of CONFIG.\n"
        "With --pmts, and as .npy, it has a row for every module and PMT.\n"
        "icestream.scene in Python makes .obj and .vtp of modules, PMTs and cables.",
    .operands_max = 1,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
