/* Promise: whatever jobs find, and in whatever order they come back, no unit of a run is lost or
 * finished twice, the queues and counters of the run are right after each job, and the run ends.
 *
 * The state of the run and the parts of its loop are the real ones. The model replaces threads,
 * device and log: it keeps the jobs that are out, brings them back in any order, and draws what
 * they found. Files and claims only exist as names. Time (s) is a number that jumps to the time for
 * which a part has asked. Programs of sink.command are handles that the model keeps. How to join: a
 * new job needs a place in perform() and owner_of(), a new part one in parts[]. */
#include "base/clock.h"
#include "base/container.h"
#include "base/error.h"
#include "pipeline/production/run/disk_full.h"
#include "pipeline/production/run/jobs.h"
#include "pipeline/production/run/log.h"
#include "pipeline/production/run/parts.h"
#include "pipeline/production/run/stop.h"
#include "pipeline/production/run/turn.h"
#include "pipeline/production/run/unit_states.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEQUENCES = 100000,
    TURNS = 5000, /* of a sequence, at most */
    UNITS = 5,
    BATCHES = 3, /* of a unit, at most */
    HELD = 2,    /* batches that the device accepts */
    CREDITS = 4,
    SENT = 64,
    RARE = 300 /* one job of this number finds an error that ends the run */
};

/* Check writes a note for every ck_assert that holds, which is too slow here. */
#define MUST(condition, ...)                                                                       \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            ck_abort_msg(__VA_ARGS__);                                                             \
        }                                                                                          \
    } while (0)

static const ics_run_part *const parts[] = {
    &ics_run_unit_part,  &ics_run_intake_part, &ics_run_disk_full_part, &ics_run_propagate_part,
    &ics_run_check_part, &ics_run_write_part,  &ics_run_command_part,   &ics_run_ending_part,
};

static ics_run_state run;
static icestream_config config;
static icestream_run_options options;
static ics_input inputs[UNITS];
static char *command[] = {"send"};
static char readers, io, writers[2], device; /* their addresses stand for threads */

/* What the model knows. */
static struct {
    uint64_t random;
    double now; /* s */
    bool claimed;
    uint32_t added; /* units that are made, except messages */
    ics_job *sent[SENT];
    const void *sent_to[SENT];
    unsigned sent_count, held;
    /* Of each unit: batches since its last check, those whose hits are stored, and how often its
     * hits were written. */
    uint32_t made[UNITS], stored[UNITS], written[UNITS];
    uv_process_t *programs[ICS_RUN_COMMANDS]; /* of sink.command, NULL: none */
    uv_close_cb closing[ICS_RUN_COMMANDS];    /* of a program that has ended */
    uv_exit_cb on_exit;
    uint32_t successes; /* one program of this number succeeds */
} model;
static bool seen_states[ICS_UNIT_STATES];
static uint64_t seen_results[ICS_UNIT_RESULTS];

/* SplitMix64. */
static uint32_t draw(uint32_t below)
{
    uint64_t z = model.random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)(((z ^ (z >> 31)) >> 32) * below >> 32);
}

static size_t index_of(const ics_unit *unit)
{
    size_t index = unit->claim.name != NULL         ? unit->claim.ticket
                   : unit->input->source->continues ? unit->message
                                                    : (size_t)(unit->input - inputs);
    MUST(index < UNITS, "unknown unit %zu", index);
    return index;
}

/* ---- what the run calls ---------------------------------------------------------------------- */

double ics_clock_seconds(void)
{
    return model.now;
}

double ics_clock_unix(void)
{
    return model.now;
}

static void keep_sent(ics_job *job, const void *to)
{
    MUST(model.sent_count < SENT, "too many jobs are out");
    for (unsigned i = 0; i < model.sent_count; ++i) {
        MUST(model.sent[i] != job, "a job was sent twice");
    }
    model.sent[model.sent_count] = job;
    model.sent_to[model.sent_count++] = to;
}

