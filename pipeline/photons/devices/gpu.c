/* A GPU as a member of a group: one thread serves the GPU, other threads make hits of what it
 * returns.
 *
 * The serving thread sleeps until there is a batch for the GPU or the GPU needs attention. If the
 * GPU fails, the device reports that it is lost and returns all its batches with the error. A batch
 * is returned whole or not at all, so that it can be computed again from the start.
 */
#include "base/clock.h"
#include "pipeline/photons/devices/gpu_work.h"

#include <pthread.h>
#include <stdlib.h>

/* The credits of a GPU: batches that it holds at a time. */
enum {
    LANES_ASSUMED = 3,      /* if the configuration does not set the number of lanes */
    CREDITS_PER_LANE = 3,   /* batches with the GPU */
    BATCHES_WAITING = 2,    /* so that the GPU does not have to wait for a batch */
    BATCHES_MAKING_HITS = 6 /* with many hits this may take longer than the GPU's next batch */
};

typedef enum gpu_state { GPU_STARTS, GPU_WORKS, GPU_FAILED } gpu_state;

typedef struct gpu_device {
    ics_device_options options;
    ics_device_parts parts;   /* parts of `options` above */
    ics_workers *thread;      /* the serving thread */
    ics_job serving;          /* its only job */
    ics_device_gpu_work work; /* work that only the serving thread uses */
    ics_workers *hits;        /* threads that make hits */
    void **states;            /* [threads], all point to parts.models */
    uint32_t threads, credits;

    pthread_mutex_t lock; /* protects what follows */
    pthread_cond_t changed;
    gpu_state state;
    bool event; /* the serving thread has something to do */
    bool closing;
    ics_job_queue queue;    /* batches that wait for the GPU */
    ics_error_kept failure; /* GPU_FAILED: the error of all batches; does not change any more */
    ics_device_facts facts;
} gpu_device;

/* ---- batches --------------------------------------------------------------------------------- */

static void make_hits(ics_job *job, void *thread_state)
{
    ics_batch *batch = ics_batch_of_job(job);
    double start = ics_clock_seconds();
    ics_batch_finish(batch, thread_state, &batch->ended, &batch->arrivals);
    ics_graph_arrivals_free(&batch->arrivals);
    free(batch->sums.items);
    batch->sums = (ics_hit_sums){0};
    batch->seconds = ics_clock_seconds() - start;
}

static ics_batch *take_waiting(gpu_device *device)
{
    pthread_mutex_lock(&device->lock);
    ics_job *job = ICS_QUEUE_TAKE(&device->queue, link);
    pthread_mutex_unlock(&device->lock);
    return ics_batch_of_job(job);
}

static void post_failed(gpu_device *device, ics_batch *batch)
{
    ics_batch_fail(batch, &device->failure);
    device->parts.finished.post(device->parts.finished.user, &batch->job);
}

static void submit(void *self, ics_batch *batch)
{
    gpu_device *device = self;
    pthread_mutex_lock(&device->lock);
    const bool failed = device->state == GPU_FAILED;
    if (!failed) {
        STAILQ_INSERT_TAIL(&device->queue, &batch->job, link);
        device->event = true;
        pthread_cond_broadcast(&device->changed);
    }
    pthread_mutex_unlock(&device->lock);
    if (failed) {
        post_failed(device, batch);
    }
}

/* The GPU needs its thread. Called from any thread, also by threads of CUDA. */
static void on_event(void *user)
{
    gpu_device *device = user;
    pthread_mutex_lock(&device->lock);
    device->event = true;
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
}

/* ---- facts ----------------------------------------------------------------------------------- */

static void facts_of(void *self, ics_device_facts *out)
{
    gpu_device *device = self;
    pthread_mutex_lock(&device->lock);
    *out = device->facts;
    pthread_mutex_unlock(&device->lock);
}

