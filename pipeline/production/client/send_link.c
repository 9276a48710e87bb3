#include "base/clock.h"
#include "base/error.h"
#include "pipeline/production/client/send_state.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const double CONNECT_TIME = 30; /* s */

/* Connects within the patience, at most CONNECT_TIME. Returns -1 with errno. A local server that
 * accepts nobody any more is EAGAIN. */
static int connect_within(ics_send_state *state, const ics_listen_address *where)
{
    const double left = state->last + state->options->patience - ics_clock_seconds();
    const double limit = left > CONNECT_TIME ? CONNECT_TIME : left > 0.1 ? left : 0.1;
    struct pollfd about = {.fd = state->descriptor, .events = POLLOUT};
    int failure = 0;
    socklen_t size = sizeof failure;
    if (connect(state->descriptor, &where->socket.any, where->size) == 0) {
        return 0;
    }
    if (errno != EINPROGRESS) {
        return -1;
    }
    const int ready = poll(&about, 1, (int)(1000 * limit));
    if (ready > 0 && getsockopt(state->descriptor, SOL_SOCKET, SO_ERROR, &failure, &size) == 0 &&
        failure == 0) {
        return 0;
    }
    errno = ready == 0 ? ETIMEDOUT : failure != 0 ? failure : errno;
    return -1;
}

int ics_send_link_open(ics_send_state *state, icestream_error *error)
{
    ics_listen_address where;
    icestream_error found = {.status = ICESTREAM_OK};
    const int yes = 1, idle = 60 /* s */, interval = 10 /* s */, count = 6;
    if (ics_listen_address_parse(state->options->address, true, &where, &found) != ICESTREAM_OK) {
        return ics_error_set(error, found.status, "--to: %s", found.text);
    }
    const int family = where.socket.any.sa_family;
    state->descriptor = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (state->descriptor < 0 || connect_within(state, &where) != 0) {
        snprintf(state->cause, sizeof state->cause, "%s", strerror(errno));
        ics_send_link_close(state);
        return 1;
    }
    if (family != AF_UNIX) { /* notices after some time if the server has vanished */
        (void)setsockopt(state->descriptor, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
        (void)setsockopt(state->descriptor, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
        (void)setsockopt(state->descriptor, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
        (void)setsockopt(state->descriptor, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
    }
    const int size = snprintf(state->greeting, sizeof state->greeting, "%s%s%s%s",
                              state->token[0] != '\0' ? "TOKEN " : "", state->token,
                              state->token[0] != '\0' ? "\n" : "",
                              state->options->output != NULL ? "HITS\n" : "");
    state->greeting_size = (size_t)size;
    state->greeting_sent = 0;
    state->lost = false;
    state->next_number = 0;
    state->line_size = 0;
    state->exchanged = ics_clock_seconds();
    return ICESTREAM_OK;
}

void ics_send_link_close(ics_send_state *state)
{
    if (state->descriptor >= 0) {
        close(state->descriptor);
        state->descriptor = -1;
    }
    ics_send_hits_abandon(state);
    for (int i = 0; i < ICS_SEND_WINDOW; ++i) {
        ics_send_message *message = &state->messages[i];
        message->was_sent |= message->used && message->number >= 0;
        message->number = -1;
        message->is_received = false;
        message->sent = 0;
    }
}

/* Sends bytes. Returns how many the system took. */
static size_t send_bytes(ics_send_state *state, const void *bytes, size_t size)
{
    const ssize_t count = send(state->descriptor, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno != EAGAIN && errno != EINTR) {
        /* The server may have said why, so the answers are read before the connection is given up:
         * the end of the answers shows that it is lost. */
        return 0;
    }
    if (count <= 0) {
        return 0;
    }
    ics_send_queue_move(state, (uint64_t)count);
    return (size_t)count;
}

void ics_send_link_send(ics_send_state *state)
{
    unsigned char block[ICS_SEND_BLOCK];
    if (state->greeting_sent < state->greeting_size) {
        state->greeting_sent += send_bytes(state, state->greeting + state->greeting_sent,
                                           state->greeting_size - state->greeting_sent);
        return;
    }
    ics_send_message *message = ics_send_queue_next(state);
    if (message == NULL) {
        return;
    }
    const uint64_t rest = message->size - message->sent;
    const ssize_t count =
        pread(message->descriptor, block, rest < sizeof block ? (size_t)rest : sizeof block,
              (off_t)message->sent);
    if (count <= 0) {
        ics_send_queue_lost(state, "a step file became shorter while it was sent");
        return;
    }
    if (message->number < 0) {
        message->number = state->next_number++;
        state->counts->repeated += message->was_sent;
    }
    message->sent += send_bytes(state, block, (size_t)count);
}