/* The model has no threads: no unit of it makes steps. */
int ics_workers_create(const char *name, uint32_t threads, uint32_t capacity,
                       void *const *thread_states, ics_post finished, ics_workers **out,
                       icestream_error *error)
{
    (void)name;
    (void)threads;
    (void)capacity;
    (void)thread_states;
    (void)finished;
    (void)out;
    (void)error;
    ck_abort_msg("a unit of the model made steps");
    return ICESTREAM_E_FAILED;
}

void ics_workers_destroy(ics_workers *workers)
{
    ck_assert_ptr_null(workers);
}

bool ics_workers_submit(ics_workers *workers, ics_job *job)
{
    keep_sent(job, workers);
    return true;
}

/* Jobs come back through deliver(). */
static void receive(void *user, ics_job *job)
{
    (void)user;
    (void)job;
    ck_abort_msg("the model has no loop");
}

bool ics_device_submit(ics_device *to, ics_batch *batch)
{
    (void)to;
    if (model.held == HELD) {
        return false;
    }
    model.held++;
    ics_error_forget(&batch->error);
    keep_sent(&batch->job, &device);
    return true;
}

int ics_device_create(const ics_device_options *with, const ics_tables *tables,
                      ics_hit_models models, ics_post finished, ics_device **out,
                      icestream_error *error)
{
    (void)with;
    (void)tables;
    (void)models;
    (void)finished;
    (void)error;
    *out = (ics_device *)&device;
    return ICESTREAM_OK;
}

void ics_device_destroy(ics_device *of)
{
    MUST(of == (ics_device *)&device, "an unknown device was destroyed");
}

uint32_t ics_device_credits(const ics_device *of)
{
    (void)of;
    return CREDITS;
}

ics_batch_limits ics_device_batch_limits(const ics_device *of)
{
    (void)of;
    return ics_batch_limits_default();
}

void ics_run_log_event(ics_run_state *of, const ics_event *event)
{
    (void)of;
    (void)event;
}

void ics_run_log_text(ics_run_state *of, ics_event_kind kind, const char *format, ...)
{
    (void)of;
    (void)kind;
    (void)format;
}

void ics_run_log_notice(ics_run_state *of, ics_unit *unit)
{
    (void)of;
    free(ics_unit_next_notice(unit));
}

void ics_run_log_device(ics_run_state *of)
{
    (void)of;
}

void ics_events_report(ics_events *events, const ics_event *event)
{
    (void)events;
    (void)event;
}

/* ---- programs of sink.command ---------------------------------------------------------------- */

static unsigned index_of_program(const uv_process_t *process)
{
    unsigned index = 0;
    while (index < ICS_RUN_COMMANDS && model.programs[index] != process) {
        index++;
    }
    return index;
}

int uv_spawn(uv_loop_t *loop, uv_process_t *process, const uv_process_options_t *how)
{
    (void)loop;
    MUST(index_of_program(process) == ICS_RUN_COMMANDS, "a program was started twice");
    unsigned free_index = index_of_program(NULL);
    MUST(free_index < ICS_RUN_COMMANDS, "too many programs run");
    model.programs[free_index] = process;
    model.on_exit = how->exit_cb;
    return draw(6) == 0 ? UV_ENOENT : 0;
}

int uv_process_kill(uv_process_t *process, int number)
{
    (void)number;
    MUST(index_of_program(process) < ICS_RUN_COMMANDS, "a program was ended that does not run");
    return 0;
}

int uv_is_closing(const uv_handle_t *handle)
{
    return model.closing[index_of_program((const uv_process_t *)handle)] != NULL;
}

/* The patience with a program that was asked to end never ends here. */
int uv_timer_init(uv_loop_t *loop, uv_timer_t *timer)
{
    (void)loop;
    timer->type = UV_TIMER;
    return 0;
}

int uv_timer_start(uv_timer_t *timer, uv_timer_cb then, uint64_t timeout, uint64_t repeat)
{
    (void)timer, (void)then, (void)timeout, (void)repeat;
    return 0;
}

void uv_close(uv_handle_t *handle, uv_close_cb on_close)
{
    if (handle->type == UV_TIMER) {
        on_close(handle);
        return;
    }
    unsigned index = index_of_program((const uv_process_t *)handle);
    MUST(index < ICS_RUN_COMMANDS && model.closing[index] == NULL, "a handle was closed twice");
    model.closing[index] = on_close;
}

