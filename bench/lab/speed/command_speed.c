/* The command `icestream-lab speed`. */
#include "base/error.h"
#include "bench/lab/speed/speed.h"

enum { OPTION_REPEATS = ICS_LAB_OPTIONS, OPTION_ONCE, OPTIONS };

static const ics_option options[OPTIONS] = {
    ICS_LAB_OPTION_ROWS,
    [OPTION_REPEATS] = ICS_BENCH_ROW_REPEATS,
    [OPTION_ONCE] = ICS_BENCH_ROW_ONCE,
};

static int measure(const ics_arguments *given, const icestream_config *config,
                   icestream_error *error)
{
    ics_lab_options lab = ics_lab_options_of(given);
    lab.bench.repeats = (uint32_t)given->options[OPTION_REPEATS].whole;
    lab.bench.once = given->options[OPTION_ONCE].given;
    return ics_speed_measure(config, &lab, (ics_speed_extras){.stages = false}, stdout, error);
}

static int execute(const ics_arguments *given, icestream_error *error)
{
    return ics_bench_execute(given, 0, measure, error);
}

const ics_command ics_command_speed = {
    .name = "speed",
    .operands = "[CONFIG]",
    .summary = "measures what icestream bench does, also for --reference",
    .details = "--reference, --workload and --counts give the settings of clsim's published "
               "benchmark.",
    .operands_max = 1,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
