/* What all devices have in common: counting batches, hits from arrivals, keeping what is finished
 * and what people should know. */
#include "pipeline/devices/device.h"

#include "base/error.h"
#include "pipeline/devices/device_backend.h"
#include "pipeline/devices/device_meter.h"
#include "pipeline/telemetry/progress.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct ics_device {
    ics_device_backend backend;
    ics_post receiver;     /* post NULL: finished batches are kept here */
    atomic_uint held;      /* batches with the backend */
    ics_device_facts made; /* as they were at creation */

    pthread_mutex_t lock;
    /* Only without a receiver: finished batches, and how many are out. */
    pthread_cond_t finished;
    ics_job_queue queue;
    uint32_t out;

    ics_device_meter meter; /* of a device that is no group; protected by `lock` */
    ics_device_notes notes;
    size_t choice_told, warnings_told; /* how far ics_device_news is */
};

uint32_t ics_device_host_threads(const ics_device_options *options)
{
    return ics_workers_thread_count(options->threads);
}

/* ---- hits ------------------------------------------------------------------------------------ */

static int make_hits(const ics_hit_models *models, ics_batch *batch, const ics_arrivals *arrivals)
{
    if (arrivals->count == 0) {
        return ICESTREAM_OK;
    }
    icestream_hit *hits = malloc(arrivals->count * sizeof *hits);
    if (hits == NULL) {
        return ics_error_set(&batch->error, ICESTREAM_E_MEMORY, "out of memory for %zu hits",
                             arrivals->count);
    }
    for (size_t i = 0; i < arrivals->count; ++i) {
        if (ics_batch_hit_from_arrival(models, batch, &arrivals->items[i], &hits[i],
                                       &batch->error) != ICESTREAM_OK) {
            free(hits);
            return batch->error.status;
        }
    }
    size_t count = arrivals->count;
    if (models->detection != NULL &&
        ics_hit_detection_apply(models, batch, arrivals, hits, &count, &batch->account,
                                &batch->error) != ICESTREAM_OK) {
        free(hits);
        return batch->error.status;
    }
    ics_hit_sort(hits, count);
    batch->hits = hits;
    batch->hit_count = count;
    return ICESTREAM_OK;
}

