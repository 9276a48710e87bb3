/* Tickets: their numbers, their hits and their end. */
#include "base/clock.h"
#include "base/error.h"
#include "pipeline/photons/session/state.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int ics_session_check(const icestream_session *session, icestream_error *error)
{
    if (session == NULL) {
        return ics_error_set(error, ICESTREAM_E_USAGE, "found NULL, expected a session");
    }
    if (session->process != getpid()) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "found a session of process %ld, expected one that this process %ld "
                             "has opened: a session does not outlive fork()",
                             (long)session->process, (long)getpid());
    }
    return ICESTREAM_OK;
}

int ics_session_answer(int status, const icestream_error *why, icestream_error *error)
{
    return status == ICESTREAM_OK ? status : ics_error_copy(error, why);
}

int ics_ticket_create(ics_ticket **out, icestream_error *error)
{
    ics_ticket *ticket = calloc(1, sizeof *ticket);
    if (ticket == NULL) {
        return ics_error_no_memory(error, "submission");
    }
    atomic_init(&ticket->cancelled, false);
    ticket->wake = -1;
    *out = ticket;
    return ICESTREAM_OK;
}

void ics_ticket_destroy(ics_ticket *ticket)
{
    if (ticket == NULL) {
        return;
    }
    ics_ticket_end(ticket);
    if (ticket->wake >= 0) {
        close(ticket->wake);
    }
    ics_memory_sink_clear(&ticket->sink);
    ics_error_forget(&ticket->error);
    icestream_config_destroy(ticket->light);
    free(ticket->hits);
    free(ticket->copy);
    free(ticket->name);
    free(ticket);
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* The index of the first ticket whose number is not less. */
static size_t index_of(const icestream_session *session, uint64_t number)
{
    size_t low = 0, high = session->ticket_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (session->tickets[middle]->number < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

int ics_ticket_add(icestream_session *session, ics_ticket *ticket, icestream_error *error)
{
    if (session->ticket_count == session->ticket_capacity) {
        const size_t capacity = session->ticket_capacity == 0 ? 16 : 2 * session->ticket_capacity;
        ics_ticket **tickets = reallocarray(session->tickets, capacity, sizeof(void *));
        if (tickets == NULL) {
            return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %zu submissions",
                                 capacity);
        }
        session->tickets = tickets;
        session->ticket_capacity = capacity;
    }
    ticket->number = ++session->numbers;
    ticket->submitted = ics_clock_seconds();
    session->tickets[session->ticket_count++] = ticket;
    session->unfinished++;
    TAILQ_INSERT_TAIL(&session->waiting, ticket, link);
    return ICESTREAM_OK;
}

ics_ticket *ics_ticket_find(const icestream_session *session, uint64_t number)
{
    const size_t i = index_of(session, number);
    return i < session->ticket_count && session->tickets[i]->number == number ? session->tickets[i]
                                                                              : NULL;
}

/* The memory of a finished ticket (bytes). */
static uint64_t ticket_memory(const ics_ticket *ticket)
{
    return sizeof *ticket + ticket->hit_count * sizeof *ticket->hits;
}

void ics_ticket_remove(icestream_session *session, ics_ticket *ticket)
{
    const size_t i = index_of(session, ticket->number);
    memmove(session->tickets + i, session->tickets + i + 1,
            (session->ticket_count - i - 1) * sizeof(void *));
    session->ticket_count--;
    TAILQ_REMOVE(&session->finished, ticket, link);
    session->kept -= ticket_memory(ticket);
    uint64_t count;
    if (TAILQ_EMPTY(&session->finished)) {
        (void)!read(session->descriptor, &count, sizeof count);
    }
}

/* ---- hits ------------------------------------------------------------------------------------ */

void ics_ticket_fail(icestream_session *session, ics_ticket *ticket, const icestream_error *error)
{
    pthread_mutex_lock(&session->lock);
    if (ticket->error.status == ICESTREAM_OK) {
        ics_error_keep(&ticket->error, error);
    }
    pthread_mutex_unlock(&session->lock);
    ticket->at_end = true;
}

void ics_ticket_interrupt(icestream_session *session, ics_ticket *ticket)
{
    icestream_error error;
    ics_error_set(&error, ICESTREAM_E_INTERRUPTED, "%s: the session was closed", ticket->name);
    ics_ticket_fail(session, ticket, &error);
}

void ics_ticket_finish(icestream_session *session, ics_ticket *ticket)
{
    icestream_error error = {.status = ICESTREAM_OK};
    icestream_hit *hits = NULL;
    size_t count = 0;
    ics_ticket_end(ticket);
    if (atomic_load(&ticket->cancelled)) {
        ics_error_set(&error, ICESTREAM_E_INTERRUPTED, "%s: cancelled", ticket->name);
    } else if (ticket->error.status == ICESTREAM_OK) { /* only this thread sets it */
        ics_memory_sink_take(&ticket->sink, &hits, &count, &error);
    }
    ics_memory_sink_clear(&ticket->sink);
    free(ticket->copy);
    ticket->copy = NULL;

    pthread_mutex_lock(&session->lock);
    if (error.status != ICESTREAM_OK) {
        ics_error_keep(&ticket->error, &error);
    }
    ticket->steps_read = ticket->next_row;
    ticket->hits = hits;
    ticket->hit_count = count;
    ticket->finished = ics_clock_seconds();
    ticket->state = ICESTREAM_TICKET_FINISHED;
    session->succeeded += ticket->error.status == ICESTREAM_OK;
    session->unfinished--;
    if (TAILQ_EMPTY(&session->finished)) {
        const uint64_t one = 1;
        (void)!write(session->descriptor, &one, sizeof one);
    }
    TAILQ_INSERT_TAIL(&session->finished, ticket, link);
    session->kept += ticket_memory(ticket);
    pthread_cond_broadcast(&session->changed);
    pthread_mutex_unlock(&session->lock);
}
