#include "pipeline/host/device.h"

#include "pipeline/error.h"
#include "pipeline/host/progress.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* What one compute thread works with. */
typedef struct compute_thread {
    is_graph *graph;
    is_arrivals arrivals; /* kept from batch to batch for its memory */
    const is_hit_models *models;
} compute_thread;

struct is_device {
    is_hit_models models;
    is_workers *workers;
    uint32_t threads;
    compute_thread *compute; /* [threads] */
    void **states;           /* [threads], pointers to them */

    /* Only without a receiver: finished batches, and how many are out. */
    pthread_mutex_t lock;
    pthread_cond_t finished;
    is_job *first, **last;
    uint32_t out;
};

static int make_hits(const is_hit_models *models, is_batch *batch, const is_arrivals *arrivals)
{
    if (arrivals->count == 0) {
        return IS_OK;
    }
    is_hit *hits = calloc(arrivals->count, sizeof *hits);
    if (hits == NULL) {
        return is_error_set(&batch->error, IS_E_MEMORY, "out of memory for %zu hits",
                            arrivals->count);
    }
    for (size_t i = 0; i < arrivals->count; ++i) {
        if (is_hit_from_arrival(models, batch, &arrivals->items[i], &hits[i], &batch->error) !=
            IS_OK) {
            free(hits);
            return batch->error.status;
        }
    }
    is_hits_sort(hits, arrivals->count);
    batch->hits = hits;
    batch->hit_count = arrivals->count;
    return IS_OK;
}

