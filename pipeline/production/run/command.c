#include "base/clock.h"
#include "base/error.h"
#include "base/new.h"
#include "base/url.h"
#include "pipeline/production/run/jobs.h"
#include "pipeline/production/run/log.h"
#include "pipeline/production/run/parts.h"
#include "pipeline/production/run/retry.h"
#include "pipeline/production/run/stop.h"
#include "pipeline/production/run/unit_states.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Time (s) that a program may take for its end when the run stops, so that the run ends before a
 * batch system kills it. */
static const double PATIENCE = 10.0;

/* ---- the end of a program -------------------------------------------------------------------- */

/* Programs for a hit file run in the order of ics_user_program; this step comes behind the last
 * one. */
static const ics_user_program no_more = ICS_PROGRAM_COMMAND + 1;

/* What becomes of the units whose hits are in the hit file. */
typedef enum delivery { DELIVERED, UNDELIVERED, GIVEN_UP } delivery;

/* Reports the end of all units whose hits are in the hit file, and forgets the program. */
static void release(ics_run_state *run, ics_run_program *program, delivery end)
{
    STAILQ_REMOVE(&run->commands.programs, program, ics_run_program, link);
    run->commands.newest = run->commands.newest != program ? run->commands.newest : NULL;
    ics_run_retry_clear(run, &program->retry);
    for (ics_unit *unit; (unit = ICS_QUEUE_TAKE(&program->units, queued)) != NULL;) {
        if (end == DELIVERED) {
            ics_run_unit_event(run, unit, ICS_ON_DECIDED);
        } else if (end == UNDELIVERED) {
            ics_run_unit_decide(run, unit, ICS_ON_GIVEN_UP, ICS_RESULT_UNDELIVERED);
        } else {
            run->commands.left++;
            ics_run_unit_give_up(run, unit);
        }
    }
    free(program->output);
    free(program->url);
    free(program);
}

/* Remembers that the program has succeeded for a hit file of several step files: further step files
 * of the run may have their hits in it. */
static void remember(ics_run_state *run, const char *path)
{
    ics_run_commands *commands = &run->commands;
    if (commands->succeeded == NULL) {
        commands->succeeded = json_object();
    }
    ics_new_member(commands->succeeded, path, json_true());
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
    if (run->commands.why.status == ICESTREAM_OK) {
        ics_error_copy(&run->commands.why, error);
    }
    release(run, program, ends_run ? GIVEN_UP : UNDELIVERED);
    if (ends_run) {
        ics_run_fail(run, error);
    }
}

/* The first program of the configuration for hit files from `step` on; no_more: there is none. */
static ics_user_program next_step(const ics_run_state *run, ics_user_program step)
{
    while (step < no_more && ics_config_program(run->config, step).count == 0 &&
           !(step == ICS_PROGRAM_SHIP && ics_config_ships(run->config))) {
        step++;
    }
    return step;
}

static ics_user_program first_step(const ics_run_state *run)
{
    return next_step(run, ICS_PROGRAM_SHIP);
}

/* The claims of the units stay until the program has succeeded: only then a step file is moved or
 * deleted. A run that waits for files tries as long as it lasts. */
static void handle_failure(ics_run_state *run, ics_run_program *program, const icestream_error *why)
{
    icestream_error error = {.status = ICESTREAM_OK};
    const ics_user_words given = ics_config_program(run->config, program->step);
    if (given.count > 0) {
        /* Only a program that ships says by its exit status whether another try may succeed. */
        const int cause = program->step == ICS_PROGRAM_SHIP ? why->cause : EAGAIN;
        ics_error_set_cause(&error, ICESTREAM_E_OUTPUT, cause, "%s: %s %s: %s", given.key,
                            given.words[0], program->output, why->text);
    } else {
        ics_error_set_cause(&error, why->status, why->cause, "sink.url: %s: %s", program->output,
                            why->text);
    }
    if (program->step == ICS_PROGRAM_VERIFY) { /* what was shipped is not whole */
        program->step = first_step(run);
    }
    switch (ics_run_retry_after(run, &program->retry, ICS_RETRY_COMMAND, program->output,
                                run->intake.watching, &error)) {
    case ICS_RUN_RETRY_LATER: {
        ics_unit *unit;
        STAILQ_FOREACH(unit, &program->units, queued)
        {
            ics_run_unit_close(run, unit);
        }
        break;
    }
    case ICS_RUN_RETRY_LEAVE:
        release(run, program, GIVEN_UP);
        break;
    case ICS_RUN_RETRY_REFUSED:
        give_up(run, program, &error);
        break;
    }
}

/* Writes that the hit file is where it was shipped to, once no further program checks it. */
static void note_shipped(ics_run_state *run, const ics_run_program *program)
{
    char shown[ICS_URL_MOST + 1];
    const bool is_last = program->step == ICS_PROGRAM_VERIFY ||
                         (program->step == ICS_PROGRAM_SHIP && run->config->sink.verify_count == 0);
    if (is_last && ics_config_ships(run->config)) {
        const ics_event event = {.kind = ICS_EVENT_SHIPPED,
                                 .file = STAILQ_FIRST(&program->units)->name,
                                 .output = program->output,
                                 .url = program->url != NULL ? ics_url_shown(program->url, shown)
                                                             : NULL,
                                 .seconds = ics_clock_seconds() - program->began,
                                 .attempt = program->retry.tries + 1};
        ics_run_log_event(run, &event);
    }
}

