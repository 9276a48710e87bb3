/* The command `icestream convert`. */
#include "base/error.h"
#include "pipeline/tools/command.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_FORCE, OPTION_WAVEFORMS, OPTION_RANGE, OPTION_NPY, OPTIONS };

static const ics_option options[OPTIONS] = {
    [OPTION_FORCE] = ICS_OPTION_ROW_FORCE,
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

static int execute(const ics_arguments *given, icestream_error *error)
{
    if (given->options[OPTION_WAVEFORMS].given) {
        return make_waveforms(given, error);
    }
    static const size_t companions[] = {OPTION_RANGE, OPTION_NPY};
    for (size_t i = 0; i < sizeof companions / sizeof *companions; ++i) {
        if (given->options[companions[i]].given) {
            return ics_error_set(error, ICESTREAM_E_USAGE,
                                 "--%s: expected --waveforms NS together with it",
                                 options[companions[i]].name);
        }
    }
    return icestream_convert(given->operands[0], given->operands[1],
                             given->options[OPTION_FORCE].given, error);
}

const ics_command ics_command_convert = {
    .name = "convert",
    .operands = "FROM TO",
    .summary = "converts files between .npy and .h5, and hits to text and waveforms",
    .details =
        "The endings of the names choose the formats. A .txt file has HIT lines like those that "
        "ppc\nprints, and is made from a hit file. As FROM, - is standard input, which carries "
        ".npy. As TO,\n- is standard output, which takes HIT lines of hits, the .npy of an HDF5 "
        "file, or the CSV\nof waveforms. HDF5 cannot be a stream.",
    .operands_min = 2,
    .operands_max = 2,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
