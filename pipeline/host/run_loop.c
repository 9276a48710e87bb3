/* The loop of a run: it hands jobs to readers, device and writer, and moves units from station to
 * station as the jobs come back. Every change of state happens here, on one thread. */
#include "pipeline/error.h"
#include "pipeline/host/run_state.h"

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void advance(is_run_state *run);

/* ---- stopping -------------------------------------------------------------------------------- */

/* No reader goes on; batches that are made are finished. */
static void stop_reading(is_run_state *run)
{
    atomic_store(&run->common.stop, true);
    const uint64_t one = 1;
    ssize_t put = write(run->common.wake, &one, sizeof one);
    (void)put; /* fails only when the counter is full, which is readable as well */
}

static void give_up(is_run_state *run)
{
    atomic_store(&run->common.cancel, true);
    stop_reading(run);
}

/* The run cannot go on; the first cause counts. */
static void fail(is_run_state *run, const is_error *cause)
{
    if (cause->status == IS_E_INTERRUPTED) {
        return; /* a worker obeyed `stop` or `cancel` */
    }
    if (run->fatal.status == IS_OK) {
        is_error_copy(&run->fatal, cause);
    }
    give_up(run);
}

static void show_progress(is_run_state *run)
{
    is_progress_state state = {.photons = run->account.created,
                               .hits = run->account.hits,
                               .files = run->files_finished,
                               .files_total = run->streaming ? 0 : run->files_total,
                               .stopping = atomic_load(&run->common.stop)};
    if (!run->streaming && run->bytes_checked > 0) {
        state.photons_total =
            (double)run->photons_checked * (double)run->bytes_total / (double)run->bytes_checked;
    }
    is_progress_update(&run->progress, &state);
}

static void on_signal(uv_signal_t *handle, int number)
{
    is_run_state *run = handle->data;
    if (run->signal == 0) {
        run->signal = number;
        is_progress_line(&run->progress, "stopping: finishing what is being computed "
                                         "(a second signal gives up at once)");
        stop_reading(run);
    } else {
        give_up(run);
    }
    advance(run);
}

void is_run_tell_news(is_run_state *run)
{
    char line[4096];
    while (is_device_news(run->device, line, sizeof line)) {
        is_progress_line(&run->progress, "%s", line);
    }
}

static void on_tick(uv_timer_t *handle)
{
    is_run_tell_news(handle->data);
    show_progress(handle->data);
}

/* ---- units ----------------------------------------------------------------------------------- */

static void send_job(is_run_state *run, is_workers *workers, is_job *job,
                     void (*work)(is_job *job, void *thread_state), void (*done)(is_job *job))
{
    job->run = work;
    job->done = done;
    if (is_workers_submit(workers, job)) {
        run->jobs_out++;
        return;
    }
    is_error full = {.status = IS_OK};
    is_error_set(&full, IS_E_FAILED, "internal error: a queue of the run is too short");
    fail(run, &full);
}

static void finish_unit(is_run_state *run, is_unit *unit, is_unit_state state)
{
    unit->state = state;
    is_unit_close(unit);
    run->units_open--;
    run->files_finished++;
}

/* The unit is checked or read no more, for whatever reason. */
static void leave_readers(is_run_state *run, const is_unit *unit)
{
    run->units_ahead--;
    if (unit->input->path == NULL) {
        run->message_open = false;
    }
}

/* The first reason counts. */
static void give_reason(is_unit *unit, const is_error *error)
{
    if (unit->set_aside_reason == NULL) {
        unit->set_aside_reason = strdup(error->text);
    }
}

/* A batch does not know its file. */
static void spoil(is_unit *unit, const is_error *error)
{
    is_error named = {.status = IS_OK};
    is_error_set(&named, IS_E_INPUT, "%s: %s", unit->name, error->text);
    give_reason(unit, &named);
    unit->spoiled = true;
}

/* What a reader's error means: bad input is the unit's own business, everything else ends the run.
 * The unit's batches may still be under way; write_units closes it when they are back. */
