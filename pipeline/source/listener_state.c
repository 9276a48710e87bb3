/* What every file of the listener uses: reports to the caller, and the list of clients. */
#include "pipeline/source/listener_state.h"

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
