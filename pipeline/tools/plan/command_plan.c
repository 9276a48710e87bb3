/* The command `icestream plan`. */
#include "pipeline/tools/command.h"

enum {
    OPTION_SET,
    OPTION_ARCHITECTURE,
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
                             .low = 50,
                             .high = 999},
    [OPTION_JSON] = ICS_OPTION_ROW_JSON,
    [OPTION_THREADS] = ICS_OPTION_ROW_THREADS,
    [OPTION_PRINT_EFFECTIVE] = ICS_OPTION_ROW_PRINT_EFFECTIVE,
};

static int execute(const ics_arguments *given, icestream_error *error)
{
    icestream_config *config = NULL;
    int status = ics_command_config(given, &config, error);
    if (status == ICESTREAM_OK && given->options[OPTION_PRINT_EFFECTIVE].given) {
        status = icestream_config_print(config, stdout, error);
    } else if (status == ICESTREAM_OK) {
        const icestream_plan_options plan = {.architecture =
                                                 (int)given->options[OPTION_ARCHITECTURE].whole,
                                             .json = given->options[OPTION_JSON].given};
        status = icestream_plan(config, &plan, stdout, error);
    }
    icestream_config_destroy(config);
    return status;
}

const ics_command ics_command_plan = {
    .name = "plan",
    .operands = "[CONFIG]",
    .summary = "reports what a run would need, without running photons",
    .details =
        "On the CPU: threads and memory. On a GPU: registers, memory and occupancy of every "
        "kernel\n"
        "of the configured schedule. If graph.schedule is auto, of all schedules. The command\n"
        "works without a GPU.",
    .operands_max = 1,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
