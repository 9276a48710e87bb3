/* The thread of a session: gives the device batches of the oldest ticket while the device has room,
 * gathers batches that came back, and finishes tickets. */
#include "base/clock.h"
#include "base/container.h"
#include "base/error.h"
#include "pipeline/session/session_state.h"

#include <inttypes.h>
#include <stdio.h>

void ics_session_driver_post(void *session, ics_job *job)
{
    icestream_session *to = session;
    pthread_mutex_lock(&to->lock);
    STAILQ_INSERT_TAIL(&to->came_back, job, link);
    pthread_cond_signal(&to->work);
    pthread_mutex_unlock(&to->lock);
}

void ics_session_driver_ended(void *nothing, ics_job *job)
{
    (void)nothing;
    (void)job;
}

/* What the driver does next. */
typedef struct turn {
    ics_job_queue came_back;
    ics_ticket *ticket; /* gets a batch; NULL: none does */
    bool closing, cancels;
} turn;

static bool has_room(const icestream_session *session)
{
    return !session->refused && session->out < ics_device_credits(session->device);
}

/* Whether the driver can do something for a ticket now: not while the ticket waits for a pipe. */
static bool can_advance(const icestream_session *session, const ics_ticket *ticket)
{
    return !ticket->is_reading &&
           (!ticket->is_late || ticket->reader != NULL || session->pipes < ICS_SESSION_PIPES);
}

/* Chooses the oldest ticket for which there is something to do. */
static ics_ticket *choose(const icestream_session *session)
{
    ics_ticket *ticket = has_room(session) ? TAILQ_FIRST(&session->waiting) : NULL;
    while (ticket != NULL && !can_advance(session, ticket)) {
        ticket = TAILQ_NEXT(ticket, link);
    }
    return ticket;
}

/* Whether jobs are out, and none has come back. At the end batches end early, and readers too. */
static bool must_wait(const icestream_session *session)
{
    return session->out + session->reading > 0 && STAILQ_EMPTY(&session->came_back);
}

/* Waits until there is something to do. Returns false if the session is at its end. */
static bool next_turn(icestream_session *session, turn *next)
{
    STAILQ_INIT(&next->came_back);
    pthread_mutex_lock(&session->lock);
    for (;;) {
        next->ticket = choose(session);
        if (!STAILQ_EMPTY(&session->came_back) || next->ticket != NULL || session->cancels ||
            session->closing) {
            break;
        }
        pthread_cond_wait(&session->work, &session->lock);
    }
    while (session->closing && must_wait(session)) {
        pthread_cond_wait(&session->work, &session->lock);
    }
    STAILQ_CONCAT(&next->came_back, &session->came_back);
    if (!STAILQ_EMPTY(&next->came_back)) {
        next->ticket = NULL; /* what came back may end it */
    }
    next->closing = session->closing;
    next->cancels = session->cancels;
    session->cancels = false;
    const bool goes_on =
        !next->closing || session->unfinished > 0 || session->out + session->reading > 0;
    pthread_mutex_unlock(&session->lock);
    return goes_on;
}

/* A ticket whose steps are all in batches waits for these, and then it is finished. */
static void finish_if_done(icestream_session *session, ics_ticket *ticket)
{
    if (!ticket->at_end || ticket->is_reading || ticket->batch != NULL) {
        return;
    }
    if (!ticket->is_read) {
        ticket->is_read = true;
        pthread_mutex_lock(&session->lock);
        TAILQ_REMOVE(&session->waiting, ticket, link);
        pthread_mutex_unlock(&session->lock);
    }
    if (ticket->out == 0) {
        ics_ticket_finish(session, ticket);
    }
}

/* ---- what came back -------------------------------------------------------------------------- */

static void batch_done(ics_job *job)
{
    ics_batch *batch = ics_batch_of_job(job);
    ics_ticket *ticket = batch->owner;
    icestream_session *session = ticket->session;
    ics_ticket_gather(session, ticket, batch);
    ics_batch_destroy(batch);
    pthread_mutex_lock(&session->lock);
    session->out--;
    session->refused = false;
    pthread_mutex_unlock(&session->lock);
    finish_if_done(session, ticket);
}

/* Names a submission in lines of the log; two of them may have the same name. */
static const char *name_of(const ics_ticket *ticket, char *text, size_t size)
{
    snprintf(text, size, "%s (ticket %" PRIu64 ")", ticket->name, ticket->number);
    return text;
}

/* The next batch of a ticket was made, or there are no more steps, or there was an error. */
static void take_read(icestream_session *session, ics_ticket *ticket, const icestream_error *error)
{
    char name[4096];
    if (error->status != ICESTREAM_OK) {
        ics_ticket_fail(session, ticket, error);
        return;
    }
    if (!ticket->was_looked_at) {
        ticket->was_looked_at = true;
        ics_input_warnings_check_first(&session->warnings, name_of(ticket, name, sizeof name),
                                       &ticket->extent);
    }
    if (ticket->feed->at_end) {
        ticket->at_end = true;
        ics_input_warnings_check_all(&session->warnings, name_of(ticket, name, sizeof name),
                                     &ticket->feed->watch);
    }
}

static void read_done(ics_job *job)
{
    ics_ticket *ticket = ICS_CONTAINER_OF(job, ics_ticket, read_job);
    icestream_session *session = ticket->session;
    const bool was_woken = ticket->read_error->status == ICESTREAM_E_INTERRUPTED;
    ticket->is_reading = false;
    pthread_mutex_lock(&session->lock);
    session->reading--;
    if (was_woken || atomic_load(&ticket->cancelled)) {
        session->cancels = true; /* which was done while the ticket could not be ended */
    }
    pthread_mutex_unlock(&session->lock);
    if (!was_woken) {
        take_read(session, ticket, ticket->read_error);
    }
    finish_if_done(session, ticket);
}