/* A program ends, or the handle of one that has ended is closed. False: there is no program. */
static bool end_program(void)
{
    unsigned index = draw(ICS_RUN_COMMANDS);
    for (unsigned i = 0; i < ICS_RUN_COMMANDS && model.programs[index] == NULL; ++i) {
        index = (index + 1) % ICS_RUN_COMMANDS;
    }
    uv_process_t *process = model.programs[index];
    uv_close_cb on_close = model.closing[index];
    if (process == NULL) {
        return false;
    }
    if (on_close == NULL) {
        model.on_exit(process, draw(model.successes) > 0,
                      ics_run_is_cancelled(&run) && draw(2) == 0 ? 15 : 0);
        return true;
    }
    model.programs[index] = NULL;
    model.closing[index] = NULL;
    on_close((uv_handle_t *)process);
    return true;
}

static bool runs_programs(void)
{
    return run.commands.running > 0;
}

/* ---- what jobs find -------------------------------------------------------------------------- */

/* Draws an error that any job may find. `errors`: how often, one job of this number. */
static void draw_error(icestream_error *error, uint32_t errors)
{
    *error = (icestream_error){.status = ICESTREAM_OK};
    if (ics_run_is_cancelled(&run) && draw(2) == 0) {
        ics_error_set(error, ICESTREAM_E_INTERRUPTED, "interrupted");
    } else if (draw(RARE) == 0) {
        ics_error_set(error, ICESTREAM_E_FAILED, "a rare error");
    } else if (draw(errors) == 0) {
        ics_error_set_cause(error, ICESTREAM_E_OUTPUT, draw(2) == 0 ? ENOSPC : EIO, "may pass");
    }
}

static void check(ics_unit *unit)
{
    ics_unit_work *work = unit->work;
    MUST(unit->state == ICS_UNIT_CHECKING, "checked in %s", ics_unit_rules_state_name(unit->state));
    draw_error(&work->read_error, 12);
    work->lost = work->matches = work->found = false;
    model.made[index_of(unit)] = model.stored[index_of(unit)] = 0;
    if (work->read_error.status == ICESTREAM_OK && draw(10) == 0) {
        ics_error_set(&work->read_error, ICESTREAM_E_INPUT, "bad");
    }
    work->lost = unit->claim.name != NULL && draw(10) == 0;
    const bool stream = unit->input->source->continues;
    work->matches = !stream && draw(10) == 0;
    work->found = !stream || (unit->message + 1 < UNITS && draw(8) > 0);
}

static void fill(ics_propagation *propagation)
{
    uint32_t *made = &model.made[index_of(propagation->user)];
    icestream_error error = {.status = ICESTREAM_OK};
    draw_error(&propagation->error, 12);
    if (propagation->error.status == ICESTREAM_OK && draw(12) == 0) {
        ics_error_set(&propagation->error, ICESTREAM_E_INPUT, "bad");
    }
    bool failed = propagation->error.status != ICESTREAM_OK;
    propagation->feed.at_end = !failed && (*made == BATCHES || draw(3) == 0);
    if (failed || *made == BATCHES || draw(6) == 0) {
        ics_batch_destroy(propagation->batch);
        propagation->batch = NULL;
    } else {
        if (propagation->batch != NULL) {
            ics_batch_reset(propagation->batch, &propagation->limits, 0);
        } else {
            ics_batch_create(&propagation->limits, 0, &propagation->batch, &error);
        }
        MUST(error.status == ICESTREAM_OK, "no memory");
        ++*made;
    }
}

static void compute(ics_batch *batch)
{
    icestream_error error;
    model.held--;
    draw_error(&error, UINT32_MAX);
    if (error.status == ICESTREAM_OK && draw(15) == 0) {
        ics_error_set(&error, ICESTREAM_E_INPUT, "bad");
    }
    if (error.status != ICESTREAM_OK) {
        ics_error_keep(&batch->error, &error);
    }
}

/* A batch whose hits had to stay in memory is stored as well. */
static void store(ics_batch *batch)
{
    icestream_error error;
    draw_error(&error, 12);
    if (error.status == ICESTREAM_OK || ics_error_may_pass(&error)) {
        model.stored[index_of(((const ics_propagation *)batch->owner)->user)]++;
    }
    ics_error_keep(&batch->error, &error);
}

