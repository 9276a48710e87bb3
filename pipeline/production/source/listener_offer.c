/* A hit file is opened and digested on a worker thread, and then waits to be sent. */
#include "base/disk.h"
#include "base/error.h"
#include "base/new.h"
#include "pipeline/production/source/listener_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 64 << 10 }; /* bytes that are read at a time */

static int fail(ics_client_hits *hits, const char *why)
{
    return ics_error_set(&hits->error, ICESTREAM_E_OUTPUT, "%s: cannot send its hits: %s",
                         hits->path, why);
}

static int digest(ics_client_hits *hits)
{
    unsigned char block[BLOCK];
    ics_digest *state = NULL;
    ssize_t count = 1;
    const char *why;
    hits->descriptor = ics_disk_open_regular(hits->path, &why);
    if (hits->descriptor < 0) {
        return fail(hits, why);
    }
    ICS_TRY(ics_digest_create(&state, &hits->error));
    while (count != 0) {
        count = read(hits->descriptor, block, sizeof block);
        if (count > 0) {
            ics_digest_add(state, block, (size_t)count);
            hits->size += (uint64_t)count;
        } else if (count < 0 && errno != EINTR) {
            ics_digest_destroy(state);
            return fail(hits, strerror(errno));
        }
    }
    ics_digest_text(state, hits->digest);
    ics_digest_destroy(state);
    return ICESTREAM_OK;
}

/* On a worker thread. */
static void run_digest(uv_work_t *request)
{
    (void)digest(request->data);
}

/* The last line of a message whose hits cannot be sent. */
static void refuse(ics_client *client, const ics_client_hits *hits)
{
    json_auto_t *line =
        json_pack("{s:O?, s:s, s:s, s:b}", "message", json_object_get(hits->answer, "message"),
                  "state", "refused", "reason", hits->error.text, "again", 1);
    ics_listener_client_report(client, line);
}

static void end_digest(uv_work_t *request, int status)
{
    (void)status; /* requests are never cancelled */
    ics_client_hits *hits = request->data;
    ics_client *client = hits->client;
    client->hits_working--;
    if (client->closing) {
        ics_listener_hits_destroy(hits);
        ics_listener_client_release(client);
        return;
    }
    if (hits->error.status == ICESTREAM_OK) {
        ics_new_member(hits->answer, "bytes", json_integer((json_int_t)hits->size));
        ics_new_member(hits->answer, "sha256", json_string(hits->digest));
        hits->line = ics_new_made(json_dumps(hits->answer, JSON_COMPACT));
    }
    if (hits->line == NULL) {
        refuse(client, hits);
        ics_listener_shares_release(client);
        ics_listener_hits_destroy(hits);
    } else {
        hits->line_size = strlen(hits->line);
        hits->line[hits->line_size++] = '\n'; /* in place of the final zero */
        ics_client_hits **end = &client->hits_first;
        while (*end != NULL) { /* at most as many as a client has credits */
            end = &(*end)->next;
        }
        *end = hits;
        ics_listener_client_flush(client);
    }
    if (!client->closing) {
        ics_listener_client_advance(client);
    }
}

void ics_listener_client_offer_hits(ics_client *client, json_t *answer, const char *path)
{
    ics_client_hits *hits = ICS_NEW(ics_client_hits);
    hits->client = client;
    hits->path = ics_new_copy(path);
    hits->answer = json_incref(answer);
    hits->descriptor = -1;
    hits->request.data = hits;
    client->hits_working++;
    /* Fails only if it is given no function. */
    (void)uv_queue_work(client->listener->loop, &hits->request, run_digest, end_digest);
}