/* On the serving thread. */
static void update_facts(gpu_device *device)
{
    ics_device_facts facts = {.threads = device->threads};
    ics_device_gpu_work_facts(&device->work, &facts);
    pthread_mutex_lock(&device->lock);
    device->facts = facts;
    pthread_mutex_unlock(&device->lock);
}

/* ---- the serving thread ---------------------------------------------------------------------- */

/* Gives the threads that make hits all batches that the GPU has computed. Returns whether there was
 * one. */
static bool collect_batches(gpu_device *device)
{
    bool found = false;
    for (ics_batch *batch; (batch = ics_device_gpu_work_take(&device->work)) != NULL;) {
        batch->job.run = make_hits;
        (void)ics_workers_submit(device->hits,
                                 &batch->job); /* the queue has room for all credits */
        found = true;
    }
    return found;
}

/* Does all that can be done without waiting. */
static int serve(gpu_device *device, icestream_error *error)
{
    ics_device_gpu_work *work = &device->work;
    int result = ICESTREAM_OK;
    bool again = true;
    while (again && result == ICESTREAM_OK) {
        const bool was_made = work->gpu != NULL;
        ics_batch *batch;
        while (result == ICESTREAM_OK && ics_device_gpu_work_has_room(work) &&
               (batch = take_waiting(device)) != NULL) {
            result = ics_device_gpu_work_submit(work, batch, error);
        }
        again = false;
        if (result == ICESTREAM_OK) {
            result = ics_device_gpu_work_release(work, error);
        }
        if (result == ICESTREAM_OK && work->gpu != NULL) {
            result = ics_gpu_advance(work->gpu, error);
            again = collect_batches(device); /* then the GPU has room again */
        }
        if (again || (work->gpu != NULL) != was_made) {
            update_facts(device);
        }
    }
    return result;
}

static void set_state(gpu_device *device, gpu_state state)
{
    pthread_mutex_lock(&device->lock);
    device->state = state;
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
}

/* Ends the work for good: all batches are returned with device->failure, now and later. */
static void fail_batches(gpu_device *device)
{
    ics_device_gpu_work *work = &device->work;
    set_state(device, GPU_FAILED); /* after this nothing is added to the queue */
    while (work->count > 0) {
        post_failed(device, work->batches[--work->count]);
    }
    for (ics_batch *batch; (batch = take_waiting(device)) != NULL;) {
        post_failed(device, batch);
    }
}

/* The GPU has failed. What is not supported would fail on every device, so the GPU is not lost
 * then. The group is notified of a loss before it gets batches back, so that it sends no more; a
 * GPU that could not start is reported by ics_device_gpu_create. */
static void give_up(gpu_device *device, const icestream_error *cause)
{
    ics_error_keep(&device->failure, cause);
    if (cause->status != ICESTREAM_E_CONFIG && device->state == GPU_WORKS) {
        device->parts.lost(device->parts.lost_user, cause);
    }
    fail_batches(device);
}

static void interrupt(gpu_device *device)
{
    const icestream_error why = {.status = ICESTREAM_E_INTERRUPTED, .text = "interrupted"};
    ics_error_keep(&device->failure, &why);
    fail_batches(device);
}

/* Sleeps until there is something to do. While the GPU has batches it sleeps at most 0.25 s, so
 * that its watchdog is checked and a cancelled run does not wait. Returns false if the device is
 * closing and nothing is left to do. */
static bool await_work(gpu_device *device)
{
    const struct timespec until = ics_clock_deadline(0.25);
    const bool busy = device->work.count > 0;
    pthread_mutex_lock(&device->lock);
    for (int result = 0; !device->event && result == 0;) {
        result = busy ? pthread_cond_timedwait(&device->changed, &device->lock, &until)
                      : pthread_cond_wait(&device->changed, &device->lock);
    }
    device->event = false;
    const bool more = !device->closing || !STAILQ_EMPTY(&device->queue) || busy;
    pthread_mutex_unlock(&device->lock);
    return more;
}

static bool is_cancelled(const gpu_device *device)
{
    return device->options.cancel != NULL && atomic_load(device->options.cancel);
}

