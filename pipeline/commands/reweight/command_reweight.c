/* The command `icestream reweight`. */
#include "base/error.h"
#include "pipeline/commands/command.h"
#include "pipeline/commands/hits/operands.h"

#include <limits.h>
#include <string.h>

enum {
    OPTION_SET,
    OPTION_TO,
    OPTION_STEPS,
    OPTION_OUTPUT,
    OPTION_DRY_RUN,
    OPTION_FORCE,
    OPTION_JSON,
    OPTION_BACKEND,
    OPTION_THREADS,
    OPTIONS
};

static const ics_option options[OPTIONS] = {
    [OPTION_SET] = ICS_OPTION_ROW_SET,
    [OPTION_TO] = {.name = "to",
                   .type = ICS_OPTION_TEXTS,
                   .value = "OTHER",
                   .help = "the other ice or detection: a YAML file with the keys that change, or "
                           "KEY=VALUE; may be repeated"},
    [OPTION_STEPS] = {.name = "steps",
                      .type = ICS_OPTION_TEXT,
                      .value = "FILE",
                      .help = "the step file of the hits",
                      .initial = "the step files of the configuration's source"},
    [OPTION_OUTPUT] = ICS_OPTION_ROW_OUTPUT(
        "FILE", "the file of weights to write; - is standard output, and the report goes to "
                "standard error"),
    [OPTION_DRY_RUN] = {.name = "dry-run",
                        .help = "write nothing; replay 1000 hits and say what all would give"},
    [OPTION_FORCE] = ICS_OPTION_ROW_FORCE,
    [OPTION_JSON] = ICS_OPTION_ROW_JSON,
    [OPTION_BACKEND] = ICS_OPTION_ROW_REPLAY_BACKEND,
    [OPTION_THREADS] = ICS_OPTION_ROW_THREADS,
};

static int execute(const ics_arguments *given, icestream_error *error)
{
    const ics_option_value *values = given->options;
    ICS_DESTROYS(icestream_config_destroy) icestream_config *config = NULL;
    int first = 0;
    ICS_TRY(ics_hits_operands_read(given, &config, &first, error));
    const icestream_reweight_options how = {.hits = (const char *const *)given->operands + first,
                                            .hit_count = (size_t)(given->operand_count - first),
                                            .targets = values[OPTION_TO].texts,
                                            .target_count = values[OPTION_TO].count,
                                            .steps = values[OPTION_STEPS].text,
                                            .backend = values[OPTION_BACKEND].text,
                                            .output = values[OPTION_OUTPUT].text,
                                            .force = values[OPTION_FORCE].given,
                                            .dry_run = values[OPTION_DRY_RUN].given,
                                            .json = values[OPTION_JSON].given,
                                            .progress = stderr};
    const bool is_stream = how.output != NULL && strcmp(how.output, "-") == 0;
    return icestream_reweight(config, &how, is_stream ? stderr : stdout, error);
}

const ics_command ics_command_reweight = {
    .name = "reweight",
    .operands = "[CONFIG] HITS... --to OTHER -o FILE",
    .summary = "weighs hits as if their light had gone through another ice",
    .details =
        "The photon of each hit is followed once more, and the probabilities of its path in both\n"
        "ices are compared. Without CONFIG the settings in the hit files are used.",
    .operands_min = 1,
    .operands_max = INT_MAX,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