static void write_hits(ics_unit *unit)
{
    ics_unit_work *work = unit->work;
    size_t index = index_of(unit);
    MUST(unit->state == ICS_UNIT_WRITING && unit->result == ICS_RESULT_NONE, "written in %s",
         ics_unit_rules_state_name(unit->state));
    MUST(unit->jobs_out == 1 && work->propagation.out == 0, "written while other jobs are out");
    MUST(model.stored[index] == model.made[index], "%u of %u batches are stored",
         model.stored[index], model.made[index]);
    draw_error(&work->write_error, 8);
    if (work->write_error.status == ICESTREAM_OK && draw(15) == 0) {
        ics_error_set(&work->write_error, ICESTREAM_E_INPUT, "other hits have the name");
    }
    work->lost = unit->claim.name != NULL && draw(10) == 0;
    work->matches = draw(15) == 0;
    model.written[index] +=
        work->write_error.status == ICESTREAM_OK && !work->lost && !work->matches;
}

static void discard(ics_unit *unit)
{
    MUST(unit->state == ICS_UNIT_WRITING && unit->result == ICS_RESULT_QUARANTINED &&
             unit->jobs_out == 1,
         "discarded in %s", ics_unit_rules_state_name(unit->state));
    draw_error(&unit->work->write_error, 8);
}

static void end_claim(ics_run_ending *ending)
{
    MUST(ending->unit->state == ICS_UNIT_ENDING, "claim ended in %s",
         ics_unit_rules_state_name(ending->unit->state));
    draw_error(&ending->error, 6);
    ending->held = ending->unit->claim.name == NULL || draw(8) > 0;
}

/* Draws what a job has found, as a thread or the device would store it. */
static void perform(ics_job *job, const void *to)
{
    if (to == &device) {
        compute(ics_batch_of_job(job));
    } else if (job == &run.disk_full.job) {
        draw_error(&run.disk_full.error, 3);
    } else if (job->run == ics_unit_check) {
        check(ICS_CONTAINER_OF(job, ics_unit, reader_job));
    } else if (job->run == ics_engine_read) {
        fill(ICS_CONTAINER_OF(job, ics_propagation, job));
    } else if (job->run == ics_engine_store) {
        store(ics_batch_of_job(job));
    } else if (job->run == ics_unit_write) {
        write_hits(ICS_CONTAINER_OF(job, ics_unit, writer_job));
    } else if (job->run == ics_unit_discard) {
        discard(ICS_CONTAINER_OF(job, ics_unit, writer_job));
    } else {
        MUST(to == &io, "an unknown job");
        end_claim(ICS_CONTAINER_OF(job, ics_run_ending, job));
    }
}

static void deliver(unsigned index)
{
    ics_job *job = model.sent[index];
    perform(job, model.sent_to[index]);
    model.sent_count--;
    model.sent[index] = model.sent[model.sent_count];
    model.sent_to[index] = model.sent_to[model.sent_count];
    ics_run_deliver_job(&run, job);
}

/* ---- what must hold after each job ----------------------------------------------------------- */

/* The propagation that a job of the engine belongs to; NULL: it is a job of the run. */
static const ics_propagation *propagation_of(ics_job *job, const void *to)
{
    if (to == &device || job->run == ics_engine_store) {
        return ics_batch_of_job(job)->owner;
    }
    return job->run == ics_engine_read ? ICS_CONTAINER_OF(job, ics_propagation, job) : NULL;
}

/* The unit that a job of the run belongs to. */
static const ics_unit *owner_of(ics_job *job, const void *to)
{
    if (job == &run.disk_full.job) {
        return run.disk_full.tries_unit;
    }
    if (to == &readers) {
        return ICS_CONTAINER_OF(job, ics_unit, reader_job);
    }
    return to == &io ? ICS_CONTAINER_OF(job, ics_run_ending, job)->unit
                     : ICS_CONTAINER_OF(job, ics_unit, writer_job);
}

