/* The command `icestream convert`. */
#include "base/error.h"
#include "pipeline/tools/command.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTION_FORCE,
    OPTION_DETECTOR,
    OPTION_FORMAT,
    OPTION_WAVEFORMS,
    OPTION_RANGE,
    OPTION_NPY,
    OPTIONS
};

static const ics_option options[OPTIONS] = {
    [OPTION_FORCE] = ICS_OPTION_ROW_FORCE,
    [OPTION_DETECTOR] = {.name = "detector",
                         .type = ICS_OPTION_TEXT,
                         .value = "FILE",
                         .help =
                             "with hits and .vtp: where the modules are; a run file (.yaml), or "
                             "a file as detector.file takes it"},
    [OPTION_FORMAT] = {.name = "format",
                       .type = ICS_OPTION_CHOICE,
                       .value = "KIND",
                       .help = "with - as TO: txt, csv or vtp",
                       .initial = "txt of hits",
                       .choices = {"txt", "csv", "vtp"}},
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

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static bool is_run_file(const char *path)
{
    return ends_with(path, ".yaml") || ends_with(path, ".yml");
}

/* Reads a run file, or makes the configuration of a run with this file of modules. */
static int load_detector(const char *path, icestream_config **out, icestream_error *error)
{
    if (is_run_file(path)) {
        return icestream_config_load(path, NULL, 0, out, error);
    }
    char *set = NULL;
    if (asprintf(&set, "detector.file=%s", path) < 0) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "convert: out of memory");
    }
    const char *const sets[] = {set};
    const int status = icestream_config_load(NULL, sets, 1, out, error);
    free(set);
    return status;
}

static int convert(const ics_arguments *given, icestream_error *error)
{
    const char *from = given->operands[0], *to = given->operands[1];
    const char *detector = given->options[OPTION_DETECTOR].text;
    const char *format = given->options[OPTION_FORMAT].text;
    /* A run file or a table of modules becomes a picture of the modules. */
    const bool is_picture = ends_with(to, ".vtp") || (format != NULL && strcmp(format, "vtp") == 0);
    const bool has_modules = is_run_file(from) || (ends_with(from, ".csv") && is_picture);
    if (format != NULL && strcmp(to, "-") != 0) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "--format: expected - as TO, because the ending of a name chooses the "
                             "format");
    }
    if (has_modules && detector != NULL) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "--detector: found %s as FROM, expected hits in .npy", from);
    }
    icestream_config *config = NULL;
    int status = ICESTREAM_OK;
    if (has_modules || detector != NULL) {
        status = load_detector(has_modules ? from : detector, &config, error);
    }
    if (status == ICESTREAM_OK) {
        const icestream_convert_options how = {.force = given->options[OPTION_FORCE].given,
                                               .format = format,
                                               .detector = config,
                                               .notes = stderr};
        status = icestream_convert_with(has_modules ? NULL : from, to, &how, error);
    }
    icestream_config_destroy(config);
    return status;
}

/* Whether an option was given that has a meaning only together with --waveforms, or only without
 * it. */
static int check_companions(const ics_arguments *given, icestream_error *error)
{
    const bool has_waveforms = given->options[OPTION_WAVEFORMS].given;
    static const size_t with[] = {OPTION_RANGE, OPTION_NPY},
                        without[] = {OPTION_DETECTOR, OPTION_FORMAT};
    for (size_t i = 0; i < 2; ++i) {
        const size_t option = has_waveforms ? without[i] : with[i];
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
    .summary = "converts .npy and .h5; hits to text, CSV, waveforms; hits, paths, modules to .vtp",
    .details =
        "The endings of the names choose the formats. Hits become .txt, HIT lines like those that "
        "ppc\nprints, .csv with all fields, or .vtp for ParaView and PyVista. Paths of photons "
        "become .vtp, and\nso do the modules of a run file (.yaml) or of a table (.csv). As FROM, "
        "- is standard input, which\ncarries .npy. As TO, - is standard output, which takes HIT "
        "lines of hits or what --format says,\nthe .npy of an HDF5 file, or the CSV of waveforms. "
        "HDF5 cannot be a stream.",
    .operands_min = 2,
    .operands_max = 2,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
