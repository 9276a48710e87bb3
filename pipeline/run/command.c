#include "pipeline/run/command.h"

#include "base/error.h"
#include "pipeline/run/life.h"
#include "pipeline/run/log.h"
#include "pipeline/run/retry.h"
#include "pipeline/run/stop.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the end of a program -------------------------------------------------------------------- */

/* Reports the same event of all units whose hits are in the hit file, and forgets the program. */
static void release(ics_run_state *run, ics_run_program *program, ics_unit_event event)
{
    STAILQ_REMOVE(&run->commands.programs, program, ics_run_program, link);
    run->commands.newest = run->commands.newest != program ? run->commands.newest : NULL;
    ics_run_retry_clear(run, &program->retry);
    for (ics_unit *unit; (unit = ICS_QUEUE_TAKE(&program->units, queued)) != NULL;) {
        run->commands.left += event == ICS_ON_GIVEN_UP;
        ics_run_life_event(run, unit, event);
    }
    free(program->output);
    free(program);
}

/* Remembers that the program has succeeded for a volume: further step files of the run may have
 * their hits in it. */
static void remember(ics_run_state *run, const char *path)
{
    ics_run_commands *commands = &run->commands;
    if (commands->succeeded == NULL) {
        commands->succeeded = json_object();
    }
    if (json_object_set_new_nocheck(commands->succeeded, path, json_true()) != 0) {
        ics_run_log_text(run, ICS_EVENT_WARNING,
                         "sink.command: out of memory for %s: the program may run for it again",
                         path);
    }
}

static void give_up(ics_run_state *run, ics_run_program *program, const icestream_error *error)
{
    const ics_event event = {.kind = ICS_EVENT_COMMAND_FAILED,
                             .file = STAILQ_FIRST(&program->units)->name,
                             .output = program->output,
                             .reason = error->text,
                             .attempt = program->retry.tries + 1};
    const bool ends_run = run->options->fail_fast || ics_run_is_cancelled(run);
    ics_run_log_event(run, &event);
    release(run, program, ends_run ? ICS_ON_GIVEN_UP : ICS_ON_COMMAND_FAILED);
    if (ends_run) {
        ics_run_fail(run, error);
    }
}

/* The claims of the units stay until the program has succeeded: only then a step file is moved or
 * deleted. A run that waits for files tries as long as it lasts. */
static void handle_failure(ics_run_state *run, ics_run_program *program)
{
    icestream_error error = {.status = ICESTREAM_OK};
    ics_error_set_cause(&error, ICESTREAM_E_OUTPUT, EAGAIN, "sink.command: %s %s: %s",
                        run->config->sink.command[0], program->output, program->failure);
    switch (ics_run_retry_after(run, &program->retry, ICS_RETRY_COMMAND, program->output,
                                run->intake.watching, &error)) {
    case ICS_RUN_RETRY_LATER: {
        ics_unit *unit;
        STAILQ_FOREACH(unit, &program->units, queued)
        {
            ics_run_life_close(run, unit);
        }
        break;
    }
    case ICS_RUN_RETRY_LEAVE:
        release(run, program, ICS_ON_GIVEN_UP);
        break;
    case ICS_RUN_RETRY_REFUSED:
        give_up(run, program, &error);
        break;
    }
}

static void on_close(uv_handle_t *handle)
{
    ics_run_program *program = handle->data;
    ics_run_state *run = program->run;
    run->commands.running--;
    program->running = false;
    if (program->failure[0] == '\0') {
        if (run->common.volume != NULL) {
            remember(run, program->output);
        }
        release(run, program, ICS_ON_COMMAND_ENDED);
    } else if (run->commands.stopped) { /* the program was asked to end */
        release(run, program, ICS_ON_GIVEN_UP);
    } else {
        handle_failure(run, program);
    }
}

