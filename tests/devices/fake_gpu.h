/* A fake GPU: the functions of graphs/gpu.h for tests on machines without a GPU.
 *
 * A test program that includes this file gets these functions instead of those of the library. They
 * compute photons with graphs of the CPU, on threads that finish in any order, and fail where a
 * test asks for it. How to use it: call reset_fake(), set members of `fake`, run, then check the
 * counters of `fake`; `fake.wrong` must be 0. If graphs/gpu.h gets a function that
 * pipeline/photons/devices calls, add a fake one here. Functions of tables are in fake_gpu_table.h.
 */
#ifndef FAKE_GPU_H
#define FAKE_GPU_H

#include "graphs/gpu.h"
#include "kernels/cuda/hit_sum_of.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Many functions have parameters that a fake GPU does not need. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

enum { NEVER = 1 << 30, FAKE_THREADS = 2, FAKE_CREDITS = 4, FAKE_GPUS = 8 };

/* What the fake GPUs do, and counters of what was done with them. */
static struct {
    int count;
    int create_result, choose_result, trial_result;
    int trial_after;                 /* batches after which a trial is due; 0: never */
    int submit_fault, advance_fault; /* number of good calls of a GPU before the first that fails */
    int fault;                       /* the status of the call that fails */
    bool stuck;                      /* no batch is ever finished */
    uint32_t batch_emissions, batch_photons;

    atomic_int planned; /* plans, which compile kernels */
    atomic_int created, destroyed, chosen, submitted, taken, trials;
    atomic_int taken_of[FAKE_GPUS];
    atomic_int sums;   /* hits that became sums */
    atomic_int failed; /* calls that failed */
    atomic_int wrong;  /* calls that graphs/gpu.h does not allow */
} fake;

static void reset_fake(void)
{
    memset(&fake, 0, sizeof fake);
    fake.count = 1;
    fake.submit_fault = fake.advance_fault = NEVER;
    fake.fault = ICESTREAM_E_FAILED;
    fake.batch_emissions = 1000;
    fake.batch_photons = 2000;
}

/* The calls at which GPUs fail. */
typedef struct fake_failure {
    int create, choose;  /* statuses of these calls */
    int submit, advance; /* number of good calls before the first one that fails; NEVER */
    int fault;           /* the status of that call */
} fake_failure;

static inline void fail_fake(const fake_failure *at)
{
    fake.create_result = at->create;
    fake.choose_result = at->choose;
    fake.submit_fault = at->submit;
    fake.advance_fault = at->advance;
    fake.fault = at->fault;
}

typedef struct fake_batch {
    struct fake_batch *next;
    ice_emission *emissions;
    ics_hit_sum_step *steps; /* NULL: the batch gets hits */
    uint32_t count;
    ics_gpu_result result;
} fake_batch;

struct ics_gpu {
    ics_gpu_options options;
    const ics_tables *tables;
    int submitted, advanced, out;
    bool broken;
    pthread_t owner;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool closing;
    fake_batch *waiting, *done; /* stacks, so that the order changes */
    void (*event)(void *user);
    void *event_user;
    pthread_t threads[FAKE_THREADS];
};

static int fail_with(icestream_error *error, int status, const char *text)
{
    atomic_fetch_add(&fake.failed, 1);
    if (error != NULL) {
        error->status = status;
        snprintf(error->text, sizeof error->text, "fake GPU 0: %s", text);
    }
    return status;
}

static void check_owner(const ics_gpu *gpu)
{
    atomic_fetch_add(&fake.wrong, !pthread_equal(gpu->owner, pthread_self()));
}

/* Replaces every second arrival of a batch by its sum: a GPU sends both, too. */
static void make_sums(const ics_gpu *gpu, fake_batch *batch)
{
    ics_arrivals *arrivals = &batch->result.arrivals;
    ics_hit_sums *sums = &batch->result.sums;
    size_t kept = 0;
    sums->items = malloc((arrivals->count + 1) * sizeof *sums->items);
    ck_assert_ptr_nonnull(sums->items);
    for (size_t i = 0; i < arrivals->count; ++i) {
        const ice_arrival arrival = arrivals->items[i];
        const uint32_t at = arrival.emission;
        if (i % 2 == 0 &&
            ics_hit_sum_of(&gpu->tables->device, gpu->options.sums, &batch->steps[at],
                           &batch->emissions[at], &arrival, &sums->items[sums->count])) {
            ++sums->count;
        } else {
            arrivals->items[kept++] = arrival;
        }
    }
    arrivals->count = kept;
    atomic_fetch_add(&fake.sums, (int)sums->count);
}

