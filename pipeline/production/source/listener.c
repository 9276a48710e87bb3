/* The listening socket: connections that come, and what the caller asks for. */
#include "pipeline/production/source/listener.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/new.h"
#include "pipeline/production/source/listener_state.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* ---- new connections ---------------------------------------------------------------------- */

static void on_connection(uv_poll_t *poll, int status, int events);

static void start_accepting(ics_listener *listener)
{
    int failure = uv_poll_start(&listener->poll, UV_READABLE, on_connection);
    if (failure != 0) {
        ics_listener_report(listener, ICS_LISTENER_TROUBLE, 0, 0, uv_strerror(failure));
    }
}

static void on_retry(uv_timer_t *timer)
{
    start_accepting(timer->data);
}

/* There are no descriptors or no memory for another connection. It stays in the system's queue, and
 * we try again in a second. Reports the trouble once. */
static void wait_a_second(ics_listener *listener, const char *cause)
{
    char text[512];
    uv_poll_stop(&listener->poll);
    uv_timer_start(&listener->retry, on_retry, 1000, 0);
    if (!listener->in_trouble) {
        snprintf(text, sizeof text,
                 "source.listen: %s: cannot accept another client at the moment: %s",
                 listener->listening.text, cause);
        ics_listener_report(listener, ICS_LISTENER_TROUBLE, 0, 0, text);
    }
    listener->in_trouble = true;
}

/* Makes room for a new connection: if there are too many, drops the oldest client that does not
 * send messages, so that clients which only connect cannot keep other clients out. The next choice
 * is the oldest one that has closed its side and waits for answers. Returns false if there is no
 * room. */
static bool make_room(ics_listener *listener)
{
    if (listener->clients_open < listener->clients_limit + ICS_CLIENT_STRANGERS) {
        return true;
    }
    ics_client *oldest = NULL, *waiting = NULL;
    for (ics_client *client = listener->first; client != NULL; client = client->next) {
        if (client->phase != ICS_CLIENT_MESSAGES && !client->closing) {
            oldest = client;
        } else if (!client->counted && !client->closing) {
            waiting = client;
        }
    }
    oldest = oldest != NULL ? oldest : waiting;
    if (oldest != NULL) {
        ics_listener_client_drop(oldest, "disconnected to make room for another client");
    }
    return oldest != NULL;
}

static void accept_client(ics_listener *listener, int descriptor)
{
    const int yes = 1;
    icestream_error error = {.status = ICESTREAM_OK};
    if (!make_room(listener)) {
        close(descriptor);
        return;
    }
    if (listener->listening.path[0] == 0) {
        /* Sends answers at once, and notices after some time if a client has vanished. */
        (void)setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        (void)setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    }
    if (ics_listener_client_create(listener, descriptor, &error) != ICESTREAM_OK) {
        ics_listener_report(listener, ICS_LISTENER_TROUBLE, 0, 0, error.text);
    }
}

static void on_connection(uv_poll_t *poll, int status, int events)
{
    enum { AT_A_TIME = 16 };
    ics_listener *listener = poll->data;
    (void)events;
    if (status < 0) {
        wait_a_second(listener, uv_strerror(status));
        return;
    }
    for (int i = 0; i < AT_A_TIME && !listener->stopping; ++i) {
        int descriptor =
            accept4(listener->listening.descriptor, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (descriptor >= 0) {
            listener->in_trouble = false;
            accept_client(listener, descriptor);
        } else if (errno == EAGAIN) {
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            wait_a_second(listener, strerror(errno));
            return;
        }
    }
}

/* ---- life ----------------------------------------------------------------------------------- */

static int prepare(const char *address, const char *token_file, ics_listen_address *where,
                   ics_access_token *token, icestream_error *error)
{
    ICS_TRY(ics_listen_address_parse(address, token_file != NULL, where, error));
    if (token_file != NULL) {
        return ics_access_token_read("source.token", token_file, token, error);
    }
    if (!where->loopback) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "source.listen: found %s, which other machines can reach, expected "
                             "127.0.0.1, [::1] or localhost, or a file with a token in "
                             "source.token",
                             address);
    }
    return ICESTREAM_OK;
}

int ics_listener_check(const char *address, const char *token_file, icestream_error *error)
{
    ics_listen_address where;
    ics_access_token token;
    return prepare(address, token_file, &where, &token, error);
}

/* The names of files begin with message-<time>-<random>: they sort by time, and no other listener
 * uses them. */
static int choose_prefix(ics_listener *listener, icestream_error *error)
{
    const double now = ics_clock_unix();
    const time_t second = (time_t)now;
    struct tm date;
    uint32_t word = 0;
    char day[32];
    int failure = uv_random(NULL, NULL, &word, sizeof word, 0, NULL);
    if (failure != 0) {
        return ics_error_set(error, ICESTREAM_E_FAILED, "cannot get a random number: %s",
                             uv_strerror(failure));
    }
    gmtime_r(&second, &date);
    strftime(day, sizeof day, "%Y%m%dT%H%M%S", &date);
    snprintf(listener->prefix, sizeof listener->prefix, "message-%s.%03dZ-%08x", day,
             (int)(1e3 * (now - (double)second)), (unsigned)word);
    return ICESTREAM_OK;
}