/* Jobs of the run for this unit, and *engine of the engine. */
static uint32_t jobs_of(const ics_unit *unit, uint32_t *engine)
{
    uint32_t count = 0;
    *engine = 0;
    for (unsigned i = 0; i < model.sent_count; ++i) {
        const ics_propagation *propagation = propagation_of(model.sent[i], model.sent_to[i]);
        if (propagation == NULL) {
            count += owner_of(model.sent[i], model.sent_to[i]) == unit;
        } else {
            *engine += propagation->user == unit;
        }
    }
    ics_job *job;
    STAILQ_FOREACH(job, &run.engine->queue, link)
    {
        *engine += ((const ics_propagation *)ics_batch_of_job(job)->owner)->user == unit;
    }
    return count;
}

static uint32_t count_queued(const ics_unit_queue *queue, const ics_unit *unit)
{
    uint32_t count = 0;
    const ics_unit *at;
    STAILQ_FOREACH(at, queue, queued)
    {
        count += at == unit;
    }
    return count;
}

/* A unit that waits for a part is known to this part exactly once, and to no other part. */
static void check_queues(const ics_unit *unit)
{
    uint32_t complete = count_queued(&run.units.complete, unit);
    uint32_t ending = count_queued(&run.units.ending, unit);
    for (size_t i = 0; i < ICS_RUN_ENDINGS; ++i) {
        ending += run.endings.entries[i].unit == unit;
    }
    const ics_run_program *program;
    STAILQ_FOREACH(program, &run.commands.programs, link)
    {
        complete += count_queued(&program->units, unit);
    }
    const char *name = ics_unit_rules_state_name(unit->state);
    bool ends = unit->state == ICS_UNIT_ENDING;
    MUST(complete == (unit->state == ICS_UNIT_COMPLETE), "%s: %u times complete", name, complete);
    MUST(ending == ends, "%s: %u times at the end of its claim", name, ending);
}

static void check_counters(void)
{
    uint32_t open = 0, ahead = 0, batches = 0, of_engine = 0;
    for (const ics_unit *unit = run.units.first; unit != NULL; unit = unit->next) {
        seen_states[unit->state] = true;
        uint32_t engine;
        const uint32_t jobs = jobs_of(unit, &engine);
        const uint32_t counted = unit->work != NULL ? unit->work->propagation.out : 0;
        of_engine += engine;
        MUST(unit->jobs_out == jobs && counted == engine,
             "%s: counted %u and %u jobs, %u and %u are out",
             ics_unit_rules_state_name(unit->state), unit->jobs_out, counted, jobs, engine);
        MUST(jobs + engine == 0 || !ics_unit_rules_is_last(unit->state), "a job is out at the end");
        check_queues(unit);
        open += unit->work != NULL;
        ahead += ics_unit_rules_is_reading(unit->state);
    }
    const ics_job *job;
    STAILQ_FOREACH(job, &run.engine->queue, link)
    {
        batches++;
    }
    MUST(run.units.open == open, "counted %u open units of %u", run.units.open, open);
    MUST(run.units.reading == ahead, "counted %u units ahead of %u", run.units.reading, ahead);
    MUST(run.engine->queued == batches, "counted %u batches of %u", run.engine->queued, batches);
    MUST(run.engine->out == of_engine, "counted %u jobs of the engine, %u are out", run.engine->out,
         of_engine);
    MUST(run.jobs.out + of_engine == model.sent_count + batches, "counted %u jobs of %u",
         run.jobs.out + of_engine, model.sent_count + batches);
    MUST(strncmp(run.stop.fatal.text, "internal", 8) != 0, "%s", run.stop.fatal.text);
}

/* ---- turns of the loop ----------------------------------------------------------------------- */

static void add_unit(void)
{
    uint32_t index = model.added++;
    ics_unit *unit = NULL;
    if (model.claimed) {
        ics_claim claim = {.name = strdup("a.npy"), .path = strdup("w/a.npy"), .ticket = index};
        claim.refusal = draw(16) == 0 ? strdup("refused") : NULL;
        unit = ics_unit_create_claimed(&run.common, &claim, "a.npy");
    } else {
        unit = ics_unit_create(&run.common, &inputs[index], 0);
    }
    ics_run_unit_append(&run, unit);
}