static void compute(ics_gpu *gpu, fake_batch *batch)
{
    const ics_graph_options options = {
        .variants = gpu->options.variants, .pool = 1024, .instruction_set = "auto"};
    ics_graph *graph = NULL;
    int result = ics_graph_create(&options, gpu->tables, &graph, NULL);
    if (result == ICESTREAM_OK) {
        result = ics_graph_run(graph, batch->emissions, batch->count, &batch->result.arrivals,
                               &batch->result.account);
    }
    atomic_fetch_add(&fake.wrong, result != ICESTREAM_OK);
    ics_graph_destroy(graph);
    if (batch->steps != NULL) {
        make_sums(gpu, batch);
    }
}

static void *run_fake(void *argument)
{
    ics_gpu *gpu = argument;
    pthread_mutex_lock(&gpu->lock);
    for (;;) {
        while (!gpu->closing && (gpu->waiting == NULL || fake.stuck)) {
            pthread_cond_wait(&gpu->changed, &gpu->lock);
        }
        if (gpu->closing) {
            break;
        }
        fake_batch *batch = gpu->waiting;
        gpu->waiting = batch->next;
        pthread_mutex_unlock(&gpu->lock);
        compute(gpu, batch);
        usleep(batch->count % 7 * 300); /* so that the order changes */
        pthread_mutex_lock(&gpu->lock);
        batch->next = gpu->done;
        gpu->done = batch;
        pthread_mutex_unlock(&gpu->lock);
        gpu->event(gpu->event_user);
        pthread_mutex_lock(&gpu->lock);
    }
    pthread_mutex_unlock(&gpu->lock);
    return NULL;
}

int ics_gpu_count(icestream_error *error)
{
    if (fake.count == 0) {
        fail_with(error, ICESTREAM_E_DEVICE, "cudaGetDeviceCount: the driver is too old");
    }
    return fake.count;
}

int ics_gpu_describe(int ordinal, ics_gpu_device *out, icestream_error *error)
{
    if (ordinal >= fake.count) {
        return fail_with(error, ICESTREAM_E_DEVICE, "device.index: there is no such GPU");
    }
    *out = (ics_gpu_device){.name = "fake GPU", .architecture = 90};
    return ICESTREAM_OK;
}

/* The options that a GPU uses: what is left open is chosen. */
static ics_gpu_options in_force(const ics_gpu_options *options)
{
    ics_gpu_options settings = *options;
    settings.math = settings.math == ICS_MATH_AUTO ? ICS_MATH_FAST : settings.math;
    settings.pool = settings.pool != 0 ? settings.pool : 4096;
    settings.lanes = 2;
    if (settings.batch_emissions == 0) {
        settings.batch_emissions = fake.batch_emissions;
    }
    if (settings.batch_photons == 0) {
        settings.batch_photons = fake.batch_photons;
    }
    return settings;
}

int ics_gpu_create(const ics_gpu_options *options, const ics_tables *tables, ics_gpu **out,
                   icestream_error *error)
{
    *out = NULL;
    atomic_fetch_add(&fake.created, 1);
    if (fake.create_result != ICESTREAM_OK) {
        return fail_with(error, fake.create_result, "cudaMalloc: there is too little memory");
    }
    ics_gpu *gpu = calloc(1, sizeof *gpu);
    ck_assert_ptr_nonnull(gpu);
    gpu->options = in_force(options);
    gpu->tables = tables;
    gpu->owner = pthread_self();
    atomic_fetch_add(&fake.wrong, gpu->options.schedule == ICS_SCHEDULE_AUTO);
    pthread_mutex_init(&gpu->lock, NULL);
    pthread_cond_init(&gpu->changed, NULL);
    for (int i = 0; i < FAKE_THREADS; ++i) {
        ck_assert_int_eq(pthread_create(&gpu->threads[i], NULL, run_fake, gpu), 0);
    }
    *out = gpu;
    return ICESTREAM_OK;
}

static void free_batches(fake_batch *batch)
{
    while (batch != NULL) {
        fake_batch *next = batch->next;
        ics_graph_arrivals_free(&batch->result.arrivals);
        free(batch->result.sums.items);
        free(batch->result.large_cells);
        free(batch->emissions);
        free(batch->steps);
        free(batch);
        batch = next;
    }
}

