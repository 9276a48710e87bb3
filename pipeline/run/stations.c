/* The stations of a run: units are checked, cut into batches, computed and written, and go from one
 * to the next as the jobs come back. Every change of state happens here, on the loop's thread. */
#include "base/error.h"
#include "pipeline/run/state.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- units ----------------------------------------------------------------------------------- */

void ics_run_append_unit(ics_run_state *run, ics_unit *unit)
{
    unit->run = run;
    unit->next = NULL;
    if (run->last != NULL) {
        run->last->next = unit;
    } else {
        run->first = unit;
    }
    run->last = unit;
    run->oldest = run->oldest != NULL ? run->oldest : unit;
    run->to_open = run->to_open != NULL ? run->to_open : unit;
    run->units_made++;
}

/* Goes past finished units and those whose hits are in a volume, and frees those that nobody will
 * ask for. */
static void pass_finished(ics_run_state *run)
{
    while (
        run->oldest != NULL &&
        (run->oldest->finished || (run->oldest->kept && run->oldest->retry == ICS_RETRY_NOTHING))) {
        run->oldest = run->oldest->next;
    }
    while (run->forgets && run->first != NULL && run->first != run->oldest &&
           run->first->finished) {
        ics_unit *unit = run->first;
        run->first = unit->next;
        run->last = run->first != NULL ? run->last : NULL;
        ics_unit_destroy(unit);
    }
}

void ics_run_finish_unit(ics_run_state *run, ics_unit *unit, ics_unit_state state)
{
    unit->state = state;
    unit->finished = true;
    run->pause.unit = run->pause.unit == unit ? NULL : run->pause.unit;
    ics_unit_close(unit);
    if (unit->kept) {
        run->rotation.ending--;
    } else {
        run->units_open--;
    }
    run->files_finished++;
    run->finished[state]++;
    if (state == ICS_UNIT_DONE) {
        ics_latency_add(&run->latency, ics_event_now() - unit->arrived);
    }
    if (state == ICS_UNIT_SET_ASIDE) {
        ics_error_add(&run->set_aside, ICESTREAM_E_INPUT, "%s",
                      unit->set_aside_reason != NULL ? unit->set_aside_reason : unit->name);
    }
    ics_run_answer_client(run, unit); /* may hear of the next message, and forget the unit */
}

/* The unit is checked or read no more, for whatever reason. */
static void leave_readers(ics_run_state *run, const ics_unit *unit)
{
    run->units_ahead--;
    if (unit->input->stream) {
        run->message_open = false;
    }
}

/* The first reason counts. People know a claimed file by the name that it had. */
static void give_reason(ics_unit *unit, const char *text)
{
    const char *path = unit->claim.path;
    size_t length = path != NULL ? strlen(path) : 0;
    if (unit->set_aside_reason != NULL) {
        return;
    }
    if (length == 0 || strncmp(text, path, length) != 0) {
        unit->set_aside_reason = strdup(text);
    } else if (asprintf(&unit->set_aside_reason, "%s%s", unit->name, text + length) < 0) {
        unit->set_aside_reason = NULL;
    }
}

/* A batch does not know its file. */
static void spoil(ics_unit *unit, const icestream_error *error)
{
    char named[sizeof error->text];
    snprintf(named, sizeof named, "%s: %.4000s", unit->name, error->text);
    give_reason(unit, named);
    unit->spoiled = true;
}

/* What a reader's error means: trouble that may pass is waited for, bad input is the unit's own
 * business, everything else ends the run. The unit's batches may still be under way; write_units
 * closes it when they are back. */
static void take_read_error(ics_run_state *run, ics_unit *unit)
{
    const icestream_error *error = &unit->work->read_error;
    leave_readers(run, unit);
    unit->state = ICS_UNIT_LEFT;
    if (!unit->input->stream && ics_run_retry(run, unit, ICS_RETRY_CHECK, error)) {
        unit->state = ICS_UNIT_AGAIN;
    } else if (error->status == ICESTREAM_E_INPUT) {
        give_reason(unit, error->text);
        unit->state = ICS_UNIT_SET_ASIDE;
    } else {
        ics_run_fail(run, error);
    }
}

