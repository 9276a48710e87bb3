/* The commands of icestream-lab. To add one, write measure_NAME and LAB_COMMAND(NAME, ...), and
 * name it in ics_commands. */
#include "pipeline/commands/program/commands.h"

#include "base/error.h"
#include "bench/lab/lab.h"
#include "bench/lab/shapes/shapes.h"
#include "bench/lab/sweep/report.h"

#include <stdlib.h>
#include <string.h>

enum {
    OPTION_REPEATS = ICS_BENCH_OPTIONS,
    OPTION_WITHOUT,
    SPEED_OPTIONS,
    OPTIONS = OPTION_WITHOUT
};

static const ics_option options[SPEED_OPTIONS] = {
    ICS_BENCH_OPTION_ROWS,
    [OPTION_REPEATS] = ICS_BENCH_ROW_REPEATS,
    [OPTION_WITHOUT] = {.name = "without",
                        .type = ICS_OPTION_CHOICE,
                        .value = "PART",
                        .help = "what the kernels of a GPU leave out: random or divergence",
                        .initial = "nothing",
                        .choices = {"random", "divergence"}},
};

static icestream_bench_options options_of(const ics_arguments *given)
{
    icestream_bench_options bench = ics_bench_options_of(given);
    bench.repeats = (uint32_t)given->options[OPTION_REPEATS].whole;
    return bench;
}

/* ---- speed and stages ------------------------------------------------------------------------ */

/* Measures what `icestream bench` does, with kernels that leave something out, or with the time of
 * each stage inside kernels. */
static int report(const icestream_config *config, const icestream_bench_options *wanted,
                  ics_without without, bool stages, icestream_error *error)
{
    ics_lab *lab;
    ICS_TRY(ics_lab_open(config, wanted, &lab, error));
    lab->bench.without = without;
    lab->bench.stages = stages;
    const int status = ics_bench_report(&lab->bench, stdout, error);
    free(lab);
    return status;
}

/* Checks that the schedules are named: auto would remember the times of these kernels for other
 * runs. */
static int check_schedules(const icestream_config *config, const icestream_bench_options *wanted,
                           icestream_error *error)
{
    ics_schedule_list list = {.items = {config->graph.schedule}, .count = 1};
    if (wanted->schedules != NULL) {
        ICS_TRY(ics_schedules_parse(wanted->schedules, true, &list, error));
    }
    for (size_t i = 0; i < list.count; ++i) {
        if (list.items[i] == ICS_SCHEDULE_AUTO) {
            return ics_error_set(error, ICESTREAM_E_USAGE,
                                 "speed: found --without and the schedule auto, which chooses one "
                                 "of the others; expected --schedules with their names");
        }
    }
    return ICESTREAM_OK;
}

static int measure_speed(const ics_arguments *given, const icestream_config *config,
                         icestream_error *error)
{
    const icestream_bench_options wanted = options_of(given);
    const char *without = given->options[OPTION_WITHOUT].text;
    if (without == NULL) {
        return report(config, &wanted, ICS_WITHOUT_NOTHING, false, error);
    }
    ICS_TRY(ics_lab_refuse_table(config, "speed --without", error));
    ICS_TRY(ics_lab_check_gpu(config, "speed --without changes the kernels of a GPU", error));
    ICS_TRY(check_schedules(config, &wanted, error));
    return report(config, &wanted,
                  strcmp(without, "random") == 0 ? ICS_WITHOUT_RANDOM : ICS_WITHOUT_DIVERGENCE,
                  false, error);
}

static int measure_stages(const ics_arguments *given, const icestream_config *config,
                          icestream_error *error)
{
    const icestream_bench_options wanted = options_of(given);
    ICS_TRY(ics_lab_refuse_table(config, "stages", error));
    ICS_TRY(ics_lab_check_gpu(config, "stages reads clocks of a GPU", error));
    return report(config, &wanted, ICS_WITHOUT_NOTHING, true, error);
}

/* ---- shapes and sweep ------------------------------------------------------------------------ */

static int measure_shapes(const ics_arguments *given, const icestream_config *config,
                          icestream_error *error)
{
    const icestream_bench_options wanted = options_of(given);
    const bool one_oversize = given->options[ICS_BENCH_OVERSIZE].given;
    if (wanted.files) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "shapes: found --files, but light near the strings is generated; "
                             "expected no --files");
    }
    return ics_shapes_measure(config, &wanted, one_oversize ? config->detector.oversize : 0, stdout,
                              error);
}

static int measure_sweep(const ics_arguments *given, const icestream_config *config,
                         icestream_error *error)
{
    const icestream_bench_options wanted = options_of(given);
    return ics_sweep_measure(config, &wanted, stdout, error);
}

/* ---- the commands ---------------------------------------------------------------------------- */

/* Defines NAME_command, which runs measure_NAME. */
#define LAB_COMMAND(NAME, OPTION_COUNT, SUMMARY, DETAILS)                                          \
    static int execute_##NAME(const ics_arguments *given, icestream_error *error)                  \
    {                                                                                              \
        return ics_bench_execute(given, measure_##NAME, error);                                    \
    }                                                                                              \
    static const ics_command NAME##_command = {.name = #NAME,                                      \
                                               .operands = "[CONFIG]",                             \
                                               .summary = (SUMMARY),                               \
                                               .details = (DETAILS),                               \
                                               .operands_max = 1,                                  \
                                               .options = options,                                 \
                                               .option_count = (OPTION_COUNT),                     \
                                               .execute = execute_##NAME}

LAB_COMMAND(speed, SPEED_OPTIONS,
            "measures what icestream bench does, also without a part of the work",
            "bench/impact.py compares such measurements.");
LAB_COMMAND(
    stages, OPTIONS,
    "measures the time of each stage on a GPU, also inside schedules with one kernel",
    "The shares of stages inside a kernel come from clocks that some warps read in one more "
    "run.");
LAB_COMMAND(shapes, OPTIONS,
            "compares modules of many shapes, cables and a large detector with spheres",
            "At oversize 1 and 5, or at that of --oversize.");
LAB_COMMAND(sweep, OPTIONS,
            "measures each kernel with many sizes of blocks and limits of registers",
            "Names the fastest settings of each schedule, as graph.tune takes them. Needs a GPU.");

const char ics_commands_program[] = "icestream-lab";
const char ics_commands_purpose[] = "measures what icestream does, for its developers";
const char ics_commands_note[] = "icestream-lab help COMMAND describes a command; "
                                 "docs/performance.md explains what they measure.";

const ics_command *const ics_commands[] = {&speed_command, &stages_command, &shapes_command,
                                           &sweep_command};
const size_t ics_commands_count = sizeof ics_commands / sizeof *ics_commands;

const ics_commands_form ics_commands_forms[] = {{NULL, NULL}};