void ics_gpu_destroy(ics_gpu *gpu)
{
    if (gpu == NULL) {
        return;
    }
    check_owner(gpu);
    pthread_mutex_lock(&gpu->lock);
    gpu->closing = true;
    pthread_cond_broadcast(&gpu->changed);
    pthread_mutex_unlock(&gpu->lock);
    for (int i = 0; i < FAKE_THREADS; ++i) {
        pthread_join(gpu->threads[i], NULL);
    }
    free_batches(gpu->waiting);
    free_batches(gpu->done);
    pthread_cond_destroy(&gpu->changed);
    pthread_mutex_destroy(&gpu->lock);
    free(gpu);
    atomic_fetch_add(&fake.destroyed, 1);
}

const char *ics_gpu_warnings(const ics_gpu *gpu)
{
    return gpu->options.pool == 16 ? "GPU 0: a pool of 16 is small" : "";
}

const ics_gpu_options *ics_gpu_options_of(const ics_gpu *gpu)
{
    return &gpu->options;
}

ics_kernels ics_gpu_kernels_of(const ics_gpu *gpu)
{
    const bool fast = gpu->options.math == ICS_MATH_FAST;
    return fast ? ics_kernels_of("Fake GPU", 90, "nvrtc 13.0", false) : (ics_kernels){.code = 0};
}

void ics_gpu_on_event(ics_gpu *gpu, void (*event)(void *user), void *user)
{
    gpu->event = event;
    gpu->event_user = user;
}

uint32_t ics_gpu_credits(const ics_gpu *gpu)
{
    return FAKE_CREDITS;
}

int ics_gpu_submit(ics_gpu *gpu, const ice_emission *emissions, const ics_hit_sum_step *steps,
                   uint32_t count, void *tag, icestream_error *error)
{
    check_owner(gpu);
    if (gpu->submitted++ >= fake.submit_fault || gpu->broken) {
        gpu->broken = true;
        return fail_with(error, fake.fault, "cudaMemcpyAsync: an illegal memory access");
    }
    uint64_t photons = 0;
    for (uint32_t i = 0; i < count; ++i) {
        photons += emissions[i].photons;
        atomic_fetch_add(&fake.wrong, emissions[i].photons == 0);
        atomic_fetch_add(&fake.wrong, (emissions[i].flags & ICE_EMISSION_PROFILE) != 0 &&
                                          !gpu->options.light_profiles);
    }
    bool allowed = count > 0 && count <= gpu->options.batch_emissions &&
                   photons <= gpu->options.batch_photons && gpu->out < FAKE_CREDITS;
    atomic_fetch_add(&fake.wrong, !allowed);
    fake_batch *batch = calloc(1, sizeof *batch);
    ck_assert_ptr_nonnull(batch);
    batch->emissions = malloc(count * sizeof *emissions);
    ck_assert_ptr_nonnull(batch->emissions);
    memcpy(batch->emissions, emissions, count * sizeof *emissions);
    if (steps != NULL && gpu->options.sums != NULL) {
        batch->steps = malloc(count * sizeof *steps);
        ck_assert_ptr_nonnull(batch->steps);
        memcpy(batch->steps, steps, count * sizeof *steps);
    }
    batch->count = count;
    batch->result.tag = tag;
    gpu->out++;
    atomic_fetch_add(&fake.submitted, 1);
    pthread_mutex_lock(&gpu->lock);
    batch->next = gpu->waiting;
    gpu->waiting = batch;
    pthread_cond_signal(&gpu->changed);
    pthread_mutex_unlock(&gpu->lock);
    return ICESTREAM_OK;
}

int ics_gpu_advance(ics_gpu *gpu, icestream_error *error)
{
    check_owner(gpu);
    if (gpu->advanced++ >= fake.advance_fault || gpu->broken) {
        gpu->broken = true;
        return fail_with(error, fake.fault, "cudaGraphLaunch: the device is lost");
    }
    return ICESTREAM_OK;
}

bool ics_gpu_take(ics_gpu *gpu, ics_gpu_result *out)
{
    check_owner(gpu);
    pthread_mutex_lock(&gpu->lock);
    fake_batch *batch = gpu->broken ? NULL : gpu->done;
    if (batch != NULL) {
        gpu->done = batch->next;
    }
    pthread_mutex_unlock(&gpu->lock);
    if (batch == NULL) {
        return false;
    }
    *out = batch->result;
    gpu->out--;
    atomic_fetch_add(&fake.taken, 1);
    atomic_fetch_add(&fake.taken_of[gpu->options.ordinal], 1);
    free(batch->emissions);
    free(batch->steps);
    free(batch);
    return true;
}

void ics_gpu_wait(ics_gpu *gpu, double seconds)
{
    usleep((useconds_t)(1e6 * seconds));
}