/* Goes on behind a program or a transfer that has ended. */
static void follow(void *user, const icestream_error *why)
{
    ics_run_program *program = user;
    ics_run_state *run = program->run;
    const bool succeeded = why->status == ICESTREAM_OK;
    run->commands.running--;
    program->errand = NULL;
    if (succeeded) {
        note_shipped(run, program);
        program->step = next_step(run, program->step + 1);
        if (program->step < no_more && !run->commands.stopped) {
            return; /* the next turn starts it */
        }
    }
    if (succeeded && program->step == no_more) {
        if (run->common.known != NULL) {
            remember(run, program->output);
        }
        release(run, program, DELIVERED);
    } else if (run->commands.stopped) { /* the program was asked to end */
        release(run, program, GIVEN_UP);
    } else {
        handle_failure(run, program, why);
    }
}

/* ---- its start ------------------------------------------------------------------------------- */

static void start(ics_run_state *run, ics_run_program *program)
{
    ics_run_retry_begin(run, &program->retry);
    program->began = program->step == first_step(run) ? ics_clock_seconds() : program->began;
    run->commands.running++;
    const ics_errand_order order = {
        .call = {.file = run->programs[program->step],
                 .words = ics_config_program(run->config, program->step),
                 .appends = program->step == ICS_PROGRAM_COMMAND,
                 .path = program->output,
                 .url = program->url,
                 .replaces = run->options->force},
        .ships = true,
        .request = {.url = program->url, .path = program->output, .replaces = run->options->force},
        .then = follow,
        .user = program};
    program->errand = ics_errand_start(&run->loop.uv, &order);
    if (program->errand == NULL) {
        icestream_error error = {.status = ICESTREAM_OK};
        ics_error_set_cause(&error, ICESTREAM_E_OUTPUT, EAGAIN, "out of memory");
        follow(program, &error);
    }
}

/* ---- units that wait ------------------------------------------------------------------------- */

/* Whether programs run for the output of the unit. The hits of a skipped file that nobody
 * claimed were there before this run, and an earlier run may have started the program for them. */
static bool has_command(const ics_run_state *run, const ics_unit *unit)
{
    bool fresh = unit->result == ICS_RESULT_DONE || unit->claim.name != NULL;
    return ics_config_delivers(run->config) && unit->output != NULL &&
           (fresh || unit->command_pending) &&
           json_object_get(run->commands.succeeded, unit->output) == NULL;
}

/* The program for a hit file, which is added if it is missing. The units with one hit file come one
 * after the other, so the newest program is looked at first. */
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
    const char *pattern = run->config->sink.url, *slash = strrchr(output, '/');
    program = ICS_NEW(ics_run_program);
    program->run = run;
    program->output = ics_new_copy(output);
    program->url = pattern != NULL
                       ? ics_new_made(ics_url_fill(pattern, slash != NULL ? slash + 1 : output))
                       : NULL;
    program->step = first_step(run);
    STAILQ_INIT(&program->units);
    STAILQ_INSERT_TAIL(&commands->programs, program, link);
    return commands->newest = program;
}

static void take_complete(ics_run_state *run)
{
    for (ics_unit *unit; (unit = ICS_QUEUE_TAKE(&run->units.complete, queued)) != NULL;) {
        if (!has_command(run, unit)) {
            ics_run_unit_event(run, unit, ICS_ON_DECIDED);
            continue;
        }
        STAILQ_INSERT_TAIL(&program_for(run, unit->output)->units, unit, queued);
    }
}

/* ---- the part -------------------------------------------------------------------------------- */

/* A cancelled run waits for no program, and one that stops for a short time only: what the program
 * has not done is left to the next run. */
static bool is_time_to_stop(ics_run_state *run)
{
    const double due = run->stop.began + PATIENCE;
    if (!ics_run_is_stopping(run)) {
        return false;
    }
    if (ics_run_is_cancelled(run) || ics_clock_seconds() >= due) {
        return true;
    }
    ics_run_wake_at(run, due);
    return false;
}

static void stop_programs(ics_run_commands *commands)
{
    commands->stopped = true;
    ics_run_program *program;
    STAILQ_FOREACH(program, &commands->programs, link)
    {
        if (program->errand != NULL) {
            ics_errand_stop(program->errand);
        }
    }
}

/* When programs were asked to end no other one starts, and in a run that stops none is tried again:
 * the next worker that claims the step file, or the next run with --resume, starts it. */
static void offer_program(ics_run_state *run, ics_run_program *program)
{
    const bool waits_again = program->retry.what != ICS_RETRY_NOTHING;
    if (run->commands.stopped || (waits_again && ics_run_is_stopping(run))) {
        release(run, program, GIVEN_UP);
    } else if (run->commands.running < ICS_RUN_COMMANDS &&
               ics_run_retry_is_due(run, &program->retry)) {
        start(run, program);
    }
}

static void offer(ics_run_state *run)
{
    ics_run_commands *commands = &run->commands;
    if (!commands->stopped && is_time_to_stop(run)) {
        stop_programs(commands);
    }
    take_complete(run);
    ics_run_program *next;
    for (ics_run_program *at = STAILQ_FIRST(&commands->programs); at != NULL; at = next) {
        next = STAILQ_NEXT(at, link);
        if (at->errand == NULL) {
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

const ics_run_part ics_run_command_part = {.offer = offer, .waits = waits};

void ics_run_command_destroy(ics_run_state *run)
{
    for (ics_run_program *at; (at = ICS_QUEUE_TAKE(&run->commands.programs, link)) != NULL;) {
        free(at->output);
        free(at->url);
        free(at);
    }
    json_decref(run->commands.succeeded);
}
