/* The listening socket, and what the caller says to its clients. */
#include "pipeline/source/listener.h"

#include "pipeline/error.h"
#include "pipeline/source/listener_state.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

void is_listener_report(is_listener *listener, is_listener_event event, uint64_t client,
                        uint64_t message, const char *text)
{
    if (!listener->closing) {
        listener->events.report(listener->events.user, event, client, message, text);
    }
}

/* ---- clients that come ---------------------------------------------------------------------- */

static void on_connection(uv_poll_t *poll, int status, int events);

static void start_accepting(is_listener *listener)
{
    int failure = uv_poll_start(&listener->poll, UV_READABLE, on_connection);
    if (failure != 0) {
        is_listener_report(listener, IS_LISTENER_TROUBLE, 0, 0, uv_strerror(failure));
    }
}

static void on_retry(uv_timer_t *timer)
{
    start_accepting(timer->data);
}

/* No descriptors or no memory for another connection: it stays in the system's queue. Said once. */
static void wait_a_second(is_listener *listener, const char *cause)
{
    char text[512];
    uv_poll_stop(&listener->poll);
    uv_timer_start(&listener->retry, on_retry, 1000, 0);
    if (!listener->in_trouble) {
        snprintf(text, sizeof text, "source.listen: %s: cannot take another client for now: %s",
                 listener->listening.text, cause);
        is_listener_report(listener, IS_LISTENER_TROUBLE, 0, 0, text);
    }
    listener->in_trouble = true;
}

/* Whoever only connects must not keep others out: the oldest one that was not let in goes. */
static bool make_room(is_listener *listener)
{
    if (listener->clients_open < listener->clients_limit + IS_CLIENT_STRANGERS) {
        return true;
    }
    is_client *oldest = NULL;
    for (is_client *client = listener->first; client != NULL; client = client->next) {
        if (client->phase != IS_CLIENT_MESSAGES && !client->closing) {
            oldest = client;
        }
    }
    if (oldest != NULL) {
        is_client_drop(oldest, "had to make room");
    }
    return oldest != NULL;
}

static void accept_client(is_listener *listener, int descriptor)
{
    const int yes = 1;
    is_error error = {.status = IS_OK};
    if (!make_room(listener)) {
        close(descriptor);
        return;
    }
    if (listener->listening.path[0] == 0) {
        /* Answers go at once; whoever vanishes without a word is noticed some day. */
        (void)setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        (void)setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    }
    if (is_client_create(listener, descriptor, &error) != IS_OK) {
        is_listener_report(listener, IS_LISTENER_TROUBLE, 0, 0, error.text);
    }
}

static void on_connection(uv_poll_t *poll, int status, int events)
{
    enum { AT_A_TIME = 16 };
    is_listener *listener = poll->data;
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

static int prepare(const char *address, const char *token_file, is_listen_address *where,
                   is_listen_token *token, is_error *error)
{
    int status = is_listen_address_parse(address, token_file != NULL, where, error);
    if (status == IS_OK && token_file != NULL) {
        status = is_listen_token_read(token_file, token, error);
    }
    if (status == IS_OK && token_file == NULL && !where->loopback) {
        status = is_error_set(error, IS_E_CONFIG,
                              "source.listen: found %s, which other machines can reach, expected "
                              "127.0.0.1, [::1] or localhost, or a file with a token in "
                              "source.token",
                              address);
    }
    return status;
}

int is_listener_check(const char *address, const char *token_file, is_error *error)
{
    is_listen_address where;
    is_listen_token token;
    return prepare(address, token_file, &where, &token, error);
}

/* message-<time>-<random>: names sort by time, and no other listener has them. */
static int choose_prefix(is_listener *listener, is_error *error)
{
    struct timespec now;
    struct tm date;
    uint32_t word = 0;
    char day[32];
    int failure = uv_random(NULL, NULL, &word, sizeof word, 0, NULL);
    if (failure != 0) {
        return is_error_set(error, IS_E_FAILED, "cannot get a random number: %s",
                            uv_strerror(failure));
    }
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &date);
    strftime(day, sizeof day, "%Y%m%dT%H%M%S", &date);
    snprintf(listener->prefix, sizeof listener->prefix, "message-%s.%03dZ-%08x", day,
             (int)(now.tv_nsec / 1000000), (unsigned)word);
    return IS_OK;
}

static void free_listener(is_listener *listener)
{
    free(listener->folder);
    free(listener);
}

