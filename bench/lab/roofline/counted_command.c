#include "bench/lab/roofline/counted_command.h"

#include "base/error.h"
#include "pipeline/config/table.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Photons for the published workloads: 8.2e6 photons fill a GPU, and ncu, which repeats every
 * kernel, needs minutes for those of a benchmark in schedules with small kernels. */
#define STEPS_OF_WORKLOAD "40960"

static int add(ics_counted_command *command, const char *word, icestream_error *error)
{
    char *copy = strdup(word);
    char **words = reallocarray(command->words, command->count + 1, sizeof *words);
    if (words != NULL) {
        command->words = words;
    }
    if (copy == NULL || words == NULL) {
        free(copy);
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a command");
    }
    words[command->count++] = copy;
    return ICESTREAM_OK;
}

static int add_option(ics_counted_command *command, const char *name, const char *value,
                      icestream_error *error)
{
    char option[64];
    snprintf(option, sizeof option, "--%s", name);
    ICS_TRY(add(command, option, error));
    return add(command, value, error);
}

/* Adds what the command line says about the configuration. */
static int add_given(ics_counted_command *command, const ics_arguments *given,
                     icestream_error *error)
{
    bool workload = false, steps = false;
    for (size_t i = 0; i < given->command->option_count; ++i) {
        const ics_option *option = &given->command->options[i];
        const ics_option_value *value = &given->options[i];
        const bool passed = option->key != NULL || strcmp(option->name, "counts") == 0 ||
                            strcmp(option->name, "reference") == 0;
        if (value->given && passed) {
            workload |= strcmp(option->name, "workload") == 0;
            steps |= strcmp(option->name, "steps") == 0;
            ICS_TRY(add_option(command, option->name, value->text, error));
        }
        for (size_t k = 0; option->type == ICS_OPTION_SET && k < value->count; ++k) {
            ICS_TRY(add_option(command, option->name, value->texts[k], error));
        }
    }
    return workload && !steps ? add_option(command, "steps", STEPS_OF_WORKLOAD, error)
                              : ICESTREAM_OK;
}

bool ics_counted_tabulates(const ics_counted_request *request)
{
    return ics_config_tabulate(request->config) != ICS_TABULATE_NONE;
}

int ics_counted_command_make(const ics_counted_request *request, ics_schedule schedule,
                             ics_counted_command *out, icestream_error *error)
{
    *out = (ics_counted_command){.words = NULL};
    char program[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0) {
        return ics_error_set_cause(error, ICESTREAM_E_FAILED, errno,
                                   "/proc/self/exe: the program does not find its own file: %s",
                                   strerror(errno));
    }
    program[length] = '\0';
    ICS_TRY(add(out, program, error));
    ICS_TRY(add(out, "speed", error));
    ICS_TRY(add_given(out, request->given, error));
    ICS_TRY(add_option(out, "set", "device.backend=cuda", error));
    ICS_TRY(add_option(out, "set", "device.fallback=none", error));
    ICS_TRY(add_option(out, "set", "device.watchdog=3600", error));
    if (!ics_counted_tabulates(request)) {
        ICS_TRY(add_option(out, "schedules", ics_graph_schedule_name(schedule), error));
    }
    ICS_TRY(add(out, "--once", error));
    ICS_TRY(add(out, "--json", error));
    if (request->given->options[ICS_BENCH_FILES].given) {
        ICS_TRY(add(out, "--files", error));
    }
    if (request->path != NULL) {
        ICS_TRY(add(out, "--", error));
        ICS_TRY(add(out, request->path, error));
    }
    return ICESTREAM_OK;
}

void ics_counted_command_free(ics_counted_command *command)
{
    for (size_t i = 0; i < command->count; ++i) {
        free(command->words[i]);
    }
    free(command->words);
    *command = (ics_counted_command){.words = NULL};
}
