/* The command `icestream run`. */
#include "pipeline/commands/command.h"
#include "pipeline/commands/run/operands.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTION_SET,
    OPTION_OUTPUT,
    OPTION_PRINT_EFFECTIVE,
    OPTION_THREADS,
    OPTION_FORCE,
    OPTION_RESUME,
    OPTION_KEEP_STEPS,
    OPTION_QUIET,
    OPTION_FAIL_FAST,
    OPTION_VERIFY,
    OPTION_LOG,
    OPTION_METRICS,
    OPTION_TIME_LIMIT,
    OPTION_UNFINISHED_EXIT,
    OPTION_SUMMARY,
    OPTIONS
};

static const ics_option options[OPTIONS] = {
    [OPTION_SET] = ICS_OPTION_ROW_SET,
    [OPTION_OUTPUT] = {.name = "output",
                       .letter = 'o',
                       .type = ICS_OPTION_TEXT,
                       .value = "OUT",
                       .help = "write the hits into this file, and no other file; {stem} is the "
                               "name of the step file without its ending; - is standard output",
                       .initial = "sink.directory and sink.name"},
    [OPTION_PRINT_EFFECTIVE] = ICS_OPTION_ROW_PRINT_EFFECTIVE,
    [OPTION_THREADS] = ICS_OPTION_ROW_THREADS,
    [OPTION_FORCE] = {.name = "force", .letter = 'f', .help = "overwrite existing hit files"},
    [OPTION_RESUME] = {.name = "resume",
                       .help = "keep hit files that are complete and match; make the others"},
    [OPTION_KEEP_STEPS] = {.name = "keep-steps",
                           .type = ICS_OPTION_OPTIONAL,
                           .value = "FILE",
                           .help = "also write the steps that the run makes; without FILE into "
                                   "NAME.steps.npy in sink.directory"},
    [OPTION_QUIET] = {.name = "quiet", .letter = 'q', .help = "write only warnings and errors"},
    [OPTION_FAIL_FAST] = {.name = "fail-fast",
                          .help = "end the run on a full disk or another error that may pass, "
                                  "instead of trying again"},
    [OPTION_VERIFY] = {.name = "verify",
                       .help = "check what every stage returns (device.check): slower, for headers "
                               "of one's own"},
    [OPTION_LOG] = {.name = "log",
                    .type = ICS_OPTION_CHOICE,
                    .value = "FORMAT",
                    .help = "text (for people) or json (one object per line)",
                    .initial = "text",
                    .choices = {"text", "json"}},
    [OPTION_METRICS] = {.name = "metrics",
                        .type = ICS_OPTION_TEXT,
                        .value = "FILE",
                        .help = "write metrics into this file",
                        .initial = "metrics.file of CONFIG"},
    [OPTION_TIME_LIMIT] = {.name = "time-limit",
                           .type = ICS_OPTION_WHOLE,
                           .value = "S",
                           .help =
                               "stop after this time (s); the exit status is 75 if work is left",
                           .initial = "no limit",
                           .low = 1,
                           .high = 100000000},
    [OPTION_UNFINISHED_EXIT] =
        {.name = "unfinished-exit",
         .type = ICS_OPTION_CHOICE,
         .value = "N",
         .help = "exit status (75 or 85) if the time limit or a signal stopped the "
                 "run before all work was done",
         .initial = "75 for the time limit, 130 or 143 for a signal",
         .choices = {"75", "85"}},
    [OPTION_SUMMARY] = {.name = "summary",
                        .type = ICS_OPTION_TEXT,
                        .value = "FILE",
                        .help = "write the summary of the run into this file; - is standard output",
                        .initial = "summary.json in sink.directory"},
};

static bool has_json_log(const ics_arguments *given)
{
    const char *log = given->options[OPTION_LOG].text;
    return log != NULL && strcmp(log, "json") == 0;
}

static int execute_run(const ics_arguments *given, const icestream_config *config,
                       icestream_error *error)
{
    const ics_option_value *values = given->options;
    const char *steps = values[OPTION_KEEP_STEPS].text;
    const icestream_run_options run = {
        .force = values[OPTION_FORCE].given,
        .resume = values[OPTION_RESUME].given,
        .quiet = values[OPTION_QUIET].given,
        .fail_fast = values[OPTION_FAIL_FAST].given,
        .log_json = has_json_log(given),
        .progress = stderr,
        .summary_path = values[OPTION_SUMMARY].text,
        .metrics_path = values[OPTION_METRICS].text,
        .time_limit = (double)values[OPTION_TIME_LIMIT].whole,
        .unfinished_after_signal = values[OPTION_UNFINISHED_EXIT].given,
        .unfinished_exit = values[OPTION_UNFINISHED_EXIT].given
                               ? (int)strtol(values[OPTION_UNFINISHED_EXIT].text, NULL, 10)
                               : 0,
        .keep_steps = !values[OPTION_KEEP_STEPS].given ? NULL
                      : steps != NULL                  ? steps
                                                       : "",
        .ends_process = true,
    };
    return icestream_run(config, &run, error);
}

static int execute(const ics_arguments *given, icestream_error *error)
{
    ics_run_operands operands;
    const char *first[ICS_RUN_OPERAND_KEYS + 1];
    size_t count = 0;
    int status = ics_run_operands_read(given, &given->options[OPTION_SET],
                                       given->options[OPTION_OUTPUT].text, &operands, error);
    for (size_t i = 0; i < operands.count; ++i) {
        first[count++] = operands.sets[i];
    }
    if (given->options[OPTION_VERIFY].given) {
        first[count++] = "device.check=true";
    }
    if (status == ICESTREAM_OK) {
        status = ics_command_with_config(given, first, count, execute_run, error);
    }
    ics_run_operands_free(&operands);
    return status;
}

/* Batch systems have different numbers for "start this job again". */
static int exit_status(const ics_arguments *given, int status)
{
    const ics_option_value *chosen = &given->options[OPTION_UNFINISHED_EXIT];
    return status == ICESTREAM_E_UNFINISHED && chosen->given ? (int)strtol(chosen->text, NULL, 10)
                                                             : icestream_status_exit(status);
}

const ics_command ics_command_run = {
    .name = "run",
    .operands = "[CONFIG [IN...]]",
    .summary = "simulates photons of particles or step files, and writes hit files",
    .details =
        "If CONFIG has particles or a workload and names no source, the run makes the steps "
        "itself.\n"
        "Otherwise the step files are those of source.files, or they are claimed in\n"
        "source.directory. The hits of a.steps.npy are written to a.hits.npy in sink.directory,\n"
        "those of particles in a.f2k, too, and those of a list in run.yaml to run.hits.npy.\n"
        "Without CONFIG every key has its default.\n"
        "IN is a step file, a pattern or - (standard input), and replaces the source of CONFIG.\n"
        "With -o OUT the hits get this name, and the run writes no other file:\n"
        "  icestream run run.yaml a.steps.npy -o a.hits.npy\n"
        "  icestream run run.yaml a.steps.npy b.steps.npy -o 'out/{stem}.hits.npy'",
    .operands_max = INT_MAX,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
    .has_json_log = has_json_log,
    .exit_status = exit_status,
};
