/* The command `icestream split`. */
#include "base/error.h"
#include "pipeline/commands/command.h"
#include "pipeline/commands/split/names.h"
#include "pipeline/commands/split/split.h"
#include "pipeline/photons/config/schema/number.h"

enum {
    OPTION_SET,
    OPTION_OUTPUT,
    OPTION_PARTS,
    OPTION_BOUNCES,
    OPTION_FORCE,
    OPTION_JSON,
    OPTION_THREADS,
    OPTION_PRINT_EFFECTIVE,
    OPTIONS
};

static const ics_option options[OPTIONS] = {
    [OPTION_SET] = ICS_OPTION_ROW_SET,
    [OPTION_OUTPUT] = ICS_OPTION_ROW_OUTPUT(
        "PATTERN", "names of the parts, in an existing folder; {part} is the number"),
    [OPTION_PARTS] = {.name = "parts",
                      .type = ICS_OPTION_WHOLE,
                      .value = "N",
                      .help = "how many parts",
                      .low = 1,
                      .high = ICS_SPLIT_PARTS_MAX},
    [OPTION_BOUNCES] = {.name = "bounces",
                        .type = ICS_OPTION_TEXT,
                        .value = "B",
                        .help = "expected bounces of a part, about, in place of --parts"},
    [OPTION_FORCE] = ICS_OPTION_ROW_FORCE,
    [OPTION_JSON] = ICS_OPTION_ROW_JSON,
    [OPTION_THREADS] = ICS_OPTION_ROW_THREADS,
    [OPTION_PRINT_EFFECTIVE] = ICS_OPTION_ROW_PRINT_EFFECTIVE,
};

static int read_options(const ics_arguments *given, ics_split_options *out, icestream_error *error)
{
    const ics_option_value *values = given->options;
    const ics_option_value *bounces = &values[OPTION_BOUNCES];
    *out = (ics_split_options){.input = given->operand_count > 1 ? given->operands[1] : NULL,
                               .pattern = values[OPTION_OUTPUT].text,
                               .parts = (uint32_t)values[OPTION_PARTS].whole,
                               .force = values[OPTION_FORCE].given,
                               .json = values[OPTION_JSON].given};
    if (!values[OPTION_OUTPUT].given) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "icestream split: expected --output PATTERN, for example "
                             "parts/muons-{part}.steps.npy");
    }
    if (values[OPTION_PARTS].given == bounces->given) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "icestream split: found %s, expected --parts N or --bounces B",
                             bounces->given ? "both --parts and --bounces" : "neither of them");
    }
    if (bounces->given &&
        (ics_number_double(bounces->text, &out->bounces) != ICS_NUMBER_OK || !(out->bounces > 0))) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "--bounces: found \"%s\", expected a number above 0", bounces->text);
    }
    return ICESTREAM_OK;
}

static int split(const ics_arguments *given, const icestream_config *config, icestream_error *error)
{
    ics_split_options how;
    ICS_TRY(read_options(given, &how, error));
    return ics_split(config, &how, stdout, error);
}

static int execute(const ics_arguments *given, icestream_error *error)
{
    return ics_command_with_config(given, NULL, 0, split, error);
}

const ics_command ics_command_split = {
    .name = "split",
    .operands = "[CONFIG [STEPS]] -o PATTERN",
    .summary = "cuts a step file or particles into parts of equal expected cost",
    .details = "Without STEPS, a step file, the steps of the particles or of the workload of "
               "CONFIG are\nmade and cut. The cost is the number of bounces that the photons are "
               "expected to make in\nthe ice of CONFIG. Steps keep their identity, so the hits of "
               "all parts are those of the whole.",
    .operands_max = 2,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