static void take_read_error(is_run_state *run, is_unit *unit)
{
    const is_error *error = &unit->work->read_error;
    leave_readers(run, unit);
    unit->state = IS_UNIT_LEFT;
    if (error->status == IS_E_INPUT) {
        give_reason(unit, error);
        unit->state = IS_UNIT_SET_ASIDE;
    } else {
        fail(run, error);
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

static void check_done(is_job *job)
{
    is_unit *unit = (is_unit *)((char *)job - offsetof(is_unit, reader_job));
    is_run_state *run = unit->run;
    run->jobs_out--;
    const is_unit_work *work = unit->work;
    bool file = unit->input->path != NULL;
    if (work->read_error.status != IS_OK) {
        take_read_error(run, unit);
    } else if (file && work->matches) {
        leave_readers(run, unit);
        finish_unit(run, unit, IS_UNIT_SKIPPED);
    } else if (!file && !work->found) {
        leave_readers(run, unit);
        finish_unit(run, unit, IS_UNIT_NONE);
    } else {
        unit->state = IS_UNIT_READY;
        run->photons_checked += unit->summary.photons;
    }
    run->bytes_checked += unit->input->bytes;
    advance(run);
}

/* The message after this one is a unit of its own, right behind it, with the same reader. */
static void append_message(is_run_state *run, is_unit *unit)
{
    is_unit *next = NULL;
    is_error error = {.status = IS_OK};
    int status = is_unit_create(&run->common, unit->input, unit->message + 1, &next, &error);
    if (status == IS_OK) {
        next->run = run;
        next->next = unit->next;
        unit->next = next;
        run->to_open = next;
        status = is_unit_open(next, &error);
    }
    if (status != IS_OK) {
        fail(run, &error);
        return;
    }
    next->work->reader = unit->work->reader;
    unit->work->reader = NULL;
}

static void queue_batch(is_run_state *run, is_unit *unit, is_batch *batch)
{
    batch->owner = unit;
    unit->batches_out++;
    batch->job.next = NULL;
    *run->ready_last = &batch->job;
    run->ready_last = &batch->job.next;
}

static void fill_done(is_job *job)
{
    is_unit *unit = (is_unit *)((char *)job - offsetof(is_unit, reader_job));
    is_run_state *run = unit->run;
    run->jobs_out--;
    unit->filling = false;
    is_unit_work *work = unit->work;
    if (work->batch != NULL) {
        queue_batch(run, unit, work->batch);
        work->batch = NULL;
    } else {
        run->credits++;
    }
    if (work->read_error.status != IS_OK) {
        take_read_error(run, unit);
    } else if (work->at_end) {
        leave_readers(run, unit);
        unit->state = IS_UNIT_READ;
        if (unit->input->path == NULL) {
            append_message(run, unit);
        }
        is_unit_close_reader(unit);
    }
    advance(run);
}

/* Checks run ahead of the reading, so that the next files are known to be good when the device has
 * room for them. What follows a message of standard input is known only at its end. */
static void open_units(is_run_state *run)
{
    while (run->to_open != NULL && !run->message_open &&
           run->units_ahead < run->shape.units_ahead && run->units_open < run->units_open_limit) {
        is_unit *unit = run->to_open;
        is_error error = {.status = IS_OK};
        if (unit->work == NULL && is_unit_open(unit, &error) != IS_OK) {
            fail(run, &error);
            return;
        }
        unit->state = IS_UNIT_CHECKING;
        run->to_open = unit->next;
        run->units_open++;
        run->units_ahead++;
        run->message_open = unit->input->path == NULL;
        unit->writer = run->next_writer++ % run->shape.writers;
        send_job(run, run->readers, &unit->reader_job, is_unit_check, check_done);
    }
}

static void fill_unit(is_run_state *run, is_unit *unit)
{
    run->credits--;
    unit->filling = true;
    unit->work->limits = is_device_batch_limits(run->device);
    if (run->spare != NULL) {
        unit->work->batch = (is_batch *)run->spare;
        run->spare = run->spare->next;
    }
    send_job(run, run->readers, &unit->reader_job, is_unit_fill, fill_done);
}

/* Nothing more of a file is read: what it has become is known. */
static void leave_spoiled(is_run_state *run, is_unit *unit)
{
    leave_readers(run, unit);
    unit->state = IS_UNIT_SET_ASIDE;
    is_unit_close_reader(unit);
}

/* Batches of the first units that are not read yet, while there are credits. */
static void read_units(is_run_state *run)
{
    while (run->to_read != NULL && run->to_read->state > IS_UNIT_READY) {
        run->to_read = run->to_read->next;
    }
    uint32_t seen = 0;
    for (is_unit *unit = run->to_read; unit != NULL && seen < run->shape.filling;
         unit = unit->next) {
        if (unit->state == IS_UNIT_READY && unit->spoiled && !unit->filling &&
            unit->input->path != NULL) {
            leave_spoiled(run, unit);
        }
        if (unit->state == IS_UNIT_READY && !unit->filling && run->credits > 0) {
            fill_unit(run, unit);
        }
        seen += unit->state <= IS_UNIT_READY;
    }
}

/* ---- computing and collecting ---------------------------------------------------------------- */

/* The batch has nothing more to give. */
static void return_batch(is_run_state *run, is_batch *batch)
{
    is_unit *unit = batch->owner;
    if (batch->error.status == IS_E_INPUT) {
        spoil(unit, &batch->error);
    } else if (batch->error.status != IS_OK) {
        fail(run, &batch->error);
        if (unit->state != IS_UNIT_SET_ASIDE) {
            unit->state = IS_UNIT_LEFT; /* its hits are incomplete now */
        }
    }
    unit->batches_out--;
    run->credits++;
    batch->job.next = run->spare;
    run->spare = &batch->job;
}

static void store_done(is_job *job)
{
    is_batch *batch = (is_batch *)job;
    is_run_state *run = ((is_unit *)batch->owner)->run;
    run->jobs_out--;
    return_batch(run, batch);
    advance(run);
}

static void compute_done(is_job *job)
{
    is_batch *batch = (is_batch *)job;
    is_unit *unit = batch->owner;
    is_run_state *run = unit->run;
    run->jobs_out--;
    is_run_tell_news(run);
    if (batch->error.status == IS_OK && unit->state != IS_UNIT_SET_ASIDE && !unit->spoiled) {
        is_account_add(&unit->account, &batch->account);
        unit->maths |= batch->maths;
        is_account_add(&run->account, &batch->account);
        unit->seconds += batch->seconds;
        run->seconds_computing += batch->seconds;
        send_job(run, run->writers[unit->writer], &batch->job, is_unit_store, store_done);
    } else {
        return_batch(run, batch);
    }
    advance(run);
}

static void compute_batches(is_run_state *run)
{
    while (run->ready != NULL) {
        is_batch *batch = (is_batch *)run->ready;
        is_job *next = batch->job.next;
        batch->job.done = compute_done;
        if (!is_device_submit(run->device, batch)) {
            return;
        }
        run->jobs_out++;
        run->ready = next;
        if (next == NULL) {
            run->ready_last = &run->ready;
        }
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_done(is_job *job)
{
    is_unit *unit = (is_unit *)((char *)job - offsetof(is_unit, writer_job));
    is_run_state *run = unit->run;
    run->jobs_out--;
    if (unit->work->write_error.status == IS_OK) {
        finish_unit(run, unit, IS_UNIT_DONE);
    } else {
        unit->state = IS_UNIT_LEFT;
        fail(run, &unit->work->write_error);
    }
    advance(run);
}

static void discard_done(is_job *job)
{
    is_unit *unit = (is_unit *)((char *)job - offsetof(is_unit, writer_job));
    is_run_state *run = unit->run;
    run->jobs_out--;
    finish_unit(run, unit, IS_UNIT_SET_ASIDE);
    advance(run);
}

/* Units go to the writer in their order, which is that of the messages on standard output. */
static void write_units(is_run_state *run)
{
    for (is_unit *unit = run->to_write; unit != NULL; unit = unit->next) {
        run->to_write = unit;
        bool read = unit->state == IS_UNIT_READ || unit->state == IS_UNIT_SET_ASIDE;
        if (unit->state <= IS_UNIT_READY || unit->state == IS_UNIT_LEFT ||
            (read && unit->batches_out > 0)) {
            return;
        }
        if (unit->state == IS_UNIT_READ && unit->spoiled) {
            unit->state = IS_UNIT_SET_ASIDE;
        }
        if (unit->state == IS_UNIT_READ) {
            unit->state = IS_UNIT_WRITING;
            send_job(run, run->writers[unit->writer], &unit->writer_job, is_unit_write, write_done);
        } else if (unit->state == IS_UNIT_SET_ASIDE) {
            send_job(run, run->writers[unit->writer], &unit->writer_job, is_unit_discard,
                     discard_done);
        }
    }
    run->to_write = NULL;
}

/* ---- the loop -------------------------------------------------------------------------------- */

int is_run_loop_open(is_run_state *run, is_error *error)
{
    int failure = uv_loop_init(&run->loop);
    if (failure != 0) {
        return is_error_set(error, IS_E_FAILED, "cannot start the event loop: %s",
                            uv_strerror(failure));
    }
    uv_signal_init(&run->loop, &run->interrupt);
    uv_signal_init(&run->loop, &run->terminate);
    run->interrupt.data = run->terminate.data = run;
    run->loop_open = true;
    failure = uv_signal_start(&run->interrupt, on_signal, SIGINT);
    if (failure == 0) {
        failure = uv_signal_start(&run->terminate, on_signal, SIGTERM);
    }
    if (failure != 0) {
        return is_error_set(error, IS_E_FAILED, "cannot listen for signals: %s",
                            uv_strerror(failure));
    }
    /* They outlive the loop's work: a late signal must not kill the process while it writes its
     * summary. */
    uv_unref((uv_handle_t *)&run->interrupt);
    uv_unref((uv_handle_t *)&run->terminate);
    int status = is_mailbox_create(&run->loop, &run->mailbox, error);
    if (status == IS_OK) {
        uv_timer_init(&run->loop, &run->ticker);
        run->ticker.data = run;
    }
    return status;
}

/* Nothing will be posted any more: what keeps the loop running is closed, and it ends. */
static void end_loop(is_run_state *run)
{
    if (run->mailbox != NULL) {
        uv_close((uv_handle_t *)&run->ticker, NULL);
        is_mailbox_close(run->mailbox);
        run->mailbox = NULL;
    }
}

void is_run_loop_close(is_run_state *run)
{
    if (run->loop_open) {
        uv_close((uv_handle_t *)&run->interrupt, NULL);
        uv_close((uv_handle_t *)&run->terminate, NULL);
        end_loop(run);
        uv_run(&run->loop, UV_RUN_DEFAULT);
        uv_loop_close(&run->loop);
        run->loop_open = false;
    }
}

/* Gives every station what it can do now. Called after each event; when no job is out any more,
 * nothing will ever come back, and the loop ends. */
static void advance(is_run_state *run)
{
    if (!atomic_load(&run->common.stop)) {
        read_units(run);
        open_units(run);
    }
    compute_batches(run);
    if (!atomic_load(&run->common.cancel)) {
        write_units(run);
    }
    if (run->jobs_out == 0) {
        end_loop(run);
    }
}

size_t is_run_count(const is_run_state *run, is_unit_state state)
{
    size_t count = 0;
    for (const is_unit *unit = run->first; unit != NULL; unit = unit->next) {
        count += unit->state == state;
    }
    return count;
}

size_t is_run_unfinished(const is_run_state *run)
{
    size_t count = 0;
    for (const is_unit *unit = run->first; unit != NULL; unit = unit->next) {
        count += unit->state != IS_UNIT_DONE && unit->state != IS_UNIT_SKIPPED &&
                 unit->state != IS_UNIT_SET_ASIDE && unit->state != IS_UNIT_NONE;
    }
    return count;
}

static int judge(const is_run_state *run, is_error *error)
{
    size_t done = is_run_count(run, IS_UNIT_DONE) + is_run_count(run, IS_UNIT_SKIPPED);
    size_t set_aside = is_run_count(run, IS_UNIT_SET_ASIDE);
    size_t unfinished = is_run_unfinished(run);
    if (error != NULL) {
        error->status = IS_OK;
    }
    int status = IS_OK;
    if (run->fatal.status != IS_OK) {
        status = run->fatal.status;
    } else if (unfinished > 0 && run->signal != 0) {
        status = run->signal == SIGTERM ? IS_E_TERMINATED : IS_E_INTERRUPTED;
    } else if (unfinished > 0) {
        status = IS_E_FAILED;
    } else if (set_aside > 0) {
        status = IS_E_INPUT;
    }
    for (const is_unit *unit = run->first; unit != NULL; unit = unit->next) {
        if (unit->state == IS_UNIT_SET_ASIDE) {
            is_error_add(error, status, "%s",
                         unit->set_aside_reason != NULL ? unit->set_aside_reason : unit->name);
        }
    }
    size_t total = done + set_aside + unfinished;
    if (run->fatal.status != IS_OK) {
        is_error_add(error, status, "%s", run->fatal.text);
        is_error_add(error, status, "stopped: %zu of %zu files done, %zu left", done, total,
                     unfinished);
    } else if (unfinished > 0) {
        is_error_add(error, status, "%s: %zu of %zu files done, %zu left%s",
                     run->signal != 0 ? is_status_text(status) : "internal error: the run stalled",
                     done, total, unfinished, run->streaming ? "" : " (--resume goes on)");
    } else if (set_aside > 0) {
        is_error_add(error, status, "%zu of %zu files set aside", set_aside, total);
    }
    return status;
}

int is_run_loop(is_run_state *run, is_error *error)
{
    uint32_t period = is_progress_period(&run->progress);
    run->start = is_seconds();
    uv_timer_start(&run->ticker, on_tick, period, period);
    advance(run);
    uv_run(&run->loop, UV_RUN_DEFAULT);
    is_progress_end(&run->progress);
    is_run_tell_news(run);
    return judge(run, error);
}
