/* The command `icestream-lab stages`. */
#include "base/error.h"
#include "bench/lab/speed/speed.h"

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
    return ics_speed_measure(config, &lab, (ics_speed_extras){.stages = true}, stdout, error);
}

static int execute(const ics_arguments *given, icestream_error *error)
{
    return ics_bench_execute(given, 0, measure, error);
}

const ics_command ics_command_stages = {
    .name = "stages",
    .operands = "[CONFIG]",
    .summary = "measures the time of each stage on a GPU, also inside schedules with one kernel",
    .details = "The shares of stages inside a kernel come from clocks that some warps read in one "
               "more run.",
    .operands_max = 1,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
