#include "pipeline/photons/devices/workers.h"

#include "base/error.h"
#include "base/processors.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

uint32_t ics_workers_thread_count(uint32_t configured)
{
    return configured != 0 ? configured : ics_processors_count();
}

enum { STACK_BYTES = 4 << 20 }; /* of each thread */

typedef struct worker_thread {
    ics_workers *workers;
    void *state;
    pthread_t thread;
} worker_thread;

struct ics_workers {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a job was queued, or the queue was closed */
    ics_job_queue queue;
    uint32_t waiting, capacity;
    bool closed;
    ics_post finished;
    uint32_t started;
    worker_thread threads[];
};

static void *run_worker(void *argument)
{
    worker_thread *self = argument;
    ics_workers *workers = self->workers;
    for (;;) {
        pthread_mutex_lock(&workers->lock);
        while (STAILQ_EMPTY(&workers->queue) && !workers->closed) {
            pthread_cond_wait(&workers->changed, &workers->lock);
        }
        ics_job *job = ICS_QUEUE_TAKE(&workers->queue, link);
        if (job != NULL) {
            workers->waiting--;
        }
        pthread_mutex_unlock(&workers->lock);
        if (job == NULL) {
            return NULL;
        }
        job->run(job, self->state);
        if (workers->finished.post != NULL) {
            workers->finished.post(workers->finished.user, job);
        }
    }
}

int ics_workers_create(const char *name, uint32_t threads, uint32_t capacity,
                       void *const *thread_states, ics_post finished, ics_workers **out,
                       icestream_error *error)
{
    ics_workers *workers = calloc(1, sizeof *workers + threads * sizeof workers->threads[0]);
    if (workers == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %u %s threads", threads,
                             name);
    }
    workers->capacity = capacity;
    workers->finished = finished;
    STAILQ_INIT(&workers->queue);
    pthread_mutex_init(&workers->lock, NULL);
    pthread_cond_init(&workers->changed, NULL);

    /* Workers block all signals, because the loop handles them. The signals that a thread raises by
     * its own fault stay open, so that sanitizers and debuggers can report the fault. */
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    sigset_t all, before;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; ++i) {
        sigdelset(&all, faults[i]);
    }
    pthread_sigmask(SIG_SETMASK, &all, &before);
    /* The default size is the limit of the first thread's stack (ulimit -s), which may be small. */
    pthread_attr_t attributes;
    pthread_attr_init(&attributes); /* cannot fail on Linux */
    int failure = pthread_attr_setstacksize(&attributes, STACK_BYTES);
    for (uint32_t i = 0; i < threads && failure == 0; ++i) {
        worker_thread *worker = &workers->threads[i];
        worker->workers = workers;
        worker->state = thread_states != NULL ? thread_states[i] : NULL;
        failure = pthread_create(&worker->thread, &attributes, run_worker, worker);
        if (failure == 0) {
            pthread_setname_np(worker->thread, name);
            workers->started++;
        }
    }
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure != 0) {
        uint32_t started = workers->started;
        ics_workers_destroy(workers);
        return ics_error_set(error, ICESTREAM_E_FAILED,
                             "cannot start %s thread %u of %u: %s; lower device.threads", name,
                             started + 1, threads, strerror(failure));
    }
    *out = workers;
    return ICESTREAM_OK;
}

bool ics_workers_submit(ics_workers *workers, ics_job *job)
{
    pthread_mutex_lock(&workers->lock);
    bool accepted = !workers->closed && workers->waiting < workers->capacity;
    if (accepted) {
        STAILQ_INSERT_TAIL(&workers->queue, job, link);
        workers->waiting++;
        pthread_cond_signal(&workers->changed);
    }
    pthread_mutex_unlock(&workers->lock);
    return accepted;
}

void ics_workers_destroy(ics_workers *workers)
{
    if (workers == NULL) {
        return;
    }
    pthread_mutex_lock(&workers->lock);
    workers->closed = true;
    pthread_cond_broadcast(&workers->changed);
    pthread_mutex_unlock(&workers->lock);
    for (uint32_t i = 0; i < workers->started; ++i) {
        pthread_join(workers->threads[i].thread, NULL);
    }
    pthread_cond_destroy(&workers->changed);
    pthread_mutex_destroy(&workers->lock);
    free(workers);
}

struct ics_mailbox {
    uv_async_t async;
    pthread_mutex_t lock;
    ics_job_queue jobs;
    void (*deliver)(void *user, ics_job *job);
    void *user;
};

static void call_done(void *user, ics_job *job)
{
    (void)user;
    job->done(job);
}

static void deliver_jobs(uv_async_t *async)
{
    ics_mailbox *mailbox = async->data;
    ics_job_queue jobs = STAILQ_HEAD_INITIALIZER(jobs);
    pthread_mutex_lock(&mailbox->lock);
    STAILQ_CONCAT(&jobs, &mailbox->jobs);
    pthread_mutex_unlock(&mailbox->lock);
    for (ics_job *job; (job = ICS_QUEUE_TAKE(&jobs, link)) != NULL;) {
        mailbox->deliver(mailbox->user, job);
    }
}

int ics_workers_mailbox_create(uv_loop_t *loop, ics_mailbox **out, icestream_error *error)
{
    ics_mailbox *mailbox = calloc(1, sizeof *mailbox);
    if (mailbox == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a mailbox");
    }
    int failure = uv_async_init(loop, &mailbox->async, deliver_jobs);
    if (failure != 0) {
        free(mailbox);
        return ics_error_set(error, ICESTREAM_E_FAILED, "cannot set up the event loop: %s",
                             uv_strerror(failure));
    }
    mailbox->async.data = mailbox;
    mailbox->deliver = call_done;
    STAILQ_INIT(&mailbox->jobs);
    pthread_mutex_init(&mailbox->lock, NULL);
    *out = mailbox;
    return ICESTREAM_OK;
}

void ics_workers_mailbox_on_delivery(ics_mailbox *mailbox,
                                     void (*deliver)(void *user, ics_job *job), void *user)
{
    mailbox->deliver = deliver;
    mailbox->user = user;
}

void ics_workers_mailbox_post(void *user, ics_job *job)
{
    ics_mailbox *mailbox = user;
    /* The send is inside the lock. Otherwise the loop could deliver this job, close the mailbox and
     * free the handle while uv_async_send still uses it. */
    pthread_mutex_lock(&mailbox->lock);
    STAILQ_INSERT_TAIL(&mailbox->jobs, job, link);
    uv_async_send(&mailbox->async);
    pthread_mutex_unlock(&mailbox->lock);
}

static void free_mailbox(uv_handle_t *handle)
{
    ics_mailbox *mailbox = handle->data;
    pthread_mutex_destroy(&mailbox->lock);
    free(mailbox);
}

void ics_workers_mailbox_close(ics_mailbox *mailbox)
{
    if (mailbox != NULL) {
        uv_close((uv_handle_t *)&mailbox->async, free_mailbox);
    }
}
