/* The members of a device: what they are made from, and how they are created. */
#include "base/cleanup.h"
#include "base/error.h"
#include "pipeline/photons/devices/group.h"

#include <stdlib.h>
#include <string.h>

/* ---- makers ---------------------------------------------------------------------------------- */

/* Rates (photons/s) of a CPU thread and of a GPU until they are measured. A short run ends before
 * that. It should not have to wait for a CPU that got a GPU's batch, so the difference is large. */
#define CPU_THREAD_RATE 2e6
#define GPU_RATE        1e9

enum {
    CPU_CREDITS = 2,      /* of a CPU in a group with GPUs: one batch is computed, one waits */
    HIT_THREADS_LEAST = 2 /* of a GPU, if the options allow as many */
};

static int make_member(const ics_device_maker *self, const ics_device_parts *parts,
                       ics_device_backend *out, icestream_error *error)
{
    if (!self->is_gpu) {
        return ics_device_cpu_create(parts, self->work, out, error);
    }
    return parts->options->table != NULL ? ics_device_gpu_table_create(parts, out, error)
                                         : ics_device_gpu_create(parts, out, error);
}

/* The maker of a CPU that computes batches of any size, in a group with this number of GPUs. */
static ics_device_maker maker_of_cpu(const ics_device_options *options, uint32_t gpus)
{
    uint32_t threads = ics_workers_thread_count(options->threads);
    /* Each thread that serves a GPU gets a core, so that it does not wait for one. */
    if (options->threads == 0) {
        threads = threads > gpus ? threads - gpus : 1;
    }
    return (ics_device_maker){.create = make_member,
                              .work = ICS_CPU_PIECES,
                              .name = "the CPU",
                              .ordinal = -1,
                              .threads = threads,
                              .credits = CPU_CREDITS,
                              .assumed = CPU_THREAD_RATE * threads};
}

ics_device_makers ics_device_makers_of(const ics_device_options *options)
{
    ics_device_makers makers = {.count = 1};
    if (options->backend != ICS_BACKEND_CUDA) {
        makers.items[0] = maker_of_cpu(options, 0);
        makers.items[0].work = ICS_CPU_BATCHES;
        makers.items[0].credits = 0;
        return makers;
    }
    const uint32_t gpus = options->gpu_count;
    const uint32_t threads = ics_workers_thread_count(options->threads);
    const uint32_t least = threads < HIT_THREADS_LEAST ? threads : HIT_THREADS_LEAST;
    const uint32_t share = threads / gpus;
    for (uint32_t i = 0; i < gpus; ++i) {
        makers.items[i] = (ics_device_maker){.create = make_member,
                                             .is_gpu = true,
                                             .ordinal = options->gpus[i],
                                             .threads = share > least ? share : least,
                                             .assumed = GPU_RATE};
        snprintf(makers.items[i].name, sizeof makers.items[i].name, "GPU %d", options->gpus[i]);
    }
    makers.count = gpus + options->cpu_too;
    if (options->cpu_too) {
        makers.items[gpus] = maker_of_cpu(options, gpus);
    }
    return makers;
}

/* ---- creation -------------------------------------------------------------------------------- */

void ics_device_blame(ics_device *device, int status, const char *before, const char *text)
{
    icestream_error failure;
    ics_error_copy_kept(&failure, &device->failure);
    ics_error_add(&failure, status, "%s%s", before, text);
    ics_error_keep(&device->failure, &failure);
}

/* A member that is being created. */
typedef struct new_member {
    const ics_device_maker *maker;
    ics_device_member *member;
    ics_device_options options;
    ics_device_backend backend;
    icestream_error error; /* its status: how the creation ended */
    pthread_t thread;
    bool has_thread;
} new_member;

/* Creates the backend of a member, on any thread. */
static void *create_backend(void *user)
{
    new_member *self = user;
    ics_device_parts parts = self->member->device->parts;
    parts.options = &self->options;
    parts.finished.user = self->member;
    parts.lost_user = self->member;
    const int status = self->maker->create(self->maker, &parts, &self->backend, &self->error);
    self->error.status = status;
    return NULL;
}

/* Prepares the member that gets this index in the group. */
static void prepare_member(new_member *self, ics_device *device, uint32_t index,
                           const ics_device_maker *maker)
{
    ics_device_member *member = &device->members[index];
    member->device = device;
    member->is_gpu = maker->is_gpu;
    member->ordinal = maker->ordinal;
    member->meter = (ics_device_meter){.assumed = maker->assumed, .warms_up = maker->is_gpu};
    memcpy(member->name, maker->name, sizeof member->name);
    self->maker = maker;
    self->member = member;
    self->options = device->options;
    self->options.graph.ordinal = maker->ordinal;
    self->options.threads = maker->threads;
    if (!maker->is_gpu && self->options.backend == ICS_BACKEND_CUDA) {
        ics_device_options_for_cpu(&self->options);
    }
}