static void skip(ics_run_state *run, ics_unit *unit)
{
    if (unit->work->found_in != NULL) {
        free(unit->output);
        unit->output = unit->work->found_in;
        unit->work->found_in = NULL;
    }
    ics_run_end_claim(run, unit, ICS_UNIT_SKIPPED);
}

/* ---- reading --------------------------------------------------------------------------------- */

static void check_done(ics_job *job)
{
    ics_unit *unit = (ics_unit *)((char *)job - offsetof(ics_unit, reader_job));
    ics_run_state *run = unit->run;
    const ics_unit_work *work = unit->work;
    bool file = !unit->input->stream;
    if (work->read_error.status != ICESTREAM_OK) {
        take_read_error(run, unit);
    } else if (work->lost) {
        leave_readers(run, unit);
        ics_run_end_claim(run, unit, ICS_UNIT_LOST);
    } else if (file && work->matches) {
        ics_run_succeeded(run, unit);
        leave_readers(run, unit);
        skip(run, unit);
    } else if (!file && !work->found) {
        leave_readers(run, unit);
        ics_run_finish_unit(run, unit, ICS_UNIT_NONE);
    } else {
        ics_run_succeeded(run, unit);
        unit->state = ICS_UNIT_READY;
        run->photons_checked += unit->summary.photons;
    }
    run->bytes_checked += unit->input->bytes;
}

void ics_run_check_unit(ics_run_state *run, ics_unit *unit)
{
    unit->state = ICS_UNIT_CHECKING;
    run->units_ahead++;
    ics_run_send_job(run, run->readers, &unit->reader_job, ics_unit_check, check_done);
}

/* The message after this one is a unit of its own, right behind it, with the same reader. */
static void append_message(ics_run_state *run, ics_unit *unit)
{
    ics_unit *next = NULL;
    icestream_error error = {.status = ICESTREAM_OK};
    int status = ics_unit_create(&run->common, unit->input, unit->message + 1, &next, &error);
    if (status == ICESTREAM_OK) {
        next->run = run;
        next->next = unit->next;
        unit->next = next;
        run->last = run->last == unit ? next : run->last;
        run->to_open = next;
        run->units_made++;
        status = ics_unit_open(next, &error);
    }
    if (status != ICESTREAM_OK) {
        ics_run_fail(run, &error);
        return;
    }
    next->work->reader = unit->work->reader;
    next->work->pipe = unit->work->pipe;
    unit->work->reader = NULL;
    unit->work->pipe = -1;
}

static void queue_batch(ics_run_state *run, ics_unit *unit, ics_batch *batch)
{
    batch->owner = unit;
    unit->batches_out++;
    batch->job.next = NULL;
    *run->ready_last = &batch->job;
    run->ready_last = &batch->job.next;
    run->ready_count++;
}

static void fill_done(ics_job *job)
{
    ics_unit *unit = (ics_unit *)((char *)job - offsetof(ics_unit, reader_job));
    ics_run_state *run = unit->run;
    unit->filling = false;
    ics_unit_work *work = unit->work;
    if (work->batch != NULL) {
        queue_batch(run, unit, work->batch);
        work->batch = NULL;
    } else {
        run->credits++;
    }
    if (work->read_error.status != ICESTREAM_OK) {
        take_read_error(run, unit);
    } else if (work->at_end) {
        leave_readers(run, unit);
        unit->state = ICS_UNIT_READ;
        if (unit->input->stream) {
            append_message(run, unit);
        }
        ics_unit_close_reader(unit);
    }
}

/* Checks run ahead of the reading, so that the next files are known to be good when the device has
 * room for them. What follows a message of standard input is known only at its end. */
