/* Fixtures for tests of groups: a small world, and members that follow a script.
 *
 * A scripted member computes with the real CPU until its script makes it lose its batches or return
 * wrong results. To add a kind of failure, add an `act` and write it in act_on() or run_script().
 */
#ifndef SCRIPTED_MEMBER_H
#define SCRIPTED_MEMBER_H

#include "base/error.h"
#include "pipeline/photons/devices/group.h"
#include "tests/devices/device_world.h"
#include "tests/support/run_folder.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- the world ------------------------------------------------------------------------------- */

enum { BATCHES = 24, STEPS = 60, STEP_PHOTONS = 1000, BATCH_PHOTONS = 2500, WAIT_SECONDS = 300 };
enum { MEMBERS = 3, CREDITS = 4 };

typedef struct world {
    device_world device;
    icestream_step steps[STEPS];
    /* The results of the CPU alone. */
    icestream_hit *hits;
    size_t hit_count;
    icestream_account account;
} world;

static world open_world(void)
{
    const char *const sets[] = {"device.backend=cpu"};
    world made = {.device = open_device_world(sets, 1)};
    made.device.options.graph.math = ICS_MATH_PORTABLE;
    for (uint32_t i = 0; i < STEPS; ++i) {
        made.steps[i] = run_folder_bright(i, STEP_PHOTONS);
    }
    ics_engine *engine = open_engine(&made.device, 7000);
    const ics_device *device = engine->device;
    const ics_engine_hits computed = run_steps(engine, made.steps, STEPS);
    made.hits = computed.hits;
    made.hit_count = computed.count;
    made.account = computed.account;
    ck_assert_uint_gt(made.hit_count, 100);
    ics_device_member_facts facts;
    ck_assert(!ics_device_member_facts_of(device, 1, &facts));
    ck_assert(ics_device_member_facts_of(device, 0, &facts));
    ck_assert_str_eq(facts.name, "cpu");
    ck_assert(facts.alive && !facts.is_gpu);
    ck_assert_uint_eq(facts.photons, STEPS * STEP_PHOTONS);
    ck_assert(facts.seconds > 0.0 && facts.held == 0);
    ics_engine_destroy(engine);
    return made;
}

static void close_world(world *here)
{
    free(here->hits);
    close_device_world(&here->device);
}

/* ---- scripted members -------------------------------------------------------- */

/* What a member does with a batch. */
typedef enum act {
    ACT_COMPUTE,
    ACT_LOSE,        /* is lost and returns all batches with an error */
    ACT_IMPOSSIBLE,  /* returns a batch whose account does not close, then batches without hits */
    ACT_BAD_INPUT,   /* returns a batch with an error that is the fault of its input */
    ACT_INTERRUPTED, /* returns a batch as cancelled */
} act;

/* A member and its script. */
typedef struct script {
    /* Set by the test, before the member is created. */
    act act;
    uint32_t
        at; /* it computes this number of batches correctly, and does `act` with all later ones */
    int create; /* the status of its creation */
    uint32_t credits;

    ics_device_parts parts;
    ics_device_options options;
    ics_device_backend cpu;
    ics_batch *computed; /* returned by the CPU */
    uint32_t done;
    bool made, lost, closing;
    ics_job_queue queue;
    pthread_t thread;
    atomic_uint given; /* number of batches that the group gave it */

    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool blocked; /* it does not begin a batch until this is false */
    bool single;  /* it is blocked again with each batch that it begins */
    bool waits;   /* it has returned all that it began, and waits for a batch */
} script;

