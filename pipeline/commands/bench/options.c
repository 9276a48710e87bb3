#include "pipeline/commands/bench/options.h"

#include "base/error.h"

#include <string.h>

/* Options about generated steps contradict steps of files. */
static int check_steps(const ics_arguments *given, icestream_error *error)
{
    static const int generated[] = {ICS_BENCH_WORKLOAD, ICS_BENCH_COUNTS, ICS_BENCH_STEPS,
                                    ICS_BENCH_PHOTONS};
    for (size_t i = 0; i < sizeof generated / sizeof *generated; ++i) {
        if (given->options[ICS_BENCH_FILES].given && given->options[generated[i]].given) {
            return ics_error_set(error, ICESTREAM_E_USAGE,
                                 "%s: found --files and --%s, which is about generated steps; "
                                 "expected one of them",
                                 given->command->name, given->command->options[generated[i]].name);
        }
    }
    return ICESTREAM_OK;
}

/* The published workload has many steps, whatever CONFIG says. The benchmark calls the plain case
 * "default", which would be an unclear value of workload.counts. */
int ics_bench_execute(const ics_arguments *given, ics_command_work measure, icestream_error *error)
{
    const char *first[3], *counts = given->options[ICS_BENCH_COUNTS].text;
    size_t count = 0;
    ICS_TRY(check_steps(given, error));
    if (given->options[ICS_BENCH_WORKLOAD].given) {
        first[count++] = "workload.steps=1048576";
        first[count++] = "workload.photons_per_step=200";
    }
    if (counts != NULL) {
        first[count++] = strcmp(counts, "shuffled") == 0 ? "workload.counts=shuffled"
                                                         : "workload.counts=balanced";
    }
    return ics_command_with_config(given, first, count, measure, error);
}

icestream_bench_options ics_bench_options_of(const ics_arguments *given)
{
    const ics_option_value *values = given->options;
    return (icestream_bench_options){
        .schedules = values[ICS_BENCH_SCHEDULES].text,
        .workload = values[ICS_BENCH_WORKLOAD].given || values[ICS_BENCH_COUNTS].given ||
                    values[ICS_BENCH_STEPS].given || values[ICS_BENCH_PHOTONS].given,
        .files = values[ICS_BENCH_FILES].given,
        .json = values[ICS_BENCH_JSON].given,
        .markdown = values[ICS_BENCH_TABLE].given,
        .progress = stderr};
}