static int set_up(ics_listener *listener, const ics_listener_options *options,
                  icestream_error *error)
{
    ics_listen_address where;
    listener->listening.descriptor = -1;
    listener->clients_limit = options->clients;
    listener->credits = options->credits;
    listener->message_limit = options->message_limit;
    listener->photon_limit = options->photon_limit;
    listener->idle = options->idle_seconds > 0 ? UINT64_C(1000) * options->idle_seconds : 60000;
    listener->next_time =
        options->next_seconds > 0 ? (uint64_t)(1000 * options->next_seconds) : 600000;
    listener->has_token = options->token_file != NULL;
    listener->folder = ics_new_copy(options->folder);
    ICS_TRY(prepare(options->address, options->token_file, &where, &listener->token, error));
    ICS_TRY(choose_prefix(listener, error));
    ICS_TRY(ics_incoming_file_clean(listener->folder, "message-", error));
    ICS_TRY(ics_listen_socket_open(&where, &listener->listening, error));
    const int failure =
        uv_poll_init(listener->loop, &listener->poll, listener->listening.descriptor);
    if (failure != 0) {
        ics_listen_socket_close(&listener->listening);
        return ics_error_set(error, ICESTREAM_E_FAILED, "cannot set up the event loop: %s",
                             uv_strerror(failure));
    }
    return ICESTREAM_OK;
}

int ics_listener_create(uv_loop_t *loop, const ics_listener_options *options,
                        const ics_listener_events *events, ics_listener **out,
                        icestream_error *error)
{
    *out = NULL;
    ics_listener *listener = ICS_NEW(ics_listener);
    listener->loop = loop;
    listener->events = *events;
    const int status = set_up(listener, options, error);
    if (status != ICESTREAM_OK) {
        free(listener->folder);
        free(listener);
        return status;
    }
    uv_timer_init(loop, &listener->retry);
    listener->poll.data = listener->retry.data = listener;
    listener->open_handles = 2;
    start_accepting(listener);
    *out = listener;
    return ICESTREAM_OK;
}

static void on_closed(uv_handle_t *handle)
{
    ics_listener *listener = handle->data;
    listener->open_handles--;
    ics_listener_free_if_unused(listener);
}

void ics_listener_stop(ics_listener *listener)
{
    if (listener->stopping) {
        return;
    }
    listener->stopping = true;
    uv_close((uv_handle_t *)&listener->poll, on_closed);
    uv_close((uv_handle_t *)&listener->retry, on_closed);
    ics_listen_socket_close(&listener->listening);
    for (ics_client *client = listener->first; client != NULL; client = client->next) {
        ics_listener_client_advance(client);
    }
}

void ics_listener_close(ics_listener *listener)
{
    if (listener == NULL) {
        return;
    }
    ics_listener_stop(listener);
    listener->closing = true;
    for (ics_client *client = listener->first; client != NULL; client = client->next) {
        ics_listener_client_drop(client, "icestream is stopping");
    }
    ics_listener_free_if_unused(listener); /* if ics_listener_stop() was called before */
}

/* ---- calls of the caller -------------------------------------------------------------------- */

static ics_client *find(const ics_listener *listener, uint64_t number)
{
    ics_client *client = listener->first;
    while (client != NULL && client->number != number) {
        client = client->next;
    }
    return client;
}

bool ics_listener_answer(ics_listener *listener, uint64_t number, const json_t *answer)
{
    ics_client *client = find(listener, number);
    bool queued = client != NULL && ics_listener_client_report(client, answer);
    if (queued && !client->busy) {
        /* The client may have to be polled until it reads, or may have gone. */
        ics_listener_client_advance(client);
    }
    return queued;
}

void ics_listener_release(ics_listener *listener, uint64_t number)
{
    ics_client *client = find(listener, number);
    if (client != NULL && client->unreleased > 0) {
        ics_listener_shares_release(client);
        ics_listener_client_advance(client);
    }
}

void ics_listener_finish(ics_listener *listener, uint64_t number, json_t *answer, const char *hits)
{
    ics_client *client = find(listener, number);
    if (client == NULL) {
        return;
    }
    if (!client->hits || hits == NULL || client->closing || client->mute) {
        ics_listener_answer(listener, number, answer);
        ics_listener_release(listener, number);
    } else {
        ics_listener_client_offer_hits(client, answer, hits);
    }
}

const char *ics_listener_address(const ics_listener *listener)
{
    return listener->listening.text;
}

ics_listener_counts ics_listener_counted(const ics_listener *listener)
{
    return listener->counts;
}
