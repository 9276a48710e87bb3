/* The command `icestream-lab sweep`. */
#include "bench/lab/sweep/sweep.h"

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
    return ics_sweep_measure(config, &lab, stdout, error);
}

static int execute(const ics_arguments *given, icestream_error *error)
{
    return ics_bench_execute(given, 0, measure, error);
}

const ics_command ics_command_sweep = {
    .name = "sweep",
    .operands = "[CONFIG]",
    .summary = "measures each kernel with many sizes of blocks and limits of registers",
    .details =
        "Names the fastest settings of each schedule, as graph.tune takes them. Needs a GPU.",
    .operands_max = 1,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
