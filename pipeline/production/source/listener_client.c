/* One client: the token, its messages, and what follows from its input. */
#include "base/error.h"
#include "base/new.h"
#include "pipeline/production/source/listener_state.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void on_timer(uv_timer_t *timer);

/* Describes where the client comes from, as far as the system knows. */
static void describe(const ics_client *client, char *text, size_t size)
{
    ics_listen_address peer = {.size = sizeof peer.socket};
    struct ucred owner;
    socklen_t owner_size = sizeof owner;
    char from[sizeof client->listener->listening.text];
    snprintf(from, sizeof from, "%s", client->listener->listening.text);
    const bool known = getpeername(client->descriptor, &peer.socket.any, &peer.size) == 0;
    if (known && peer.socket.any.sa_family != AF_UNIX) {
        ics_listen_address_text(&peer, from, sizeof from);
    } else if (known &&
               getsockopt(client->descriptor, SOL_SOCKET, SO_PEERCRED, &owner, &owner_size) == 0) {
        snprintf(text, size, "process %ld of user %lu", (long)owner.pid, (unsigned long)owner.uid);
        return;
    }
    snprintf(text, size, "from %s", from);
}

/* Whether the client has closed its connection, and not only its side. */
static bool has_gone(const ics_client *client)
{
    struct pollfd about = {.fd = client->descriptor};
    return poll(&about, 1, 0) > 0 && (about.revents & (POLLHUP | POLLERR)) != 0;
}

/* Sends away a client that has already got the reason as an answer. The connection stays open for
 * ICS_CLIENT_LINGER: if we closed it while received bytes are unread, the system would reset it,
 * and the client might never see the answer. */
static void leave(ics_client *client, const char *reason)
{
    if (client->closing || client->phase == ICS_CLIENT_LEAVING) {
        return;
    }
    ics_listener_client_begin_leaving(client);
    client->left = ics_new_copy(reason);
    client->chunk_at = client->chunk_size;
    uv_timer_start(&client->timer, on_timer, ICS_CLIENT_LINGER, 0);
    ics_listener_client_abandon(client);
}

static void on_timer(uv_timer_t *timer)
{
    ics_client *client = timer->data;
    char text[160];
    if (client->phase == ICS_CLIENT_LEAVING) {
        ics_listener_client_drop(client, "has left");
        return;
    }
    bool message = client->waits == ICS_CLIENT_WAIT_REST;
    snprintf(text, sizeof text, "client %" PRIu64 ": %s came for %" PRIu64 " ms, expected %s",
             client->number, message && client->progress > 0 ? "almost nothing" : "nothing",
             uv_timer_get_repeat(timer),
             message                                ? ics_message_frame_missing(client->frame)
             : client->phase == ICS_CLIENT_MESSAGES ? "a message (source.client_idle)"
                                                    : "a line with the token");
    uv_timer_stop(timer);
    if (!message || !client->discarding) {
        ics_listener_client_refuse(client, message, text);
    }
    leave(client, text);
    ics_listener_client_advance(client);
}

/* ---- input ---------------------------------------------------------------------------------- */

/* Whether the client must wait with its next message until the caller has released another one. */
static bool is_held(const ics_client *client)
{
    return ics_message_frame_between(client->frame) &&
           client->unreleased >= client->listener->credits;
}

static void join(ics_client *client)
{
    ics_listener *listener = client->listener;
    char text[256];
    client->line_size = 0; /* a line that asks for hits may follow */
    uv_timer_stop(&client->timer);
    if (listener->counts.clients >= listener->clients_limit) {
        snprintf(text, sizeof text,
                 "%" PRIu32 " clients are connected, as many as source.clients allows",
                 listener->counts.clients);
        client->passes = true;
        ics_listener_client_refuse(client, false, text);
        leave(client, text);
        return;
    }
    client->phase = ICS_CLIENT_MESSAGES;
    client->joined = client->counted = true;
    listener->counts.clients++;
    listener->counts.joined++;
    describe(client, text, sizeof text);
    ics_listener_report(listener, ICS_LISTENER_JOINED, client->number, 0, text);
}

