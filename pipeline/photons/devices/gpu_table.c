/* A GPU that fills a table, as a member of a group (graphs/gpu_table.h). One thread serves it: it
 * makes the origins of a batch, and waits until the GPU has computed the batch.
 *
 * The samples of a batch are in the table of the GPU as soon as it computes, so a GPU that fails
 * takes with it what it filled since ics_device_finish_table() last collected its sums. The next
 * call of that function reports it. */
#include "graphs/gpu_table.h"

#include "base/clock.h"
#include "base/error.h"
#include "pipeline/photons/devices/backend.h"
#include "pipeline/photons/devices/table.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BATCHES = 3 }; /* one is computed, the others wait */

typedef struct table_device {
    ics_device_options options;
    ics_device_parts parts; /* parts of `options` above */
    ics_device_table *table;
    ics_gpu_table *gpu;
    ics_workers *thread;
    ics_device_table_memory memory; /* memory that only the thread uses */
    uint32_t received; /* batches that the thread has received, counted if a loss is simulated */
    bool failed;       /* whether the thread computes no batch any more */
    ics_error_kept failure;
    char name[256];

    pthread_mutex_t lock; /* protects what follows */
    ics_gpu_table_facts facts;
} table_device;

/* ---- batches --------------------------------------------------------------------------------- */

static int fill(table_device *device, const ics_batch *batch, ice_account *account,
                icestream_error *error)
{
    const ics_device_table_light light = {batch->steps, batch->emissions, batch->count,
                                          device->parts.models.light};
    ICS_TRY(ics_device_table_prepare(device->table, &light, &device->memory, error));
    const ics_gpu_table_light work = {.emissions = batch->emissions,
                                      .origins = device->memory.origins,
                                      .count = batch->count,
                                      .cancel = device->options.cancel};
    ics_gpu_table_result result;
    ICS_TRY(ics_device_loss_check(&device->options.simulated, device->options.graph.ordinal,
                                  &device->received, error));
    ICS_TRY(ics_gpu_table_fill(device->gpu, &work, &result, error));
    atomic_fetch_add_explicit(&device->table->samples, result.samples, memory_order_relaxed);
    *account = result.account;
    return result.overflows ? ics_device_table_overflow(error) : ICESTREAM_OK;
}

/* The GPU computes no more batches. What is not supported would fail on every device, so the GPU is
 * not lost then. */
static void give_up(table_device *device, const icestream_error *why)
{
    device->failed = true;
    ics_error_keep(&device->failure, why);
    if (why->status != ICESTREAM_E_CONFIG && why->status != ICESTREAM_E_INTERRUPTED) {
        device->parts.lost(device->parts.lost_user, why);
    }
}

static void compute_batch(ics_job *job, void *user)
{
    table_device *device = user;
    ics_batch *batch = ics_batch_of_job(job);
    const double start = ics_clock_seconds();
    ice_account account = {0};
    icestream_error error = {.status = ICESTREAM_OK};
    if (device->failed) {
        ics_batch_fail(batch, &device->failure);
        return;
    }
    const int status = fill(device, batch, &account, &error);
    if (status == ICESTREAM_OK) {
        const ics_arrivals none = {0};
        batch->maths =
            device->facts.options.math == ICS_MATH_PORTABLE ? ICS_MATHS_PORTABLE : ICS_MATHS_FAST;
        ics_batch_finish(batch, &device->parts.models, &account, &none);
    } else {
        if (status != ICESTREAM_E_INPUT) {
            give_up(device, &error);
        }
        ics_error_keep(&batch->error, &error);
    }
    batch->seconds = ics_clock_seconds() - start;
    pthread_mutex_lock(&device->lock);
    ics_gpu_table_facts_of(device->gpu, &device->facts);
    pthread_mutex_unlock(&device->lock);
}

static void submit(void *self, ics_batch *batch)
{
    table_device *device = self;
    batch->job.run = compute_batch;
    (void)ics_workers_submit(device->thread, &batch->job); /* the queue has room for all credits */
}

static int finish_table(void *self, icestream_error *error)
{
    table_device *device = self;
    bool overflows = false;
    ICS_TRY(ics_gpu_table_collect(device->gpu, device->table->stage.sums,
                                  device->table->stage.squares, &overflows, error));
    return overflows ? ics_device_table_overflow(error) : ICESTREAM_OK;
}

static void facts_of(void *self, ics_device_facts *out)
{
    table_device *device = self;
    pthread_mutex_lock(&device->lock);
    const ics_gpu_table_facts facts = device->facts;
    pthread_mutex_unlock(&device->lock);
    const ics_gpu_options *options = &facts.options;
    *out = (ics_device_facts){.is_gpu = true,
                              .schedule = options->schedule,
                              .maths = options->math == ICS_MATH_PORTABLE ? ICS_MATHS_PORTABLE
                                                                          : ICS_MATHS_FAST,
                              .threads = 1,
                              .pool = options->pool,
                              .gpu = *options,
                              .limits = {.steps = options->batch_emissions,
                                         .photons = options->batch_photons,
                                         .most_photons = options->batch_photons,
                                         .least_photons = options->batch_photons,
                                         .shares = 1},
                              .usage = facts.usage};
    memcpy(out->name, device->name, sizeof out->name);
}

/* ---- creation -------------------------------------------------------------------------------- */

/* Waits for its batches. */
static void destroy(void *self)
{
    table_device *device = self;
    ics_workers_destroy(device->thread);
    ics_gpu_table_destroy(device->gpu);
    ics_error_forget(&device->failure);
    pthread_mutex_destroy(&device->lock);
    free(device->memory.origins);
    free(device);
}

static int start(table_device *device, icestream_error *error)
{
    ics_gpu_options settings = device->options.graph;
    ics_gpu_device about;
    void *const states[] = {device};
    settings.light_profiles =
        true; /* nearly all time goes into samples, and not into new photons */
    ICS_TRY(ics_gpu_describe(settings.ordinal, &about, error));
    memcpy(device->name, about.name, sizeof device->name);
    ICS_TRY(ics_gpu_table_create(&settings, device->parts.tables, &device->table->stage,
                                 &device->gpu, error));
    ics_gpu_table_facts_of(device->gpu, &device->facts);
    return ics_workers_create("table", 1, BATCHES, states, device->parts.finished, &device->thread,
                              error);
}

int ics_device_gpu_table_create(const ics_device_parts *parts, ics_device_backend *out,
                                icestream_error *error)
{
    static const ics_device_functions functions = {
        .destroy = destroy, .submit = submit, .facts_of = facts_of, .finish_table = finish_table};
    if (parts->options->graph.check) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "device.check: found true with stages.tabulate on a GPU, expected "
                             "false, or device.backend: cpu, which checks the same stages");
    }
    table_device *device = calloc(1, sizeof *device);
    if (device == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a device");
    }
    device->options = *parts->options;
    device->parts = *parts;
    device->parts.options = &device->options;
    device->table = parts->options->table;
    pthread_mutex_init(&device->lock, NULL);
    const int status = start(device, error);
    if (status != ICESTREAM_OK) {
        destroy(device);
        return status;
    }
    *out = (ics_device_backend){.functions = &functions, .self = device, .credits = BATCHES};
    return ICESTREAM_OK;
}
