/* Reports to the caller, and the end of a client: its connection is closed, then its memory is
 * freed.
 */
#include "pipeline/production/source/listener_state.h"

#include <stdlib.h>
#include <unistd.h>

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

/* Removes a client from the list. May free the listener. */
static void forget(ics_client *client)
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

void ics_listener_client_release(ics_client *client)
{
    if (client->open_handles > 0 || client->busy || client->hits_working > 0) {
        return;
    }
    if (client->incoming != NULL) {
        ics_listener_client_abandon(client);
        return;
    }
    forget(client);
    ics_message_frame_destroy(client->frame);
    free(client->chunk);
    ics_listener_client_forget_hits(client);
    free(client->tags);
    free(client->answers);
    free(client->left);
    free(client);
}

static void on_closed(uv_handle_t *handle)
{
    ics_client *client = handle->data;
    client->open_handles--;
    ics_listener_client_release(client);
}

void ics_listener_client_count_out(ics_client *client)
{
    client->listener->counts.clients -= client->counted;
    client->counted = false;
}

void ics_listener_client_begin_leaving(ics_client *client)
{
    ics_listener_client_count_out(client);
    client->phase = ICS_CLIENT_LEAVING;
}

void ics_listener_client_drop(ics_client *client, const char *reason)
{
    if (client->closing) {
        return;
    }
    client->closing = true;
    ics_listener_client_begin_leaving(client);
    uv_close((uv_handle_t *)&client->poll, on_closed);
    uv_close((uv_handle_t *)&client->timer, on_closed);
    uv_close((uv_handle_t *)&client->patience, on_closed);
    close(client->descriptor);
    ics_listener_client_abandon(client);
    if (client->joined) {
        ics_listener_report(client->listener, ICS_LISTENER_LEFT, client->number, 0,
                            client->left != NULL ? client->left : reason);
    }
}

void ics_listener_client_on_patience(uv_timer_t *timer)
{
    ics_listener_client_drop(timer->data, "does not read its hits");
}
