/* A GPU as a device (graphs/gpu.h): one thread serves it, others make hits of what it gives.
 *
 * The thread sleeps until there is a batch for the GPU or news from it. When the GPU fails, the
 * batches that were with it either end with an error or are computed by the CPU, from their start:
 * a batch is handed on once, whole.
 */
#include "base/container.h"
#include "base/error.h"
#include "pipeline/devices/device_backend.h"
#include "pipeline/telemetry/progress.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    LANES_ASSUMED = 3,      /* of a GPU that is not made yet, */
    CREDITS_PER_LANE = 3,   /* and what it takes at a time */
    BATCHES_WAITING = 2,    /* for the GPU, so that it never waits for one */
    BATCHES_MAKING_HITS = 6 /* of which a hit-rich one may take longer than the GPU for the next */
};

/* The device's way from hopeful to either end. */
typedef enum gpu_state {
    GPU_STARTS, /* checked or made by its thread */
    GPU_WORKS,
    GPU_FAILED, /* batches end with `failure` */
    GPU_ON_CPU  /* batches go to the CPU */
} gpu_state;

typedef struct gpu_device {
    ics_device_options options;
    ics_device_parts parts; /* with `options` above */
    ics_workers *thread;    /* one, with one job: */
    ics_job life;
    ics_workers *hits;
    void **states; /* [threads], what hit makers get: the models */
    uint32_t threads, credits;

    /* The thread's alone. */
    ics_gpu *gpu;             /* schedule AUTO: NULL until the first batch */
    ics_gpu_options settings; /* asked for, later in force */
    ics_batch **out;          /* [credits], with the GPU */
    uint32_t out_count;
    uint32_t submitted; /* batches, counted where a loss is simulated */

    pthread_mutex_t lock;
    pthread_cond_t changed; /* what follows has */
    gpu_state state;
    bool event; /* for the thread to look after */
    bool closing;
    ics_job_queue queue; /* batches that wait for the GPU */
    icestream_error failure;
    ics_device_facts facts;
    ics_device_backend cpu; /* GPU_ON_CPU */
} gpu_device;

/* ---- hits ------------------------------------------------------------------------------------ */

static void make_hits(ics_job *job, void *thread_state)
{
    ics_batch *batch = (ics_batch *)job;
    double start = ics_progress_seconds();
    ics_device_finish_batch(thread_state, batch, &batch->ended, &batch->arrivals);
    ics_graph_arrivals_free(&batch->arrivals);
    batch->seconds = ics_progress_seconds() - start;
}

/* ---- batches --------------------------------------------------------------------------------- */

static ics_batch *take_waiting(gpu_device *device)
{
    pthread_mutex_lock(&device->lock);
    ics_job *job = ICS_QUEUE_TAKE(&device->queue, link);
    pthread_mutex_unlock(&device->lock);
    return (ics_batch *)job;
}

static void post_failed(gpu_device *device, ics_batch *batch)
{
    ics_error_copy(&batch->error, &device->failure);
    device->parts.finished.post(device->parts.finished.user, &batch->job);
}

static void submit(void *self, ics_batch *batch)
{
    gpu_device *device = self;
    pthread_mutex_lock(&device->lock);
    gpu_state state = device->state;
    if (state == GPU_STARTS || state == GPU_WORKS) {
        STAILQ_INSERT_TAIL(&device->queue, &batch->job, link);
        device->event = true;
        pthread_cond_broadcast(&device->changed);
    }
    pthread_mutex_unlock(&device->lock);
    if (state == GPU_FAILED) { /* for good, and nothing writes to `failure` any more */
        post_failed(device, batch);
    } else if (state == GPU_ON_CPU) {
        device->cpu.functions->submit(device->cpu.self, batch);
    }
}

/* Any thread, also one of CUDA's. */
static void on_event(void *user)
{
    gpu_device *device = user;
    pthread_mutex_lock(&device->lock);
    device->event = true;
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
}