static void gather(ics_job_queue *came_back)
{
    for (ics_job *job; (job = ICS_QUEUE_TAKE(came_back, link)) != NULL;) {
        job->done(job);
    }
}

/* ---- the end of tickets ---------------------------------------------------------------------- */

/* Ends the input of all tickets that were cancelled or, at the end of the session, of all. */
static void end_inputs(icestream_session *session, bool all)
{
    ics_ticket *ticket, *after;
    pthread_mutex_lock(&session->lock);
    for (ticket = TAILQ_FIRST(&session->waiting); ticket != NULL; ticket = after) {
        after = TAILQ_NEXT(ticket, link); /* only this thread removes tickets from the queue */
        if (!ticket->is_reading && (all || atomic_load(&ticket->cancelled))) {
            pthread_mutex_unlock(&session->lock);
            ics_batch_destroy(ticket->batch);
            ticket->batch = NULL;
            if (all) {
                ics_ticket_interrupt(session, ticket);
            }
            ticket->at_end = true;
            finish_if_done(session, ticket);
            pthread_mutex_lock(&session->lock);
        }
    }
    pthread_mutex_unlock(&session->lock);
}

/* ---- batches --------------------------------------------------------------------------------- */

static void begin(icestream_session *session, ics_ticket *ticket)
{
    pthread_mutex_lock(&session->lock);
    if (ticket->state == ICESTREAM_TICKET_WAITING) {
        ticket->state = ICESTREAM_TICKET_RUNNING;
        ticket->started = ics_clock_seconds();
    }
    pthread_mutex_unlock(&session->lock);
}

static void submit(icestream_session *session, ics_ticket *ticket)
{
    pthread_mutex_lock(&session->lock);
    ticket->steps_read = ticket->next_row;
    session->out++; /* before the batch can come back */
    pthread_mutex_unlock(&session->lock);
    ticket->out++;
    ticket->batch->job.done = batch_done;
    if (ics_device_submit(session->device, ticket->batch)) {
        ticket->batch = NULL;
        return;
    }
    ticket->out--;
    pthread_mutex_lock(&session->lock);
    session->out--;
    session->refused = true;
    pthread_mutex_unlock(&session->lock);
}

/* Makes the next batch of a ticket whose particles come through a pipe, on the ticket's thread, so
 * that other tickets go on. */
static void read_pipe(ics_job *job, void *thread_state)
{
    (void)thread_state;
    ics_ticket *ticket = ICS_CONTAINER_OF(job, ics_ticket, read_job);
    ticket->read_error->status = ICESTREAM_OK;
    ics_session_feed(ticket, ticket->read_error);
}

static int start_reader(icestream_session *session, ics_ticket *ticket, icestream_error *error)
{
    const ics_post to_driver = {.post = ics_session_driver_post, .user = session};
    ticket->read_error = calloc(1, sizeof *ticket->read_error);
    if (ticket->read_error == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory for its particles",
                             ticket->name);
    }
    ICS_TRY(ics_workers_create("pipe", 1, 1, NULL, to_driver, &ticket->reader, error));
    session->pipes++;
    return ICESTREAM_OK;
}

static int read_later(icestream_session *session, ics_ticket *ticket, icestream_error *error)
{
    if (ticket->reader == NULL) {
        ICS_TRY(start_reader(session, ticket, error));
    }
    ticket->is_reading = true;
    pthread_mutex_lock(&session->lock);
    session->reading++;
    pthread_mutex_unlock(&session->lock);
    ticket->read_job.run = read_pipe;
    ticket->read_job.done = read_done;
    (void)ics_workers_submit(ticket->reader, &ticket->read_job); /* there is room for one */
    return ICESTREAM_OK;
}

/* Makes a batch of the ticket, unless one waits already, and gives it to the device. */
static void advance(icestream_session *session, ics_ticket *ticket)
{
    icestream_error error = {.status = ICESTREAM_OK};
    begin(session, ticket);
    if (ticket->batch == NULL && ticket->is_late) {
        if (read_later(session, ticket, &error) != ICESTREAM_OK) {
            ics_ticket_fail(session, ticket, &error);
        }
    } else if (ticket->batch == NULL) {
        ics_session_feed(ticket, &error);
        take_read(session, ticket, &error);
    }
    /* While the ticket is read, the batch belongs to its reader. */
    if (!ticket->is_reading && ticket->batch != NULL) {
        submit(session, ticket);
    }
    finish_if_done(session, ticket);
}

void ics_session_driver_run(ics_job *job, void *thread_state)
{
    (void)thread_state;
    icestream_session *session = ICS_CONTAINER_OF(job, icestream_session, drive);
    turn next;
    while (next_turn(session, &next)) {
        gather(&next.came_back);
        if (next.cancels || next.closing) {
            end_inputs(session, next.closing);
        } else if (next.ticket != NULL) {
            advance(session, next.ticket);
        }
    }
    if (session->succeeded > 0) {
        ics_input_warnings_check_results(&session->warnings, session->config->run.bounce_limit,
                                         &session->account);
    }
    pthread_mutex_lock(&session->lock);
    session->has_ended = true;
    pthread_cond_broadcast(&session->changed);
    pthread_mutex_unlock(&session->lock);
}
