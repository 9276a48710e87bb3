/* Commands that make, describe and convert files. */
#include "pipeline/program/commands.h"

int command_generate(const arguments *given, icestream_error *error)
{
    if (!given->given[OPTION_OUTPUT]) {
        return usage_fault(error,
                           "icestream generate: expected --output FILE (- is standard output)");
    }
    icestream_config *config = NULL;
    int status = load_short_config(given, NULL, 0, &config, error);
    if (status == ICESTREAM_OK) {
        status = icestream_generate(config, given->values[OPTION_OUTPUT],
                                    given->given[OPTION_FORCE], error);
    }
    icestream_config_destroy(config);
    return status;
}

int command_info(const arguments *given, icestream_error *error)
{
    return icestream_info(given->positional[0], given->given[OPTION_VERIFY],
                          given->given[OPTION_JSON], stdout, error);
}

static int command_waveforms(const arguments *given, icestream_error *error)
{
    const char *end = NULL, *range = given->values[OPTION_RANGE];
    icestream_waveform_options options = {.has_range = range != NULL,
                                          .force = given->given[OPTION_FORCE]};
    int status = take_real(OPTION_WAVEFORMS, given->values[OPTION_WAVEFORMS], '\0',
                           "the width of a bin in ns", &end, &options.bin, error);
    if (status == ICESTREAM_OK && range != NULL) {
        status = take_real(OPTION_RANGE, range, ':', "LOW:HIGH, two times in ns", &end,
                           &options.low, error);
    }
    if (status == ICESTREAM_OK && range != NULL) {
        status = take_real(OPTION_RANGE, end + 1, '\0', "LOW:HIGH, two times in ns", &end,
                           &options.high, error);
    }
    return status == ICESTREAM_OK ? icestream_waveforms(given->positional[0], given->positional[1],
                                                        &options, stdout, error)
                                  : status;
}

int command_convert(const arguments *given, icestream_error *error)
{
    if (given->given[OPTION_WAVEFORMS]) {
        return command_waveforms(given, error);
    }
    if (given->given[OPTION_RANGE]) {
        return usage_fault(error, "--range: expected --waveforms NS with it");
    }
    return icestream_convert(given->positional[0], given->positional[1], given->given[OPTION_FORCE],
                             error);
}
