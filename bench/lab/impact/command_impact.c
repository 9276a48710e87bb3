/* The command `icestream-lab impact`. */
#include "bench/lab/impact/impact.h"

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
    return ics_impact_measure(config, &lab, given->operands[0], stdout, error);
}

static int execute(const ics_arguments *given, icestream_error *error)
{
    return ics_bench_execute(given, 1, measure, error);
}

const ics_command ics_command_impact = {
    .name = "impact",
    .operands = "PART [CONFIG]",
    .summary = "measures with a part of the work and without it",
    .details = "PART is tilt, anisotropy, birefringence, hole-ice or collide; on a GPU also random "
               "or\ndivergence.",
    .operands_min = 1,
    .operands_max = 2,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
