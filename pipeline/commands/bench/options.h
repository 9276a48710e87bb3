/* The options that say what a benchmark measures: those of `icestream bench`, and of every command
 * of icestream-lab (bench/lab). */
#ifndef ICS_COMMANDS_BENCH_OPTIONS_H
#define ICS_COMMANDS_BENCH_OPTIONS_H

#include "pipeline/commands/command.h"

/* These options come first in the list of a command. */
enum {
    ICS_BENCH_SET,
    ICS_BENCH_SCHEDULES,
    ICS_BENCH_WORKLOAD,
    ICS_BENCH_COUNTS,
    ICS_BENCH_STEPS,
    ICS_BENCH_PHOTONS,
    ICS_BENCH_OVERSIZE,
    ICS_BENCH_FILES,
    ICS_BENCH_TABLE,
    ICS_BENCH_JSON,
    ICS_BENCH_THREADS,
    ICS_BENCH_PRINT_EFFECTIVE,
    ICS_BENCH_OPTIONS
};

/* clang-format off */
#define ICS_BENCH_OPTION_ROWS                                                                      \
    [ICS_BENCH_SET] = ICS_OPTION_ROW_SET,                                                          \
    [ICS_BENCH_SCHEDULES] = {                                                                      \
        .name = "schedules", .type = ICS_OPTION_TEXT, .value = "A,B",                              \
        .help = "measure these schedules",                                                         \
        .initial = "graph.schedule; if that is auto, all of the device"},                          \
    [ICS_BENCH_WORKLOAD] = {                                                                       \
        .name = "workload", .type = ICS_OPTION_TEXT, .value = "KIND",                              \
        .help = "short for --set workload.kind=KIND, with 1048576 steps of 200 photons; cascade "  \
                "and uniform are the published workloads",                                         \
        .initial = "workload.kind of CONFIG", .key = "workload.kind"},                             \
    [ICS_BENCH_COUNTS] = {                                                                         \
        .name = "counts", .type = ICS_OPTION_CHOICE, .value = "HOW",                               \
        .help = "photons of the steps: default or balanced (all steps have the same number), or "  \
                "shuffled (20 to 379 for a mean of 200)",                                          \
        .initial = "workload.counts of CONFIG",                                                    \
        .choices = {"default", "balanced", "shuffled"}},                                           \
    [ICS_BENCH_STEPS] = {                                                                          \
        .name = "steps", .type = ICS_OPTION_TEXT, .value = "N",                                    \
        .help = "short for --set workload.steps=N",                                                \
        .initial = "workload.steps of CONFIG, or 1048576 if --workload is given",                  \
        .key = "workload.steps"},                                                                  \
    [ICS_BENCH_PHOTONS] = {                                                                        \
        .name = "photons", .type = ICS_OPTION_TEXT, .value = "N",                                  \
        .help = "short for --set workload.photons_per_step=N",                                     \
        .initial = "workload.photons_per_step of CONFIG, or 200 if --workload is given",           \
        .key = "workload.photons_per_step"},                                                       \
    [ICS_BENCH_OVERSIZE] = {                                                                       \
        .name = "oversize", .type = ICS_OPTION_TEXT, .value = "F",                                 \
        .help = "short for --set detector.oversize=F",                                             \
        .initial = "detector.oversize of CONFIG", .key = "detector.oversize"},                     \
    [ICS_BENCH_FILES] = {                                                                          \
        .name = "files",                                                                           \
        .help = "measure the steps of source.files, where a run would read them"},                 \
    [ICS_BENCH_TABLE] = ICS_OPTION_ROW_TABLE,                                                      \
    [ICS_BENCH_JSON] = ICS_OPTION_ROW_JSON,                                                        \
    [ICS_BENCH_THREADS] = ICS_OPTION_ROW_THREADS,                                                  \
    [ICS_BENCH_PRINT_EFFECTIVE] = ICS_OPTION_ROW_PRINT_EFFECTIVE
/* clang-format on */

/* Options that only some of these commands have. */
#define ICS_BENCH_ROW_REPEATS                                                                      \
    {                                                                                              \
        .name = "repeats", .type = ICS_OPTION_WHOLE, .value = "N",                                 \
        .help = "measure every schedule this many times; the best time counts", .initial = "3",    \
        .low = 1, .high = 1000000                                                                  \
    }
#define ICS_BENCH_ROW_ONCE                                                                         \
    {                                                                                              \
        .name = "once",                                                                            \
        .help = "run every schedule once and nothing before it, so that a profiler sees one run"   \
    }

/* Loads the configuration of the operand (without one every key has its default), and measures it,
 * or prints it if the command line asks for that. ICESTREAM_E_USAGE: options contradict each other.
 * Otherwise the errors of ics_command_load and of `measure`. */
int ics_bench_execute(const ics_arguments *given, ics_command_work measure, icestream_error *error);

/* Returns what the options say. `repeats` and `once` stay 0. */
icestream_bench_options ics_bench_options_of(const ics_arguments *given);

#endif
