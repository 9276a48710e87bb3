/* Messages on their way to the disk: what libuv's workers do for a client. */
#include "pipeline/error.h"
#include "pipeline/source/listener_state.h"

#include <inttypes.h>
#include <stdlib.h>

static int store(is_client *client, is_spool_job *job)
{
    int status = IS_OK;
    if (job->begins) {
        char name[128];
        snprintf(name, sizeof name, "%s-client%" PRIu64 "-%" PRIu64, client->listener->prefix,
                 client->number, client->message);
        status =
            is_incoming_file_create(client->listener->folder, name, &client->incoming, &job->error);
    }
    if (status == IS_OK && job->header_size > 0) {
        status =
            is_incoming_file_write(client->incoming, job->header, job->header_size, &job->error);
    }
    if (status == IS_OK && job->rows_size > 0) {
        status = is_incoming_file_write(client->incoming, job->rows, job->rows_size, &job->error);
    }
    if (status == IS_OK && job->ends) {
        is_incoming_file *whole = client->incoming;
        client->incoming = NULL;
        status = is_incoming_file_commit(whole, job->path, &job->error);
    }
    return status;
}

/* On a worker's thread. */
static void run_job(uv_work_t *request)
{
    is_client *client = request->data;
    is_spool_job *job = &client->job;
    if (job->abandons || store(client, job) != IS_OK) {
        is_incoming_file_abandon(client->incoming);
        client->incoming = NULL;
    }
}

static void finish_job(uv_work_t *request, int status)
{
    (void)status; /* it is never cancelled */
    is_client *client = request->data;
    client->busy = false;
    is_client_spooled(client);
}

void is_client_spool(is_client *client)
{
    is_spool_job *job = &client->job;
    is_listener *listener = client->listener;
    job->error.status = IS_OK;
    job->path = NULL;
    if (job->ends && asprintf(&job->path, "%s/%s-%08" PRIu64 ".steps.npy", listener->folder,
                              listener->prefix, listener->sequence++) < 0) {
        job->path = NULL;
        is_error_set(&job->error, IS_E_MEMORY, "out of memory");
        job->abandons = true;
    }
    client->busy = true;
    job->request.data = client;
    /* Fails only without functions to run. */
    (void)uv_queue_work(listener->loop, &job->request, run_job, finish_job);
}

void is_client_abandon(is_client *client)
{
    if (!client->busy && client->incoming != NULL) { /* the job may be changing it */
        client->job = (is_spool_job){.abandons = true};
        is_client_spool(client);
    }
}
