/* The command `icestream plan`. */
#include "base/error.h"
#include "graphs/gpu.h"
#include "pipeline/commands/command.h"
#include "pipeline/commands/plan/production.h"
#include "pipeline/photons/config/schema/number.h"

enum {
    OPTION_SET,
    OPTION_ARCHITECTURE,
    OPTION_PRODUCTION,
    OPTION_GPUS,
    OPTION_BENCH,
    OPTION_RATE,
    OPTION_HITS,
    OPTION_OVERHEAD,
    OPTION_JSON,
    OPTION_THREADS,
    OPTION_PRINT_EFFECTIVE,
    OPTIONS
};

static const ics_option options[OPTIONS] = {
    [OPTION_SET] = ICS_OPTION_ROW_SET,
    [OPTION_ARCHITECTURE] = {.name = "architecture",
                             .type = ICS_OPTION_WHOLE,
                             .value = "N",
                             .help = "plan for GPUs of this architecture; 90 is sm_90",
                             .initial = "that of the GPU in this machine, or 90 without a GPU",
                             .low = ICS_GPU_OLDEST,
                             .high = 999},
    [OPTION_PRODUCTION] = {.name = "production",
                           .type = ICS_OPTION_WHOLE,
                           .value = "N",
                           .help = "plan N files like the one that CONFIG makes",
                           .low = 1,
                           .high = 1000000000},
    [OPTION_GPUS] = {.name = "gpus",
                     .type = ICS_OPTION_WHOLE,
                     .value = "M",
                     .help = "GPUs of the production",
                     .low = 1,
                     .high = 1000000},
    [OPTION_BENCH] = {.name = "bench",
                      .type = ICS_OPTION_TEXT,
                      .value = "FILE",
                      .help = "rate and hits of its fastest row: a report of bench --json"},
    [OPTION_RATE] = {.name = "rate",
                     .type = ICS_OPTION_TEXT,
                     .value = "R",
                     .help = "bounces per second of one GPU, in place of --bench"},
    [OPTION_HITS] = {.name = "hits",
                     .type = ICS_OPTION_TEXT,
                     .value = "H",
                     .help = "hits per photon",
                     .initial = "that of --bench"},
    [OPTION_OVERHEAD] = {.name = "overhead",
                         .type = ICS_OPTION_TEXT,
                         .value = "S",
                         .help = "time for start, fetch and shipping of a file (s)",
                         .initial = "0"},
    [OPTION_JSON] = ICS_OPTION_ROW_JSON,
    [OPTION_THREADS] = ICS_OPTION_ROW_THREADS,
    [OPTION_PRINT_EFFECTIVE] = ICS_OPTION_ROW_PRINT_EFFECTIVE,
};

/* Reads a number of at least `low` from an option, if it is given. */
static int read_number(const ics_arguments *given, int option, double low, double *out,
                       icestream_error *error)
{
    const ics_option_value *value = &given->options[option];
    if (value->given && (ics_number_double(value->text, out) != ICS_NUMBER_OK || !(*out >= low))) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "--%s: found \"%s\", expected a number of at least %g",
                             options[option].name, value->text, low);
    }
    return ICESTREAM_OK;
}

/* Checks the options of a production, and reads them if there is one. */
static int read_production(const ics_arguments *given, ics_production_options *out,
                           icestream_error *error)
{
    const ics_option_value *values = given->options;
    *out = (ics_production_options){.files = (uint64_t)values[OPTION_PRODUCTION].whole,
                                    .gpus = (uint32_t)values[OPTION_GPUS].whole,
                                    .bench = values[OPTION_BENCH].text,
                                    .hits = -1,
                                    .json = values[OPTION_JSON].given};
    if (!values[OPTION_PRODUCTION].given) {
        for (int i = OPTION_GPUS; i <= OPTION_OVERHEAD; ++i) {
            if (values[i].given) {
                return ics_error_set(error, ICESTREAM_E_USAGE,
                                     "icestream plan: found --%s, expected --production N with it",
                                     options[i].name);
            }
        }
        return ICESTREAM_OK;
    }
    if (!values[OPTION_GPUS].given || values[OPTION_BENCH].given == values[OPTION_RATE].given) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "icestream plan: --production needs --gpus M, and --bench FILE or "
                             "--rate R");
    }
    ICS_TRY(read_number(given, OPTION_RATE, 1, &out->rate, error));
    ICS_TRY(read_number(given, OPTION_HITS, 0, &out->hits, error));
    return read_number(given, OPTION_OVERHEAD, 0, &out->overhead, error);
}

static int plan(const ics_arguments *given, const icestream_config *config, icestream_error *error)
{
    ics_production_options production;
    ICS_TRY(read_production(given, &production, error));
    if (production.files > 0) {
        return ics_production_plan(config, &production, stdout, error);
    }
    const icestream_plan_options how = {.architecture =
                                            (int)given->options[OPTION_ARCHITECTURE].whole,
                                        .json = given->options[OPTION_JSON].given};
    return icestream_plan(config, &how, stdout, error);
}

static int execute(const ics_arguments *given, icestream_error *error)
{
    return ics_command_with_config(given, NULL, 0, plan, error);
}

const ics_command ics_command_plan = {
    .name = "plan",
    .operands = "[CONFIG]",
    .summary = "reports what a run would need, without running photons",
    .details =
        "On the CPU: threads and memory. On a GPU: registers, memory and occupancy of every "
        "kernel\n"
        "of the configured schedule. If graph.schedule is auto, of all schedules. The command\n"
        "works without a GPU. With --production: GPU hours, bytes, and tickets per second.",
    .operands_max = 1,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
