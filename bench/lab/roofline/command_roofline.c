/* The command `icestream-lab roofline`. */
#include "base/error.h"
#include "bench/lab/roofline/counting.h"
#include "pipeline/tools/measure/report.h"

static const ics_option options[ICS_LAB_OPTIONS] = {ICS_LAB_OPTION_ROWS};

static int measure(const ics_arguments *given, const icestream_config *config,
                   icestream_error *error)
{
    const ics_counted_request request = {.given = given,
                                         .config = config,
                                         .path =
                                             given->operand_count > 0 ? given->operands[0] : NULL};
    ics_counting counting = {.count = 0};
    int status = ics_counting_run(&counting, &request, error);
    if (status == ICESTREAM_OK && given->options[ICS_BENCH_JSON].given) {
        status = ics_report_json("roofline", ics_counting_json(&counting), stdout, error);
    } else if (status == ICESTREAM_OK) {
        const bool markdown = given->options[ICS_BENCH_TABLE].given;
        status = ics_counting_print(&counting, markdown, stdout, error);
        status = status == ICESTREAM_OK ? ics_report_end("roofline", stdout, error) : status;
    }
    ics_counting_free(&counting);
    return status;
}

static int execute(const ics_arguments *given, icestream_error *error)
{
    return ics_bench_execute(given, 0, measure, error);
}

const ics_command ics_command_roofline = {
    .name = "roofline",
    .operands = "[CONFIG]",
    .summary = "counts what each kernel does per bounce, and what bounds it",
    .details = "Needs a GPU and NVIDIA's ncu. --workload has 40960 steps here.",
    .operands_max = 1,
    .options = options,
    .option_count = ICS_LAB_OPTIONS,
    .execute = execute,
};
