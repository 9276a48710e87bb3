/* The command `icestream info`. */
#include "base/error.h"
#include "pipeline/commands/command.h"
#include "pipeline/commands/info/digests.h"

#include <limits.h>

enum { OPTION_VERIFY, OPTION_DIGEST, OPTION_JSON, OPTIONS };

static const ics_option options[OPTIONS] = {
    [OPTION_VERIFY] = {.name = "verify",
                       .help = "read all rows and check digests, fields and order"},
    [OPTION_DIGEST] = {.name = "digest",
                       .help = "only print what sha256sum prints, and the digest by which hits "
                               "name a step file above 16 MiB"},
    [OPTION_JSON] = {.name = "json",
                     .letter = 'j',
                     .help = "write JSON instead of text; of several files one object per line"},
};

static int execute(const ics_arguments *given, icestream_error *error)
{
    const bool verify = given->options[OPTION_VERIFY].given;
    const bool json = given->options[OPTION_JSON].given;
    if (given->options[OPTION_DIGEST].given) {
        return verify ? ics_error_set(error, ICESTREAM_E_USAGE,
                                      "icestream info: found --digest with --verify, expected one "
                                      "of them")
                      : ics_info_digests((const char *const *)given->operands,
                                         (size_t)given->operand_count, json, stdout, error);
    }
    if (given->operand_count == 1) {
        return icestream_info(given->operands[0], verify, json, stdout, error);
    }
    return icestream_info_files((const char *const *)given->operands, (size_t)given->operand_count,
                                verify, json, stdout, error);
}

const ics_command ics_command_info = {
    .name = "info",
    .operands = "FILE...",
    .summary = "describes steps, hits, paths, waveforms, tables, weights, derivatives, checkpoints",
    .details = "Of several files the sums by kind follow. The exit status is that of the worst "
               "file. HDF5\nis read as the .npy file that convert makes of it, and - is standard "
               "input: one file or\nmessage.",
    .operands_min = 1,
    .operands_max = INT_MAX,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
