/* The command `icestream bench`. */
#include "base/error.h"
#include "pipeline/config/config.h"
#include "pipeline/tools/bench/impact.h"
#include "pipeline/tools/command.h"
#include "pipeline/tools/measure/report.h"
#include "pipeline/tools/roofline/microscope.h"

#include <stdlib.h>
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
    OPTION_ONCE,
    OPTION_FILES,
    OPTION_ROOFLINE,
    OPTION_IMPACT,
    OPTION_SHAPES,
    OPTION_STAGES,
    OPTION_SWEEP,
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
    [OPTION_ONCE] = {.name = "once",
                     .help = "run every schedule once and nothing before it, so that a profiler "
                             "sees one run"},
    [OPTION_FILES] = {.name = "files",
                      .help = "measure the steps of source.files, where a run would read them"},
    [OPTION_ROOFLINE] = {.name = "roofline",
                         .help = "count what each kernel does per bounce, and what bounds it, "
                                 "instead of times; needs a GPU and NVIDIA's ncu. --workload has "
                                 "40960 steps then"},
    [OPTION_IMPACT] = {.name = "impact",
                       .type = ICS_OPTION_TEXT,
                       .value = "PART",
                       .help = "measure with a part of the work and without it: tilt, "
                               "anisotropy, birefringence, hole-ice or collide; on a GPU also "
                               "random or divergence"},
    [OPTION_SHAPES] = {.name = "shapes",
                       .help = "compare modules of many shapes, cables and a large detector with "
                               "spheres, at oversize 1 and 5, or at that of --oversize"},
    [OPTION_STAGES] = {.name = "stages",
                       .help = "also show the time of each stage inside schedules with one kernel, "
                               "from clocks that some warps read in one more run; needs a GPU"},
    [OPTION_SWEEP] = {.name = "sweep",
                      .help = "measure each kernel of a schedule with many sizes of blocks and "
                              "limits of registers, and name the fastest; needs a GPU"},
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

/* Refuses options that stand with one that they contradict. `why`: what is wrong with them. */
static int refuse(const ics_option_value *values, int option, const int *others, size_t count,
                  const char *why, icestream_error *error)
{
    for (size_t i = 0; i < count; ++i) {
        if (values[option].given && values[others[i]].given) {
            return ics_error_set(error, ICESTREAM_E_USAGE,
                                 "bench: found --%s and --%s, which %s; expected one of them",
                                 options[option].name, options[others[i]].name, why);
        }
    }
    return ICESTREAM_OK;
}

/* Options that contradict each other. */
static int check_options(const ics_option_value *values, icestream_error *error)
{
    static const char other[] = "measures something else";
    const int once[] = {OPTION_ONCE, OPTION_ROOFLINE};
    const int measured[] = {OPTION_FILES, OPTION_ROOFLINE, OPTION_IMPACT};
    const int swept[] = {OPTION_ONCE, OPTION_ROOFLINE, OPTION_IMPACT, OPTION_SHAPES};
    const int timed[] = {OPTION_ONCE, OPTION_ROOFLINE, OPTION_IMPACT, OPTION_SHAPES, OPTION_SWEEP};
    const int generated[] = {OPTION_WORKLOAD, OPTION_COUNTS, OPTION_STEPS, OPTION_PHOTONS};
    ICS_TRY(refuse(values, OPTION_REPEATS, once, sizeof once / sizeof *once,
                   "runs every schedule once", error));
    if (values[OPTION_IMPACT].given &&
        (values[OPTION_ONCE].given || values[OPTION_ROOFLINE].given)) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "bench: found --impact, which measures times, and --%s; expected one "
                             "of them",
                             values[OPTION_ONCE].given ? "once" : "roofline");
    }
    ICS_TRY(
        refuse(values, OPTION_SHAPES, measured, sizeof measured / sizeof *measured, other, error));
    ICS_TRY(refuse(values, OPTION_SWEEP, swept, sizeof swept / sizeof *swept, other, error));
    ICS_TRY(refuse(values, OPTION_STAGES, timed, sizeof timed / sizeof *timed, other, error));
    return refuse(values, OPTION_FILES, generated, sizeof generated / sizeof *generated,
                  "is about generated steps", error);
}

static int count(const ics_arguments *given, const icestream_config *config, icestream_error *error)
{
    const ics_microscope_request request = {.given = given,
                                            .config = config,
                                            .path = given->operand_count > 0 ? given->operands[0]
                                                                             : NULL,
                                            .schedules = given->options[OPTION_SCHEDULES].text,
                                            .suffix = "",
                                            .files = given->options[OPTION_FILES].given};
    ics_microscope *microscope = calloc(1, sizeof *microscope);
    if (microscope == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "bench: out of memory");
    }
    int status = ics_microscope_look(microscope, &request, error);
    if (status == ICESTREAM_OK && given->options[OPTION_JSON].given) {
        status = ics_report_json("bench", ics_microscope_json(microscope), stdout, error);
    } else if (status == ICESTREAM_OK) {
        status =
            ics_microscope_print(microscope, given->options[OPTION_TABLE].given, stdout, error);
        status = status == ICESTREAM_OK ? ics_report_end("bench", stdout, error) : status;
    }
    ics_microscope_free(microscope);
    free(microscope);
    return status;
}

static int measure(const ics_arguments *given, const icestream_config *config,
                   icestream_error *error)
{
    const ics_option_value *values = given->options;
    const icestream_bench_options bench = {
        .schedules = values[OPTION_SCHEDULES].text,
        .reference = values[OPTION_REFERENCE].text,
        .repeats = (uint32_t)values[OPTION_REPEATS].whole,
        .workload = values[OPTION_WORKLOAD].given || values[OPTION_COUNTS].given ||
                    values[OPTION_STEPS].given || values[OPTION_PHOTONS].given,
        .files = values[OPTION_FILES].given,
        .once = values[OPTION_ONCE].given,
        .shapes = values[OPTION_SHAPES].given,
        .stages = values[OPTION_STAGES].given,
        .sweep = values[OPTION_SWEEP].given,
        .oversize = values[OPTION_OVERSIZE].given ? config->detector.oversize : 0,
        .json = values[OPTION_JSON].given,
        .markdown = values[OPTION_TABLE].given,
        .progress = stderr,
    };
    if (values[OPTION_IMPACT].given) {
        return ics_impact_measure(config, &bench, values[OPTION_IMPACT].text, stdout, error);
    }
    return icestream_bench(config, &bench, stdout, error);
}

static int execute(const ics_arguments *given, icestream_error *error)
{
    const ics_option_value *values = given->options;
    icestream_config *config = NULL;
    int status = check_options(values, error);
    if (status == ICESTREAM_OK) {
        status = load_config(given, &config, error);
    }
    if (status == ICESTREAM_OK && values[OPTION_PRINT_EFFECTIVE].given) {
        status = icestream_config_print(config, stdout, error);
    } else if (status == ICESTREAM_OK) {
        status = values[OPTION_ROOFLINE].given ? count(given, config, error)
                                               : measure(given, config, error);
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
