/* The CPU as a device: threads with a graph each. */
#include "pipeline/error.h"
#include "pipeline/host/device_backend.h"
#include "pipeline/host/progress.h"

#include <stdlib.h>
#include <string.h>

/* Photons per batch of a small file at least: a pool's slots are refilled often enough to stay
 * full. And batches of a file per thread, for an even load at its end. */
enum { LEAST_BATCH_PHOTONS = 1 << 14, BATCHES_PER_THREAD = 8 };

/* What one compute thread works with. */
typedef struct compute_thread {
    is_graph *graph;
    is_arrivals arrivals; /* kept from batch to batch for its memory */
    const is_hit_models *models;
} compute_thread;

typedef struct cpu_device {
    is_hit_models models;
    is_workers *workers;
    uint32_t threads;
    compute_thread *compute; /* [threads] */
    void **states;           /* [threads], pointers to them */
} cpu_device;

static void compute_batch(is_job *job, void *thread_state)
{
    is_batch *batch = (is_batch *)job;
    compute_thread *thread = thread_state;
    double start = is_seconds();
    ice_account account = {0};
    thread->arrivals.count = 0;
    int result =
        is_graph_run(thread->graph, batch->emissions, batch->count, &thread->arrivals, &account);
    switch (result) {
    case IS_GRAPH_OK:
        batch->maths = IS_MATHS_PORTABLE;
        is_device_finish_batch(thread->models, batch, &account, &thread->arrivals);
        break;
    case IS_GRAPH_CANCELLED:
        is_error_set(&batch->error, IS_E_INTERRUPTED, "interrupted");
        break;
    default:
        is_error_set(&batch->error, IS_E_MEMORY, "out of memory while computing %u steps",
                     batch->count);
    }
    batch->seconds = is_seconds() - start;
}

static void destroy(void *self)
{
    cpu_device *cpu = self;
    if (cpu == NULL) {
        return;
    }
    is_workers_destroy(cpu->workers);
    for (uint32_t i = 0; cpu->compute != NULL && i < cpu->threads; ++i) {
        is_graph_destroy(cpu->compute[i].graph);
        is_arrivals_free(&cpu->compute[i].arrivals);
    }
    free(cpu->compute);
    free(cpu->states);
    free(cpu);
}

static void submit(void *self, is_batch *batch)
{
    cpu_device *cpu = self;
    batch->job.run = compute_batch;
    (void)is_workers_submit(cpu->workers, &batch->job); /* the queue is as long as the credits */
}

static void facts_of(void *self, is_device_facts *out)
{
    const cpu_device *cpu = self;
    const is_graph *graph = cpu->compute[0].graph;
    *out = (is_device_facts){.name = "cpu",
                             .schedule = is_graph_schedule(graph),
                             .threads = cpu->threads,
                             .pool = is_graph_pool(graph),
                             .limits = is_batch_limits_default()};
    out->limits.least_photons = LEAST_BATCH_PHOTONS;
    out->limits.shares = cpu->threads * BATCHES_PER_THREAD;
    snprintf(out->instruction_set, sizeof out->instruction_set, "%s",
             is_graph_instruction_set(graph));
}

static int create_graphs(cpu_device *cpu, const is_device_parts *parts, is_error *error)
{
    const is_device_options *options = parts->options;
    is_graph_options graph = {.schedule = options->schedule,
                              .variants = options->variants,
                              .pool = options->pool,
                              .instruction_set = options->instruction_set,
                              .cancel = options->cancel};
    memcpy(graph.custom, options->custom, sizeof graph.custom);
    for (uint32_t i = 0; i < cpu->threads; ++i) {
        char why[4096] = ""; /* what a compiler says about a user's header */
        int result =
            is_graph_create(&graph, parts->tables, &cpu->compute[i].graph, why, sizeof why);
        if (result != IS_GRAPH_OK) {
            return is_error_set(error, result == IS_GRAPH_NO_MEMORY ? IS_E_MEMORY : IS_E_CONFIG,
                                "%s", why);
        }
        cpu->compute[i].models = &cpu->models;
        cpu->states[i] = &cpu->compute[i];
    }
    return IS_OK;
}

int is_device_cpu_create(const is_device_parts *parts, uint32_t capacity, is_device_backend *out,
                         is_error *error)
{
    static const is_device_functions functions = {
        .destroy = destroy, .submit = submit, .facts_of = facts_of};
    cpu_device *cpu = calloc(1, sizeof *cpu);
    if (cpu == NULL) {
        return is_error_set(error, IS_E_MEMORY, "out of memory for a device");
    }
    cpu->models = parts->models;
    cpu->threads = is_device_host_threads(parts->options);
    cpu->compute = calloc(cpu->threads, sizeof *cpu->compute);
    cpu->states = calloc(cpu->threads, sizeof *cpu->states);
    /* One that is computed and one that waits, for every thread. */
    uint32_t credits = 2 * cpu->threads > capacity ? 2 * cpu->threads : capacity;
    int status = cpu->compute != NULL && cpu->states != NULL
                     ? create_graphs(cpu, parts, error)
                     : is_error_set(error, IS_E_MEMORY, "out of memory for a device");
    if (status == IS_OK) {
        status = is_workers_create("compute", cpu->threads, credits, cpu->states, parts->finished,
                                   &cpu->workers, error);
    }
    if (status != IS_OK) {
        destroy(cpu);
        return status;
    }
    *out = (is_device_backend){.functions = &functions, .self = cpu, .credits = credits};
    return IS_OK;
}