static void take_token(ics_client *client)
{
    static const char word[] = "TOKEN ";
    const size_t start = sizeof word - 1;
    bool complete = false;
    while (client->chunk_at < client->chunk_size && !complete &&
           client->line_size < sizeof client->line) {
        char character = (char)client->chunk[client->chunk_at++];
        complete = character == '\n';
        client->line[client->line_size++] = character;
    }
    if (!complete && client->line_size < sizeof client->line) {
        return;
    }
    size_t size = client->line_size - complete;
    size -= size > 0 && client->line[size - 1] == '\r';
    if (complete && size > start && memcmp(client->line, word, start) == 0 &&
        ics_access_token_matches(&client->listener->token, client->line + start, size - start)) {
        join(client);
        return;
    }
    ics_listener_client_refuse(client, false,
                               "wrong token, expected TOKEN and the token as the first line");
    leave(client, "wrong token");
}

/* Refuses a message that has ended, and forgets what was stored of it. The refusal may drop the
 * client, which starts a job that removes the file, so `job` is emptied before. */
static void refuse_message(ics_client *client, const char *reason)
{
    client->job = (ics_listener_job){.begins = false};
    if (!client->discarding) {
        ics_listener_client_refuse(client, true, reason);
    }
    client->discarding = false;
    ics_listener_client_abandon(client);
}

/* Cuts off what one job can store, at most up to the end of the chunk or of the message, and starts
 * the job. */
static void take_messages(ics_client *client)
{
    ics_listener_job *job = &client->job;
    const char *fault = ics_listener_client_greet(client);
    *job = (ics_listener_job){.begins = false};
    if (fault != NULL) {
        ics_listener_client_refuse(client, false, fault);
        leave(client, fault);
    }
    while (client->greeted && client->chunk_at < client->chunk_size && !job->ends &&
           !is_held(client)) {
        ics_message_span span;
        icestream_error error = {.status = ICESTREAM_OK};
        int status = ics_message_frame_take(client->frame, client->chunk + client->chunk_at,
                                            client->chunk_size - client->chunk_at, &span, &error);
        client->message = ics_message_frame_number(client->frame);
        client->chunk_at += span.taken;
        if (status != ICESTREAM_OK && !span.ends) {
            ics_listener_client_refuse(client, true, error.text);
            leave(client, error.text);
            return;
        }
        if (status != ICESTREAM_OK) {
            refuse_message(client, error.text);
            if (client->closing || client->busy) {
                return;
            }
            continue;
        }
        if (client->discarding) {
            client->discarding = !span.ends;
            continue;
        }
        if (span.begins) {
            job->begins = true;
            job->header = span.bytes;
            job->header_size = span.size;
        } else if (span.size > 0) { /* the trailer stands behind the rows in the chunk */
            job->rows = job->rows != NULL ? job->rows : span.bytes;
            job->rows_size += span.size;
        }
        job->ends = span.ends;
    }
    if (job->header_size > 0 || job->rows_size > 0 || job->ends) {
        ics_listener_client_spool(client);
    }
}

/* Gives a client its full time again after ICS_CLIENT_PROGRESS bytes. */
static void note_progress(ics_client *client, size_t bytes)
{
    client->progress += bytes;
    if (client->progress >= ICS_CLIENT_PROGRESS) {
        client->progress = client->rest_time = 0;
        client->waits = ICS_CLIENT_WAIT_NONE;
        uv_timer_stop(&client->timer);
    }
}

static void receive(ics_client *client)
{
    ssize_t count = recv(client->descriptor, client->chunk, ICS_CLIENT_CHUNK, MSG_DONTWAIT);
    if (count > 0) {
        client->chunk_at = 0;
        client->chunk_size = (size_t)count;
        if (client->phase == ICS_CLIENT_LEAVING) {
            client->chunk_at = client->chunk_size;
        } else if (client->phase == ICS_CLIENT_MESSAGES) {
            note_progress(client, (size_t)count);
        }
    } else if (count == 0) {
        client->ended = true;
    } else if (errno != EAGAIN && errno != EINTR) {
        client->ended = client->reset = client->mute = true;
        client->answers_size = 0;
    }
}

/* ---- what follows from input ---------------------------------------------------------------- */

/* Sends the last answers to a leaving client, and drops it when it has closed its side. */
static void send_last_answers(ics_client *client)
{
    ics_listener_client_flush(client);
    if (!ics_listener_client_owes(client) && !client->shut) {
        client->shut = true;
        client->mute |= shutdown(client->descriptor, SHUT_WR) != 0;
    }
    if (client->mute || (client->ended && client->shut)) {
        ics_listener_client_drop(client, "has left");
    }
}