static int set_up(is_listener *listener, const is_listener_options *options, is_error *error)
{
    is_listen_address where;
    listener->listening.descriptor = -1;
    listener->clients_limit = options->clients;
    listener->credits = options->credits;
    listener->message_limit = options->message_limit;
    listener->idle = options->idle_seconds > 0 ? UINT64_C(1000) * options->idle_seconds : 60000;
    listener->has_token = options->token_file != NULL;
    listener->folder = strdup(options->folder);
    if (listener->folder == NULL) {
        return is_error_set(error, IS_E_MEMORY, "out of memory for a listener");
    }
    int status = prepare(options->address, options->token_file, &where, &listener->token, error);
    if (status == IS_OK) {
        status = choose_prefix(listener, error);
    }
    if (status == IS_OK) {
        status = is_incoming_file_clean(listener->folder, "message-", error);
    }
    return status == IS_OK ? is_listen_socket_open(&where, &listener->listening, error) : status;
}

int is_listener_create(uv_loop_t *loop, const is_listener_options *options,
                       const is_listener_events *events, is_listener **out, is_error *error)
{
    *out = NULL;
    is_listener *listener = calloc(1, sizeof *listener);
    if (listener == NULL) {
        return is_error_set(error, IS_E_MEMORY, "out of memory for a listener");
    }
    listener->loop = loop;
    listener->events = *events;
    int status = set_up(listener, options, error);
    int failure = 0;
    if (status == IS_OK) {
        failure = uv_poll_init(loop, &listener->poll, listener->listening.descriptor);
    }
    if (failure != 0) {
        status = is_error_set(error, IS_E_FAILED, "cannot set up the event loop: %s",
                              uv_strerror(failure));
        is_listen_socket_close(&listener->listening);
    }
    if (status != IS_OK) {
        free_listener(listener);
        return status;
    }
    uv_timer_init(loop, &listener->retry);
    listener->poll.data = listener->retry.data = listener;
    listener->open_handles = 2;
    start_accepting(listener);
    *out = listener;
    return IS_OK;
}

static void free_if_unused(is_listener *listener)
{
    if (listener->closing && listener->open_handles == 0 && listener->first == NULL) {
        free_listener(listener);
    }
}

static void on_closed(uv_handle_t *handle)
{
    is_listener *listener = handle->data;
    listener->open_handles--;
    free_if_unused(listener);
}

void is_listener_forget(is_client *client)
{
    is_listener *listener = client->listener;
    is_client **link = &listener->first;
    while (*link != client) {
        link = &(*link)->next;
    }
    *link = client->next;
    listener->clients_open--;
    free_if_unused(listener);
}

void is_listener_stop(is_listener *listener)
{
    if (listener->stopping) {
        return;
    }
    listener->stopping = true;
    uv_close((uv_handle_t *)&listener->poll, on_closed);
    uv_close((uv_handle_t *)&listener->retry, on_closed);
    is_listen_socket_close(&listener->listening);
    for (is_client *client = listener->first; client != NULL; client = client->next) {
        is_client_advance(client);
    }
}

void is_listener_close(is_listener *listener)
{
    if (listener == NULL) {
        return;
    }
    is_listener_stop(listener);
    listener->closing = true;
    for (is_client *client = listener->first; client != NULL; client = client->next) {
        is_client_drop(client, "icestream is stopping");
    }
    free_if_unused(listener); /* stopped before, and all is closed */
}

/* ---- what the caller says ------------------------------------------------------------------- */

static is_client *find(const is_listener *listener, uint64_t number)
{
    is_client *client = listener->first;
    while (client != NULL && client->number != number) {
        client = client->next;
    }
    return client;
}

bool is_listener_tell(is_listener *listener, uint64_t number, const json_t *answer)
{
    is_client *client = find(listener, number);
    bool told = client != NULL && is_client_tell(client, answer);
    if (told && !client->busy) {
        is_client_advance(client); /* to wait until it reads, or to notice that it has gone */
    }
    return told;
}

void is_listener_release(is_listener *listener, uint64_t number)
{
    is_client *client = find(listener, number);
    if (client != NULL && client->unreleased > 0) {
        client->unreleased--;
        is_client_advance(client);
    }
}

const char *is_listener_address(const is_listener *listener)
{
    return listener->listening.text;
}

is_listener_counts is_listener_counted(const is_listener *listener)
{
    return listener->counts;
}
