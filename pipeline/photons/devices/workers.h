/* Groups of threads ("workers") that run jobs from one bounded queue, and the mailbox that passes
 * finished jobs to a libuv loop. No thread waits by spinning.
 *
 * These are not libuv's own worker threads: a group has a fixed number of threads with a state of
 * each, and a group of one thread runs its jobs in the order in which they were queued. */
#ifndef ICS_PHOTONS_DEVICES_WORKERS_H
#define ICS_PHOTONS_DEVICES_WORKERS_H

#include "base/queue.h"
#include "pipeline/icestream.h"

#include <uv.h>

typedef struct ics_job ics_job;

/* One piece of work. Make it a member of the structure that describes the work. Workers and the
 * mailbox do not use the last three members: they are for the sender of the job. */
struct ics_job {
    STAILQ_ENTRY(ics_job) link;                    /* entry of the queue that the job is in */
    void (*run)(ics_job *job, void *thread_state); /* runs on a worker's thread */
    void (*done)(ics_job *job);                    /* runs on the loop's thread, for the mailbox */
    bool out;          /* the job was sent, and the sender does not have it back */
    bool counted;      /* by the loop of a run (pipeline/production/run/jobs.h), while it is out */
    uint32_t *counter; /* counts it as well; NULL: none does */
};

/* Jobs in the order in which they were added. */
typedef STAILQ_HEAD(ics_job_queue, ics_job) ics_job_queue;

/* Receives finished jobs. Called on a worker's thread. `post` may be NULL: nobody receives them. */
typedef struct ics_post {
    void (*post)(void *user, ics_job *job);
    void *user;
} ics_post;

/* Returns the number of threads for a value of device.threads: the value itself or, for 0 (auto),
 * one thread for each CPU that this process may use. */
uint32_t ics_workers_thread_count(uint32_t configured);

typedef struct ics_workers ics_workers;

/* Starts `threads` threads with the name `name` (at most 15 characters). The queue holds at most
 * `capacity` waiting jobs. thread_states: [threads], the second argument of each thread's `run`;
 * NULL: that argument is NULL on all threads. ICESTREAM_E_MEMORY. ICESTREAM_E_FAILED: a thread
 * cannot be started. */
int ics_workers_create(const char *name, uint32_t threads, uint32_t capacity,
                       void *const *thread_states, ics_post finished, ics_workers **out,
                       icestream_error *error);
/* Queues a job. Returns false if the queue is full; the job then stays with the caller. */
bool ics_workers_submit(ics_workers *workers, ics_job *job);
/* Runs the jobs that are still in the queue, ends the threads and frees everything. Accepts NULL.
 */
void ics_workers_destroy(ics_workers *workers);

typedef struct ics_mailbox ics_mailbox;

/* Creates a mailbox. It calls the `done` functions of its jobs on the loop's thread, and keeps the
 * loop running until it is closed. ICESTREAM_E_MEMORY, ICESTREAM_E_FAILED. */
int ics_workers_mailbox_create(uv_loop_t *loop, ics_mailbox **out, icestream_error *error);
/* Replaces job->done(job): from now on the mailbox calls `deliver(user, job)` on the loop for each
 * job. The owner of the loop counts its jobs there, and calls `done`. */
void ics_workers_mailbox_on_delivery(ics_mailbox *mailbox,
                                     void (*deliver)(void *user, ics_job *job), void *user);
/* Puts a job into the mailbox. Any thread may call it. It can be an ics_post.post. */
void ics_workers_mailbox_post(void *mailbox, ics_job *job);
/* Closes the mailbox; no job may be posted after this. The loop frees the mailbox in its next
 * iteration, so run the loop once more. Accepts NULL. */
void ics_workers_mailbox_close(ics_mailbox *mailbox);

#endif
