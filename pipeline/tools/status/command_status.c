/* The command `icestream status`. */
#include "base/error.h"
#include "pipeline/queue/queue_address.h"
#include "pipeline/tools/command.h"
#include "pipeline/tools/status/queue_text.h"

enum { OPTION_JSON, OPTION_PASSWORD, OPTION_CA, OPTIONS };

static const ics_option options[OPTIONS] = {
    [OPTION_JSON] = ICS_OPTION_ROW_JSON,
    [OPTION_PASSWORD] = ICS_OPTION_ROW_QUEUE_PASSWORD,
    [OPTION_CA] = ICS_OPTION_ROW_QUEUE_CA,
};

static int execute(const ics_arguments *given, icestream_error *error)
{
    const ics_option_value *values = given->options;
    if (ics_queue_is_address(given->operands[0])) {
        return ics_status_of_queue(given->operands[0], values[OPTION_PASSWORD].text,
                                   values[OPTION_CA].text, values[OPTION_JSON].given, stdout,
                                   error);
    }
    if (values[OPTION_PASSWORD].given || values[OPTION_CA].given) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "icestream status: --password and --ca are for a queue, and %.300s is "
                             "none",
                             given->operands[0]);
    }
    return icestream_folder_status(given->operands[0], given->options[OPTION_JSON].given, stdout,
                                   error);
}

const ics_command ics_command_status = {
    .name = "status",
    .operands = "DIR|ADDRESS",
    .summary = "reports how the runs that write into a folder are doing, or a queue",
    .details = "DIR is a sink.directory, and ADDRESS is that of a queue (redis://HOST/STREAM), of\n"
               "which the report has tickets, workers and failures. For a folder the report has "
               "what run.journal in DIR records and which\n"
               "files really exist. The command can be used while runs are working.",
    .operands_min = 1,
    .operands_max = 1,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