static void keep_computed(void *user, ics_job *job)
{
    script *self = user;
    pthread_mutex_lock(&self->lock);
    self->computed = ics_batch_of_job(job);
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

static void post(const script *self, ics_batch *batch)
{
    self->parts.finished.post(self->parts.finished.user, &batch->job);
}

/* Waits for the next batch. NULL: the member is destroyed. */
static ics_batch *next_batch(script *self)
{
    pthread_mutex_lock(&self->lock);
    while (!self->closing && (self->blocked || STAILQ_EMPTY(&self->queue))) {
        self->waits = true;
        pthread_cond_broadcast(&self->changed);
        pthread_cond_wait(&self->changed, &self->lock);
    }
    self->waits = false;
    ics_job *job = ICS_QUEUE_TAKE(&self->queue, link);
    self->blocked = self->blocked || self->single;
    pthread_mutex_unlock(&self->lock);
    return ics_batch_of_job(job);
}

static void compute_here(script *self, ics_batch *batch)
{
    self->cpu.functions->submit(self->cpu.self, batch);
    pthread_mutex_lock(&self->lock);
    while (self->computed == NULL) {
        pthread_cond_wait(&self->changed, &self->lock);
    }
    self->computed = NULL;
    pthread_mutex_unlock(&self->lock);
}

/* Reports the loss, then returns all batches, as a GPU does. */
static void lose_all(script *self, ics_batch *batch)
{
    icestream_error why = {.status = ICESTREAM_OK};
    ics_error_set(&why, ICESTREAM_E_FAILED, "%s", "a scripted fault");
    self->parts.lost(self->parts.lost_user, &why);
    pthread_mutex_lock(&self->lock);
    self->lost = true;
    pthread_mutex_unlock(&self->lock);
    for (; batch != NULL; batch = next_batch(self)) {
        ics_error_keep(&batch->error, &why);
        post(self, batch);
        pthread_mutex_lock(&self->lock);
        const bool more = !STAILQ_EMPTY(&self->queue);
        pthread_mutex_unlock(&self->lock);
        if (!more) {
            break;
        }
    }
}

static void fail_batch(ics_batch *batch, int status, const char *text)
{
    icestream_error why;
    ics_error_set(&why, status, "%s", text);
    ics_error_keep(&batch->error, &why);
}

static void act_on(script *self, ics_batch *batch)
{
    if (self->act == ACT_BAD_INPUT) {
        fail_batch(batch, ICESTREAM_E_INPUT, "a weight");
    } else if (self->act == ACT_INTERRUPTED) {
        fail_batch(batch, ICESTREAM_E_INTERRUPTED, "interrupted");
    } else if (self->done == self->at + 1) {
        compute_here(self, batch);
        fail_batch(batch, ICESTREAM_E_FAILED, "internal error: the account does not close");
    } else {
        compute_here(self, batch);
        batch->hit_count = 0; /* without an error */
    }
    post(self, batch);
}

static void *run_script(void *argument)
{
    script *self = argument;
    for (ics_batch *batch; (batch = next_batch(self)) != NULL;) {
        if (self->done++ < self->at || self->act == ACT_COMPUTE) {
            compute_here(self, batch);
            post(self, batch);
        } else if (self->act == ACT_LOSE) {
            lose_all(self, batch);
        } else {
            act_on(self, batch);
        }
    }
    return NULL;
}

static void submit_to_script(void *user, ics_batch *batch)
{
    script *self = user;
    atomic_fetch_add(&self->given, 1);
    pthread_mutex_lock(&self->lock);
    const bool lost = self->lost;
    if (!lost) {
        STAILQ_INSERT_TAIL(&self->queue, &batch->job, link);
        pthread_cond_broadcast(&self->changed);
    }
    pthread_mutex_unlock(&self->lock);
    if (lost) {
        fail_batch(batch, ICESTREAM_E_FAILED, "a scripted fault");
        post(self, batch);
    }
}

static void facts_of_script(void *user, ics_device_facts *out)
{
    const script *self = user;
    self->cpu.functions->facts_of(self->cpu.self, out);
}

static void destroy_script(void *user)
{
    script *self = user;
    pthread_mutex_lock(&self->lock);
    self->closing = true;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
    ck_assert_int_eq(pthread_join(self->thread, NULL), 0);
    self->cpu.functions->destroy(self->cpu.self);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    self->made = false;
}

static int make_script(const ics_device_maker *maker, const ics_device_parts *parts,
                       ics_device_backend *out, icestream_error *error)
{
    static const ics_device_functions functions = {
        .destroy = destroy_script, .submit = submit_to_script, .facts_of = facts_of_script};
    script *self = maker->user;
    if (self->create != ICESTREAM_OK) {
        return ics_error_set(error, self->create, "a scripted start");
    }
    self->parts = *parts;
    self->options = *parts->options;
    self->parts.options = &self->options;
    STAILQ_INIT(&self->queue);
    self->made = true;
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->changed, NULL);
    ics_device_parts inner = self->parts;
    inner.finished = (ics_post){.post = keep_computed, .user = self};
    int status = ics_device_cpu_create(&inner, ICS_CPU_PIECES, &self->cpu, error);
    ck_assert_int_eq(status, ICESTREAM_OK);
    ck_assert_int_eq(pthread_create(&self->thread, NULL, run_script, self), 0);
    *out = (ics_device_backend){.functions = &functions,
                                .self = self,
                                .credits = self->credits != 0 ? self->credits : CREDITS};
    return ICESTREAM_OK;
}

static void unblock(script *self)
{
    pthread_mutex_lock(&self->lock);
    self->blocked = false;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

#endif