static void on_exit_of(uv_process_t *process, int64_t status, int number)
{
    ics_run_program *program = process->data;
    if (number != 0) {
        snprintf(program->failure, sizeof program->failure, "ended by signal %d", number);
    } else if (status != 0) {
        snprintf(program->failure, sizeof program->failure, "exit status %d", (int)status);
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
    arguments[count] = program->output;
    uv_stdio_container_t streams[3] = {{.flags = UV_IGNORE},
                                       {.flags = UV_INHERIT_FD, .data = {.fd = STDERR_FILENO}},
                                       {.flags = UV_INHERIT_FD, .data = {.fd = STDERR_FILENO}}};
    const uv_process_options_t options = {.exit_cb = on_exit_of,
                                          .file = run->commands.path,
                                          .args = arguments,
                                          .stdio_count = 3,
                                          .stdio = streams};
    int failure = uv_spawn(&run->loop.uv, &program->process, &options);
    free(arguments);
    return failure;
}

static void start(ics_run_state *run, ics_run_program *program)
{
    ics_run_retry_begin(run, &program->retry);
    program->running = true;
    program->failure[0] = '\0';
    program->process.data = program;
    run->commands.running++;
    int failure = spawn(program);
    if (failure != 0) {
        snprintf(program->failure, sizeof program->failure, "cannot be started: %s",
                 uv_strerror(failure));
        uv_close((uv_handle_t *)&program->process, on_close);
    }
}

/* ---- units that wait ------------------------------------------------------------------------- */

/* Whether sink.command runs for the output of the unit. The hits of a skipped file that nobody
 * claimed were there before this run, and an earlier run may have started the program for them. */
static bool has_command(const ics_run_state *run, const ics_unit *unit)
{
    bool fresh = unit->result == ICS_RESULT_DONE || unit->claim.name != NULL;
    return run->config->sink.command_count > 0 && unit->output != NULL &&
           (fresh || unit->command_pending) &&
           json_object_get(run->commands.succeeded, unit->output) == NULL;
}

/* The program for a hit file, which is added if it is missing. The units of a volume come one after
 * the other, so the newest program is looked at first. NULL: out of memory. */
static ics_run_program *program_for(ics_run_state *run, const char *output)
{
    ics_run_commands *commands = &run->commands;
    ics_run_program *program = commands->newest;
    if (program != NULL && strcmp(program->output, output) == 0) {
        return program;
    }
    STAILQ_FOREACH(program, &commands->programs, link)
    {
        if (strcmp(program->output, output) == 0) {
            return program;
        }
    }
    program = calloc(1, sizeof *program);
    if (program != NULL && (program->output = strdup(output)) == NULL) {
        free(program);
        program = NULL;
    }
    if (program != NULL) {
        program->run = run;
        STAILQ_INIT(&program->units);
        STAILQ_INSERT_TAIL(&commands->programs, program, link);
        commands->newest = program;
    }
    return program;
}

static void take_complete(ics_run_state *run)
{
    for (ics_unit *unit; (unit = ICS_QUEUE_TAKE(&run->units.complete, queued)) != NULL;) {
        if (!has_command(run, unit)) {
            ics_run_life_event(run, unit, ICS_ON_COMMAND_ENDED);
            continue;
        }
        ics_run_program *program = program_for(run, unit->output);
        if (program != NULL) {
            STAILQ_INSERT_TAIL(&program->units, unit, queued);
        } else {
            ics_run_life_event(run, unit, ICS_ON_GIVEN_UP);
            ics_run_fail_memory(run, "out of memory for sink.command");
        }
    }
}

/* ---- the part -------------------------------------------------------------------------------- */

static void stop_programs(ics_run_commands *commands)
{
    commands->stopped = true;
    ics_run_program *program;
    STAILQ_FOREACH(program, &commands->programs, link)
    {
        if (program->running && !uv_is_closing((uv_handle_t *)&program->process)) {
            uv_process_kill(&program->process, SIGTERM);
        }
    }
}

/* In a cancelled run no program starts, and in a run that stops none is tried again: the next
 * worker that claims the step file, or the next run with --resume, starts it. */
static void offer_program(ics_run_state *run, ics_run_program *program)
{
    const bool waits_again = program->retry.what != ICS_RETRY_NOTHING;
    if (ics_run_is_cancelled(run) || (waits_again && ics_run_is_stopping(run))) {
        release(run, program, ICS_ON_GIVEN_UP);
    } else if (run->commands.running < ICS_RUN_COMMANDS &&
               ics_run_retry_is_due(run, &program->retry)) {
        start(run, program);
    }
}

static void offer(ics_run_state *run)
{
    ics_run_commands *commands = &run->commands;
    if (ics_run_is_cancelled(run) && !commands->stopped) {
        stop_programs(commands);
    }
    take_complete(run);
    ics_run_program *next;
    for (ics_run_program *at = STAILQ_FIRST(&commands->programs); at != NULL; at = next) {
        next = STAILQ_NEXT(at, link);
        if (!at->running) {
            offer_program(run, at);
        }
    }
}

static bool waits(const ics_run_state *run)
{
    return run->commands.running > 0;
}

size_t ics_run_command_count_failed(const ics_run_state *run)
{
    size_t count = run->commands.left;
    const ics_run_program *program;
    const ics_unit *unit;
    STAILQ_FOREACH(program, &run->commands.programs, link)
    {
        STAILQ_FOREACH(unit, &program->units, queued)
        {
            count += program->retry.tries > 0;
        }
    }
    return count;
}

const ics_run_part ics_run_command_part = {.name = "command", .offer = offer, .waits = waits};

void ics_run_command_destroy(ics_run_state *run)
{
    for (ics_run_program *at; (at = ICS_QUEUE_TAKE(&run->commands.programs, link)) != NULL;) {
        free(at->output);
        free(at);
    }
    free(run->commands.path);
    json_decref(run->commands.succeeded);
}
