/* sink.command: a program of the user's for every finished hit file, without a shell between. */
#include "base/error.h"
#include "pipeline/run/state.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMMANDS_MAX = 4 }; /* at a time */

struct ics_run_command {
    ics_run_command *next;
    ics_run_state *run;
    ics_unit *unit;
    ics_unit_state state; /* that the unit has when the program has ended */
    bool started;
    uv_process_t process;
};

static void start_waiting(ics_run_state *run);

/* The unit goes on, whatever the program came to. When everything is given up its claim goes back
 * instead: who takes it finds the hits, and starts the program again. */
static void forget(ics_run_command *command)
{
    ics_run_state *run = command->run;
    ics_unit *unit = command->unit;
    ics_run_command **at = &run->commands;
    while (*at != command) {
        at = &(*at)->next;
    }
    *at = command->next;
    run->commands_running -= command->started;
    unit->ending = false;
    if (!unit->held || !atomic_load(&run->common.cancel)) {
        ics_run_end_claim(run, unit, command->state);
    }
    free(command);
}

static void end_command(ics_run_command *command)
{
    ics_run_state *run = command->run;
    forget(command);
    start_waiting(run);
}

static void on_close(uv_handle_t *handle)
{
    end_command(handle->data);
}

static void on_exit_of(uv_process_t *process, int64_t status, int number)
{
    ics_run_command *command = process->data;
    const char *program = command->run->config->sink.command[0];
    if (number != 0) {
        ics_run_say(command->run, ICS_EVENT_WARNING, "sink.command: %s %s: ended by signal %d",
                    program, command->unit->output, number);
    } else if (status != 0) {
        ics_run_say(command->run, ICS_EVENT_WARNING, "sink.command: %s %s: exit status %d", program,
                    command->unit->output, (int)status);
    }
    uv_close((uv_handle_t *)process, on_close);
}

/* Its standard output goes where people read: ours carries data. */
static int spawn(ics_run_command *command)
{
    ics_run_state *run = command->run;
    size_t count = run->config->sink.command_count;
    char **arguments = calloc(count + 2, sizeof *arguments);
    if (arguments == NULL) {
        return UV_ENOMEM;
    }
    memcpy(arguments, run->config->sink.command, count * sizeof *arguments);
    arguments[count] = command->unit->output;
    uv_stdio_container_t streams[3] = {{.flags = UV_IGNORE},
                                       {.flags = UV_INHERIT_FD, .data = {.fd = STDERR_FILENO}},
                                       {.flags = UV_INHERIT_FD, .data = {.fd = STDERR_FILENO}}};
    const uv_process_options_t options = {.exit_cb = on_exit_of,
                                          .file = arguments[0],
                                          .args = arguments,
                                          .stdio_count = 3,
                                          .stdio = streams};
    command->process.data = command;
    int failure = uv_spawn(&run->loop, &command->process, &options);
    free(arguments);
    return failure;
}

static void start(ics_run_command *command)
{
    ics_run_state *run = command->run;
    command->started = true;
    run->commands_running++;
    int failure = spawn(command);
    if (failure != 0) {
        ics_run_say(run, ICS_EVENT_WARNING, "sink.command: %s: cannot be started: %s",
                    run->config->sink.command[0], uv_strerror(failure));
        uv_close((uv_handle_t *)&command->process, on_close);
    }
}

static void start_waiting(ics_run_state *run)
{
    for (ics_run_command *command = run->commands, *next = NULL;
         command != NULL && run->commands_running < COMMANDS_MAX; command = next) {
        next = command->next;
        if (!command->started && atomic_load(&run->common.cancel)) {
            forget(command);
        } else if (!command->started) {
            start(command);
        }
    }
}

bool ics_run_start_command(ics_run_state *run, ics_unit *unit, ics_unit_state state)
{
    bool complete =
        state == ICS_UNIT_DONE || (state == ICS_UNIT_SKIPPED && unit->claim.name != NULL);
    if (run->config->sink.command_count == 0 || unit->output == NULL || !complete ||
        unit->commanded) {
        return false;
    }
    if (unit->held && atomic_load(&run->common.cancel)) {
        unit->state = state;
        return true; /* as in forget() */
    }
    if (run->rotation.volume != NULL && !ics_run_commands_volume(run, unit->output)) {
        return false; /* it was, with another unit of that volume */
    }
    ics_run_command *command = calloc(1, sizeof *command);
    if (command == NULL) {
        ics_run_say(run, ICS_EVENT_WARNING, "sink.command: out of memory for %s", unit->output);
        return false;
    }
    unit->state = state;
    unit->ending = unit->commanded = true;
    command->run = run;
    command->unit = unit;
    command->state = state;
    ics_run_command **last = &run->commands;
    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = command;
    start_waiting(run);
    return true;
}

void ics_run_stop_commands(ics_run_state *run)
{
    for (ics_run_command *command = run->commands; command != NULL; command = command->next) {
        if (command->started && !uv_is_closing((uv_handle_t *)&command->process)) {
            uv_process_kill(&command->process, SIGTERM);
        }
    }
}