static void facts_of(void *self, ics_device_facts *out)
{
    gpu_device *device = self;
    pthread_mutex_lock(&device->lock);
    *out = device->facts;
    if (device->state == GPU_ON_CPU) {
        device->cpu.functions->facts_of(device->cpu.self, out);
        out->usage = device->facts.usage;
    }
    pthread_mutex_unlock(&device->lock);
}

/* ---- the GPU, on its thread ------------------------------------------------------------------ */

static void set_facts(gpu_device *device)
{
    const ics_gpu_options *settings = &device->settings;
    pthread_mutex_lock(&device->lock);
    ics_device_facts *facts = &device->facts;
    facts->schedule = device->gpu != NULL ? settings->schedule : ICS_SCHEDULE_AUTO;
    facts->pool = device->gpu != NULL ? settings->pool : 0;
    facts->gpu = *settings;
    facts->limits = (ics_batch_limits){.steps = settings->batch_emissions,
                                       .photons = settings->batch_photons,
                                       .most_photons = settings->batch_photons,
                                       .least_photons = settings->batch_photons,
                                       .shares = 1};
    pthread_mutex_unlock(&device->lock);
}

static void set_usage(gpu_device *device)
{
    ics_gpu_usage usage;
    ics_gpu_usage_of(device->gpu, &usage);
    pthread_mutex_lock(&device->lock);
    device->facts.usage = usage;
    pthread_mutex_unlock(&device->lock);
}

/* Takes over what is in force, but for the paths, which are the configuration's. */
static void keep_settings(gpu_device *device, const ics_gpu_options *in_force)
{
    ics_gpu_options settings = *in_force;
    memcpy(settings.custom, device->settings.custom, sizeof settings.custom);
    device->settings = settings;
}

static int make_gpu(gpu_device *device, ics_gpu_error *error)
{
    int result = ics_gpu_create(&device->settings, device->parts.tables, &device->gpu, error);
    if (result != ICS_GRAPH_OK) {
        return result;
    }
    keep_settings(device, ics_gpu_options_of(device->gpu));
    ics_gpu_on_event(device->gpu, on_event, device);
    device->parts.note(device->parts.note_user, true, ics_gpu_warnings(device->gpu));
    set_facts(device);
    return ICS_GRAPH_OK;
}

/* With schedule AUTO the GPU is made when its first batch is there; until then, a plan for one of
 * the candidates says what batches may be like, and finds what no schedule could do. */
static int plan_gpu(gpu_device *device, ics_gpu_error *error)
{
    ics_gpu_options candidate = device->settings;
    candidate.schedule = ICS_SCHEDULE_MONOLITHIC;
    ics_gpu_plan *plan = NULL;
    int result = ics_gpu_plan_create(&candidate, device->parts.tables, 0, &plan, error);
    if (result != ICS_GRAPH_OK) {
        return result;
    }
    device->settings.math = plan->options.math;
    device->settings.batch_emissions = plan->options.batch_emissions;
    device->settings.batch_photons = plan->options.batch_photons;
    ics_gpu_plan_destroy(plan);
    set_facts(device);
    return ICS_GRAPH_OK;
}

static int start_gpu(gpu_device *device, ics_gpu_error *error)
{
    ics_gpu_device about;
    int result = ics_gpu_describe(device->settings.ordinal, &about, error);
    if (result != ICS_GRAPH_OK) {
        return result;
    }
    pthread_mutex_lock(&device->lock);
    snprintf(device->facts.name, sizeof device->facts.name, "%s", about.name);
    pthread_mutex_unlock(&device->lock);
    return device->settings.schedule == ICS_SCHEDULE_AUTO ? plan_gpu(device, error)
                                                          : make_gpu(device, error);
}

static int choose_and_make_gpu(gpu_device *device, const ics_batch *batch, ics_gpu_error *error)
{
    char report[sizeof(((ics_device_notes *)0)->choice)] = "";
    int result = ics_device_choose(device->parts.choices, &device->settings, device->parts.tables,
                                   batch, report, sizeof report, error);
    if (result != ICS_GRAPH_OK) {
        return result;
    }
    device->parts.note(device->parts.note_user, false, report);
    return make_gpu(device, error);
}

