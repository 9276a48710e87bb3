#include "pipeline/production/queue/remove.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/new.h"
#include "pipeline/production/queue/scripts.h"
#include "pipeline/production/queue/ticket.h"

#include <stdlib.h>
#include <string.h>

enum { PATIENCE = 5 /* s that a call waits for the broker */ };

typedef struct removal {
    ics_queue_link *link;
    char *const *names; /* [count] */
    bool *found;        /* [count] */
    size_t count;
    uint64_t *removed;
} removal;

static int remove_ticket(const removal *what, const char *id, icestream_error *error)
{
    static const char *const words[] = {"icestream put --remove", NULL, "0",
                                        "removed by icestream put --remove"};
    ICS_DESTROYS(freeReplyObject) redisReply *reply = NULL;
    ics_queue_command command;
    ics_queue_script_begin(ICS_QUEUE_DEAD, ics_queue_link_address(what->link), &command);
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        ics_queue_command_add(&command, words[i] != NULL ? words[i] : id);
    }
    ICS_TRY(ics_queue_link_call(what->link, &command, &reply, error));
    *what->removed += reply->type == REDIS_REPLY_INTEGER && reply->integer == 1;
    return ICESTREAM_OK;
}

/* Whether somebody wants to remove a ticket. All names that fit are found. */
static bool is_wanted(const removal *what, const char *id, const char *name)
{
    bool wanted = false;
    for (size_t i = 0; i < what->count; ++i) {
        if (strcmp(what->names[i], name) == 0 || strcmp(what->names[i], id) == 0) {
            what->found[i] = wanted = true;
        }
    }
    return wanted;
}

/* Looks at the next tickets, behind `from`, which becomes the number of the last one. *more: there
 * may be others behind it. */
static int remove_next(const removal *what, char from[ICS_TICKET_ID_MAX + 1], bool *more,
                       icestream_error *error)
{
    ICS_DESTROYS(freeReplyObject) redisReply *reply = NULL;
    ics_queue_command command;
    ics_queue_script_begin(ICS_QUEUE_LIST, ics_queue_link_address(what->link), &command);
    ics_queue_command_add(&command, from);
    ICS_TRY(ics_queue_link_call(what->link, &command, &reply, error));
    *more = reply->elements > 0;
    for (size_t i = 0; i < reply->elements; ++i) {
        const redisReply *entry = reply->element[i];
        if (entry->type != REDIS_REPLY_ARRAY || entry->elements != 2 ||
            entry->element[0]->type != REDIS_REPLY_STRING ||
            entry->element[1]->type != REDIS_REPLY_STRING) {
            return ics_error_set(error, ICESTREAM_E_FAILED,
                                 "%s: found an answer that is no list of tickets, expected one",
                                 ics_queue_link_address(what->link)->shown);
        }
        const char *id = entry->element[0]->str;
        if (is_wanted(what, id, entry->element[1]->str)) {
            ICS_TRY(remove_ticket(what, id, error));
        }
        snprintf(from, ICS_TICKET_ID_MAX + 1, "(%s", id);
    }
    return ICESTREAM_OK;
}

int ics_queue_remove(const ics_queue_login *login, char *const *names, size_t count,
                     uint64_t *removed, icestream_error *error)
{
    ICS_DESTROYS(ics_queue_link_destroy) ics_queue_link *link = NULL;
    ICS_FREES bool *found = ICS_NEW_ARRAY(bool, count);
    char from[ICS_TICKET_ID_MAX + 1] = "-";
    bool more = true;
    int status = ICESTREAM_OK;
    *removed = 0;
    ICS_TRY(ics_queue_link_create(login, PATIENCE, &link, error));
    const removal what = {
        .link = link, .names = names, .found = found, .count = count, .removed = removed};
    while (more) {
        ICS_TRY(remove_next(&what, from, &more, error));
    }
    for (size_t i = 0; i < count; ++i) {
        if (!found[i]) {
            status = ics_error_add(error, ICESTREAM_E_INPUT,
                                   "%s: found no ticket with the name %s, expected one",
                                   ics_queue_link_address(link)->shown, names[i]);
        }
    }
    return status;
}
