#include "pipeline/run/command.h"

#include "base/error.h"
#include "pipeline/run/life.h"
#include "pipeline/run/log.h"
#include "pipeline/run/stop.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the end of a program -------------------------------------------------------------------- */

/* The unit continues, whatever the program has returned. In a cancelled run the claim of the unit
 * is given back instead: the next worker that claims the file finds the hits and starts the program
 * again. */
static void end_command(ics_run_state *run, ics_unit *unit)
{
    bool goes_back = ics_run_life_holds_claim(unit) && ics_run_is_cancelled(run);
    ics_run_life_event(run, unit, goes_back ? ICS_ON_GIVEN_UP : ICS_ON_COMMAND_ENDED);
}

static void on_close(uv_handle_t *handle)
{
    ics_run_program *program = handle->data;
    ics_unit *unit = program->unit;
    program->unit = NULL;
    program->run->commands.running--;
    end_command(program->run, unit);
}

static void on_exit_of(uv_process_t *process, int64_t status, int number)
{
    ics_run_program *program = process->data;
    const char *name = program->run->config->sink.command[0];
    const char *output = program->unit->output;
    if (number != 0) {
        ics_run_log_text(program->run, ICS_EVENT_WARNING, "sink.command: %s %s: ended by signal %d",
                         name, output, number);
    } else if (status != 0) {
        ics_run_log_text(program->run, ICS_EVENT_WARNING, "sink.command: %s %s: exit status %d",
                         name, output, (int)status);
    }
    uv_close((uv_handle_t *)process, on_close);
}

/* ---- its start ------------------------------------------------------------------------------- */

/* The standard output of the program goes to our standard error, because our standard output may
 * carry data. */
static int spawn(ics_run_program *program)
{
    ics_run_state *run = program->run;
    size_t count = run->config->sink.command_count;
    char **arguments = calloc(count + 2, sizeof *arguments);
    if (arguments == NULL) {
        return UV_ENOMEM;
    }
    memcpy(arguments, run->config->sink.command, count * sizeof *arguments);
    arguments[count] = program->unit->output;
    uv_stdio_container_t streams[3] = {{.flags = UV_IGNORE},
                                       {.flags = UV_INHERIT_FD, .data = {.fd = STDERR_FILENO}},
                                       {.flags = UV_INHERIT_FD, .data = {.fd = STDERR_FILENO}}};
    const uv_process_options_t options = {.exit_cb = on_exit_of,
                                          .file = arguments[0],
                                          .args = arguments,
                                          .stdio_count = 3,
                                          .stdio = streams};
    program->process.data = program;
    int failure = uv_spawn(&run->loop.uv, &program->process, &options);
    free(arguments);
    return failure;
}

static void start(ics_run_state *run, ics_unit *unit)
{
    ics_run_program *program = run->commands.programs;
    while (program->unit != NULL) {
        program++;
    }
    program->run = run;
    program->unit = unit;
    run->commands.running++;
    int failure = spawn(program);
    if (failure != 0) {
        ics_run_log_text(run, ICS_EVENT_WARNING, "sink.command: %s: cannot be started: %s",
                         run->config->sink.command[0], uv_strerror(failure));
        uv_close((uv_handle_t *)&program->process, on_close);
    }
}

/* Whether the command was started for the volume at `path` before. Marks it as started. */
static bool was_started(ics_run_state *run, const char *path)
{
    ics_run_commands *commands = &run->commands;
    if (commands->commanded == NULL) {
        commands->commanded = json_object();
    }
    if (json_object_get(commands->commanded, path) != NULL) {
        return true;
    }
    if (json_object_set_new_nocheck(commands->commanded, path, json_true()) != 0) {
        ics_run_log_text(run, ICS_EVENT_WARNING, "sink.command: out of memory for %s", path);
        return true;
    }
    return false;
}

/* Whether the output of the unit is new for sink.command. The hits of a skipped file that nobody
 * claimed were there before this run. */
static bool has_command(const ics_run_state *run, const ics_unit *unit)
{
    bool fresh = unit->result == ICS_RESULT_DONE || unit->claim.name != NULL;
    return run->config->sink.command_count > 0 && unit->output != NULL && fresh;
}

/* ---- the part -------------------------------------------------------------------------------- */

static void stop_programs(ics_run_commands *commands)
{
    commands->stopped = true;
    for (int i = 0; i < ICS_RUN_COMMANDS; ++i) {
        ics_run_program *program = &commands->programs[i];
        if (program->unit != NULL && !uv_is_closing((uv_handle_t *)&program->process)) {
            uv_process_kill(&program->process, SIGTERM);
        }
    }
}

static void offer(ics_run_state *run)
{
    ics_run_commands *commands = &run->commands;
    ics_unit_queue *complete = &run->units.complete;
    if (ics_run_is_cancelled(run) && !commands->stopped) {
        stop_programs(commands);
    }
    while (!STAILQ_EMPTY(complete)) {
        bool wanted = has_command(run, STAILQ_FIRST(complete));
        if (wanted && !ics_run_is_cancelled(run) && commands->running == ICS_RUN_COMMANDS) {
            return;
        }
        ics_unit *unit = ICS_QUEUE_TAKE(complete, queued);
        if (wanted && ics_run_is_cancelled(run)) {
            end_command(run, unit);
        } else if (wanted && !(run->common.volume != NULL && was_started(run, unit->output))) {
            start(run, unit);
        } else {
            ics_run_life_event(run, unit, ICS_ON_COMMAND_ENDED);
        }
    }
}

static bool waits(const ics_run_state *run)
{
    return run->commands.running > 0;
}

const ics_run_part ics_run_command_part = {.name = "command", .offer = offer, .waits = waits};

void ics_run_command_destroy(ics_run_state *run)
{
    json_decref(run->commands.commanded);
}
