/* Threads that take jobs from one bounded queue, and the mailbox in which a libuv loop collects
 * what they have done. Nobody waits by spinning. */
#ifndef ICS_DEVICES_WORKERS_H
#define ICS_DEVICES_WORKERS_H

#include "pipeline/icestream.h"

#include <uv.h>

typedef struct ics_job ics_job;

/* One piece of work; embed it in the structure that describes the work. */
struct ics_job {
    ics_job *next;                                 /* of the queue that the job is in */
    void (*run)(ics_job *job, void *thread_state); /* on a worker's thread */
    void (*done)(ics_job *job);                    /* on the loop's thread, called by the mailbox */
};

/* Where finished jobs go; called on a worker's thread. */
typedef struct ics_post {
    void (*post)(void *user, ics_job *job);
    void *user;
} ics_post;

/* Threads that device.threads asks for; 0 (auto): one for each CPU that this process may use. */
uint32_t ics_workers_thread_count(uint32_t configured);

typedef struct ics_workers ics_workers;

/* Starts `threads` threads (named `name`, at most 15 characters) with room for `capacity` waiting
 * jobs. thread_states: [threads], what `run` gets as its second argument; NULL: NULL for all.
 * ICESTREAM_E_MEMORY, ICESTREAM_E_FAILED: threads cannot be started. */
int ics_workers_create(const char *name, uint32_t threads, uint32_t capacity,
                       void *const *thread_states, ics_post finished, ics_workers **out,
                       icestream_error *error);
/* Queues a job. False: the queue is full or closed, the job stays with the caller. */
bool ics_workers_submit(ics_workers *workers, ics_job *job);
/* No more jobs are accepted; those in the queue are still run, then the threads are joined and
 * everything is freed. Accepts NULL. */
void ics_workers_destroy(ics_workers *workers);

typedef struct ics_mailbox ics_mailbox;

/* A mailbox whose jobs' `done` functions run on the loop. Keeps the loop alive until it is closed.
 * ICESTREAM_E_MEMORY, ICESTREAM_E_FAILED. */
int ics_workers_mailbox_create(uv_loop_t *loop, ics_mailbox **out, icestream_error *error);
/* `deliver(user, job)` is called on the loop for each job from now on, in place of job->done(job):
 * the owner of the loop counts its jobs there, and calls `done`. */
void ics_workers_mailbox_on_delivery(ics_mailbox *mailbox,
                                     void (*deliver)(void *user, ics_job *job), void *user);
/* Puts a job in; any thread. Matches ics_post.post. */
void ics_workers_mailbox_post(void *mailbox, ics_job *job);
/* Closes its handle; no job may be posted any more. Frees the mailbox when the loop has closed it:
 * run the loop once more. Accepts NULL. */
void ics_workers_mailbox_close(ics_mailbox *mailbox);

#endif
