/* The command `icestream status`. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/new.h"
#include "pipeline/commands/command.h"
#include "pipeline/commands/status/queue_text.h"
#include "pipeline/production/queue/address.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { OPTION_JSON, OPTION_WATCH, OPTION_PASSWORD, OPTION_CA, OPTIONS };

static const ics_option options[OPTIONS] = {
    [OPTION_JSON] = ICS_OPTION_ROW_JSON,
    [OPTION_WATCH] = {.name = "watch",
                      .help = "write the report every second to the terminal, until Ctrl-C"},
    [OPTION_PASSWORD] = ICS_OPTION_ROW_QUEUE_PASSWORD,
    [OPTION_CA] = ICS_OPTION_ROW_QUEUE_CA,
};

static int write_report(const ics_arguments *given, FILE *out, icestream_error *error)
{
    const ics_option_value *values = given->options;
    const char *operand = given->operands[0];
    return ics_queue_is_address(operand)
               ? ics_status_of_queue(operand, values[OPTION_PASSWORD].text, values[OPTION_CA].text,
                                     values[OPTION_JSON].given, out, error)
               : icestream_folder_status(operand, values[OPTION_JSON].given, out, error);
}

/* Clears the terminal and writes as many lines of the report as it has. */
static int draw(const char *report, icestream_error *error)
{
    struct winsize window = {0};
    const char *end = report;
    const bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_row > 0;
    const int rows = is_known ? window.ws_row : 24;
    for (int row = 1; row < rows && *end != '\0'; ++row) {
        end += strcspn(end, "\n");
        end += *end == '\n';
    }
    if (printf("\033[H\033[J%.*s", (int)(end - report), report) < 0 || fflush(stdout) != 0) {
        return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno,
                                   "standard output: cannot write: %s", strerror(errno));
    }
    return ICESTREAM_OK;
}

/* Writes the report every second, and less often if reading the journals takes longer than 0.1 s:
 * this needs at most a tenth of a core. Ends by a signal or an error. */
static int watch(const ics_arguments *given, icestream_error *error)
{
    for (;;) {
        const double begun = ics_clock_seconds();
        ICS_FREES char *text = NULL;
        size_t size = 0;
        FILE *memory = ics_new_made(open_memstream(&text, &size));
        const int status = write_report(given, memory, error);
        if (fclose(memory) != 0) {
            return ics_error_set(error, ICESTREAM_E_MEMORY, "status: out of memory");
        }
        ICS_TRY(status);
        ICS_TRY(draw(text, error));
        const double taken = ics_clock_seconds() - begun, pause = taken > 0.1 ? 10 * taken : 1;
        nanosleep(&(struct timespec){.tv_sec = (time_t)pause,
                                     .tv_nsec = (long)(1e9 * (pause - (double)(time_t)pause))},
                  NULL);
    }
}

static int execute(const ics_arguments *given, icestream_error *error)
{
    const ics_option_value *values = given->options;
    if (!ics_queue_is_address(given->operands[0]) &&
        (values[OPTION_PASSWORD].given || values[OPTION_CA].given)) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "icestream status: --password and --ca are for a queue, and %.300s is "
                             "none",
                             given->operands[0]);
    }
    if (!values[OPTION_WATCH].given) {
        return write_report(given, stdout, error);
    }
    if (values[OPTION_JSON].given || isatty(STDOUT_FILENO) != 1) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "icestream status: --watch is for a terminal; expected standard "
                             "output on one, and no --json");
    }
    return watch(given, error);
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
