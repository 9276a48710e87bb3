#include "pipeline/production/queue/state.h"

#include "base/error.h"
#include "base/new.h"
#include "base/visible_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void ics_queue_say(const ics_queue_claims *queue, const char *format, ...)
{
    char line[768], shown[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (queue->note != NULL) {
        queue->note(queue->user, ics_visible_text(line, false, shown, sizeof shown));
    }
}

int ics_queue_call(ics_queue_claims *queue, const ics_queue_command *command, redisReply **out,
                   icestream_error *error)
{
    icestream_error why = {.status = ICESTREAM_OK};
    int status = ics_queue_link_call(queue->link, command, out, &why);
    if (status == ICESTREAM_E_FAILED && why.cause == ENOENT) {
        ics_queue_say(
            queue, "%s: the broker has lost the queue: its tickets are gone, and must be put again",
            ics_queue_link_address(queue->link)->shown);
        ICS_TRY(ics_queue_make_group(queue->link, error));
        return ics_queue_link_call(queue->link, command, out, error);
    }
    return status == ICESTREAM_OK ? status : ics_error_copy(error, &why);
}

void ics_queue_begin(const ics_queue_claims *queue, ics_queue_script script, ics_queue_command *out)
{
    ics_queue_script_begin(script, ics_queue_link_address(queue->link), out);
    ics_queue_command_add(out, queue->worker);
}

int ics_queue_call_number(ics_queue_claims *queue, const ics_queue_command *command, long long *out,
                          icestream_error *error)
{
    ICS_DESTROYS(freeReplyObject) redisReply *reply = NULL;
    ICS_TRY(ics_queue_call(queue, command, &reply, error));
    *out = reply->type == REDIS_REPLY_INTEGER ? reply->integer : 0;
    return ICESTREAM_OK;
}

/* ---- the list -------------------------------------------------------------------------------- */

ics_queue_held *ics_queue_find(const ics_queue_claims *queue, const ics_claim *claim)
{
    for (size_t i = 0; i < queue->held_count; ++i) {
        if (queue->held[i].number == claim->ticket) {
            return &queue->held[i];
        }
    }
    return NULL;
}

ics_queue_held *ics_queue_find_id(const ics_queue_claims *queue, const char *id)
{
    ics_queue_held *found = NULL;
    for (size_t i = 0; i < queue->held_count; ++i) {
        ics_queue_held *held = &queue->held[i];
        if (strcmp(held->id, id) == 0 && (found == NULL || !held->lost)) {
            found = held;
        }
    }
    return found;
}

bool ics_queue_has_name(const ics_queue_claims *queue, const char *name)
{
    for (size_t i = 0; i < queue->held_count; ++i) {
        if (strcmp(queue->held[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

void ics_queue_forget(ics_queue_claims *queue, ics_queue_held *held)
{
    if (held->own_path != NULL) {
        unlink(held->own_path);
    }
    free(held->own_path);
    free(held->name);
    *held = queue->held[--queue->held_count];
}

ics_queue_held *ics_queue_hold(ics_queue_claims *queue)
{
    if (queue->held_count == queue->held_capacity) {
        queue->held_capacity = 2 * queue->held_capacity + 16;
        queue->held = ics_new_size(queue->held, queue->held_capacity, sizeof *queue->held);
    }
    ics_queue_held *held = &queue->held[queue->held_count++];
    *held = (ics_queue_held){.number = ++queue->tickets};
    return held;
}

int ics_queue_bury(ics_queue_claims *queue, const char *id, uint32_t attempt, const char *reason,
                   long long *was, icestream_error *error)
{
    ics_queue_command command;
    char number[16];
    ics_queue_begin(queue, ICS_QUEUE_DEAD, &command);
    snprintf(number, sizeof number, "%" PRIu32, attempt);
    ics_queue_command_add(&command, id);
    ics_queue_command_add(&command, number);
    ics_queue_command_add(&command, reason);
    return ics_queue_call_number(queue, &command, was, error);
}

int ics_queue_give_back(ics_queue_claims *queue, const char *id, uint32_t attempts, bool pauses,
                        long long *was, icestream_error *error)
{
    ics_queue_command command;
    char number[16];
    ics_queue_begin(queue, ICS_QUEUE_GIVE_BACK, &command);
    snprintf(number, sizeof number, "%" PRIu32, attempts);
    ics_queue_command_add(&command, id);
    ics_queue_command_add(&command, number);
    ics_queue_command_add(&command, pauses ? "0" : "1000000000"); /* ms since it was claimed */
    return ics_queue_call_number(queue, &command, was, error);
}

int ics_queue_decline(ics_queue_claims *queue, const char *id, uint32_t attempt, long long *workers,
                      icestream_error *error)
{
    ics_queue_command command;
    char before[16], most[16];
    ics_queue_begin(queue, ICS_QUEUE_DECLINE, &command);
    snprintf(before, sizeof before, "%" PRIu32, attempt - 1);
    snprintf(most, sizeof most, "%" PRIu32, queue->attempts);
    ics_queue_command_add(&command, id);
    ics_queue_command_add(&command, before);
    ics_queue_command_add(&command, most);
    return ics_queue_call_number(queue, &command, workers, error);
}