void ics_run_open_units(ics_run_state *run)
{
    while (run->to_open != NULL && !run->message_open &&
           run->units_ahead < run->shape.units_ahead && run->units_open < run->units_open_limit) {
        ics_unit *unit = run->to_open;
        icestream_error error = {.status = ICESTREAM_OK};
        if (unit->work == NULL && ics_unit_open(unit, &error) != ICESTREAM_OK) {
            ics_run_fail(run, &error);
            return;
        }
        run->to_open = unit->next;
        run->units_open++;
        run->message_open = unit->input->stream;
        unit->arrived = unit->arrived > 0.0 ? unit->arrived : ics_event_now();
        unit->writer = run->next_writer++ % run->shape.writers;
        if (unit->claim.refusal != NULL) {
            give_reason(unit, unit->claim.refusal);
            unit->state = ICS_UNIT_SET_ASIDE;
        } else {
            ics_run_check_unit(run, unit);
        }
    }
}

static void fill_unit(ics_run_state *run, ics_unit *unit)
{
    run->credits--;
    unit->filling = true;
    unit->work->limits = ics_device_batch_limits(run->device);
    if (run->spare != NULL) {
        unit->work->batch = (ics_batch *)run->spare;
        run->spare = run->spare->next;
    }
    ics_run_send_job(run, run->readers, &unit->reader_job, ics_unit_fill, fill_done);
}

/* Nothing more of a file is read: what it has become is known. */
static void leave_spoiled(ics_run_state *run, ics_unit *unit)
{
    leave_readers(run, unit);
    unit->state = ICS_UNIT_SET_ASIDE;
    ics_unit_close_reader(unit);
}

/* Batches of the first units that are not read yet, while there are credits. */
void ics_run_read_units(ics_run_state *run)
{
    uint32_t seen = 0;
    for (ics_unit *unit = run->oldest; unit != NULL && seen < run->shape.filling;
         unit = unit->next) {
        if (unit->state == ICS_UNIT_READY && unit->spoiled && !unit->filling &&
            !unit->input->stream) {
            leave_spoiled(run, unit);
        }
        if (unit->state == ICS_UNIT_READY && !unit->filling && run->credits > 0) {
            fill_unit(run, unit);
        }
        seen += unit->state <= ICS_UNIT_READY;
    }
}

/* ---- computing and collecting ---------------------------------------------------------------- */

/* The batch has nothing more to give. */
static void return_batch(ics_run_state *run, ics_batch *batch)
{
    ics_unit *unit = batch->owner;
    if (batch->error.status == ICESTREAM_E_OUTPUT && ics_error_may_pass(&batch->error) &&
        !run->options->fail_fast) {
        ics_run_pause_for_room(run, unit, &batch->error); /* its hits are still in memory */
    } else if (batch->error.status == ICESTREAM_E_INPUT) {
        spoil(unit, &batch->error);
    } else if (batch->error.status != ICESTREAM_OK) {
        ics_run_fail(run, &batch->error);
        if (unit->state != ICS_UNIT_SET_ASIDE) {
            unit->state = ICS_UNIT_LEFT; /* its hits are incomplete now */
        }
    }
    unit->batches_out--;
    run->credits++;
    batch->job.next = run->spare;
    run->spare = &batch->job;
}

static void store_done(ics_job *job)
{
    ics_batch *batch = (ics_batch *)job;
    ics_run_state *run = ((ics_unit *)batch->owner)->run;
    return_batch(run, batch);
}

static void compute_done(ics_job *job)
{
    ics_batch *batch = (ics_batch *)job;
    ics_unit *unit = batch->owner;
    ics_run_state *run = unit->run;
    ics_run_tell_news(run);
    if (batch->error.status == ICESTREAM_OK && unit->state != ICS_UNIT_SET_ASIDE &&
        unit->state != ICS_UNIT_AGAIN && !unit->spoiled) {
        ics_batch_account_add(&unit->account, &batch->account);
        unit->maths |= batch->maths;
        ics_batch_account_add(&run->account, &batch->account);
        unit->seconds += batch->seconds;
        run->seconds_computing += batch->seconds;
        ics_run_send_job(run, run->writers[unit->writer], &batch->job, ics_unit_store, store_done);
    } else {
        return_batch(run, batch);
    }
}

