/* The command `icestream import`. */
#include "base/error.h"
#include "pipeline/tools/command.h"
#include "pipeline/tools/import/import.h"

#include <string.h>

enum { OPTION_OUTPUT, OPTION_SUBTRACTION, OPTION_FORCE, OPTIONS };

static const ics_option options[OPTIONS] = {
    [OPTION_OUTPUT] = {.name = "output",
                       .letter = 'o',
                       .type = ICS_OPTION_TEXT,
                       .value = "FILE",
                       .help = "the run file to write; - is standard output"},
    [OPTION_SUBTRACTION] = {.name = "subtraction",
                            .type = ICS_OPTION_CHOICE,
                            .value = "KIND",
                            .help = "ice.birefringence_subtraction: constant, scaled or none",
                            .initial = "that of a public model",
                            .choices = {"constant", "scaled", "none"}},
    [OPTION_FORCE] = ICS_OPTION_ROW_FORCE,
};

static int execute(const ics_arguments *given, icestream_error *error)
{
    const char *program = given->operands[0];
    const bool is_ppc = strcmp(program, "ppc") == 0;
    const ics_import_request request = {.folder = given->operands[1],
                                        .particles =
                                            given->operand_count > 2 ? given->operands[2] : NULL,
                                        .subtraction = given->options[OPTION_SUBTRACTION].text,
                                        .output = given->options[OPTION_OUTPUT].text,
                                        .force = given->options[OPTION_FORCE].given};
    if (!is_ppc && strcmp(program, "clsim") != 0) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "icestream import: found %s, expected ppc or clsim", program);
    }
    if (!is_ppc && (request.particles != NULL || request.subtraction != NULL)) {
        return ics_error_set(
            error, ICESTREAM_E_USAGE,
            "icestream import clsim: found %s, which is for ppc, expected DIR alone",
            request.particles != NULL ? request.particles : "--subtraction");
    }
    if (request.output == NULL) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "icestream import: expected --output FILE (- is standard output)");
    }
    return ics_import_run_file(program, &request, error);
}

const ics_command ics_command_import = {
    .name = "import",
    .operands = "ppc|clsim DIR [F2K] -o FILE",
    .summary = "writes a run file for the ice folder of a user of ppc or clsim",
    .details =
        "DIR has icemodel.dat, icemodel.par and cfg.txt; F2K is a file of particles. The run "
        "file has\nevery key that must differ from the default, with the reason.",
    .operands_min = 2,
    .operands_max = 3,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