/* The job of the serving thread, from its start to its end. */
static void serve_gpu(ics_job *job, void *thread_state)
{
    (void)thread_state;
    gpu_device *device = ICS_CONTAINER_OF(job, gpu_device, serving);
    icestream_error error = {.status = ICESTREAM_OK};
    int result = ics_device_gpu_work_start(&device->work, &error);
    if (result == ICESTREAM_OK) {
        update_facts(device);
        set_state(device, GPU_WORKS);
    }
    while (result == ICESTREAM_OK && await_work(device)) {
        if (is_cancelled(device)) {
            interrupt(device);
            break;
        }
        result = serve(device, &error);
    }
    if (result != ICESTREAM_OK) {
        give_up(device, &error);
    }
    ics_device_gpu_work_end(&device->work);
}

/* ---- creation -------------------------------------------------------------------------------- */

static void destroy(void *self)
{
    gpu_device *device = self;
    pthread_mutex_lock(&device->lock);
    device->closing = device->event = true;
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
    ics_workers_destroy(device->thread);
    ics_workers_destroy(device->hits);
    ics_error_forget(&device->failure);
    pthread_cond_destroy(&device->changed);
    pthread_mutex_destroy(&device->lock);
    free(device->work.batches);
    free(device->work.steps);
    free(device->states);
    free(device);
}

/* The serving thread starts the GPU itself, because some of CUDA's state belongs to one thread.
 * This waits until the GPU has started or failed. */
static int start_threads(gpu_device *device, icestream_error *error)
{
    ICS_TRY(ics_workers_create("hits", device->threads, device->credits, device->states,
                               device->parts.finished, &device->hits, error));
    ICS_TRY(ics_workers_create("gpu", 1, 1, NULL, (ics_post){0}, &device->thread, error));
    device->serving.run = serve_gpu;
    (void)ics_workers_submit(device->thread, &device->serving); /* the queue is empty */
    pthread_mutex_lock(&device->lock);
    while (device->state == GPU_STARTS) {
        pthread_cond_wait(&device->changed, &device->lock);
    }
    const bool failed = device->state == GPU_FAILED;
    pthread_mutex_unlock(&device->lock);
    return failed ? ics_error_copy_kept(error, &device->failure) : ICESTREAM_OK;
}

static void init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

static int start(gpu_device *device, icestream_error *error)
{
    const uint32_t lanes = device->options.graph.lanes;
    device->credits = (lanes != 0 ? lanes : LANES_ASSUMED) * CREDITS_PER_LANE + BATCHES_WAITING +
                      BATCHES_MAKING_HITS;
    device->threads = ics_workers_thread_count(device->options.threads);
    device->states = calloc(device->threads, sizeof *device->states);
    device->work = (ics_device_gpu_work){.parts = &device->parts,
                                         .settings = device->options.graph,
                                         .batches = calloc(device->credits, sizeof(ics_batch *)),
                                         .event = on_event,
                                         .event_user = device};
    if (device->work.batches == NULL || device->states == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a device");
    }
    for (uint32_t i = 0; i < device->threads; ++i) {
        device->states[i] = &device->parts.models;
    }
    return start_threads(device, error);
}

int ics_device_gpu_create(const ics_device_parts *parts, ics_device_backend *out,
                          icestream_error *error)
{
    static const ics_device_functions functions = {
        .destroy = destroy, .submit = submit, .facts_of = facts_of};
    gpu_device *device = calloc(1, sizeof *device);
    if (device == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a device");
    }
    device->options = *parts->options;
    device->parts = *parts;
    device->parts.options = &device->options;
    STAILQ_INIT(&device->queue);
    pthread_mutex_init(&device->lock, NULL);
    init_condition(&device->changed);
    const int status = start(device, error);
    if (status != ICESTREAM_OK) {
        destroy(device);
        return status;
    }
    *out =
        (ics_device_backend){.functions = &functions, .self = device, .credits = device->credits};
    return ICESTREAM_OK;
}
