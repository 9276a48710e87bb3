#include "base/clock.h"
#include "base/error.h"
#include "base/new.h"
#include "pipeline/production/queue/state.h"
#include "pipeline/production/queue/ticket.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LOOKS = 4,     /* in a lease: for tickets of workers that are lost */
    ENTRIES = 1024 /* of the answers for one call, about; the next call gets the others */
};

static int check_configuration(const ics_queue_claims *queue, const ics_queue_ticket *ticket,
                               icestream_error *error)
{
    return ticket->configuration == NULL || queue->configuration[0] == '\0' ||
                   strcmp(ticket->configuration, queue->configuration) == 0
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_CONFIG,
                               "%s: found a ticket (%s) for the configuration with the digest "
                               "%.12s, expected %.12s, which this run has: hits would be others "
                               "than the producer asked for",
                               ics_queue_link_address(queue->link)->shown, ticket->name,
                               ticket->configuration, queue->configuration);
}

/* Adds a claim to the list. The caller fills in what is known of the step file. */
static ics_queue_held *hold(ics_queue_claims *queue, const char *id, const char *name,
                            uint32_t attempt, ics_claim *out)
{
    ics_queue_held *held = ics_queue_hold(queue);
    held->name = ics_new_copy(name);
    snprintf(held->id, sizeof held->id, "%s", id);
    *out = (ics_claim){.name = ics_new_copy(name),
                       .arrived = strtod(id, NULL) / 1000.0,
                       .attempt = attempt,
                       .ticket = held->number};
    return held;
}

/* A claim that the run moves to the dead letters. */
static void hold_refused(ics_queue_claims *queue, const char *id, const char *name,
                         uint32_t attempt, const char *why, ics_claim *out)
{
    hold(queue, id, name, attempt, out);
    out->path = ics_new_text("%s/%s", queue->folders.folder, name);
    out->refusal = ics_new_copy(why);
}

/* Makes a claim of a good ticket. */
static int hold_good(ics_queue_claims *queue, const ics_queue_ticket *ticket, uint32_t attempt,
                     ics_claim *out, icestream_error *error)
{
    ics_queue_steps steps = {.path = NULL};
    ICS_TRY(check_configuration(queue, ticket, error));
    ICS_TRY(ics_queue_steps_find(&queue->folders, ticket, queue->tickets + 1, &steps, error));
    ics_queue_held *held = hold(queue, ticket->id, ticket->name, attempt, out);
    held->own_path = steps.is_own ? ics_new_copy(steps.path) : NULL;
    out->path = steps.path;
    out->url = steps.is_fetched ? ics_new_copy(ticket->url) : NULL;
    out->bytes = ticket->bytes;
    if (steps.fault[0] != '\0') {
        out->refusal = ics_new_copy(steps.fault);
    } else if (queue->attempts > 0 && attempt > queue->attempts) {
        out->refusal = ics_new_text("%s: was begun %" PRIu32 " times and never finished",
                                    ticket->name, attempt - 1);
    }
    snprintf(out->sha256, sizeof out->sha256, "%s", ticket->sha256 != NULL ? ticket->sha256 : "");
    return ICESTREAM_OK;
}

/* Whether other tickets do not have the trouble of this one. */
static bool is_of_ticket(const icestream_error *why)
{
    return why->status == ICESTREAM_E_CONFIG || why->cause == ENAMETOOLONG || why->cause == EILSEQ;
}

/* Gives a ticket back for a lease whose fault may be this run's. *count: how many workers have said
 * so, or, if the step file cannot be read, how many deliveries have ended so. */
static int give_back(ics_queue_claims *queue, const ics_queue_ticket *ticket, uint32_t attempt,
                     const icestream_error *why, long long *count, icestream_error *error)
{
    long long was = 0;
    if (why->status != ICESTREAM_E_CONFIG || why->cause == 0) {
        return ics_queue_decline(queue, ticket->id, attempt, count, error);
    }
    *count = attempt;
    return queue->attempts > 0 && attempt >= queue->attempts
               ? ICESTREAM_OK
               : ics_queue_give_back(queue, ticket->id, attempt, true, &was, error);
}

/* Leaves a ticket that this run cannot use to others. With as many counts as there are attempts it
 * becomes a claim for the dead letters. */
static int decline(ics_queue_claims *queue, const ics_queue_ticket *ticket, uint32_t attempt,
                   const icestream_error *why, ics_claim *out, bool *taken, icestream_error *error)
{
    long long count = 0;
    ICS_TRY(give_back(queue, ticket, attempt, why, &count, error));
    *taken = queue->attempts > 0 && count >= queue->attempts;
    if (*taken) {
        hold_refused(queue, ticket->id, ticket->name, (uint32_t)count, why->text, out);
    } else if (json_object_get(queue->declined, ticket->id) == NULL) { /* not once per lease */
        ics_new_member(queue->declined, ticket->id, json_true());
        ics_queue_say(queue, "%s; the ticket is left to other workers", why->text);
        if (queue->decline != NULL) {
            queue->decline(queue->user, why);
        }
    }
    return ICESTREAM_OK;
}

/* One call of ics_queue_claim(). */
typedef struct batch {
    ics_claim *out;
    size_t most, count, entries;
    /* Tickets with the name of a claim that this worker has; they wait until it has ended. */
    char (*twins)[ICS_TICKET_ID_MAX];
    size_t twin_count;
} batch;