static int check_size(const gpu_device *device, const ics_batch *batch, ics_gpu_error *error)
{
    const ics_gpu_options *settings = &device->settings;
    if (batch->count <= settings->batch_emissions && batch->photons <= settings->batch_photons) {
        return ICS_GRAPH_OK;
    }
    snprintf(error->text, sizeof error->text,
             "internal error: a batch of %u steps and %llu photons for a GPU that takes %u and %u",
             batch->count, (unsigned long long)batch->photons, settings->batch_emissions,
             settings->batch_photons);
    return error->status = ICS_GRAPH_UNSUPPORTED;
}

/* For tests on real machines: a GPU that is taken for lost in mid-run. */
static int check_simulation(gpu_device *device, ics_gpu_error *error)
{
    const ics_device_loss *loss = &device->options.simulated;
    if (loss->batches == 0 || loss->ordinal != device->settings.ordinal ||
        ++device->submitted <= loss->batches) {
        return ICS_GRAPH_OK;
    }
    snprintf(error->text, sizeof error->text,
             "GPU %d: taken for lost after %u batches, as the environment variable "
             "ICESTREAM_GPU_FAIL says",
             loss->ordinal, loss->batches);
    return error->status = ICS_GRAPH_FAULT;
}

/* A batch that the GPU did not take is among those that are out, too: it is to be accounted for. */
static int submit_waiting(gpu_device *device, ics_gpu_error *error)
{
    int result = ICS_GRAPH_OK;
    while (result == ICS_GRAPH_OK &&
           (device->gpu == NULL || device->out_count < ics_gpu_credits(device->gpu))) {
        ics_batch *batch = take_waiting(device);
        if (batch == NULL) {
            return ICS_GRAPH_OK;
        }
        device->out[device->out_count++] = batch;
        if (device->gpu == NULL) {
            result = choose_and_make_gpu(device, batch, error);
        }
        if (result == ICS_GRAPH_OK) {
            result = check_simulation(device, error);
        }
        if (result == ICS_GRAPH_OK) {
            result = check_size(device, batch, error);
        }
        if (result == ICS_GRAPH_OK) {
            result = ics_gpu_submit(device->gpu, batch->emissions, batch->count, batch, error);
        }
    }
    return result;
}

static bool take_finished(gpu_device *device)
{
    ics_gpu_result result;
    bool took = false;
    while (ics_gpu_take(device->gpu, &result)) {
        ics_batch *batch = result.tag;
        for (uint32_t i = 0; i < device->out_count; ++i) {
            if (device->out[i] == batch) {
                device->out[i] = device->out[--device->out_count];
                break;
            }
        }
        batch->arrivals = result.arrivals;
        batch->ended = result.account;
        batch->maths =
            device->settings.math == ICS_MATH_PORTABLE ? ICS_MATHS_PORTABLE : ICS_MATHS_FAST;
        batch->job.run = make_hits;
        took = true;
        (void)ics_workers_submit(device->hits,
                                 &batch->job); /* its queue is as long as the credits */
    }
    if (took) {
        set_usage(device);
    }
    return took;
}

/* Does what can be done without waiting. */
static int serve(gpu_device *device, ics_gpu_error *error)
{
    int result = ICS_GRAPH_OK;
    bool again = true;
    while (again && result == ICS_GRAPH_OK) {
        again = false;
        result = submit_waiting(device, error);
        if (result == ICS_GRAPH_OK && device->gpu != NULL) {
            result = ics_gpu_advance(device->gpu, error);
            again = take_finished(device); /* there is room now */
        }
    }
    return result;
}

/* ---- the end of a GPU ------------------------------------------------------------------------ */

