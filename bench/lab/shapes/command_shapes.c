/* The command `icestream-lab shapes`. */
#include "base/error.h"
#include "bench/lab/shapes/shapes.h"

enum { OPTION_REPEATS = ICS_LAB_OPTIONS, OPTIONS };

static const ics_option options[OPTIONS] = {
    ICS_LAB_OPTION_ROWS,
    [OPTION_REPEATS] = ICS_BENCH_ROW_REPEATS,
};

static int measure(const ics_arguments *given, const icestream_config *config,
                   icestream_error *error)
{
    ics_lab_options lab = ics_lab_options_of(given);
    lab.bench.repeats = (uint32_t)given->options[OPTION_REPEATS].whole;
    const double only = given->options[ICS_BENCH_OVERSIZE].given ? config->detector.oversize : 0;
    if (lab.bench.files) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "shapes: found --files, but light near the strings is generated; "
                             "expected no --files");
    }
    return ics_shapes_measure(config, &lab, only, stdout, error);
}

static int execute(const ics_arguments *given, icestream_error *error)
{
    return ics_bench_execute(given, 0, measure, error);
}

const ics_command ics_command_shapes = {
    .name = "shapes",
    .operands = "[CONFIG]",
    .summary = "compares modules of many shapes, cables and a large detector with spheres",
    .details = "At oversize 1 and 5, or at that of --oversize.",
    .operands_max = 1,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