static void add_twin(batch *part, const char *id)
{
    part->twins = ics_new_size(part->twins, part->twin_count + 1, sizeof part->twins[0]);
    snprintf(part->twins[part->twin_count++], ICS_TICKET_ID_MAX, "%s", id);
}

static bool is_entry(const redisReply *entry)
{
    return entry->type == REDIS_REPLY_ARRAY && entry->elements == 3 &&
           entry->element[0]->type == REDIS_REPLY_STRING &&
           entry->element[0]->len < ICS_TICKET_ID_MAX &&
           strspn(entry->element[0]->str, "0123456789-") == entry->element[0]->len;
}

/* Takes one entry {id, attempt, pairs} of an answer. */
static int take_entry(ics_queue_claims *queue, const redisReply *entry, batch *part,
                      icestream_error *error)
{
    ics_queue_ticket ticket;
    char fault[512];
    bool taken = true;
    icestream_error why = {.status = ICESTREAM_OK};
    ics_claim *out = &part->out[part->count];
    if (!is_entry(entry)) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_queue_ticket_read(entry->element[0], entry->element[2], &ticket, fault, error));
    const uint32_t attempt = (uint32_t)entry->element[1]->integer;
    const ics_queue_held *before = ics_queue_find_id(queue, ticket.id);
    if (before != NULL && !before->lost) {
        return ICESTREAM_OK; /* the process was stopped, and finds its own claim expired */
    }
    if (fault[0] != '\0') { /* its name may be anything */
        ICS_FREES char *name = ics_new_text("ticket-%s", ticket.id);
        hold_refused(queue, ticket.id, name, attempt, fault, out);
    } else if (ics_queue_has_name(queue, ticket.name)) {
        add_twin(part, ticket.id);
        return ICESTREAM_OK;
    } else if (hold_good(queue, &ticket, attempt, out, &why) != ICESTREAM_OK) {
        taken = false;
        ICS_TRY(is_of_ticket(&why) ? decline(queue, &ticket, attempt, &why, out, &taken, error)
                                   : ics_error_copy(error, &why));
    }
    part->count += taken;
    return ICESTREAM_OK;
}

static void return_ticket(ics_queue_claims *queue, const char *id)
{
    icestream_error ignored = {.status = ICESTREAM_OK}; /* it is taken over after the lease */
    long long was = 0;
    ics_queue_give_back(queue, id, 0, false, &was, &ignored);
}

/* Gives the entries from `first` on back. */
static void return_entries(ics_queue_claims *queue, const redisReply *reply, size_t first)
{
    for (size_t i = first; i < reply->elements; ++i) {
        if (is_entry(reply->element[i])) {
            return_ticket(queue, reply->element[i]->element[0]->str);
        }
    }
}

/* There are expired claims that still count. Without an error a run without source.watch would end,
 * although it can claim these tickets soon. */
static int wait_for_lost(const ics_queue_claims *queue, const redisReply *reply,
                         icestream_error *error)
{
    return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, ENOTCONN,
                               "%s: no worker had renewed its lease for a while, so tickets of "
                               "lost workers can be claimed in %.1f s",
                               ics_queue_link_address(queue->link)->shown,
                               (double)reply->integer / 1000.0);
}

/* Asks the broker once. *more: there may be further tickets. */
static int take_once(ics_queue_claims *queue, bool looks, batch *part, bool *more,
                     icestream_error *error)
{
    ics_queue_command command;
    char number[24];
    ICS_DESTROYS(freeReplyObject) redisReply *reply = NULL;
    const size_t wanted = part->most - part->count;
    *more = false;
    ics_queue_begin(queue, ICS_QUEUE_TAKE, &command);
    snprintf(number, sizeof number, "%zu", wanted);
    ics_queue_command_add(&command, number);
    ics_queue_command_add(&command, queue->lease_ms);
    ics_queue_command_add(&command, looks ? "1" : "0");
    ICS_TRY(ics_queue_call(queue, &command, &reply, error));
    if (reply->type == REDIS_REPLY_INTEGER && part->entries == 0) {
        return wait_for_lost(queue, reply, error);
    }
    for (size_t i = 0; i < reply->elements && part->count < part->most; ++i) {
        const int status = take_entry(queue, reply->element[i], part, error);
        if (status != ICESTREAM_OK) {
            return_entries(queue, reply, i);
            return status;
        }
    }
    part->entries += reply->elements;
    *more = reply->elements >= wanted && part->count < part->most && part->entries < ENTRIES;
    return ICESTREAM_OK;
}

int ics_queue_claim(ics_queue_claims *queue, size_t most, ics_claim *out, size_t *count,
                    icestream_error *error)
{
    if (queue->later.status != ICESTREAM_OK) {
        const int status = ics_error_copy(error, &queue->later);
        queue->later.status = ICESTREAM_OK;
        return status;
    }
    const double now = ics_clock_seconds();
    const bool looks = now - queue->looked >= queue->lease / LOOKS;
    batch part = {.out = out, .most = most};
    bool more = false;
    int status = ICESTREAM_OK;
    do { /* a ticket that is left to others must not hide those behind it */
        status = take_once(queue, looks, &part, &more, error);
    } while (status == ICESTREAM_OK && more);
    queue->looked = looks && status == ICESTREAM_OK ? now : queue->looked;
    for (size_t i = 0; i < part.twin_count; ++i) {
        return_ticket(queue, part.twins[i]);
    }
    free(part.twins);
    *count = part.count;
    if (status != ICESTREAM_OK && *count > 0) {
        ics_error_copy(&queue->later, error);
        return ICESTREAM_OK;
    }
    return status;
}
