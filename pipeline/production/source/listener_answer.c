/* Answers to clients. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/new.h"
#include "pipeline/production/source/listener_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Sends waiting lines. */
static void flush_lines(ics_client *client)
{
    size_t sent = 0;
    while (sent < client->answers_size && !client->mute) {
        /* libuv's own writes would raise SIGPIPE if the client has gone. */
        ssize_t count = send(client->descriptor, client->answers + sent,
                             client->answers_size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count >= 0) {
            sent += (size_t)count;
        } else if (errno == EAGAIN) {
            break;
        } else if (errno != EINTR) {
            client->mute = true; /* messages that it sent before still count */
        }
    }
    client->answers_size = client->mute ? 0 : client->answers_size - sent;
    if (client->answers_size > 0) {
        memmove(client->answers, client->answers + sent, client->answers_size);
    }
}

void ics_listener_client_flush(ics_client *client)
{
    if (ics_listener_client_send_begun(client)) { /* lines stand between hit files */
        flush_lines(client);
        ics_listener_client_send_hits(client);
    }
}

bool ics_listener_client_owes(const ics_client *client)
{
    return client->answers_size > 0 || client->hits_first != NULL;
}

/* Queues a line. Returns false if the client had to be dropped. */
static bool append(ics_client *client, const char *line, size_t length)
{
    if (client->answers_size + length > ICS_CLIENT_ANSWERS) {
        ics_listener_client_drop(client, "does not read its answers");
        return false;
    }
    client->answers = ics_new_size(client->answers, client->answers_size + length, 1);
    memcpy(client->answers + client->answers_size, line, length);
    client->answers_size += length;
    return true;
}

bool ics_listener_client_report(ics_client *client, const json_t *answer)
{
    if (client->closing || client->mute || client->shut) {
        return false;
    }
    ICS_FREES char *line = ics_new_made(json_dumps(answer, JSON_COMPACT));
    size_t length = strlen(line);
    line[length] = '\n'; /* in place of the final zero */
    const bool queued = append(client, line, length + 1);
    if (queued) {
        ics_listener_client_flush(client);
    }
    return queued && !client->mute;
}

/* Reports a client without the token at most once a second, because any process that can connect
 * could fill the journal otherwise. */
static void report_stranger(const ics_client *client, const char *reason)
{
    ics_listener *listener = client->listener;
    uint64_t now = uv_now(listener->loop);
    if (listener->strangers_reported != 0 && now < listener->strangers_reported + 1000) {
        listener->strangers++;
        return;
    }
    char text[1200];
    snprintf(text, sizeof text, listener->strangers > 0 ? "%s (and %" PRIu64 " more)" : "%s",
             reason, listener->strangers);
    listener->strangers = 0;
    listener->strangers_reported = now;
    ics_listener_report(listener, ICS_LISTENER_REFUSED, client->number, 0, text);
}

void ics_listener_client_refuse(ics_client *client, bool numbered, const char *reason)
{
    /* JSON must be UTF-8, but names in the client's header may contain any bytes. */
    char text[1024];
    size_t length = 0;
    for (; reason[length] != 0 && length + 1 < sizeof text; ++length) {
        text[length] = reason[length];
        if (reason[length] < ' ' || reason[length] > '~') { /* also if char is signed */
            text[length] = '?';
        }
    }
    text[length] = 0;
    json_auto_t *answer = numbered
                              ? json_pack("{s:I, s:s, s:s}", "message", (json_int_t)client->message,
                                          "state", "refused", "reason", text)
                              : json_pack("{s:s, s:s}", "state", "refused", "reason", text);
    if (client->passes) { /* the same message may succeed later */
        ics_new_member(answer, "again", json_true());
    }
    client->passes = false;
    client->listener->counts.refused++;
    ics_listener_client_report(client, answer);
    if (client->joined) {
        ics_listener_report(client->listener, ICS_LISTENER_REFUSED, client->number,
                            numbered ? client->message : 0, text);
    } else {
        report_stranger(client, text);
    }
}

void ics_listener_client_deliver(ics_client *client, const char *path)
{
    ics_listener *listener = client->listener;
    const ics_listener_message message = {.path = path,
                                          .client = client->number,
                                          .number = client->message,
                                          .bytes = ics_message_frame_bytes(client->frame)};
    ics_listener_shares_add(client, client->job.tag, client->job.cost);
    listener->counts.received++;
    listener->counts.bytes += message.bytes;
    json_auto_t *answer = json_pack("{s:I, s:s, s:s}", "message", (json_int_t)message.number,
                                    "state", "received", "file", strrchr(path, '/') + 1);
    ics_listener_client_report(client, answer);
    if (!listener->closing) {
        listener->events.message(listener->events.user, &message);
    }
}
