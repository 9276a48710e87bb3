/* Threads that take jobs from one bounded queue, and the mailbox in which a libuv loop collects
 * what they have done. Nobody waits by spinning. */
#ifndef IS_WORKERS_H
#define IS_WORKERS_H

#include "pipeline/icestream.h"

#include <uv.h>

typedef struct is_job is_job;

/* One piece of work; embed it in the structure that describes the work. */
struct is_job {
    is_job *next;                                 /* of the queue that the job is in */
    void (*run)(is_job *job, void *thread_state); /* on a worker's thread */
    void (*done)(is_job *job);                    /* on the loop's thread, called by the mailbox */
};

/* Where finished jobs go; called on a worker's thread. */
typedef struct is_post {
    void (*post)(void *user, is_job *job);
    void *user;
} is_post;

/* Threads that device.threads asks for; 0 (auto): one for each CPU that this process may use. */
uint32_t is_thread_count(uint32_t configured);

typedef struct is_workers is_workers;

/* Starts `threads` threads (named `name`, at most 15 characters) with room for `capacity` waiting
 * jobs. thread_states: [threads], what `run` gets as its second argument; NULL: NULL for all.
 * IS_E_MEMORY, IS_E_FAILED: threads cannot be started. */
int is_workers_create(const char *name, uint32_t threads, uint32_t capacity,
                      void *const *thread_states, is_post finished, is_workers **out,
                      is_error *error);
/* Queues a job. False: the queue is full or closed, the job stays with the caller. */
bool is_workers_submit(is_workers *workers, is_job *job);
/* No more jobs are accepted; those in the queue are still run, then the threads are joined and
 * everything is freed. Accepts NULL. */
void is_workers_destroy(is_workers *workers);

typedef struct is_mailbox is_mailbox;

/* A mailbox whose jobs' `done` functions run on the loop. Keeps the loop alive until it is closed.
 * IS_E_MEMORY, IS_E_FAILED. */
int is_mailbox_create(uv_loop_t *loop, is_mailbox **out, is_error *error);
/* Puts a job in; any thread. Matches is_post.post. */
void is_mailbox_post(void *mailbox, is_job *job);
/* Closes its handle; no job may be posted any more. Frees the mailbox when the loop has closed it:
 * run the loop once more. Accepts NULL. */
void is_mailbox_close(is_mailbox *mailbox);

#endif