/* False: the run has ended. */
static bool turn(uint32_t stops)
{
    if (!ics_run_is_stopping(&run) && draw(stops) == 0) {
        ics_run_stop_reading(&run);
    } else if (ics_run_is_stopping(&run) && draw(16) == 0) {
        ics_run_cancel(&run);
    }
    if (model.claimed && model.added < UNITS && !ics_run_is_stopping(&run) && draw(8) == 0) {
        add_unit();
    }
    bool more = ics_run_turn(&run);
    check_counters();
    if (!more) {
        return false;
    }
    double due = run.jobs.wake_at;
    if (runs_programs() && draw(4) == 0) {
        end_program();
        check_counters();
        return true;
    }
    MUST(model.sent_count > 0 || due > 0.0 || runs_programs(),
         "the run waits, but nothing can happen any more");
    if (model.sent_count > 0 && (due == 0.0 || draw(8) > 0)) {
        deliver(draw(model.sent_count));
        check_counters();
    } else if (due > model.now) {
        model.now = due;
    } else if (end_program()) {
        check_counters();
    }
    return true;
}

/* ---- sequences ------------------------------------------------------------------------------- */

static void begin_run(uint32_t kind)
{
    const uint64_t random = model.random;
    memset(&model, 0, sizeof model);
    model.random = random;
    model.now = 1000.0;
    model.claimed = kind % 4 >= 2;
    const bool stream = kind % 4 == 1;
    for (size_t i = 0; i < UNITS; ++i) {
        inputs[i] = (ics_input){.source = stream ? &ics_source_messages : &ics_source_file,
                                .path = "a.npy",
                                .output = "hits/a.hits.npy"};
    }
    config.sink.directory = "hits";
    config.sink.name = "{stem}.hits.npy";
    config.sink.ship = config.sink.verify = command;
    config.sink.ship_count = draw(2);
    config.sink.verify_count = config.sink.ship_count > 0 ? draw(2) : 0;
    config.sink.command = command;
    config.sink.command_count = draw(2);
    model.successes = 1 + draw(6);
    options.fail_fast = draw(16) == 0;
    run.intake.watching = run.intake.closed = false;
    run.config = run.common.config = &config;
    run.options = run.common.options = &options;
    run.common.wake = -1;
    run.common.sink = stream && draw(2) == 0 ? &ics_sink_stream : &ics_sink_files;
    atomic_store(&run.common.stop, false);
    atomic_store(&run.common.cancel, false);
    run.loop.parts = parts;
    run.loop.part_count = sizeof parts / sizeof *parts;
    run.shape = (ics_run_shape){.readers = 2,
                                .units_ahead = 2,
                                .filling = 1 + draw(2),
                                .writers = stream ? 1 : 1 + draw(2)};
    STAILQ_INIT(&run.units.complete);
    STAILQ_INIT(&run.units.ending);
    STAILQ_INIT(&run.commands.programs);
    run.jobs.readers = (ics_workers *)&readers;
    run.jobs.io = (ics_workers *)&io;
    run.jobs.writers[0] = (ics_workers *)&writers[0];
    run.jobs.writers[1] = (ics_workers *)&writers[1];
    const ics_engine_parts of_engine = {.loop = {.post = receive}};
    icestream_error error;
    MUST(ics_engine_create(&of_engine, &run.engine, &error) == ICESTREAM_OK, "no memory");
    run.engine->owner = ics_run_propagate_owner(&run);
    run.units.open_limit = 2 + draw(CREDITS); /* the next message of a stream is open already */
    run.units.forgets = model.claimed && draw(2) == 0;
    for (uint32_t i = stream ? 1 : 1 + draw(UNITS); i > 0; --i) {
        add_unit();
    }
}

