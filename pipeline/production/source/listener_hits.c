/* Hits for clients that ask for them: the line HITS, and the files behind the answers `done`. */
#include "pipeline/production/source/listener_state.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BLOCK = 64 << 10 }; /* bytes that are read and sent at a time */

/* ---- the line ------------------------------------------------------------------------------ */

const char *ics_listener_client_greet(ics_client *client)
{
    static const char word[] = "HITS\n";
    while (!client->greeted && client->chunk_at < client->chunk_size) {
        const char character = (char)client->chunk[client->chunk_at];
        if (client->line_size == 0 && character != word[0]) {
            client->greeted = true; /* a message */
            return NULL;
        }
        if (character != word[client->line_size]) {
            return "the first line begins with H, expected the line HITS or a .npy message";
        }
        client->chunk_at++;
        client->line_size++;
        client->greeted = client->hits = client->line_size == sizeof word - 1;
    }
    return NULL;
}

/* ---- a hit file --------------------------------------------------------------- */

void ics_listener_hits_destroy(ics_client_hits *hits)
{
    if (hits->descriptor >= 0) {
        close(hits->descriptor);
    }
    json_decref(hits->answer);
    free(hits->line);
    free(hits->path);
    free(hits);
}

/* ---- sending -------------------------------------------------------------------------------- */

/* Sends bytes. Returns how many the system took; 0: the client must read first, or has gone. */
static size_t send_bytes(ics_client *client, const void *bytes, size_t size)
{
    ssize_t count;
    do {
        count = send(client->descriptor, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (count < 0 && errno == EINTR);
    if (count < 0 && errno != EAGAIN) {
        client->mute = true;
    }
    if (count > 0) {
        uv_timer_start(&client->patience, client->impatient, client->listener->idle, 0);
    }
    return count > 0 ? (size_t)count : 0;
}

/* Sends the next bytes of the first file. Returns false if nothing more can be sent now. */
static bool send_part(ics_client *client, ics_client_hits *hits)
{
    unsigned char block[BLOCK];
    if (hits->line_sent < hits->line_size) {
        const size_t size = hits->line_size - hits->line_sent;
        const size_t sent = send_bytes(client, hits->line + hits->line_sent, size);
        hits->line_sent += sent;
        return sent == size;
    }
    const uint64_t rest = hits->size - hits->sent;
    const size_t size = rest < BLOCK ? (size_t)rest : BLOCK;
    const ssize_t count = pread(hits->descriptor, block, size, (off_t)hits->sent);
    if (count <= 0) { /* the frame is broken; the client connects again and sends the steps again */
        client->mute = true;
        return false;
    }
    const size_t sent = send_bytes(client, block, (size_t)count);
    hits->sent += sent;
    return sent == (size_t)count;
}

/* Sends of the first file what can be sent in one turn. Returns whether it is complete. */
static bool send_first(ics_client *client)
{
    ics_client_hits *hits = client->hits_first;
    const uint64_t until = hits->sent + ICS_CLIENT_TURN;
    bool goes_on = true;
    if (!uv_is_active((uv_handle_t *)&client->patience)) {
        uv_timer_start(&client->patience, client->impatient, client->listener->idle, 0);
    }
    while (goes_on && (hits->line_sent < hits->line_size || hits->sent < hits->size)) {
        goes_on = hits->sent < until && send_part(client, hits);
    }
    if (hits->line_sent < hits->line_size || hits->sent < hits->size) {
        return false;
    }
    client->hits_first = hits->next;
    ics_listener_hits_destroy(hits);
    ics_listener_shares_release(client);
    uv_timer_stop(&client->patience);
    return true;
}

bool ics_listener_client_send_begun(ics_client *client)
{
    const ics_client_hits *first = client->hits_first;
    return client->mute || first == NULL || first->line_sent == 0 || send_first(client);
}

void ics_listener_client_send_hits(ics_client *client)
{
    while (client->hits_first != NULL && client->answers_size == 0 && !client->mute) {
        if (!send_first(client)) {
            break;
        }
    }
    if (client->mute) {
        ics_listener_client_forget_hits(client);
    }
}

void ics_listener_client_forget_hits(ics_client *client)
{
    while (client->hits_first != NULL) {
        ics_client_hits *next = client->hits_first->next;
        ics_listener_hits_destroy(client->hits_first);
        client->hits_first = next;
    }
}
