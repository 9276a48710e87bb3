/* Tickets: their numbers, their hits and their end. */
#include "base/clock.h"
#include "base/error.h"
#include "pipeline/session/session_state.h"

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

int ics_ticket_create(ics_ticket **out, icestream_error *error)
{
    ics_ticket *ticket = calloc(1, sizeof *ticket);
    if (ticket == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a submission");
    }
    atomic_init(&ticket->cancelled, false);
    ticket->wake = -1;
    *out = ticket;
    return ICESTREAM_OK;
}

static void free_parts(ics_ticket *ticket)
{
    for (size_t i = 0; i < ticket->part_count; ++i) {
        free(ticket->parts[i].hits);
    }
    free(ticket->parts);
    ticket->parts = NULL;
    ticket->part_count = ticket->part_capacity = 0;
}

void ics_ticket_destroy(ics_ticket *ticket)
{
    if (ticket == NULL) {
        return;
    }
    ics_session_feed_end(ticket);
    if (ticket->wake >= 0) {
        close(ticket->wake);
    }
    free_parts(ticket);
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

/* Takes the hits of a batch over, without copying them. */
static int add_part(ics_ticket *ticket, ics_batch *batch, icestream_error *error)
{
    if (ticket->part_count == ticket->part_capacity) {
        const size_t capacity = ticket->part_capacity == 0 ? 8 : 2 * ticket->part_capacity;
        ics_ticket_part *parts = reallocarray(ticket->parts, capacity, sizeof *parts);
        if (parts == NULL) {
            return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory for hits",
                                 ticket->name);
        }
        ticket->parts = parts;
        ticket->part_capacity = capacity;
    }
    ticket->parts[ticket->part_count++] =
        (ics_ticket_part){.index = batch->index, .hits = batch->hits, .count = batch->hit_count};
    batch->hits = NULL;
    batch->hit_count = 0;
    return ICESTREAM_OK;
}

void ics_ticket_gather(icestream_session *session, ics_ticket *ticket, ics_batch *batch)
{
    icestream_error error = {.status = ICESTREAM_OK};
    ticket->out--;
    if (ics_batch_error(batch, ticket->name, &error) == ICESTREAM_OK) {
        ics_batch_account_add(&session->account, &batch->account);
        pthread_mutex_lock(&session->lock);
        ics_batch_account_add(&ticket->account, &batch->account);
        ticket->thread_seconds += batch->seconds;
        pthread_mutex_unlock(&session->lock);
        if (batch->hit_count > 0) {
            add_part(ticket, batch, &error);
        }
    }
    if (error.status == ICESTREAM_E_INTERRUPTED) { /* only a closed session interrupts batches */
        ics_ticket_interrupt(session, ticket);
    } else if (error.status != ICESTREAM_OK) {
        ics_ticket_fail(session, ticket, &error);
    }
}

static int by_index(const void *left, const void *right)
{
    const ics_ticket_part *a = left, *b = right;
    return (a->index > b->index) - (a->index < b->index);
}

static bool is_sorted(const icestream_hit *hits, size_t count)
{
    for (size_t i = 1; i < count; ++i) {
        if (ics_hit_sort_order(&hits[i - 1], &hits[i]) > 0) {
            return false;
        }
    }
    return true;
}

/* Makes one array of the hits of all batches. The array of a single batch stays as it is. The
 * photons of batches follow each other, so only steps without an order need sorting. */
static int join_parts(ics_ticket *ticket, icestream_hit **out, size_t *count,
                      icestream_error *error)
{
    size_t total = 0;
    for (size_t i = 0; i < ticket->part_count; ++i) {
        total += ticket->parts[i].count;
    }
    *out = NULL;
    *count = total;
    if (ticket->part_count == 1) {
        *out = ticket->parts[0].hits;
        ticket->parts[0].hits = NULL;
    }
    if (ticket->part_count <= 1) {
        return ICESTREAM_OK;
    }
    icestream_hit *hits = malloc(total * sizeof *hits);
    if (hits == NULL) {
        *count = 0;
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory for %zu hits",
                             ticket->name, total);
    }
    qsort(ticket->parts, ticket->part_count, sizeof *ticket->parts, by_index);
    for (size_t i = 0, at = 0; i < ticket->part_count; ++i) {
        ics_ticket_part *part = &ticket->parts[i];
        memcpy(hits + at, part->hits, part->count * sizeof *hits);
        at += part->count;
        free(part->hits);
        part->hits = NULL;
    }
    if (!is_sorted(hits, total)) {
        ics_hit_sort(hits, total);
    }
    *out = hits;
    return ICESTREAM_OK;
}

void ics_ticket_finish(icestream_session *session, ics_ticket *ticket)
{
    icestream_error error = {.status = ICESTREAM_OK};
    icestream_hit *hits = NULL;
    size_t count = 0;
    ics_session_feed_end(ticket);
    if (atomic_load(&ticket->cancelled)) {
        ics_error_set(&error, ICESTREAM_E_INTERRUPTED, "%s: cancelled", ticket->name);
    } else if (ticket->error.status == ICESTREAM_OK) { /* only this thread sets it */
        join_parts(ticket, &hits, &count, &error);
    }
    free_parts(ticket);
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
