/* Writing messages to the disk on libuv's worker threads. */
#include "base/error.h"
#include "base/new.h"
#include "pipeline/production/source/listener_state.h"

#include <inttypes.h>
#include <stdlib.h>

/* Finds out what the message costs, before anybody can see its file. */
static int weigh(const ics_client *client, ics_listener_job *job)
{
    const uint64_t most = client->listener->photon_limit;
    uint64_t photons = 0;
    job->cost = ics_listener_shares_cost(ics_incoming_file_part(client->incoming), &photons);
    return most == 0 || photons <= most
               ? ICESTREAM_OK
               : ics_error_set(&job->error, ICESTREAM_E_INPUT,
                               "client %" PRIu64 ", message %" PRIu64 ": found %" PRIu64
                               " photons, expected at most %" PRIu64 " (source.photon_limit)",
                               client->number, client->message, photons, most);
}

static int store(ics_client *client, ics_listener_job *job)
{
    icestream_error *error = &job->error;
    if (job->begins) {
        char name[128];
        snprintf(name, sizeof name, "%s-client%" PRIu64 "-%" PRIu64, client->listener->prefix,
                 client->number, client->message);
        ICS_TRY(ics_incoming_file_create(client->listener->folder, name, &client->incoming, error));
    }
    if (job->header_size > 0) {
        ICS_TRY(ics_incoming_file_write(client->incoming, job->header, job->header_size, error));
    }
    if (job->rows_size > 0) {
        ICS_TRY(ics_incoming_file_write(client->incoming, job->rows, job->rows_size, error));
    }
    if (job->ends) {
        ICS_TRY(weigh(client, job));
        ics_incoming_file *whole = client->incoming;
        client->incoming = NULL;
        ICS_TRY(ics_incoming_file_commit(whole, job->path, error));
    }
    return ICESTREAM_OK;
}

/* On a worker thread. */
static void run_job(uv_work_t *request)
{
    ics_client *client = request->data;
    ics_listener_job *job = &client->job;
    if (job->abandons || store(client, job) != ICESTREAM_OK) {
        ics_incoming_file_abandon(client->incoming);
        client->incoming = NULL;
    }
}

static void finish_job(uv_work_t *request, int status)
{
    (void)status; /* requests are never cancelled */
    ics_client *client = request->data;
    client->busy = false;
    client->stored(client);
}

void ics_listener_client_spool(ics_client *client)
{
    ics_listener_job *job = &client->job;
    ics_listener *listener = client->listener;
    job->error.status = ICESTREAM_OK;
    job->path = NULL;
    job->tag = ics_listener_shares_tag(client);
    if (job->ends) {
        job->path = ics_new_text("%s/%s-%016" PRIx64 "-%08" PRIu64 ".steps.npy", listener->folder,
                                 listener->prefix, job->tag, listener->sequence++);
    }
    client->busy = true;
    job->request.data = client;
    /* Fails only if it is given no function. */
    (void)uv_queue_work(listener->loop, &job->request, run_job, finish_job);
}

void ics_listener_client_abandon(ics_client *client)
{
    if (!client->busy && client->incoming != NULL) { /* a job may be changing `incoming` */
        client->job = (ics_listener_job){.abandons = true};
        ics_listener_client_spool(client);
    }
}
