/* The command `icestream gradient`. */
#include "base/error.h"
#include "pipeline/commands/command.h"
#include "pipeline/commands/hits/operands.h"
#include "pipeline/photons/config/schema/number.h"

#include <limits.h>
#include <string.h>

enum {
    OPTION_SET,
    OPTION_PARAMETERS,
    OPTION_STEPS,
    OPTION_OUTPUT,
    OPTION_DENSE,
    OPTION_FORCE,
    OPTION_BACKEND,
    OPTION_THREADS,
    OPTIONS
};

static const ics_option options[OPTIONS] = {
    [OPTION_SET] = ICS_OPTION_ROW_SET,
    [OPTION_PARAMETERS] = {.name = "parameters",
                           .letter = 'p',
                           .type = ICS_OPTION_LIST,
                           .value = "KEY...",
                           .help = "keys of docs/files.md 15, or a YAML file with a list of them",
                           .initial = "layers.scattering layers.absorption"},
    [OPTION_STEPS] = {.name = "steps",
                      .type = ICS_OPTION_TEXT,
                      .value = "FILE",
                      .help = "the step file of the hits",
                      .initial = "the step files of the configuration's source"},
    [OPTION_OUTPUT] = ICS_OPTION_ROW_OUTPUT(
        "FILE", "the file of derivatives to write; - is standard output, and the report goes to "
                "standard error"),
    [OPTION_DENSE] = {.name = "dense",
                      .type = ICS_OPTION_OPTIONAL,
                      .value = "BYTES",
                      .help = "write a row for each hit, with a number for each parameter; BYTES "
                              "is the largest file, 1 GB unless given"},
    [OPTION_FORCE] = ICS_OPTION_ROW_FORCE,
    [OPTION_BACKEND] = ICS_OPTION_ROW_REPLAY_BACKEND,
    [OPTION_THREADS] = ICS_OPTION_ROW_THREADS,
};

static int read_limit(const ics_option_value *value, uint64_t *out, icestream_error *error)
{
    *out = 1000000000;
    return value->text == NULL || ics_number_bytes(value->text, out) == ICS_NUMBER_OK
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_USAGE,
                               "--dense: found %s, expected a size such as 4GB", value->text);
}

static int execute(const ics_arguments *given, icestream_error *error)
{
    const ics_option_value *values = given->options;
    ICS_DESTROYS(icestream_config_destroy) icestream_config *config = NULL;
    int first = 0;
    uint64_t limit;
    ICS_TRY(read_limit(&values[OPTION_DENSE], &limit, error));
    ICS_TRY(ics_hits_operands_read(given, &config, &first, error));
    const icestream_gradient_options how = {.hits = (const char *const *)given->operands + first,
                                            .hit_count = (size_t)(given->operand_count - first),
                                            .parameters = values[OPTION_PARAMETERS].texts,
                                            .parameter_count = values[OPTION_PARAMETERS].count,
                                            .steps = values[OPTION_STEPS].text,
                                            .backend = values[OPTION_BACKEND].text,
                                            .output = values[OPTION_OUTPUT].text,
                                            .force = values[OPTION_FORCE].given,
                                            .dense = values[OPTION_DENSE].given,
                                            .dense_limit = limit,
                                            .progress = stderr};
    const bool is_stream = how.output != NULL && strcmp(how.output, "-") == 0;
    return icestream_gradient(config, &how, is_stream ? stderr : stdout, error);
}

const ics_command ics_command_gradient = {
    .name = "gradient",
    .operands = "[CONFIG] HITS... -o FILE",
    .summary = "writes how weights of hits change with parameters of the ice",
    .details =
        "The photon of each hit is followed once more. A value is the derivative of the\n"
        "logarithm of the hit's weight. Without CONFIG the settings in the hit files are used.",
    .operands_min = 1,
    .operands_max = INT_MAX,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
