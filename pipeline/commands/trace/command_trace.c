/* The command `icestream trace`. */
#include "base/error.h"
#include "pipeline/commands/command.h"

#include <string.h>

enum {
    OPTION_SET,
    OPTION_HITS,
    OPTION_PHOTON,
    OPTION_STEPS,
    OPTION_OUTPUT,
    OPTION_FORCE,
    OPTION_BACKEND,
    OPTION_THREADS,
    OPTION_PRINT_EFFECTIVE,
    OPTIONS
};

static const ics_option options[OPTIONS] = {
    [OPTION_SET] = ICS_OPTION_ROW_SET,
    [OPTION_HITS] = {.name = "hits",
                     .type = ICS_OPTION_TEXT,
                     .value = "FILE",
                     .help = "follow the photons of the hits in this file"},
    [OPTION_PHOTON] = {.name = "photon",
                       .type = ICS_OPTION_TEXTS,
                       .value = "E:S:P",
                       .help = "follow the photon with this event_id, step_id and photon_id; @FILE "
                               "names a list of photons; may be repeated"},
    [OPTION_STEPS] = {.name = "steps",
                      .type = ICS_OPTION_TEXT,
                      .value = "FILE",
                      .help = "the step file of the photons",
                      .initial = "the step files of the configuration's source"},
    [OPTION_OUTPUT] = ICS_OPTION_ROW_OUTPUT(
        "FILE", "the file of paths to write; - is standard output, and the report "
                "goes to standard error"),
    [OPTION_FORCE] = ICS_OPTION_ROW_FORCE,
    [OPTION_BACKEND] = ICS_OPTION_ROW_REPLAY_BACKEND,
    [OPTION_THREADS] = ICS_OPTION_ROW_THREADS,
    [OPTION_PRINT_EFFECTIVE] = ICS_OPTION_ROW_PRINT_EFFECTIVE,
};

static int trace(const ics_arguments *given, const icestream_config *config, icestream_error *error)
{
    const ics_option_value *values = given->options;
    const icestream_trace_options how = {.hits = values[OPTION_HITS].text,
                                         .photons = values[OPTION_PHOTON].texts,
                                         .photon_count = values[OPTION_PHOTON].count,
                                         .steps = values[OPTION_STEPS].text,
                                         .backend = values[OPTION_BACKEND].text,
                                         .output = values[OPTION_OUTPUT].text,
                                         .force = values[OPTION_FORCE].given,
                                         .progress = stderr};
    const bool is_stream = strcmp(how.output, "-") == 0;
    return icestream_trace(config, &how, is_stream ? stderr : stdout, error);
}

static int execute(const ics_arguments *given, icestream_error *error)
{
    if (!given->options[OPTION_OUTPUT].given && !ics_command_prints(given)) {
        return ics_error_set(error, ICESTREAM_E_USAGE, "icestream trace: expected --output FILE");
    }
    return ics_command_with_config(given, NULL, 0, trace, error);
}

const ics_command ics_command_trace = {
    .name = "trace",
    .operands = "[CONFIG] -o FILE",
    .summary = "repeats single photons and writes every point of their paths",
    .details =
        "Each photon is followed with its own random numbers, so the path is the one of the run.\n"
        "The report says whether the chosen hits were reproduced. On the CPU hits of a GPU's fast\n"
        "maths may differ a little; the report says by how much.",
    .operands_max = 1,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