/* The state is set back member by member, because all of it has 0.5 MiB. */
static void end_run(void)
{
    while (run.units.first != NULL) {
        ics_unit *next = run.units.first->next;
        ics_unit_destroy(run.units.first);
        run.units.first = next;
    }
    ics_engine_destroy(run.engine);
    for (size_t i = 0; i < ICS_RUN_ENDINGS; ++i) {
        run.endings.entries[i].unit = NULL;
    }
    memset(&run.jobs, 0, sizeof run.jobs);
    memset(&run.stop, 0, sizeof run.stop);
    memset(&run.disk_full, 0, sizeof run.disk_full);
    memset(&run.retries, 0, sizeof run.retries);
    memset(&run.units, 0, sizeof run.units);
    ics_run_command_destroy(&run);
    memset(&run.commands, 0, sizeof run.commands);
}

static void check_unit_end(const ics_unit *unit)
{
    const char *name = ics_unit_rules_state_name(unit->state);
    bool finished = unit->state == ICS_UNIT_FINISHED;
    bool done = finished && unit->result == ICS_RESULT_DONE;
    bool undelivered = unit->result == ICS_RESULT_UNDELIVERED;
    MUST(!finished || unit->result != ICS_RESULT_NONE, "finished without a result");
    MUST(finished || undelivered || ics_run_is_stopping(&run),
         "left in %s by a run that did not stop", name);
    MUST(!finished || model.written[index_of(unit)] == done,
         "the result is %s, and the hits were written %u times",
         ics_unit_rules_result_text(unit->result), model.written[index_of(unit)]);
    /* While a run stops it tries nothing again: such a claim expires, or its owner continues. */
    bool expires = unit->retry.what == ICS_RETRY_CLAIM;
    MUST(unit->claim.name == NULL || ics_unit_rules_is_last(unit->state) || expires,
         "a claim is left in %s", name);
}

static void check_end(void)
{
    size_t results = 0, written = 0;
    for (const ics_unit *unit = run.units.first; unit != NULL; unit = unit->next) {
        check_unit_end(unit);
    }
    for (size_t i = 0; i < ICS_UNIT_RESULTS; ++i) {
        results += run.units.results[i];
        seen_results[i] += run.units.results[i];
    }
    for (size_t i = 0; i < UNITS; ++i) {
        MUST(model.written[i] <= 1, "hits were written %u times", model.written[i]);
        written += model.written[i];
    }
    MUST(results == run.units.finished && run.units.finished <= run.units.made,
         "%zu results, %zu of %zu units finished", results, run.units.finished, run.units.made);
    MUST(written >= run.units.results[ICS_RESULT_DONE], "%zu units are done, %zu written",
         run.units.results[ICS_RESULT_DONE], written);
    MUST(run.engine->credits == CREDITS, "%d credits are left", run.engine->credits);
    MUST(run.commands.running == 0 && STAILQ_EMPTY(&run.commands.programs),
         "programs of sink.command are left");
    if (!ics_run_is_stopping(&run)) {
        MUST(run.units.finished == run.units.made, "%zu of %zu units finished", run.units.finished,
             run.units.made);
        MUST(run.retries.pending == 0 && run.disk_full.retries == 0, "retries are left");
        MUST(!run.disk_full.paused, "the run is paused at its end");
    }
}

START_TEST(test_every_sequence_of_jobs_ends_well)
{
    model.random = 20261122;
    /* Otherwise memory goes back to the system, and is fetched again, in each sequence. */
    mallopt(M_TRIM_THRESHOLD, 1 << 28);
    mallopt(M_MMAP_THRESHOLD, 1 << 24);
    for (size_t i = test_scaled(SEQUENCES); i > 0; --i) {
        const uint32_t stops = draw(2) == 0 ? 40 : UINT32_MAX;
        begin_run(draw(16));
        int turns = 0;
        while (turn(stops)) {
            MUST(++turns < TURNS, "no end in sight");
        }
        check_counters();
        check_end();
        end_run();
    }
    for (int state = 0; state < ICS_UNIT_STATES; ++state) {
        MUST(seen_states[state], "no unit was in %s",
             ics_unit_rules_state_name((ics_unit_state)state));
    }
    for (int result = ICS_RESULT_DONE; result < ICS_UNIT_RESULTS; ++result) {
        MUST(seen_results[result] > 0, "no unit got the result %d", result);
    }
}
END_TEST

ICS_TEST_MAIN("run model")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, test_every_sequence_of_jobs_ends_well);
    suite_add_tcase(suite, all);
}
