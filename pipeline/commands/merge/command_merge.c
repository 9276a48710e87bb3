/* The command `icestream merge`. */
#include "base/error.h"
#include "pipeline/commands/command.h"
#include "pipeline/commands/merge/merge.h"
#include "pipeline/photons/files/output.h"

#include <limits.h>
#include <string.h>

enum { OPTION_OUTPUT, OPTION_WATCH, OPTION_ROWS, OPTION_FORCE, OPTIONS };

static const ics_option options[OPTIONS] = {
    [OPTION_OUTPUT] = ICS_OPTION_ROW_OUTPUT(
        "FILE", "the hit file to write; with --watch NAME.hits.npy, and the files "
                "are NAME-000000.hits.npy and so on"),
    [OPTION_WATCH] = {.name = "watch",
                      .help = "merge the hit files of one DIR as they come, until a signal or the "
                              "end of the run"},
    [OPTION_ROWS] = {.name = "rows",
                     .type = ICS_OPTION_WHOLE,
                     .value = "N",
                     .help = "with --watch: begin the next file after this many hits",
                     .initial = "100000000 hits (6.4 GB)",
                     .low = 1,
                     .high = 1L << ICS_MERGE_ROWS_POWER},
    [OPTION_FORCE] = ICS_OPTION_ROW_FORCE,
};

static int watch(const ics_arguments *given, const char *output, icestream_error *error)
{
    static const char ending[] = ".hits.npy";
    const size_t length = strlen(output), tail = sizeof ending - 1;
    const ics_option_value *rows = &given->options[OPTION_ROWS];
    if (given->operand_count != 1) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "--watch: found %d operands, expected one folder",
                             given->operand_count);
    }
    if (given->options[OPTION_FORCE].given) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "--force: cannot go with --watch, which replaces no file");
    }
    if (length <= tail || strcmp(output + length - tail, ending) != 0) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "--output: found %s, expected a name that ends in .hits.npy", output);
    }
    const ics_merge_watch_options how = {.folder = given->operands[0],
                                         .output = output,
                                         .rows = rows->given ? (uint64_t)rows->whole : 100000000};
    return ics_merge_watch(&how, error);
}

static int execute(const ics_arguments *given, icestream_error *error)
{
    const char *output = given->options[OPTION_OUTPUT].text;
    if (output == NULL) {
        return ics_error_set(error, ICESTREAM_E_USAGE, "icestream merge: expected --output FILE");
    }
    ICS_TRY(ics_output_check_ending("--output", output, ".npy", error));
    if (given->options[OPTION_WATCH].given) {
        return watch(given, output, error);
    }
    if (given->options[OPTION_ROWS].given) {
        return ics_error_set(error, ICESTREAM_E_USAGE, "--rows: found no --watch, which it is for");
    }
    return ics_merge_all(given->operands, (size_t)given->operand_count, output,
                         given->options[OPTION_FORCE].given, error);
}

const ics_command ics_command_merge = {
    .name = "merge",
    .operands = "FILE...|DIR -o FILE",
    .summary = "joins hit files in one hit file",
    .details = "Of a folder DIR all files in *.hits.npy are joined. The hits have to be of the "
               "same settings,\nand a step file whose hits are in two files is an error. The "
               "inputs stay. FILE is there when\nit is complete. Other commands find the step "
               "files of the inputs in it (docs/files.md 7).",
    .operands_min = 1,
    .operands_max = INT_MAX,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