static int status_of(int result)
{
    switch (result) {
    case ICS_GRAPH_NO_MEMORY:
        return ICESTREAM_E_MEMORY;
    case ICS_GRAPH_UNSUPPORTED:
        return ICESTREAM_E_CONFIG;
    case ICS_GRAPH_NO_DEVICE:
        return ICESTREAM_E_DEVICE;
    default:
        return ICESTREAM_E_FAILED;
    }
}

static void set_state(gpu_device *device, gpu_state state)
{
    pthread_mutex_lock(&device->lock);
    device->state = state;
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
}

/* From now on nothing is added to the waiting batches; gives all that the device has to `post`. */
static void leave_gpu(gpu_device *device, gpu_state state,
                      void (*post)(gpu_device *device, ics_batch *batch))
{
    set_state(device, state);
    for (uint32_t i = 0; i < device->out_count; ++i) {
        post(device, device->out[i]);
    }
    device->out_count = 0;
    for (ics_batch *batch = take_waiting(device); batch != NULL; batch = take_waiting(device)) {
        post(device, batch);
    }
}

static void post_to_cpu(gpu_device *device, ics_batch *batch)
{
    device->cpu.functions->submit(device->cpu.self, batch);
}

static int fall_back(gpu_device *device, const ics_gpu_error *cause, icestream_error *error)
{
    ics_device_options_for_cpu(&device->options);
    int status =
        ics_device_cpu_create(&device->parts, ICS_CPU_PIECES, device->credits, &device->cpu, error);
    if (status != ICESTREAM_OK) {
        return status;
    }
    bool mixed = device->gpu != NULL && device->settings.math != ICS_MATH_PORTABLE;
    char note[sizeof cause->text + 256];
    snprintf(note, sizeof note,
             "%s\nthe GPU is given up, device.fallback cpu: the work goes on on %u CPU threads%s",
             cause->text, device->threads,
             mixed ? "; only with device.math portable their hits are those of the GPU, bit by bit"
                   : "");
    device->parts.note(device->parts.note_user, true, note);
    leave_gpu(device, GPU_ON_CPU, post_to_cpu);
    return ICESTREAM_OK;
}

/* The GPU has failed: the CPU takes over, or everything that is here and that comes fails. */
static void give_up(gpu_device *device, int result, const ics_gpu_error *cause)
{
    icestream_error problem = {.status = ICESTREAM_OK};
    bool ics_lost = result != ICS_GRAPH_UNSUPPORTED; /* that would fail anywhere */
    bool can_fall_back = device->options.fall_back && ics_lost;
    if (can_fall_back && fall_back(device, cause, &problem) == ICESTREAM_OK) {
        return;
    }
    ics_error_set(&device->failure, status_of(result), "%s", cause->text);
    if (problem.status != ICESTREAM_OK) {
        ics_error_add(&device->failure, problem.status, "device.fallback cpu: %s", problem.text);
    }
    /* Nobody else changes the state. A group sees to it that nothing more comes before anything
     * goes back. */
    if (ics_lost && device->state == GPU_WORKS && device->parts.lost != NULL) {
        device->parts.lost(device->parts.lost_user, &device->failure);
    }
    leave_gpu(device, GPU_FAILED, post_failed);
}

