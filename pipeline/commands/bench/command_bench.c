/* The command `icestream bench`. */
#include "base/error.h"
#include "pipeline/commands/bench/options.h"

enum { OPTION_REPEATS = ICS_BENCH_OPTIONS, OPTION_ONCE, OPTION_AGAINST, OPTIONS };

static const ics_option options[OPTIONS] = {
    ICS_BENCH_OPTION_ROWS,
    [OPTION_REPEATS] = ICS_BENCH_ROW_REPEATS,
    [OPTION_ONCE] = ICS_BENCH_ROW_ONCE,
    [OPTION_AGAINST] = {.name = "against",
                        .type = ICS_OPTION_TEXT,
                        .value = "OLD.json",
                        .help = "compare with what --json wrote earlier on this machine; exit "
                                "status 1 if a schedule is slower by more than the noise"},
};

static int measure(const ics_arguments *given, const icestream_config *config,
                   icestream_error *error)
{
    icestream_bench_options bench = ics_bench_options_of(given);
    bench.repeats = (uint32_t)given->options[OPTION_REPEATS].whole;
    bench.once = given->options[OPTION_ONCE].given;
    bench.against = given->options[OPTION_AGAINST].text;
    if (bench.repeats > 0 && bench.once) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "bench: found --repeats and --once, which runs every schedule once; "
                             "expected one of them");
    }
    return icestream_bench(config, &bench, stdout, error);
}

static int execute(const ics_arguments *given, icestream_error *error)
{
    return ics_bench_execute(given, measure, error);
}

const ics_command ics_command_bench = {
    .name = "bench",
    .operands = "[CONFIG]",
    .summary = "measures the speed of the configured or a published workload",
    .details =
        "--workload and --counts give the steps of clsim's published benchmark. What parts of\n"
        "a photon's way cost is measured by icestream-lab (docs/performance.md).",
    .operands_max = 1,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
