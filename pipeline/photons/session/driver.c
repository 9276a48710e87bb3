/* The thread of a session, and the owner of its engine: the oldest ticket is propagated first, and
 * a ticket is finished when all its batches are back. */
#include "base/clock.h"
#include "base/container.h"
#include "base/error.h"
#include "pipeline/photons/session/state.h"

#include <inttypes.h>
#include <stdio.h>

void ics_session_driver_ended(void *nothing, ics_job *job)
{
    (void)nothing;
    (void)job;
}

static bool is_being_read(const ics_ticket *ticket)
{
    return ticket->work != NULL && ticket->work->job.out;
}

/* A ticket whose steps are all in batches waits for these, and then it is finished. */
static void finish_if_done(icestream_session *session, ics_ticket *ticket)
{
    if (!ticket->at_end || is_being_read(ticket)) {
        return;
    }
    if (!ticket->is_read) {
        ticket->is_read = true;
        pthread_mutex_lock(&session->lock);
        TAILQ_REMOVE(&session->waiting, ticket, link);
        pthread_mutex_unlock(&session->lock);
    }
    if (ticket->work == NULL || ticket->work->out == 0) {
        ics_ticket_finish(session, ticket);
    }
}

/* ---- what is propagated next ----------------------------------------------------------------- */

/* Whether the driver can do something for a ticket now: not while the ticket waits for a pipe. */
static bool can_advance(const icestream_session *session, const ics_ticket *ticket)
{
    return !is_being_read(ticket) && !atomic_load(&ticket->cancelled) &&
           (!ticket->is_late || ticket->reader != NULL || session->pipes < ICS_SESSION_PIPES);
}

/* Chooses the oldest ticket for which there is something to do. */
static ics_ticket *choose(icestream_session *session)
{
    pthread_mutex_lock(&session->lock);
    /* A session that is closed begins nothing more: obey() ends its tickets. */
    ics_ticket *ticket = !session->closing ? TAILQ_FIRST(&session->waiting) : NULL;
    while (ticket != NULL && !can_advance(session, ticket)) {
        ticket = TAILQ_NEXT(ticket, link);
    }
    if (ticket != NULL && ticket->state == ICESTREAM_TICKET_WAITING) {
        ticket->state = ICESTREAM_TICKET_RUNNING;
        ticket->started = ics_clock_seconds();
    }
    pthread_mutex_unlock(&session->lock);
    return ticket;
}

static ics_propagation *next(void *user)
{
    icestream_session *session = user;
    icestream_error error;
    for (ics_ticket *ticket; (ticket = choose(session)) != NULL;) {
        if (ticket->work != NULL || ics_ticket_begin(session, ticket, &error) == ICESTREAM_OK) {
            return ticket->work;
        }
        ics_ticket_fail(session, ticket, &error);
        finish_if_done(session, ticket);
    }
    return NULL;
}

/* ---- what came back -------------------------------------------------------------------------- */

/* Names a submission in lines of the log; two of them may have the same name. */
static const char *name_of(const ics_ticket *ticket, char *text, size_t size)
{
    snprintf(text, size, "%s (ticket %" PRIu64 ")", ticket->name, ticket->number);
    return text;
}

/* The next batch of a ticket was made, or there are no more steps. */
static void look_at_steps(icestream_session *session, ics_ticket *ticket)
{
    char name[4096];
    if (!ticket->was_looked_at) {
        ticket->was_looked_at = true;
        ics_input_warnings_check_first(&session->warnings, name_of(ticket, name, sizeof name),
                                       &ticket->extent);
    }
    if (ticket->work->feed.at_end) {
        ticket->at_end = true;
        ics_input_warnings_check_all(&session->warnings, name_of(ticket, name, sizeof name),
                                     &ticket->work->feed.watch);
    }
}

static void take_read(ics_propagation *work)
{
    ics_ticket *ticket = work->user;
    icestream_session *session = ticket->session;
    /* Cancelling a ticket, or closing the session, wakes a reader that waits for a pipe. */
    const bool was_woken = work->error.status == ICESTREAM_E_INTERRUPTED;
    if (work->error.status == ICESTREAM_OK) {
        look_at_steps(session, ticket);
    } else if (!was_woken) {
        ics_ticket_fail(session, ticket, &work->error);
    }
    pthread_mutex_lock(&session->lock);
    ticket->steps_read = ticket->next_row;
    if (was_woken || atomic_load(&ticket->cancelled)) { /* while the ticket could not be ended */
        session->cancels = true;
        ics_engine_wake(session->engine);
    }
    pthread_mutex_unlock(&session->lock);
    finish_if_done(session, ticket);
}

static bool take_computed(ics_propagation *work, const ics_batch *batch)
{
    ics_ticket *ticket = work->user;
    if (batch->error.status == ICESTREAM_OK) {
        pthread_mutex_lock(&ticket->session->lock);
        ics_batch_account_add(&ticket->account, &batch->account);
        ticket->thread_seconds += batch->seconds;
        pthread_mutex_unlock(&ticket->session->lock);
    }
    return true;
}

static void take_stored(ics_propagation *work, const icestream_error *error)
{
    ics_ticket *ticket = work->user;
    icestream_session *session = ticket->session;
    if (error->status == ICESTREAM_E_INTERRUPTED) { /* only a closed session interrupts batches */
        ics_ticket_interrupt(session, ticket);
    } else if (error->status != ICESTREAM_OK) {
        ics_ticket_fail(session, ticket, error);
    }
    finish_if_done(session, ticket);
}

ics_engine_owner ics_session_driver_owner(icestream_session *session)
{
    return (ics_engine_owner){.next = next,
                              .read = take_read,
                              .computed = take_computed,
                              .stored = take_stored,
                              .user = session};
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* Ends the input of all tickets that were cancelled or, at the end of the session, of all. */
static void end_inputs(icestream_session *session, bool all)
{
    ics_ticket *ticket, *after;
    pthread_mutex_lock(&session->lock);
    for (ticket = TAILQ_FIRST(&session->waiting); ticket != NULL; ticket = after) {
        after = TAILQ_NEXT(ticket, link); /* only this thread removes tickets from the queue */
        if (!is_being_read(ticket) && (all || atomic_load(&ticket->cancelled))) {
            pthread_mutex_unlock(&session->lock);
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

/* Does what callers have asked for. Returns false if the session is at its end. */
static bool obey(icestream_session *session)
{
    pthread_mutex_lock(&session->lock);
    const bool closing = session->closing;
    const bool cancels = session->cancels;
    session->cancels = false;
    pthread_mutex_unlock(&session->lock);
    if (cancels || closing) {
        end_inputs(session, closing);
    }
    pthread_mutex_lock(&session->lock);
    const bool goes_on = !closing || session->unfinished > 0 || session->engine->out > 0;
    pthread_mutex_unlock(&session->lock);
    return goes_on;
}

void ics_session_driver_run(ics_job *job, void *thread_state)
{
    (void)thread_state;
    icestream_session *session = ICS_CONTAINER_OF(job, icestream_session, drive);
    while (obey(session)) {
        ics_engine_turn(session->engine);
        ics_engine_wait(session->engine);
    }
    if (session->succeeded > 0) {
        ics_input_warnings_check_results(&session->warnings, session->config->run.bounce_limit,
                                         &session->engine->sums.account);
    }
    pthread_mutex_lock(&session->lock);
    session->has_ended = true;
    pthread_cond_broadcast(&session->changed);
    pthread_mutex_unlock(&session->lock);
}