static void interrupt(gpu_device *device)
{
    ics_error_set(&device->failure, ICESTREAM_E_INTERRUPTED, "interrupted");
    leave_gpu(device, GPU_FAILED, post_failed);
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* Sleeps until there is something to do, but with work on the GPU only so long that its watchdog
 * gets its turn and a run that is cancelled does not wait. False: nothing is left to do for good.
 */
static bool await_work(gpu_device *device)
{
    const long pause = 250000000, second = 1000000000; /* ns */
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += pause;
    until.tv_sec += until.tv_nsec / second;
    until.tv_nsec %= second;
    pthread_mutex_lock(&device->lock);
    for (int result = 0; !device->event && result == 0;) {
        result = device->out_count > 0
                     ? pthread_cond_timedwait(&device->changed, &device->lock, &until)
                     : pthread_cond_wait(&device->changed, &device->lock);
    }
    device->event = false;
    bool more = !device->closing || !STAILQ_EMPTY(&device->queue) || device->out_count > 0;
    pthread_mutex_unlock(&device->lock);
    return more;
}

static bool is_cancelled(const gpu_device *device)
{
    return device->options.cancel != NULL && atomic_load(device->options.cancel);
}

/* What the thread does from its start to its end. */
static void run_gpu(ics_job *job, void *thread_state)
{
    (void)thread_state;
    gpu_device *device = ICS_CONTAINER_OF(job, gpu_device, life);
    ics_gpu_error error = {.status = ICS_GRAPH_OK};
    int result = start_gpu(device, &error);
    if (result == ICS_GRAPH_OK) {
        set_state(device, GPU_WORKS);
    }
    while (result == ICS_GRAPH_OK && await_work(device)) {
        if (is_cancelled(device)) {
            interrupt(device);
            break;
        }
        result = serve(device, &error);
    }
    if (result != ICS_GRAPH_OK) {
        give_up(device, result, &error);
    }
    ics_gpu_destroy(device->gpu);
}

static void life_is_over(void *user, ics_job *job)
{
    (void)user;
    (void)job;
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
    if (device->cpu.functions != NULL) {
        device->cpu.functions->destroy(device->cpu.self);
    }
    pthread_cond_destroy(&device->changed);
    pthread_mutex_destroy(&device->lock);
    free(device->out);
    free(device->states);
    free(device);
}

/* The thread starts the GPU: what belongs to one thread of CUDA's stays with it. */
static int start_threads(gpu_device *device, icestream_error *error)
{
    const ics_post nowhere = {.post = life_is_over};
    int status = ics_workers_create("hits", device->threads, device->credits, device->states,
                                    device->parts.finished, &device->hits, error);
    if (status == ICESTREAM_OK) {
        status = ics_workers_create("gpu", 1, 1, NULL, nowhere, &device->thread, error);
    }
    if (status != ICESTREAM_OK) {
        return status;
    }
    device->life.run = run_gpu;
    (void)ics_workers_submit(device->thread, &device->life); /* the first job of an empty queue */
    pthread_mutex_lock(&device->lock);
    while (device->state == GPU_STARTS) {
        pthread_cond_wait(&device->changed, &device->lock);
    }
    bool failed = device->state == GPU_FAILED;
    pthread_mutex_unlock(&device->lock);
    return failed ? ics_error_copy(error, &device->failure) : ICESTREAM_OK;
}

static void ask_for_settings(gpu_device *device)
{
    const ics_device_options *options = &device->options;
    device->settings = options->gpu;
    device->settings.schedule = options->schedule;
    device->settings.pool = options->pool;
    device->settings.variants = options->variants;
    memcpy(device->settings.custom, options->custom, sizeof options->custom);
}

static void init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
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
    device->threads = ics_device_host_threads(parts->options);
    device->facts.is_gpu = true;
    device->facts.threads = device->threads;
    STAILQ_INIT(&device->queue);
    pthread_mutex_init(&device->lock, NULL);
    init_condition(&device->changed);
    ask_for_settings(device);
    uint32_t lanes = device->settings.lanes != 0 ? device->settings.lanes : LANES_ASSUMED;
    device->credits = lanes * CREDITS_PER_LANE + BATCHES_WAITING + BATCHES_MAKING_HITS;
    device->out = calloc(device->credits, sizeof(ics_batch *));
    device->states = calloc(device->threads, sizeof *device->states);
    int status = ICESTREAM_OK;
    if (device->out == NULL || device->states == NULL) {
        status = ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a device");
    } else {
        for (uint32_t i = 0; i < device->threads; ++i) {
            device->states[i] = &device->parts.models;
        }
        status = start_threads(device, error);
    }
    if (status != ICESTREAM_OK) {
        destroy(device);
        return status;
    }
    *out =
        (ics_device_backend){.functions = &functions, .self = device, .credits = device->credits};
    return ICESTREAM_OK;
}