/* The next member of the group is complete. The caller does not hold the lock. */
static void count_member(ics_device *device, const new_member *self)
{
    pthread_mutex_lock(&device->lock);
    self->member->backend = self->backend;
    device->count++;
    device->alive++;
    pthread_mutex_unlock(&device->lock);
}

/* Adds a member. If that fails, it is not counted. The caller does not hold the lock. */
static int add_member(ics_device *device, const ics_device_maker *maker, icestream_error *error)
{
    ICS_FREES new_member *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a device");
    }
    prepare_member(self, device, device->count, maker);
    create_backend(self);
    if (self->error.status != ICESTREAM_OK) {
        return ics_error_copy(error, &self->error);
    }
    count_member(device, self);
    return ICESTREAM_OK;
}

/* Counts a member that cannot be created as lost. Returns false if the error does not concern this
 * member alone. */
static bool leave_out(ics_device *device, const ics_device_maker *maker, const icestream_error *why)
{
    const int status = why->status;
    if (status != ICESTREAM_E_DEVICE && status != ICESTREAM_E_FAILED &&
        status != ICESTREAM_E_MEMORY) {
        return false;
    }
    pthread_mutex_lock(&device->lock);
    device->members[device->count++].lost = true;
    ics_device_blame(device, status, "", why->text);
    pthread_mutex_unlock(&device->lock);
    char lines[sizeof why->text + 64];
    snprintf(lines, sizeof lines, "%s\n%s is left out", why->text, maker->name);
    device->parts.note(device->parts.note_user, true, lines);
    return true;
}

static void log_cpu(const ics_device *device, uint32_t threads, bool late)
{
    const bool mixed = late && device->options.graph.math != ICS_MATH_PORTABLE;
    char line[256];
    snprintf(line, sizeof line, "device.fallback cpu: %u CPU threads continue the work%s", threads,
             mixed ? "; their hits equal those of a GPU bit by bit only with device.math portable"
                   : "");
    device->parts.note(device->parts.note_user, true, line);
}

int ics_device_add_cpu(ics_device *device, bool late, icestream_error *error)
{
    bool had_cpu = false;
    for (uint32_t i = 0; i < device->count; ++i) {
        had_cpu |= !device->members[i].is_gpu;
    }
    if (!device->options.fall_back || had_cpu) {
        return ics_error_copy_kept(error, &device->failure);
    }
    const ics_device_maker maker = maker_of_cpu(&device->options, 0);
    icestream_error why = {.status = ICESTREAM_OK};
    if (add_member(device, &maker, &why) != ICESTREAM_OK) {
        pthread_mutex_lock(&device->lock);
        ics_device_blame(device, why.status, "device.fallback cpu: ", why.text);
        pthread_mutex_unlock(&device->lock);
        return ics_error_copy_kept(error, &device->failure);
    }
    log_cpu(device, maker.threads, late);
    return ICESTREAM_OK;
}

/* Creates all members. GPUs start at the same time, each on a thread, because every one waits for
 * its driver. */
static void create_all(new_member *all, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        all[i].has_thread = count > 1 && all[i].maker->is_gpu &&
                            pthread_create(&all[i].thread, NULL, create_backend, &all[i]) == 0;
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (!all[i].has_thread) {
            create_backend(&all[i]);
        }
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (all[i].has_thread) {
            pthread_join(all[i].thread, NULL);
        }
    }
}

/* Counts all members in their order. Returns the first error that does not concern its member
 * alone, after all members are counted, so that they are destroyed with the group. */
static int count_all(ics_device *device, const new_member *all, uint32_t count,
                     icestream_error *error)
{
    int status = ICESTREAM_OK;
    for (uint32_t i = 0; i < count; ++i) {
        if (all[i].error.status == ICESTREAM_OK) {
            count_member(device, &all[i]);
            device->credits +=
                all[i].maker->credits != 0 ? all[i].maker->credits : all[i].backend.credits;
        } else if (status != ICESTREAM_OK || !leave_out(device, all[i].maker, &all[i].error)) {
            pthread_mutex_lock(&device->lock);
            device->members[device->count++].lost = true;
            pthread_mutex_unlock(&device->lock);
            status = status != ICESTREAM_OK ? status : ics_error_copy(error, &all[i].error);
        }
    }
    return status;
}

int ics_device_create_members(ics_device *device, const ics_device_makers *makers,
                              icestream_error *error)
{
    const uint32_t count = makers->count;
    ICS_FREES new_member *all = calloc(count, sizeof *all);
    if (all == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a group of devices");
    }
    for (uint32_t i = 0; i < count; ++i) {
        prepare_member(&all[i], device, i, &makers->items[i]);
    }
    create_all(all, count);
    ICS_TRY(count_all(device, all, count, error));
    if (device->alive == 0) {
        ICS_TRY(ics_device_add_cpu(device, false, error));
        device->credits = device->members[device->count - 1].backend.credits;
    }
    return ICESTREAM_OK;
}
