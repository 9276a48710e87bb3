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

enum { LOOKS = 4 }; /* in a lease: for tickets of workers that are lost */

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

/* Makes a claim of a good ticket, and adds it to the list. */
static int hold(ics_queue_claims *queue, const ics_queue_ticket *ticket, uint32_t attempt,
                ics_claim *out, icestream_error *error)
{
    ics_queue_steps steps = {.path = NULL};
    ICS_TRY(check_configuration(queue, ticket, error));
    ICS_TRY(ics_queue_steps_find(&queue->folders, ticket, queue->tickets + 1, &steps, error));
    ics_queue_held *held = ics_queue_hold(queue);
    held->name = ics_new_copy(ticket->name);
    held->own_path = steps.is_own ? ics_new_copy(steps.path) : NULL;
    memcpy(held->id, ticket->id, sizeof held->id);
    *out = (ics_claim){.name = ics_new_copy(ticket->name),
                       .path = steps.path,
                       .url = steps.is_fetched ? ics_new_copy(ticket->url) : NULL,
                       .bytes = ticket->bytes,
                       .arrived = strtod(ticket->id, NULL) / 1000.0,
                       .attempt = attempt,
                       .ticket = held->number};
    if (steps.fault[0] != '\0') {
        out->refusal = ics_new_copy(steps.fault);
    } else if (queue->attempts > 0 && attempt > queue->attempts) {
        out->refusal = ics_new_text("%s: was begun %" PRIu32 " times and never finished",
                                    ticket->name, attempt - 1);
    }
    snprintf(out->sha256, sizeof out->sha256, "%s", ticket->sha256 != NULL ? ticket->sha256 : "");
    return ICESTREAM_OK;
}

/* Takes one entry {id, attempt, pairs} of an answer. *taken: *out is a claim. */
static int take_entry(ics_queue_claims *queue, const redisReply *entry, ics_claim *out, bool *taken,
                      icestream_error *error)
{
    ics_queue_ticket ticket;
    char fault[512];
    long long was = 0;
    *taken = false;
    if (entry->type != REDIS_REPLY_ARRAY || entry->elements != 3) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_queue_ticket_read(entry->element[0], entry->element[2], &ticket, fault, error));
    const uint32_t attempt = (uint32_t)entry->element[1]->integer;
    const ics_queue_held *before = ics_queue_find_id(queue, ticket.id);
    if (before != NULL && !before->lost) {
        return ICESTREAM_OK; /* the process was stopped, and finds its own claim expired */
    }
    if (fault[0] != '\0') {
        ics_queue_say(queue, "%s: %s: %s", ics_queue_link_address(queue->link)->shown, ticket.id,
                      fault);
        return ics_queue_bury(queue, ticket.id, attempt, fault, &was, error);
    }
    if (ics_queue_has_name(queue, ticket.name)) {
        return ics_queue_give_back(queue, ticket.id, &was, error); /* until that claim has ended */
    }
    const int status = hold(queue, &ticket, attempt, out, error);
    *taken = status == ICESTREAM_OK;
    return status;
}

/* Gives the entries from `first` on back. If that fails, they are taken over after the lease. */
static void return_entries(ics_queue_claims *queue, const redisReply *reply, size_t first)
{
    icestream_error ignored = {.status = ICESTREAM_OK};
    for (size_t i = first; i < reply->elements; ++i) {
        const redisReply *entry = reply->element[i];
        long long was = 0;
        if (entry->type == REDIS_REPLY_ARRAY && entry->elements == 3 &&
            entry->element[0]->type == REDIS_REPLY_STRING) {
            ics_queue_give_back(queue, entry->element[0]->str, &was, &ignored);
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

int ics_queue_claim(ics_queue_claims *queue, size_t most, ics_claim *out, size_t *count,
                    icestream_error *error)
{
    ics_queue_command command;
    char number[24];
    ICS_DESTROYS(freeReplyObject) redisReply *reply = NULL;
    if (queue->later.status != ICESTREAM_OK) {
        const int status = ics_error_copy(error, &queue->later);
        queue->later.status = ICESTREAM_OK;
        return status;
    }
    const double now = ics_clock_seconds();
    const bool looks = now - queue->looked >= queue->lease / LOOKS;
    ics_queue_begin(queue, ICS_QUEUE_TAKE, &command);
    snprintf(number, sizeof number, "%zu", most);
    ics_queue_command_add(&command, number);
    ics_queue_command_add(&command, queue->lease_ms);
    ics_queue_command_add(&command, looks ? "1" : "0");
    ICS_TRY(ics_queue_call(queue, &command, &reply, error));
    queue->looked = looks ? now : queue->looked;
    int status =
        reply->type == REDIS_REPLY_INTEGER ? wait_for_lost(queue, reply, error) : ICESTREAM_OK;
    for (size_t i = 0; i < reply->elements && status == ICESTREAM_OK; ++i) {
        bool taken = false;
        status = take_entry(queue, reply->element[i], &out[*count], &taken, error);
        *count += taken;
        if (status != ICESTREAM_OK) {
            return_entries(queue, reply, i);
        }
    }
    if (status != ICESTREAM_OK && *count > 0) {
        ics_error_copy(&queue->later, error);
        return ICESTREAM_OK;
    }
    return status;
}