void ics_device_finish_batch(const ics_hit_models *models, ics_batch *batch,
                             const ice_account *account, const ics_arrivals *arrivals)
{
    batch->account = (icestream_account){.created = account->created,
                                         .absorbed = account->absorbed,
                                         .detected = account->detected,
                                         .left = account->left,
                                         .stopped = account->stopped,
                                         .hits = account->hits,
                                         .bounces = account->bounces};
    if (make_hits(models, batch, arrivals) == ICESTREAM_OK) {
        ics_batch_account_check(&batch->account, batch->photons, batch->hit_count, &batch->error);
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
    ics_device *device = user;
    ics_device_notes *notes = &device->notes;
    pthread_mutex_lock(&device->lock);
    if (warning) {
        append_note(notes->warnings, sizeof notes->warnings, lines);
    } else {
        append_note(notes->choice, sizeof notes->choice, lines);
    }
    pthread_mutex_unlock(&device->lock);
}

void ics_device_notes_of(const ics_device *device, ics_device_notes *out)
{
    ics_device *locked = (ics_device *)device;
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

bool ics_device_news(ics_device *device, char *line, size_t size)
{
    pthread_mutex_lock(&device->lock);
    bool found =
        next_line(device->notes.warnings, &device->warnings_told, "warning: ", line, size) ||
        next_line(device->notes.choice, &device->choice_told, "", line, size);
    pthread_mutex_unlock(&device->lock);
    return found;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void keep_finished(ics_device *device, ics_job *job)
{
    pthread_mutex_lock(&device->lock);
    STAILQ_INSERT_TAIL(&device->queue, job, link);
    pthread_cond_signal(&device->finished);
    pthread_mutex_unlock(&device->lock);
}

static void finish_job(void *user, ics_job *job)
{
    ics_device *device = user;
    const ics_batch *batch = (const ics_batch *)job;
    pthread_mutex_lock(&device->lock);
    ics_device_meter_give(&device->meter, batch->photons, batch->error.status == ICESTREAM_OK,
                          ics_progress_seconds());
    pthread_mutex_unlock(&device->lock);
    atomic_fetch_sub(&device->held, 1);
    if (device->receiver.post != NULL) {
        device->receiver.post(device->receiver.user, job);
    } else {
        keep_finished(device, job);
    }
}

/* So that no such run is taken for a real one. */
static void note_simulation(ics_device *device, const ics_device_options *options)
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

static int create_backend(const ics_device_parts *parts, ics_device_backend *out,
                          icestream_error *error)
{
    const ics_device_options *options = parts->options;
    if (options->backend != ICS_BACKEND_CUDA) {
        return ics_device_cpu_create(parts, ICS_CPU_BATCHES, 0, out, error);
    }
    return options->gpu_count > 1 || options->cpu_too
               ? ics_device_group_from_options(parts, out, error)
               : ics_device_gpu_create(parts, out, error);
}

int ics_device_create(const ics_device_options *options, const ics_tables *tables,
                      ics_hit_models models, ics_post finished, ics_device **out,
                      icestream_error *error)
{
    ics_device *device = calloc(1, sizeof *device);
    if (device == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a device");
    }
    device->receiver = finished;
    STAILQ_INIT(&device->queue);
    atomic_init(&device->held, 0);
    pthread_mutex_init(&device->lock, NULL);
    pthread_cond_init(&device->finished, NULL);
    const ics_device_parts parts = {.options = options,
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
    if (status != ICESTREAM_OK) {
        ics_device_destroy(device);
        return status;
    }
    ics_device_facts_of(device, &device->made);
    device->meter.warms_up = device->made.is_gpu;
    *out = device;
    return ICESTREAM_OK;
}

void ics_device_destroy(ics_device *device)
{
    if (device == NULL) {
        return;
    }
    if (device->backend.functions != NULL) {
        device->backend.functions->destroy(device->backend.self);
    }
    for (ics_job *job; (job = ICS_QUEUE_TAKE(&device->queue, link)) != NULL;) {
        ics_batch_destroy((ics_batch *)job); /* a finished batch that the caller did not take */
    }
    pthread_cond_destroy(&device->finished);
    pthread_mutex_destroy(&device->lock);
    free(device);
}

/* ---- batches --------------------------------------------------------------------------------- */

uint32_t ics_device_credits(const ics_device *device)
{
    return device->backend.credits;
}

bool ics_device_submit(ics_device *device, ics_batch *batch)
{
    /* Only this thread adds to the count, so that there is still room after the look at it. */
    if (atomic_load(&device->held) >= device->backend.credits) {
        return false;
    }
    atomic_fetch_add(&device->held, 1);
    device->out++;
    batch->error.status = ICESTREAM_OK;
    pthread_mutex_lock(&device->lock);
    ics_device_meter_take(&device->meter, batch->photons, ics_progress_seconds());
    pthread_mutex_unlock(&device->lock);
    device->backend.functions->submit(device->backend.self, batch);
    return true;
}

ics_batch *ics_device_take(ics_device *device)
{
    if (device->out == 0) {
        return NULL;
    }
    pthread_mutex_lock(&device->lock);
    while (STAILQ_EMPTY(&device->queue)) {
        pthread_cond_wait(&device->finished, &device->lock);
    }
    ics_job *job = ICS_QUEUE_TAKE(&device->queue, link);
    pthread_mutex_unlock(&device->lock);
    device->out--;
    return (ics_batch *)job;
}

/* ---- facts ----------------------------------------------------------------------------------- */

void ics_device_facts_of(const ics_device *device, ics_device_facts *out)
{
    const ics_device_functions *functions = device->backend.functions;
    functions->facts_of(device->backend.self, out);
    if (functions->member_facts_of == NULL) {
        out->gpus = out->is_gpu;
    }
}

/* A CPU has portable maths only. */
static ics_maths_used maths_of(const ics_device_facts *facts)
{
    bool fast = facts->is_gpu && facts->gpu.math != ICS_MATH_PORTABLE;
    return fast ? ICS_MATHS_FAST : ICS_MATHS_PORTABLE;
}

const char *ics_device_text(const ics_device *device, char *buffer, size_t size)
{
    ics_device_facts facts;
    ics_device_facts_of(device, &facts);
    char schedule[64] = "schedule measured on the first batch";
    if (facts.schedule != ICS_SCHEDULE_AUTO) {
        snprintf(schedule, sizeof schedule, "%s schedule", ics_graph_schedule_name(facts.schedule));
    }
    const bool ics_group = device->backend.functions->member_facts_of != NULL;
    if (facts.is_gpu && ics_group) {
        snprintf(buffer, size, "%s, %s maths, %s", facts.name,
                 ics_metadata_maths_name(maths_of(&facts)), schedule);
    } else if (facts.is_gpu) {
        snprintf(buffer, size, "%s (GPU %d), %s maths, %s", facts.name, facts.gpu.ordinal,
                 ics_metadata_maths_name(maths_of(&facts)), schedule);
    } else {
        snprintf(buffer, size, "%s, %u thread%s, %s, %s", facts.name, facts.threads,
                 facts.threads == 1 ? "" : "s", facts.instruction_set, schedule);
    }
    return buffer;
}

bool ics_device_member_facts_of(const ics_device *device, uint32_t index,
                                ics_device_member_facts *out)
{
    const ics_device_functions *functions = device->backend.functions;
    if (functions->member_facts_of != NULL) {
        return functions->member_facts_of(device->backend.self, index, out);
    }
    if (index > 0) {
        return false;
    }
    ics_device_facts facts;
    ics_device_facts_of(device, &facts);
    ics_device *locked = (ics_device *)device;
    const double now = ics_progress_seconds();
    pthread_mutex_lock(&locked->lock);
    const ics_device_meter *meter = &device->meter;
    *out = (ics_device_member_facts){.is_gpu = facts.is_gpu,
                                     .ordinal = facts.is_gpu ? facts.gpu.ordinal : -1,
                                     .alive = true,
                                     .batches = meter->batches,
                                     .photons = meter->photons,
                                     .seconds = ics_device_meter_busy(meter, now),
                                     .photons_per_second = ics_device_meter_rate(meter),
                                     .held = meter->held};
    pthread_mutex_unlock(&locked->lock);
    snprintf(out->name, sizeof out->name, "%s", facts.name);
    return true;
}

uint32_t ics_device_member_count(const ics_device *device)
{
    ics_device_member_facts facts;
    uint32_t count = 0;
    while (ics_device_member_facts_of(device, count, &facts)) {
        ++count;
    }
    return count;
}

ics_batch_limits ics_device_batch_limits(const ics_device *device)
{
    ics_device_facts facts;
    ics_device_facts_of(device, &facts);
    return facts.limits;
}

bool ics_device_is_gpu(const ics_device *device)
{
    ics_device_facts facts;
    ics_device_facts_of(device, &facts);
    return facts.is_gpu;
}

uint32_t ics_device_threads(const ics_device *device)
{
    return device->made.threads;
}

ics_schedule ics_device_schedule(const ics_device *device)
{
    ics_device_facts facts;
    ics_device_facts_of(device, &facts);
    return facts.schedule;
}

uint32_t ics_device_pool(const ics_device *device)
{
    ics_device_facts facts;
    ics_device_facts_of(device, &facts);
    return facts.pool;
}

const char *ics_device_instruction_set(const ics_device *device)
{
    return device->made.instruction_set;
}

ics_maths_used ics_device_maths(const ics_device *device)
{
    ics_device_facts facts;
    ics_device_facts_of(device, &facts);
    return maths_of(&facts);
}

const char *ics_device_name(const ics_device *device)
{
    return device->made.name;
}

void ics_device_gpu_usage(const ics_device *device, ics_gpu_usage *out)
{
    ics_device_facts facts;
    ics_device_facts_of(device, &facts);
    *out = facts.usage;
}

double ics_device_kernel_seconds(const ics_device *device)
{
    ics_gpu_usage usage;
    ics_device_gpu_usage(device, &usage);
    return usage.seconds;
}

bool ics_device_gpu_options(const ics_device *device, ics_gpu_options *out)
{
    ics_device_facts facts;
    ics_device_facts_of(device, &facts);
    *out = facts.gpu;
    return facts.is_gpu;
}