void ics_gpu_usage_of(ics_gpu *gpu, ics_gpu_usage *out)
{
    check_owner(gpu);
    *out = (ics_gpu_usage){.seconds = 0.5, .launches = 3, .waves = 77, .device_bytes = 1 << 20};
}

int ics_gpu_plan_create(const ics_gpu_options *options, const ics_tables *tables, int architecture,
                        ics_gpu_plan **out, icestream_error *error)
{
    atomic_fetch_add(&fake.planned, 1);
    *out = calloc(1, sizeof **out);
    ck_assert_ptr_nonnull(*out);
    (*out)->options = in_force(options);
    return ICESTREAM_OK;
}

int ics_gpu_plan_check(ics_gpu_options *options, const ics_tables *tables, icestream_error *error)
{
    *options = in_force(options);
    return ICESTREAM_OK;
}

void ics_gpu_plan_destroy(ics_gpu_plan *plan)
{
    free(plan);
}

int ics_gpu_choose(ics_gpu_options *options, const ics_tables *tables,
                   const ice_emission *emissions, uint32_t count, char *report, size_t report_size,
                   icestream_error *error)
{
    atomic_fetch_add(&fake.chosen, 1);
    atomic_fetch_add(&fake.wrong, count == 0 || emissions[0].photons == 0);
    if (fake.choose_result != ICESTREAM_OK) {
        return fail_with(error, fake.choose_result, "cudaGraphInstantiate: a launch failure");
    }
    snprintf(report, report_size,
             "auto: event-wavefront 0.5 ns per photon\nauto: monolithic 0.4\n");
    options->schedule = ICS_SCHEDULE_MONOLITHIC;
    return ICESTREAM_OK;
}

void ics_gpu_wake(int ordinal)
{
    atomic_fetch_add(&fake.wrong, ordinal < 0 || ordinal >= fake.count);
}

/* ---- trials of schedules --------------------------------------------------------------------- */

/* The first trial is due after fake.trial_after batches, and event-wavefront is faster then. */

bool ics_gpu_suits(const ics_gpu_options *options, const ice_emission *emissions, uint32_t count)
{
    return true;
}

struct ics_gpu_trials {
    ics_gpu_options given;
    double seconds;
    bool done;
};

int ics_gpu_trials_create(const ics_gpu_options *options, const ics_tables *tables,
                          ics_gpu_trials **out, icestream_error *error)
{
    *out = calloc(1, sizeof **out);
    ck_assert_ptr_nonnull(*out);
    (*out)->given = *options;
    atomic_fetch_add(&fake.wrong, options->schedule != ICS_SCHEDULE_AUTO);
    return ICESTREAM_OK;
}

void ics_gpu_trials_destroy(ics_gpu_trials *trials)
{
    free(trials);
}

bool ics_gpu_trials_due(ics_gpu_trials *trials, double computed, const ice_emission *emissions,
                        uint32_t count)
{
    atomic_fetch_add(&fake.wrong, count == 0 || emissions[0].photons == 0 || computed < 0);
    return fake.trial_after > 0 && !trials->done &&
           atomic_load(&fake.submitted) >= fake.trial_after;
}

int ics_gpu_trials_run(ics_gpu_trials *trials, const ice_emission *emissions, uint32_t count,
                       uint64_t bytes_in_use, ics_gpu_options *options,
                       char report[ICS_GPU_REPORT_SIZE], icestream_error *error)
{
    /* No graph computes during a trial. */
    atomic_fetch_add(&fake.wrong, atomic_load(&fake.taken) != atomic_load(&fake.submitted));
    atomic_fetch_add(&fake.wrong, count == 0 || emissions[0].photons == 0 || bytes_in_use == 0);
    atomic_fetch_add(&fake.trials, 1);
    if (fake.trial_result != ICESTREAM_OK) {
        return fail_with(error, fake.trial_result, "cudaMemcpyAsync: a launch failure");
    }
    trials->done = true;
    trials->seconds += 0.25;
    *options = trials->given;
    options->schedule = ICS_SCHEDULE_EVENT_WAVEFRONT;
    snprintf(report, ICS_GPU_REPORT_SIZE, "event-wavefront: 0.3 ns per photon in a trial\n");
    return ICESTREAM_OK;
}

void ics_gpu_trials_spend(ics_gpu_trials *trials, double seconds)
{
    atomic_fetch_add(&fake.wrong, !(seconds >= 0));
}

double ics_gpu_trials_seconds(const ics_gpu_trials *trials)
{
    return trials->seconds;
}

#include "tests/devices/fake_gpu_table.h"

#endif