static void compute_batch(is_job *job, void *thread_state)
{
    is_batch *batch = (is_batch *)job;
    compute_thread *thread = thread_state;
    double start = is_seconds();
    ice_account account = {0};
    thread->arrivals.count = 0;
    int result =
        is_graph_run(thread->graph, batch->emissions, batch->count, &thread->arrivals, &account);
    batch->error.status = IS_OK;
    switch (result) {
    case IS_GRAPH_OK:
        batch->account = (is_account){.created = account.created,
                                      .absorbed = account.absorbed,
                                      .detected = account.detected,
                                      .left = account.left,
                                      .stopped = account.stopped,
                                      .hits = account.hits,
                                      .bounces = account.bounces};
        if (make_hits(thread->models, batch, &thread->arrivals) == IS_OK) {
            is_account_check(&batch->account, batch->photons, batch->hit_count, &batch->error);
        }
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

static void keep_finished(void *user, is_job *job)
{
    is_device *device = user;
    pthread_mutex_lock(&device->lock);
    job->next = NULL;
    *device->last = job;
    device->last = &job->next;
    pthread_cond_signal(&device->finished);
    pthread_mutex_unlock(&device->lock);
}

static uint32_t usable_cpus(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > 0 ? (uint32_t)count : 1;
}

static int create_graphs(is_device *device, const is_device_options *options,
                         const is_tables *tables, is_error *error)
{
    is_graph_options graph = {.schedule = options->schedule,
                              .variants = options->variants,
                              .pool = options->pool,
                              .instruction_set = options->instruction_set,
                              .cancel = options->cancel};
    for (uint32_t i = 0; i < device->threads; ++i) {
        char why[512] = "";
        int result = is_graph_create(&graph, tables, &device->compute[i].graph, why, sizeof why);
        if (result != IS_GRAPH_OK) {
            return is_error_set(error, result == IS_GRAPH_NO_MEMORY ? IS_E_MEMORY : IS_E_CONFIG,
                                "%s", why);
        }
        device->compute[i].models = &device->models;
        device->states[i] = &device->compute[i];
    }
    return IS_OK;
}

int is_device_create(const is_device_options *options, const is_tables *tables,
                     is_hit_models models, is_post finished, is_device **out, is_error *error)
{
    is_device *device = calloc(1, sizeof *device);
    if (device == NULL) {
        return is_error_set(error, IS_E_MEMORY, "out of memory for a device");
    }
    device->models = models;
    device->threads = options->threads != 0 ? options->threads : usable_cpus();
    device->last = &device->first;
    pthread_mutex_init(&device->lock, NULL);
    pthread_cond_init(&device->finished, NULL);
    device->compute = calloc(device->threads, sizeof *device->compute);
    device->states = calloc(device->threads, sizeof *device->states);
    int status = device->compute != NULL && device->states != NULL
                     ? create_graphs(device, options, tables, error)
                     : is_error_set(error, IS_E_MEMORY, "out of memory for a device");
    if (status == IS_OK) {
        is_post post =
            finished.post != NULL ? finished : (is_post){.post = keep_finished, .user = device};
        status = is_workers_create("compute", device->threads, is_device_credits(device),
                                   device->states, post, &device->workers, error);
    }
    if (status != IS_OK) {
        is_device_destroy(device);
        return status;
    }
    *out = device;
    return IS_OK;
}

void is_device_destroy(is_device *device)
{
    if (device == NULL) {
        return;
    }
    is_workers_destroy(device->workers);
    while (device->first != NULL) { /* batches that nobody took */
        is_batch *batch = (is_batch *)device->first;
        device->first = batch->job.next;
        is_batch_destroy(batch);
    }
    for (uint32_t i = 0; device->compute != NULL && i < device->threads; ++i) {
        is_graph_destroy(device->compute[i].graph);
        is_arrivals_free(&device->compute[i].arrivals);
    }
    free(device->compute);
    free(device->states);
    pthread_cond_destroy(&device->finished);
    pthread_mutex_destroy(&device->lock);
    free(device);
}

uint32_t is_device_credits(const is_device *device)
{
    /* One that is computed and one that waits, for every thread. */
    return 2 * device->threads;
}

bool is_device_submit(is_device *device, is_batch *batch)
{
    batch->job.run = compute_batch;
    if (!is_workers_submit(device->workers, &batch->job)) {
        return false;
    }
    device->out++;
    return true;
}

is_batch *is_device_take(is_device *device)
{
    if (device->out == 0) {
        return NULL;
    }
    pthread_mutex_lock(&device->lock);
    while (device->first == NULL) {
        pthread_cond_wait(&device->finished, &device->lock);
    }
    is_job *job = device->first;
    device->first = job->next;
    if (device->first == NULL) {
        device->last = &device->first;
    }
    pthread_mutex_unlock(&device->lock);
    device->out--;
    return (is_batch *)job;
}

/* Hits of all batches in one growing array. */
typedef struct hit_array {
    is_hit *items;
    size_t count, capacity;
} hit_array;

static int append_hits(hit_array *array, const is_hit *hits, size_t count, is_error *error)
{
    if (count == 0) {
        return IS_OK;
    }
    if (count > array->capacity - array->count) {
        size_t capacity = array->capacity * 2;
        if (capacity < array->count + count) {
            capacity = array->count + count;
        }
        is_hit *items = capacity <= SIZE_MAX / sizeof *items
                            ? realloc(array->items, capacity * sizeof *items)
                            : NULL;
        if (items == NULL) {
            return is_error_set(error, IS_E_MEMORY, "out of memory for %zu hits", capacity);
        }
        array->items = items;
        array->capacity = capacity;
    }
    memcpy(array->items + array->count, hits, count * sizeof *hits);
    array->count += count;
    return IS_OK;
}

/* Waits for one batch and adds what it holds; destroys it. */
static int gather_batch(is_device *device, hit_array *hits, is_account *account, is_error *error)
{
    is_batch *batch = is_device_take(device);
    int status = is_error_copy(error, &batch->error);
    if (status == IS_OK) {
        is_account_add(account, &batch->account);
        status = append_hits(hits, batch->hits, batch->hit_count, error);
    }
    is_batch_destroy(batch);
    return status;
}

static int run_cursor(is_device *device, is_step_cursor cursor, uint64_t photon_limit,
                      hit_array *hits, is_account *account, is_error *error)
{
    bool full = true;
    int status = IS_OK;
    while (full && status == IS_OK) {
        is_batch *batch = NULL;
        status = is_batch_create(photon_limit, &batch, error);
        if (status == IS_OK) {
            status = is_batch_fill(batch, &cursor, &full, error);
        }
        if (status != IS_OK || batch->count == 0) {
            is_batch_destroy(batch);
            return status;
        }
        while (status == IS_OK && !is_device_submit(device, batch)) {
            status = gather_batch(device, hits, account, error);
        }
        if (status != IS_OK) {
            is_batch_destroy(batch);
        }
    }
    return status;
}

int is_device_run_steps(is_device *device, const is_step *steps, size_t count,
                        uint64_t photon_limit, is_hit **hits, size_t *hit_count,
                        is_account *account, is_error *error)
{
    hit_array array = {NULL, 0, 0};
    *account = (is_account){0};
    int status = run_cursor(device, (is_step_cursor){.steps = steps, .count = count}, photon_limit,
                            &array, account, error);
    while (device->out > 0) { /* also after an error: the batches have to come home */
        is_error later = {.status = IS_OK};
        int gathered = gather_batch(device, &array, account, &later);
        if (status == IS_OK && gathered != IS_OK) {
            status = is_error_copy(error, &later);
        }
    }
    if (status != IS_OK) {
        free(array.items);
        return status;
    }
    is_hits_sort(array.items, array.count);
    *hits = array.items;
    *hit_count = array.count;
    return IS_OK;
}

uint32_t is_device_threads(const is_device *device)
{
    return device->threads;
}

is_schedule is_device_schedule(const is_device *device)
{
    return is_graph_schedule(device->compute[0].graph);
}

uint32_t is_device_pool(const is_device *device)
{
    return is_graph_pool(device->compute[0].graph);
}

const char *is_device_instruction_set(const is_device *device)
{
    return is_graph_instruction_set(device->compute[0].graph);
}
