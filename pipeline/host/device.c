/* What all devices have in common: counting batches, hits from arrivals, keeping what is finished
 * and what people should know. */
#include "pipeline/host/device.h"

#include "pipeline/error.h"
#include "pipeline/host/device_backend.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

struct is_device {
    is_device_backend backend;
    is_post receiver;     /* post NULL: finished batches are kept here */
    atomic_uint held;     /* batches with the backend */
    is_device_facts made; /* as they were at creation */

    pthread_mutex_t lock;
    /* Only without a receiver: finished batches, and how many are out. */
    pthread_cond_t finished;
    is_job *first, **last;
    uint32_t out;

    is_device_notes notes;
    size_t choice_told, warnings_told; /* how far is_device_news is */
};

uint32_t is_device_host_threads(const is_device_options *options)
{
    if (options->threads != 0) {
        return options->threads;
    }
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > 0 ? (uint32_t)count : 1;
}

/* ---- hits ------------------------------------------------------------------------------------ */

static int make_hits(const is_hit_models *models, is_batch *batch, const is_arrivals *arrivals)
{
    if (arrivals->count == 0) {
        return IS_OK;
    }
    is_hit *hits = malloc(arrivals->count * sizeof *hits);
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

void is_device_finish_batch(const is_hit_models *models, is_batch *batch,
                            const ice_account *account, const is_arrivals *arrivals)
{
    batch->account = (is_account){.created = account->created,
                                  .absorbed = account->absorbed,
                                  .detected = account->detected,
                                  .left = account->left,
                                  .stopped = account->stopped,
                                  .hits = account->hits,
                                  .bounces = account->bounces};
    if (make_hits(models, batch, arrivals) == IS_OK) {
        is_account_check(&batch->account, batch->photons, batch->hit_count, &batch->error);
    }
}

/* ---- notes ----------------------------------------------------------------------------------- */

static void append_note(char *notes, size_t size, const char *lines)
{
    size_t used = strlen(notes), length = strlen(lines);
    bool ends = length > 0 && lines[length - 1] == '\n';
    if (length > 0 && used + length + 2 <= size) { /* what does not fit is left out as a whole */
        snprintf(notes + used, size - used, "%s%s", lines, ends ? "" : "\n");
    }
}

static void take_note(void *user, bool warning, const char *lines)
{
    is_device *device = user;
    is_device_notes *notes = &device->notes;
    pthread_mutex_lock(&device->lock);
    if (warning) {
        append_note(notes->warnings, sizeof notes->warnings, lines);
    } else {
        append_note(notes->choice, sizeof notes->choice, lines);
    }
    pthread_mutex_unlock(&device->lock);
}

void is_device_notes_of(const is_device *device, is_device_notes *out)
{
    is_device *locked = (is_device *)device;
    pthread_mutex_lock(&locked->lock);
    *out = device->notes;
    pthread_mutex_unlock(&locked->lock);
}

/* The line that begins at *told; false: there is none. */
static bool next_line(const char *notes, size_t *told, const char *before, char *line, size_t size)
{
    const char *begin = notes + *told;
    size_t length = strcspn(begin, "\n");
    if (length == 0) {
        return false;
    }
    snprintf(line, size, "%s%.*s", before, (int)length, begin);
    *told += length + 1;
    return true;
}

bool is_device_news(is_device *device, char *line, size_t size)
{
    pthread_mutex_lock(&device->lock);
    bool found =
        next_line(device->notes.warnings, &device->warnings_told, "warning: ", line, size) ||
        next_line(device->notes.choice, &device->choice_told, "", line, size);
    pthread_mutex_unlock(&device->lock);
    return found;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void keep_finished(is_device *device, is_job *job)
{
    pthread_mutex_lock(&device->lock);
    job->next = NULL;
    *device->last = job;
    device->last = &job->next;
    pthread_cond_signal(&device->finished);
    pthread_mutex_unlock(&device->lock);
}

static void finish_job(void *user, is_job *job)
{
    is_device *device = user;
    atomic_fetch_sub(&device->held, 1);
    if (device->receiver.post != NULL) {
        device->receiver.post(device->receiver.user, job);
    } else {
        keep_finished(device, job);
    }
}

int is_device_create(const is_device_options *options, const is_tables *tables,
                     is_hit_models models, is_post finished, is_device **out, is_error *error)
{
    is_device *device = calloc(1, sizeof *device);
    if (device == NULL) {
        return is_error_set(error, IS_E_MEMORY, "out of memory for a device");
    }
    device->receiver = finished;
    device->last = &device->first;
    atomic_init(&device->held, 0);
    pthread_mutex_init(&device->lock, NULL);
    pthread_cond_init(&device->finished, NULL);
    const is_device_parts parts = {.options = options,
                                   .tables = tables,
                                   .models = models,
                                   .finished = {.post = finish_job, .user = device},
                                   .note = take_note,
                                   .note_user = device};
    if (options->reason[0] != '\0' && options->warn) {
        take_note(device, true, options->reason);
    }
    int status = options->backend == IS_BACKEND_CUDA
                     ? is_device_gpu_create(&parts, &device->backend, error)
                     : is_device_cpu_create(&parts, 0, &device->backend, error);
    if (status != IS_OK) {
        is_device_destroy(device);
        return status;
    }
    is_device_facts_of(device, &device->made);
    *out = device;
    return IS_OK;
}

void is_device_destroy(is_device *device)
{
    if (device == NULL) {
        return;
    }
    if (device->backend.functions != NULL) {
        device->backend.functions->destroy(device->backend.self);
    }
    while (device->first != NULL) { /* batches that nobody took */
        is_batch *batch = (is_batch *)device->first;
        device->first = batch->job.next;
        is_batch_destroy(batch);
    }
    pthread_cond_destroy(&device->finished);
    pthread_mutex_destroy(&device->lock);
    free(device);
}

/* ---- batches --------------------------------------------------------------------------------- */

uint32_t is_device_credits(const is_device *device)
{
    return device->backend.credits;
}

bool is_device_submit(is_device *device, is_batch *batch)
{
    /* Only this thread adds to the count, so that there is still room after the look at it. */
    if (atomic_load(&device->held) >= device->backend.credits) {
        return false;
    }
    atomic_fetch_add(&device->held, 1);
    device->out++;
    batch->error.status = IS_OK;
    device->backend.functions->submit(device->backend.self, batch);
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

/* ---- all at once ----------------------------------------------------------------------------- */

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
        const is_batch_limits limits = is_device_batch_limits(device);
        is_batch *batch = NULL;
        status = is_batch_create(&limits, photon_limit, &batch, error);
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

/* ---- facts ----------------------------------------------------------------------------------- */

void is_device_facts_of(const is_device *device, is_device_facts *out)
{
    device->backend.functions->facts_of(device->backend.self, out);
}

/* A CPU has portable maths only. */
static is_maths_used maths_of(const is_device_facts *facts)
{
    bool fast = facts->is_gpu && facts->gpu.math != IS_MATH_PORTABLE;
    return fast ? IS_MATHS_FAST : IS_MATHS_PORTABLE;
}

const char *is_device_text(const is_device *device, char *buffer, size_t size)
{
    is_device_facts facts;
    is_device_facts_of(device, &facts);
    char schedule[64] = "schedule measured on the first batch";
    if (facts.schedule != IS_SCHEDULE_AUTO) {
        snprintf(schedule, sizeof schedule, "%s schedule", is_schedule_name(facts.schedule));
    }
    if (facts.is_gpu) {
        snprintf(buffer, size, "%s (GPU %d), %s maths, %s", facts.name, facts.gpu.ordinal,
                 is_maths_name(maths_of(&facts)), schedule);
    } else {
        snprintf(buffer, size, "%s, %u thread%s, %s, %s", facts.name, facts.threads,
                 facts.threads == 1 ? "" : "s", facts.instruction_set, schedule);
    }
    return buffer;
}

is_batch_limits is_device_batch_limits(const is_device *device)
{
    is_device_facts facts;
    is_device_facts_of(device, &facts);
    return facts.limits;
}

bool is_device_is_gpu(const is_device *device)
{
    is_device_facts facts;
    is_device_facts_of(device, &facts);
    return facts.is_gpu;
}

uint32_t is_device_threads(const is_device *device)
{
    return device->made.threads;
}

is_schedule is_device_schedule(const is_device *device)
{
    is_device_facts facts;
    is_device_facts_of(device, &facts);
    return facts.schedule;
}

uint32_t is_device_pool(const is_device *device)
{
    is_device_facts facts;
    is_device_facts_of(device, &facts);
    return facts.pool;
}

const char *is_device_instruction_set(const is_device *device)
{
    return device->made.instruction_set;
}

is_maths_used is_device_maths(const is_device *device)
{
    is_device_facts facts;
    is_device_facts_of(device, &facts);
    return maths_of(&facts);
}

const char *is_device_name(const is_device *device)
{
    return device->made.name;
}

void is_device_gpu_usage(const is_device *device, is_gpu_usage *out)
{
    is_device_facts facts;
    is_device_facts_of(device, &facts);
    *out = facts.usage;
}

double is_device_kernel_seconds(const is_device *device)
{
    is_gpu_usage usage;
    is_device_gpu_usage(device, &usage);
    return usage.seconds;
}

bool is_device_gpu_options(const is_device *device, is_gpu_options *out)
{
    is_device_facts facts;
    is_device_facts_of(device, &facts);
    *out = facts.gpu;
    return facts.is_gpu;
}