/* There will be no more input. Refuses a message that is incomplete. After a broken connection the
 * trailer may be lost. */
static void end_input(ics_client *client, const char *reason)
{
    icestream_error error = {.status = ICESTREAM_OK};
    bool stranger = client->phase == ICS_CLIENT_TOKEN, ends = false;
    if (!stranger && client->ended && !client->reset) {
        (void)ics_message_frame_finish(client->frame, &ends, &error);
    } else if (!stranger && client->reset && !ics_message_frame_between(client->frame)) {
        ics_error_set(&error, ICESTREAM_E_INPUT,
                      "client %" PRIu64 ", message %" PRIu64 ": the connection broke, expected %s",
                      client->number, ics_message_frame_number(client->frame),
                      ics_message_frame_missing(client->frame));
    } else if (!stranger && !ics_message_frame_between(client->frame)) {
        client->passes = true; /* the listener is stopping */
        ics_error_set(&error, ICESTREAM_E_INPUT, "%s", reason);
    }
    if (ends && !client->discarding) { /* the end shows that the message has no trailer */
        client->job = (ics_listener_job){.ends = true};
        ics_listener_client_spool(client);
        return;
    }
    if (error.status != ICESTREAM_OK) {
        if (!client->discarding) {
            ics_listener_client_refuse(client, true, error.text);
        }
        leave(client, error.text);
    } else if (stranger || client->mute ||
               (client->unreleased == 0 && !ics_listener_client_owes(client))) {
        ics_listener_client_drop(client, reason);
    } else if (client->ended) {
        ics_listener_client_count_out(client); /* it only waits for answers */
    }
}

/* Called when no job runs: ends the client if there is nothing left to wait for. */
static void finish(ics_client *client)
{
    bool stopping = client->listener->stopping;
    bool all_taken = client->chunk_at == client->chunk_size;
    if (client->phase != ICS_CLIENT_LEAVING && (stopping || (client->ended && all_taken))) {
        end_input(client, stopping ? "icestream is stopping" : "closed by the client");
    }
    if (client->phase == ICS_CLIENT_LEAVING && !client->closing && !client->busy) {
        send_last_answers(client);
    }
}

static void on_poll(uv_poll_t *poll, int status, int events);

/* Starts and stops the timer of a client that sends messages. It runs only while we wait for the
 * client, not while the disk or the run is slow. The time that is left for the rest of a message is
 * kept in between. */
static void watch_time(ics_client *client, bool reading)
{
    const bool between = ics_message_frame_between(client->frame);
    const bool open_answers = client->unreleased > 0 || ics_listener_client_owes(client);
    const ics_client_wait waits = reading && !between        ? ICS_CLIENT_WAIT_REST
                                  : reading && !open_answers ? ICS_CLIENT_WAIT_NEXT
                                                             : ICS_CLIENT_WAIT_NONE;
    if (between) {
        client->rest_time = client->progress = 0;
    }
    if (waits == client->waits) {
        return;
    }
    if (client->waits == ICS_CLIENT_WAIT_REST && !between) {
        client->rest_time = uv_timer_get_due_in(&client->timer) + 1;
    }
    client->waits = waits;
    uv_timer_stop(&client->timer);
    const ics_listener *listener = client->listener;
    if (waits == ICS_CLIENT_WAIT_REST) {
        uv_timer_start(&client->timer, on_timer,
                       client->rest_time > 0 ? client->rest_time : listener->idle, listener->idle);
    } else if (waits == ICS_CLIENT_WAIT_NEXT) {
        uv_timer_start(&client->timer, on_timer, listener->next_time, listener->next_time);
    }
}

