/* Promise: workers run every job once, in order on one thread, and refuse jobs when their queue is
 * full; a mailbox delivers every job once on the thread of its loop.
 *
 * How to join: one test for each promise of pipeline/photons/devices/workers.h. */
#include "pipeline/photons/devices/workers.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* ---- jobs that a loop collects --------------------------------------------------------------- */

enum { JOBS = 200 };

typedef struct counting counting;

typedef struct numbered_job {
    ics_job job;
    counting *owner;
    unsigned number;
    pthread_t ran_on;
} numbered_job;

struct counting {
    uv_loop_t loop;
    ics_mailbox *mailbox;
    numbered_job jobs[JOBS];
    unsigned order[JOBS]; /* the numbers of the jobs, in the order in which they came back */
    unsigned done;
    pthread_t loop_thread;
    atomic_uint ran;
};

static void run_numbered(ics_job *job, void *thread_state)
{
    numbered_job *numbered = (numbered_job *)job;
    numbered->ran_on = pthread_self();
    if (thread_state != NULL) {
        ++*(unsigned *)thread_state;
    }
    atomic_fetch_add(&numbered->owner->ran, 1);
}

static void take_numbered(ics_job *job)
{
    numbered_job *numbered = (numbered_job *)job;
    counting *owner = numbered->owner;
    ck_assert(pthread_equal(pthread_self(), owner->loop_thread));
    ck_assert(!pthread_equal(numbered->ran_on, owner->loop_thread));
    owner->order[owner->done++] = numbered->number;
    if (owner->done == JOBS) {
        ics_workers_mailbox_close(owner->mailbox);
    }
}

static counting *start_counting(void)
{
    counting *owner = calloc(1, sizeof *owner);
    ck_assert_ptr_nonnull(owner);
    ck_assert_int_eq(uv_loop_init(&owner->loop), 0);
    ck_assert_int_eq(ics_workers_mailbox_create(&owner->loop, &owner->mailbox, NULL), ICESTREAM_OK);
    owner->loop_thread = pthread_self();
    for (unsigned i = 0; i < JOBS; ++i) {
        owner->jobs[i] = (numbered_job){
            .job = {.run = run_numbered, .done = take_numbered}, .owner = owner, .number = i};
    }
    return owner;
}

static void finish_counting(counting *owner)
{
    ck_assert_int_eq(uv_run(&owner->loop, UV_RUN_DEFAULT), 0);
    ck_assert_int_eq(uv_loop_close(&owner->loop), 0);
    ck_assert_uint_eq(owner->done, JOBS);
    ck_assert_uint_eq(atomic_load(&owner->ran), JOBS);
}

START_TEST(test_one_thread_keeps_the_order)
{
    counting *owner = start_counting();
    ics_workers *workers = NULL;
    const ics_post to_loop = {ics_workers_mailbox_post, owner->mailbox};
    ck_assert_int_eq(ics_workers_create("test", 1, JOBS, NULL, to_loop, &workers, NULL),
                     ICESTREAM_OK);
    for (unsigned i = 0; i < JOBS; ++i) {
        ck_assert(ics_workers_submit(workers, &owner->jobs[i].job));
    }
    finish_counting(owner);
    for (unsigned i = 0; i < JOBS; ++i) {
        ck_assert_uint_eq(owner->order[i], i);
    }
    ics_workers_destroy(workers);
    free(owner);
}
END_TEST

START_TEST(test_many_threads_run_every_job_once)
{
    counting *owner = start_counting();
    unsigned jobs_of_thread[4] = {0};
    void *states[4] = {&jobs_of_thread[0], &jobs_of_thread[1], &jobs_of_thread[2],
                       &jobs_of_thread[3]};
    ics_workers *workers = NULL;
    const ics_post to_loop = {ics_workers_mailbox_post, owner->mailbox};
    ck_assert_int_eq(ics_workers_create("test", 4, JOBS, states, to_loop, &workers, NULL),
                     ICESTREAM_OK);
    for (unsigned i = 0; i < JOBS; ++i) {
        ck_assert(ics_workers_submit(workers, &owner->jobs[i].job));
    }
    finish_counting(owner);
    ics_workers_destroy(workers);
    bool seen[JOBS] = {false};
    for (unsigned i = 0; i < JOBS; ++i) {
        ck_assert(!seen[owner->order[i]]);
        seen[owner->order[i]] = true;
    }
    ck_assert_uint_eq(jobs_of_thread[0] + jobs_of_thread[1] + jobs_of_thread[2] + jobs_of_thread[3],
                      JOBS);
    free(owner);
}
END_TEST

/* ---- a queue that fills up ------------------------------------------------------------------- */

/* The first job waits until the test opens the gate, so that the other jobs stay in the queue. */
typedef struct a_gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool entered, open;
    atomic_uint ran, posted;
} a_gate;

typedef struct gated_job {
    ics_job job;
    a_gate *gate;
    bool waits;
} gated_job;

static void run_gated(ics_job *job, void *thread_state)
{
    (void)thread_state;
    gated_job *gated = (gated_job *)job;
    a_gate *gate = gated->gate;
    if (gated->waits) {
        pthread_mutex_lock(&gate->lock);
        gate->entered = true;
        pthread_cond_broadcast(&gate->changed);
        while (!gate->open) {
            pthread_cond_wait(&gate->changed, &gate->lock);
        }
        pthread_mutex_unlock(&gate->lock);
    }
    atomic_fetch_add(&gate->ran, 1);
}

static void count_posted(void *user, ics_job *job)
{
    (void)job;
    atomic_fetch_add(&((a_gate *)user)->posted, 1);
}

START_TEST(test_full_queue_refuses_and_destroy_runs_waiting_jobs)
{
    a_gate gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    gated_job jobs[5];
    for (int i = 0; i < 5; ++i) {
        jobs[i] = (gated_job){.job = {.run = run_gated}, .gate = &gate, .waits = i == 0};
    }
    ics_workers *workers = NULL;
    const ics_post post = {count_posted, &gate};
    ck_assert_int_eq(ics_workers_create("test", 1, 3, NULL, post, &workers, NULL), ICESTREAM_OK);
    ck_assert(ics_workers_submit(workers, &jobs[0].job));
    pthread_mutex_lock(&gate.lock);
    while (!gate.entered) {
        pthread_cond_wait(&gate.changed, &gate.lock);
    }
    pthread_mutex_unlock(&gate.lock);

    ck_assert(ics_workers_submit(workers, &jobs[1].job));
    ck_assert(ics_workers_submit(workers, &jobs[2].job));
    ck_assert(ics_workers_submit(workers, &jobs[3].job));
    ck_assert(!ics_workers_submit(workers, &jobs[4].job));

    pthread_mutex_lock(&gate.lock);
    gate.open = true;
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.lock);
    ics_workers_destroy(workers);
    ck_assert_uint_eq(atomic_load(&gate.ran), 4);
    ck_assert_uint_eq(atomic_load(&gate.posted), 4);
}
END_TEST

START_TEST(test_nothing_to_destroy)
{
    ics_workers_destroy(NULL);
    ics_workers_mailbox_close(NULL);
}
END_TEST

ICS_TEST_MAIN("workers")
{
    TCase *tests = tcase_create("workers");
    tcase_add_test(tests, test_one_thread_keeps_the_order);
    tcase_add_test(tests, test_many_threads_run_every_job_once);
    tcase_add_test(tests, test_full_queue_refuses_and_destroy_runs_waiting_jobs);
    tcase_add_test(tests, test_nothing_to_destroy);
    suite_add_tcase(suite, tests);
}
