/* The command `icestream bench`. */
#include "pipeline/config/config.h"
#include "pipeline/tools/command.h"

#include <string.h>

enum {
    OPTION_SET,
    OPTION_SCHEDULES,
    OPTION_WORKLOAD,
    OPTION_COUNTS,
    OPTION_STEPS,
    OPTION_PHOTONS,
    OPTION_OVERSIZE,
    OPTION_REFERENCE,
    OPTION_REPEATS,
    OPTION_SHAPES,
    OPTION_TABLE,
    OPTION_JSON,
    OPTION_THREADS,
    OPTION_PRINT_EFFECTIVE,
    OPTIONS
};

static const ics_option options[OPTIONS] = {
    [OPTION_SET] = ICS_OPTION_ROW_SET,
    [OPTION_SCHEDULES] = {.name = "schedules",
                          .type = ICS_OPTION_TEXT,
                          .value = "A,B",
                          .help = "measure these schedules",
                          .initial = "graph.schedule; if that is auto, all of the device"},
    [OPTION_WORKLOAD] = {.name = "workload",
                         .type = ICS_OPTION_TEXT,
                         .value = "KIND",
                         .help = "short for --set workload.kind=KIND, with 1048576 steps of 200 "
                                 "photons; cascade and uniform are the published workloads",
                         .initial = "workload.kind of CONFIG",
                         .key = "workload.kind"},
    [OPTION_COUNTS] = {.name = "counts",
                       .type = ICS_OPTION_CHOICE,
                       .value = "HOW",
                       .help = "photons of the steps: default or balanced (all steps have the "
                               "same number), or shuffled (20 to 379 for a mean of 200)",
                       .initial = "workload.counts of CONFIG",
                       .choices = {"default", "balanced", "shuffled"}},
    [OPTION_STEPS] = {.name = "steps",
                      .type = ICS_OPTION_TEXT,
                      .value = "N",
                      .help = "short for --set workload.steps=N",
                      .initial = "workload.steps of CONFIG, or 1048576 if --workload is given",
                      .key = "workload.steps"},
    [OPTION_PHOTONS] = {.name = "photons",
                        .type = ICS_OPTION_TEXT,
                        .value = "N",
                        .help = "short for --set workload.photons_per_step=N",
                        .initial =
                            "workload.photons_per_step of CONFIG, or 200 if --workload is given",
                        .key = "workload.photons_per_step"},
    [OPTION_OVERSIZE] = {.name = "oversize",
                         .type = ICS_OPTION_TEXT,
                         .value = "F",
                         .help = "short for --set detector.oversize=F",
                         .initial = "detector.oversize of CONFIG",
                         .key = "detector.oversize"},
    [OPTION_REFERENCE] = {.name = "reference",
                          .type = ICS_OPTION_TEXT,
                          .value = "DIR",
                          .help = "take ice, light and modules from clsim's tables in this folder; "
                                  "--set detector.file=FILE gives other modules",
                          .initial = "those of CONFIG"},
    [OPTION_REPEATS] = {.name = "repeats",
                        .type = ICS_OPTION_WHOLE,
                        .value = "N",
                        .help = "measure every schedule this many times; the best time counts",
                        .initial = "3",
                        .low = 1,
                        .high = 1000000},
    [OPTION_SHAPES] = {.name = "shapes",
                       .help = "compare modules of many shapes, cables and a large detector with "
                               "spheres, at oversize 1 and 5, or at that of --oversize"},
    [OPTION_TABLE] = ICS_OPTION_ROW_TABLE,
    [OPTION_JSON] = ICS_OPTION_ROW_JSON,
    [OPTION_THREADS] = ICS_OPTION_ROW_THREADS,
    [OPTION_PRINT_EFFECTIVE] = ICS_OPTION_ROW_PRINT_EFFECTIVE,
};

/* The published workload has many steps, whatever CONFIG says. The benchmark calls the plain case
 * "default", which would be an unclear value of workload.counts. */
static int load_config(const ics_arguments *given, icestream_config **out, icestream_error *error)
{
    const char *first[3], *counts = given->options[OPTION_COUNTS].text;
    size_t count = 0;
    if (given->options[OPTION_WORKLOAD].given) {
        first[count++] = "workload.steps=1048576";
        first[count++] = "workload.photons_per_step=200";
    }
    if (counts != NULL) {
        first[count++] = strcmp(counts, "shuffled") == 0 ? "workload.counts=shuffled"
                                                         : "workload.counts=balanced";
    }
    const char *path = given->operand_count > 0 ? given->operands[0] : NULL;
    return ics_command_load(given, path, first, count, out, error);
}

static int execute(const ics_arguments *given, icestream_error *error)
{
    const ics_option_value *values = given->options;
    icestream_config *config = NULL;
    int status = load_config(given, &config, error);
    if (status == ICESTREAM_OK && values[OPTION_PRINT_EFFECTIVE].given) {
        status = icestream_config_print(config, stdout, error);
    } else if (status == ICESTREAM_OK) {
        const icestream_bench_options bench = {
            .schedules = values[OPTION_SCHEDULES].text,
            .reference = values[OPTION_REFERENCE].text,
            .repeats = (uint32_t)values[OPTION_REPEATS].whole,
            .workload = values[OPTION_WORKLOAD].given || values[OPTION_COUNTS].given ||
                        values[OPTION_STEPS].given || values[OPTION_PHOTONS].given,
            .shapes = values[OPTION_SHAPES].given,
            .oversize = values[OPTION_OVERSIZE].given ? config->detector.oversize : 0,
            .json = values[OPTION_JSON].given,
            .markdown = values[OPTION_TABLE].given,
            .progress = stderr,
        };
        status = icestream_bench(config, &bench, stdout, error);
    }
    icestream_config_destroy(config);
    return status;
}

const ics_command ics_command_bench = {
    .name = "bench",
    .operands = "[CONFIG]",
    .summary = "measures the speed of the configured or a published workload",
    .details = "--reference, --workload and --counts give the settings of clsim's published "
               "benchmark.",
    .operands_max = 1,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
