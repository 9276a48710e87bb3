/* What every file of the listener uses: reports to the caller, the list of clients, and
 * where a client comes from. */
#include "pipeline/source/listener_state.h"

#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>

void ics_listener_report(ics_listener *listener, ics_listener_event event, uint64_t client,
                         uint64_t message, const char *text)
{
    if (!listener->closing) {
        listener->events.report(listener->events.user, event, client, message, text);
    }
}

void ics_listener_free_if_unused(ics_listener *listener)
{
    if (listener->closing && listener->open_handles == 0 && listener->first == NULL) {
        free(listener->folder);
        free(listener);
    }
}

void ics_listener_forget(ics_client *client)
{
    ics_listener *listener = client->listener;
    ics_client **link = &listener->first;
    while (*link != client) {
        link = &(*link)->next;
    }
    *link = client->next;
    listener->clients_open--;
    ics_listener_free_if_unused(listener);
}

void ics_listener_client_describe(const ics_client *client, char *text, size_t size)
{
    ics_listen_address peer = {.size = sizeof peer.socket};
    struct ucred owner;
    socklen_t owner_size = sizeof owner;
    char host[64] = "";
    snprintf(text, size, "from %s", client->listener->listening.text);
    if (getpeername(client->descriptor, &peer.socket.any, &peer.size) != 0) {
        return;
    }
    if (peer.socket.any.sa_family == AF_INET && uv_ip4_name(&peer.socket.v4, host, 64) == 0) {
        snprintf(text, size, "from %s:%u", host, ntohs(peer.socket.v4.sin_port));
    } else if (peer.socket.any.sa_family == AF_INET6 &&
               uv_ip6_name(&peer.socket.v6, host, 64) == 0) {
        snprintf(text, size, "from [%s]:%u", host, ntohs(peer.socket.v6.sin6_port));
    } else if (getsockopt(client->descriptor, SOL_SOCKET, SO_PEERCRED, &owner, &owner_size) == 0) {
        snprintf(text, size, "process %ld of user %lu", (long)owner.pid, (unsigned long)owner.uid);
    }
}

bool ics_listener_client_has_gone(const ics_client *client)
{
    struct pollfd about = {.fd = client->descriptor};
    return poll(&about, 1, 0) > 0 && (about.revents & (POLLHUP | POLLERR)) != 0;
}
