/* The command `icestream keys`. */
#include "base/error.h"
#include "pipeline/commands/command.h"
#include "pipeline/photons/config/config.h"

enum { OPTION_JSON_SCHEMA, OPTIONS };

static const ics_option options[OPTIONS] = {
    [OPTION_JSON_SCHEMA] = {.name = "json-schema",
                            .help = "write a JSON Schema, by which editors check and complete run "
                                    "files"},
};

static int execute(const ics_arguments *given, icestream_error *error)
{
    if (given->options[OPTION_JSON_SCHEMA].given) {
        return ics_config_print_json_schema(stdout, error);
    }
    if (given->operand_count > 0) {
        return ics_config_print_section(given->operands[0], stdout)
                   ? ICESTREAM_OK
                   : ics_error_set(error, ICESTREAM_E_USAGE,
                                   "icestream keys: found '%.64s', expected a section or a key, as "
                                   "detector or detector.oversize",
                                   given->operands[0]);
    }
    ics_config_print_keys(stdout); /* main() checks that standard output took everything */
    return ICESTREAM_OK;
}

const ics_command ics_command_keys = {
    .name = "keys",
    .operands = "[SECTION]",
    .summary = "lists the keys of a run file with their defaults, units and ranges",
    .details = "One line for each key: of all sections, or of the one that is named. "
               "docs/commands.md says how editors use the JSON Schema.",
    .operands_max = 1,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