void ics_run_compute_batches(ics_run_state *run)
{
    while (run->ready != NULL) {
        ics_batch *batch = (ics_batch *)run->ready;
        ics_job *next = batch->job.next;
        if (!ics_run_submit_batch(run, batch, compute_done)) {
            return;
        }
        run->ready_count--;
        run->ready = next;
        if (next == NULL) {
            run->ready_last = &run->ready;
        }
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_done(ics_job *job)
{
    ics_unit *unit = (ics_unit *)((char *)job - offsetof(ics_unit, writer_job));
    ics_run_state *run = unit->run;
    run->rotation.writing = false;
    const icestream_error *error = &unit->work->write_error;
    if (error->status == ICESTREAM_OK && unit->work->lost) {
        ics_run_end_claim(run, unit, ICS_UNIT_LOST);
    } else if (error->status == ICESTREAM_OK && unit->work->matches) {
        ics_run_succeeded(run, unit);
        skip(run, unit);
    } else if (error->status == ICESTREAM_OK && run->rotation.volume != NULL) {
        ics_run_keep_unit(run, unit);
    } else if (error->status == ICESTREAM_OK) {
        ics_run_succeeded(run, unit);
        run->bytes_written += unit->work->output_bytes;
        ics_run_end_claim(run, unit, ICS_UNIT_DONE);
    } else if (error->status == ICESTREAM_E_INPUT) { /* somebody else's hits have its name by now */
        give_reason(unit, error->text);
        unit->state = ICS_UNIT_SET_ASIDE;
    } else if (run->common.to_stdout || !ics_run_retry(run, unit, ICS_RETRY_WRITE, error)) {
        unit->state = ICS_UNIT_LEFT;
        ics_run_fail(run, error);
    }
}

void ics_run_write_unit(ics_run_state *run, ics_unit *unit)
{
    if (!ics_run_rotation_admits(run)) {
        unit->state = ICS_UNIT_READ; /* until it does */
        return;
    }
    run->rotation.writing = true;
    unit->state = ICS_UNIT_WRITING;
    ics_run_send_job(run, run->writers[unit->writer], &unit->writer_job, ics_unit_write,
                     write_done);
}

static void discard_done(ics_job *job)
{
    ics_unit *unit = (ics_unit *)((char *)job - offsetof(ics_unit, writer_job));
    ics_run_state *run = unit->run;
    unit->filling = false;
    if (unit->work->write_error.status !=
        ICESTREAM_OK) { /* the reason is told at the end all the same */
        ics_run_say(run, ICS_EVENT_WARNING, "%s", unit->work->write_error.text);
    }
    ics_run_end_claim(run, unit, ICS_UNIT_SET_ASIDE);
}

/* Hits of a unit that will have no output, or none yet. */
static void discard(ics_run_state *run, ics_unit *unit)
{
    unit->filling = true; /* until the job is back */
    ics_run_send_job(run, run->writers[unit->writer], &unit->writer_job, ics_unit_discard,
                     discard_done);
}

/* Messages go to standard output in the order of their units; files have no order. */
void ics_run_write_units(ics_run_state *run)
{
    pass_finished(run);
    for (ics_unit *unit = run->oldest; unit != run->to_open; unit = unit->next) {
        bool back = unit->batches_out == 0 && !unit->filling && !unit->ending;
        if (unit->state == ICS_UNIT_READ && unit->spoiled) {
            unit->state = ICS_UNIT_SET_ASIDE;
        }
        if (unit->state == ICS_UNIT_READ && back) {
            ics_run_write_unit(run, unit);
        } else if (unit->state == ICS_UNIT_SET_ASIDE && back && !unit->finished) {
            discard(run, unit);
        } else if (run->common.to_stdout && unit->state != ICS_UNIT_WRITING && !unit->finished) {
            return;
        }
    }
}
