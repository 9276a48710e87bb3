/* The command `icestream convert`. */
#include "base/error.h"
#include "pipeline/commands/command.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_FORCE, OPTION_FORMAT, OPTION_WAVEFORMS, OPTION_RANGE, OPTION_NPY, OPTIONS };

static const ics_option options[OPTIONS] = {
    [OPTION_FORCE] = ICS_OPTION_ROW_FORCE,
    [OPTION_FORMAT] = {.name = "format",
                       .type = ICS_OPTION_CHOICE,
                       .value = "KIND",
                       .help = "with - as TO: txt or csv",
                       .initial = "txt of hits",
                       .choices = {"txt", "csv"}},
    [OPTION_WAVEFORMS] = {.name = "waveforms",
                          .type = ICS_OPTION_TEXT,
                          .value = "NS",
                          .help = "write histograms of the hits' times, with bins of this width "
                                  "(ns), as .npy or .csv"},
    [OPTION_RANGE] = {.name = "range",
                      .type = ICS_OPTION_TEXT,
                      .value = "LOW:HIGH",
                      .help = "with --waveforms: use only hits from LOW to HIGH (ns); bins begin "
                              "at LOW",
                      .initial = "all hits; bins begin at time 0"},
    [OPTION_NPY] = {.name = "npy",
                    .help = "with --waveforms and - as TO: write .npy to standard output",
                    .initial = "CSV"},
};

/* Reads a number that ends at `terminator`, and returns in *end where it ends. ICESTREAM_E_USAGE:
 * it is none, with what was expected. */
static int read_number(const ics_option *option, const char *text, char terminator,
                       const char *expected, const char **end, double *out, icestream_error *error)
{
    char *after = NULL;
    errno = 0;
    *out = strtod(text, &after);
    *end = after;
    if (after == text || *after != terminator || errno != 0 || !isfinite(*out)) {
        return ics_error_set(error, ICESTREAM_E_USAGE, "--%s: found '%.64s', expected %s",
                             option->name, text, expected);
    }
    return ICESTREAM_OK;
}

static int make_waveforms(const ics_arguments *given, icestream_error *error)
{
    static const char both[] = "LOW:HIGH, two times in ns";
    const char *end = NULL, *range = given->options[OPTION_RANGE].text;
    icestream_waveform_options waveforms = {.has_range = range != NULL,
                                            .force = given->options[OPTION_FORCE].given,
                                            .stream_npy = given->options[OPTION_NPY].given};
    const bool is_stream = strcmp(given->operands[1], "-") == 0;
    ICS_TRY(read_number(&options[OPTION_WAVEFORMS], given->options[OPTION_WAVEFORMS].text, '\0',
                        "the width of a bin in ns", &end, &waveforms.bin, error));
    if (range != NULL) {
        const ics_option *option = &options[OPTION_RANGE];
        ICS_TRY(read_number(option, range, ':', both, &end, &waveforms.low, error));
        ICS_TRY(read_number(option, end + 1, '\0', both, &end, &waveforms.high, error));
    }
    if (waveforms.stream_npy && !is_stream) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "--npy: expected - as TO, because the ending of a name chooses the "
                             "format");
    }
    return icestream_waveforms(given->operands[0], given->operands[1], &waveforms,
                               is_stream ? stderr : stdout, error);
}

static int convert(const ics_arguments *given, icestream_error *error)
{
    const icestream_convert_options how = {.force = given->options[OPTION_FORCE].given,
                                           .format = given->options[OPTION_FORMAT].text};
    if (how.format != NULL && strcmp(given->operands[1], "-") != 0) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "--format: expected - as TO, because the ending of a name chooses the "
                             "format");
    }
    return icestream_convert_with(given->operands[0], given->operands[1], &how, error);
}

/* Whether an option was given that has a meaning only together with --waveforms, or only without
 * it. */
static int check_companions(const ics_arguments *given, icestream_error *error)
{
    const bool has_waveforms = given->options[OPTION_WAVEFORMS].given;
    static const size_t with[] = {OPTION_RANGE, OPTION_NPY}, without[] = {OPTION_FORMAT};
    const size_t *options_of_other = has_waveforms ? without : with;
    for (size_t i = 0; i < (has_waveforms ? 1 : 2); ++i) {
        const size_t option = options_of_other[i];
        if (given->options[option].given) {
            return ics_error_set(error, ICESTREAM_E_USAGE,
                                 has_waveforms ? "--%s: found --waveforms, expected only one of "
                                                 "the two"
                                               : "--%s: expected --waveforms NS together with it",
                                 options[option].name);
        }
    }
    return ICESTREAM_OK;
}

static int execute(const ics_arguments *given, icestream_error *error)
{
    ICS_TRY(check_companions(given, error));
    return given->options[OPTION_WAVEFORMS].given ? make_waveforms(given, error)
                                                  : convert(given, error);
}

const ics_command ics_command_convert = {
    .name = "convert",
    .operands = "FROM TO",
    .summary = "converts hits to text, CSV and waveforms",
    .details =
        "The endings of the names choose the formats. Hits in .npy become .txt, HIT lines like "
        "those "
        "that\nppc prints, or .csv with all fields. As FROM, - is standard input, which carries "
        ".npy. "
        "As TO, - is\nstandard output, which takes HIT lines or what --format says, or the CSV of "
        "waveforms.\nicestream.convert and icestream.scene in Python write HDF5 and pictures.",
    .operands_min = 2,
    .operands_max = 2,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
