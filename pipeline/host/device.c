/* What all devices have in common: counting batches, hits from arrivals, keeping what is finished
 * and what people should know. */
#include "pipeline/host/device.h"

#include "pipeline/error.h"
#include "pipeline/host/device_backend.h"
#include "pipeline/host/device_meter.h"
#include "pipeline/host/progress.h"

#include <pthread.h>
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

    is_device_meter meter; /* of a device that is no group; protected by `lock` */
    is_device_notes notes;
    size_t choice_told, warnings_told; /* how far is_device_news is */
};

uint32_t is_device_host_threads(const is_device_options *options)
{
    return is_thread_count(options->threads);
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
    size_t count = arrivals->count;
    if (models->detection != NULL && is_hits_detect(models, batch, arrivals, hits, &count,
                                                    &batch->account, &batch->error) != IS_OK) {
        free(hits);
        return batch->error.status;
    }
    is_hits_sort(hits, count);
    batch->hits = hits;
    batch->hit_count = count;
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
    const is_batch *batch = (const is_batch *)job;
    pthread_mutex_lock(&device->lock);
    is_device_meter_give(&device->meter, batch->photons, batch->error.status == IS_OK,
                         is_seconds());
    pthread_mutex_unlock(&device->lock);
    atomic_fetch_sub(&device->held, 1);
    if (device->receiver.post != NULL) {
        device->receiver.post(device->receiver.user, job);
    } else {
        keep_finished(device, job);
    }
}

/* So that no such run is taken for a real one. */
static void note_simulation(is_device *device, const is_device_options *options)
{
    if (options->simulated.batches > 0) {
        char line[256];
        snprintf(line, sizeof line,
                 "ICESTREAM_GPU_FAIL is set: GPU %d will be taken for lost after %u batches; this "
                 "is for tests only",
                 options->simulated.ordinal, options->simulated.batches);
        take_note(device, true, line);
    }
}

static int create_backend(const is_device_parts *parts, is_device_backend *out, is_error *error)
{
    const is_device_options *options = parts->options;
    if (options->backend != IS_BACKEND_CUDA) {
        return is_device_cpu_create(parts, IS_CPU_BATCHES, 0, out, error);
    }
    return options->gpu_count > 1 || options->cpu_too
               ? is_device_group_from_options(parts, out, error)
               : is_device_gpu_create(parts, out, error);
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
    note_simulation(device, options);
    int status = create_backend(&parts, &device->backend, error);
    if (status != IS_OK) {
        is_device_destroy(device);
        return status;
    }
    is_device_facts_of(device, &device->made);
    device->meter.warms_up = device->made.is_gpu;
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
    pthread_mutex_lock(&device->lock);
    is_device_meter_take(&device->meter, batch->photons, is_seconds());
    pthread_mutex_unlock(&device->lock);
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

/* ---- facts ----------------------------------------------------------------------------------- */

void is_device_facts_of(const is_device *device, is_device_facts *out)
{
    const is_device_functions *functions = device->backend.functions;
    functions->facts_of(device->backend.self, out);
    if (functions->member_facts_of == NULL) {
        out->gpus = out->is_gpu;
    }
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
    const bool is_group = device->backend.functions->member_facts_of != NULL;
    if (facts.is_gpu && is_group) {
        snprintf(buffer, size, "%s, %s maths, %s", facts.name, is_maths_name(maths_of(&facts)),
                 schedule);
    } else if (facts.is_gpu) {
        snprintf(buffer, size, "%s (GPU %d), %s maths, %s", facts.name, facts.gpu.ordinal,
                 is_maths_name(maths_of(&facts)), schedule);
    } else {
        snprintf(buffer, size, "%s, %u thread%s, %s, %s", facts.name, facts.threads,
                 facts.threads == 1 ? "" : "s", facts.instruction_set, schedule);
    }
    return buffer;
}

bool is_device_member_facts_of(const is_device *device, uint32_t index, is_device_member_facts *out)
{
    const is_device_functions *functions = device->backend.functions;
    if (functions->member_facts_of != NULL) {
        return functions->member_facts_of(device->backend.self, index, out);
    }
    if (index > 0) {
        return false;
    }
    is_device_facts facts;
    is_device_facts_of(device, &facts);
    is_device *locked = (is_device *)device;
    const double now = is_seconds();
    pthread_mutex_lock(&locked->lock);
    const is_device_meter *meter = &device->meter;
    *out = (is_device_member_facts){.is_gpu = facts.is_gpu,
                                    .ordinal = facts.is_gpu ? facts.gpu.ordinal : -1,
                                    .alive = true,
                                    .batches = meter->batches,
                                    .photons = meter->photons,
                                    .seconds = is_device_meter_busy(meter, now),
                                    .photons_per_second = is_device_meter_rate(meter),
                                    .held = meter->held};
    pthread_mutex_unlock(&locked->lock);
    snprintf(out->name, sizeof out->name, "%s", facts.name);
    return true;
}

uint32_t is_device_member_count(const is_device *device)
{
    is_device_member_facts facts;
    uint32_t count = 0;
    while (is_device_member_facts_of(device, count, &facts)) {
        ++count;
    }
    return count;
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