/* Polls for the events that the client can use now. */
static void watch(ics_client *client)
{
    bool sending = client->phase == ICS_CLIENT_MESSAGES;
    bool reading = !client->ended && !client->busy && client->chunk_at == client->chunk_size &&
                   (client->phase == ICS_CLIENT_LEAVING ||
                    (!client->listener->stopping && !(sending && is_held(client))));
    /* A client that has closed its side may still read answers. The system reports the end of the
     * connection only to a poll for something: urgent data, which are never sent. */
    int events = (reading ? UV_READABLE : 0) |
                 (ics_listener_client_owes(client) ? UV_WRITABLE : 0) |
                 (client->ended && !client->mute ? UV_PRIORITIZED : 0);
    if (events != client->polled) {
        client->polled = events;
        if (events == 0) {
            uv_poll_stop(&client->poll);
        } else if (uv_poll_start(&client->poll, events, on_poll) != 0) {
            ics_listener_client_drop(client, "cannot wait for its socket");
            return;
        }
    }
    if (sending) {
        watch_time(client, reading);
    }
}

void ics_listener_client_advance(ics_client *client)
{
    if (!client->closing && !client->busy) {
        if (client->phase == ICS_CLIENT_TOKEN) {
            take_token(client);
        }
        if (client->phase == ICS_CLIENT_MESSAGES && !client->listener->stopping) {
            take_messages(client);
        }
        if (!client->closing && !client->busy) {
            finish(client);
        }
    }
    if (!client->closing) {
        watch(client);
    }
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    ics_client *client = poll->data;
    if (status < 0) {
        /* The socket has an error and libuv has stopped polling it. Reading and writing find the
         * error, after the bytes that came before it. */
        events = client->polled;
        client->polled = 0;
    }
    if (events & UV_PRIORITIZED) {
        client->mute |= has_gone(client);
    }
    if (events & UV_WRITABLE) {
        ics_listener_client_flush(client);
    }
    if (events & UV_READABLE) {
        receive(client);
    }
    ics_listener_client_advance(client);
}

/* ---- messages ------------------------------------------------------------------------------- */

static void on_stored(ics_client *client)
{
    ics_listener_job *job = &client->job;
    char *path = job->path;
    job->path = NULL;
    if (job->error.status != ICESTREAM_OK) {
        client->discarding = !job->ends;
        client->passes = job->error.status != ICESTREAM_E_INPUT;
        ics_listener_client_refuse(client, true, job->error.text);
    } else if (path != NULL) {
        ics_listener_client_deliver(client, path);
    }
    free(path);
    if (client->closing) {
        ics_listener_client_release(client);
    } else {
        ics_listener_client_advance(client);
    }
}

/* Creates a client with its memory and its handles. *failure: an error of libuv, and then nothing
 * is left. */
static ics_client *make_client(ics_listener *listener, int descriptor, int *failure)
{
    char name[32];
    ics_client *client = ICS_NEW(ics_client);
    client->listener = listener;
    client->descriptor = descriptor;
    client->number = ++listener->last_client;
    client->stored = on_stored;
    client->impatient = ics_listener_client_on_patience;
    client->chunk = ICS_NEW_ARRAY(unsigned char, ICS_CLIENT_CHUNK);
    client->tags = ICS_NEW_ARRAY(uint64_t, listener->credits);
    snprintf(name, sizeof name, "client %" PRIu64, client->number);
    client->frame = ics_message_frame_create(name, listener->message_limit);
    *failure = uv_poll_init(listener->loop, &client->poll, descriptor);
    if (*failure != 0) {
        ics_message_frame_destroy(client->frame);
        free(client->chunk);
        free(client->tags);
        free(client);
        return NULL;
    }
    uv_timer_init(listener->loop, &client->timer);
    uv_timer_init(listener->loop, &client->patience);
    client->poll.data = client->timer.data = client->patience.data = client;
    client->open_handles = 3;
    return client;
}

int ics_listener_client_create(ics_listener *listener, int descriptor, icestream_error *error)
{
    int failure = 0;
    ics_client *client = make_client(listener, descriptor, &failure);
    if (client == NULL) {
        close(descriptor);
        return ics_error_set(error, ICESTREAM_E_FAILED, "cannot set up a client: %s",
                             uv_strerror(failure));
    }
    client->next = listener->first;
    listener->first = client;
    listener->clients_open++;
    if (listener->has_token) {
        uint64_t time =
            listener->idle < ICS_CLIENT_TOKEN_TIME ? listener->idle : ICS_CLIENT_TOKEN_TIME;
        uv_timer_start(&client->timer, on_timer, time, time);
    } else {
        join(client);
    }
    ics_listener_client_advance(client);
    return ICESTREAM_OK;
}
