/* The command `icestream generate`. */
#include "base/error.h"
#include "pipeline/commands/command.h"

enum { OPTION_SET, OPTION_OUTPUT, OPTION_FORCE, OPTION_THREADS, OPTION_PRINT_EFFECTIVE, OPTIONS };

static const ics_option options[OPTIONS] = {
    [OPTION_SET] = ICS_OPTION_ROW_SET,
    [OPTION_OUTPUT] = ICS_OPTION_ROW_OUTPUT("FILE", "the step file to write; - is standard output"),
    [OPTION_FORCE] = ICS_OPTION_ROW_FORCE,
    [OPTION_THREADS] = ICS_OPTION_ROW_THREADS,
    [OPTION_PRINT_EFFECTIVE] = ICS_OPTION_ROW_PRINT_EFFECTIVE,
};

/* Standard output may carry the steps, so the report goes to standard error. */
static int generate(const ics_arguments *given, const icestream_config *config,
                    icestream_error *error)
{
    return icestream_generate_report(config, given->options[OPTION_OUTPUT].text,
                                     given->options[OPTION_FORCE].given, stderr, error);
}

static int execute(const ics_arguments *given, icestream_error *error)
{
    if (!given->options[OPTION_OUTPUT].given && !ics_command_prints(given)) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "icestream generate: expected --output FILE (- is standard output)");
    }
    return ics_command_with_config(given, NULL, 0, generate, error);
}

const ics_command ics_command_generate = {
    .name = "generate",
    .operands = "[CONFIG] -o FILE",
    .summary = "makes a step file of particles or of the configured workload",
    .details = "The particles are those of particles.list or particles.file. The bytes are the "
               "same for\nevery number of threads. The size of the file and the light of each type "
               "of particle are\nprinted to standard error. `icestream run` makes the same steps "
               "without a file.",
    .operands_max = 1,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
