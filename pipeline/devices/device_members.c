/* A group of devices and its members: how they are made. */
#include "base/error.h"
#include "pipeline/devices/device_group.h"

#include <stdlib.h>
#include <string.h>

/* Photons per second of a CPU thread, and of a GPU, until they are measured: short runs are over
 * before that, and shall not wait for a CPU that got a GPU's batch. */
#define CPU_THREAD_RATE 2e6
#define GPU_RATE        1e9

enum {
    CPU_CREDITS = 2,      /* of the group's: one that it computes, one that waits */
    HIT_THREADS_LEAST = 2 /* of a GPU */
};

static int make_cpu(void *user, const ics_device_parts *parts, ics_device_backend *out,
                    icestream_error *error)
{
    (void)user;
    return ics_device_cpu_create(parts, ICS_CPU_PIECES, 0, out, error);
}

ics_device_maker ics_device_cpu_maker(const ics_device_options *options, uint32_t gpus)
{
    uint32_t threads = ics_device_host_threads(options);
    /* The threads that serve GPUs shall not wait for a core. */
    if (options->threads == 0) {
        threads = threads > gpus ? threads - gpus : 1;
    }
    return (ics_device_maker){.create = make_cpu,
                              .name = "the CPU",
                              .ordinal = -1,
                              .threads = threads,
                              .credits = CPU_CREDITS,
                              .assumed = CPU_THREAD_RATE * threads};
}

void ics_device_group_tell_rescue(const ics_device_group *group, uint32_t threads, bool mixed)
{
    char line[256];
    snprintf(line, sizeof line, "device.fallback cpu: the work goes on on %u CPU threads%s",
             threads,
             mixed && group->options.gpu.math != ICS_MATH_PORTABLE
                 ? "; only with device.math portable their hits are those of a GPU, bit by bit"
                 : "");
    group->parts.note(group->parts.note_user, true, line);
}

/* Where a CPU was lost, another one would be no better. */
bool ics_device_group_may_rescue(const ics_device_group *group)
{
    bool had_cpu = false;
    for (uint32_t i = 0; i < group->count; ++i) {
        had_cpu |= !group->members[i].is_gpu;
    }
    return group->options.fall_back && !had_cpu;
}

static void destroy(void *self)
{
    ics_device_group *group = self;
    pthread_mutex_lock(&group->lock);
    while (group->held > 0 || group->dispatching || group->rescuing) {
        pthread_cond_wait(&group->changed, &group->lock);
    }
    group->closing = true;
    pthread_mutex_unlock(&group->lock);
    for (uint32_t i = 0; i < group->count; ++i) {
        const ics_device_backend *backend = &group->members[i].backend;
        if (backend->functions != NULL) {
            backend->functions->destroy(backend->self);
        }
    }
    ics_device_choices_destroy(group->choices);
    pthread_cond_destroy(&group->changed);
    pthread_mutex_destroy(&group->lock);
    free(group);
}

int ics_device_group_add(ics_device_group *group, const ics_device_maker *maker,
                         icestream_error *error)
{
    ics_device_member *member = &group->members[group->count];
    member->group = group;
    member->is_gpu = maker->is_gpu;
    member->ordinal = maker->ordinal;
    member->meter = (ics_device_meter){.assumed = maker->assumed, .warms_up = maker->is_gpu};
    memcpy(member->name, maker->name, sizeof member->name);
    ics_device_options options = group->options;
    options.gpu.ordinal = maker->ordinal;
    options.threads = maker->threads;
    options.fall_back = false; /* the group does that */
    if (!maker->is_gpu) {
        ics_device_options_for_cpu(&options);
    }
    ics_device_parts parts = group->parts;
    parts.options = &options;
    parts.finished = (ics_post){.post = ics_device_group_take_back, .user = member};
    parts.lost = ics_device_group_lost;
    parts.lost_user = member;
    parts.choices = group->choices;
    ics_device_backend backend = {0};
    int status = maker->create(maker->user, &parts, &backend, error);
    if (status == ICESTREAM_OK) {
        pthread_mutex_lock(&group->lock);
        member->backend = backend;
        group->count++;
        group->alive++;
        pthread_mutex_unlock(&group->lock);
    }
    return status;
}

/* One that cannot be started is as good as lost; false: that is no matter of this device alone. */
static bool leave_out(ics_device_group *group, const ics_device_maker *maker,
                      const icestream_error *why)
{
    const int status = why->status;
    if (status != ICESTREAM_E_DEVICE && status != ICESTREAM_E_FAILED &&
        status != ICESTREAM_E_MEMORY) {
        return false;
    }
    ics_device_member *member = &group->members[group->count++];
    member->lost = true;
    ics_error_add(&group->failure, status, "%s", why->text);
    char lines[sizeof why->text + 64];
    snprintf(lines, sizeof lines, "%s\n%s is left out", why->text, maker->name);
    group->parts.note(group->parts.note_user, true, lines);
    return true;
}

static int add_members(ics_device_group *group, const ics_device_maker *makers, uint32_t count,
                       uint32_t *credits, icestream_error *error)
{
    for (uint32_t i = 0; i < count; ++i) {
        icestream_error why = {.status = ICESTREAM_OK};
        if (ics_device_group_add(group, &makers[i], &why) == ICESTREAM_OK) {
            const uint32_t own = group->members[group->count - 1].backend.credits;
            *credits += makers[i].credits != 0 ? makers[i].credits : own;
        } else if (!leave_out(group, &makers[i], &why)) {
            return ics_error_copy(error, &why);
        }
    }
    if (group->alive > 0) {
        return ICESTREAM_OK;
    }
    if (!ics_device_group_may_rescue(group)) {
        return ics_error_copy(error, &group->failure);
    }
    const ics_device_maker maker = ics_device_cpu_maker(&group->options, 0);
    int status = ics_device_group_add(group, &maker, error);
    if (status == ICESTREAM_OK) {
        *credits = group->members[group->count - 1].backend.credits;
        ics_device_group_tell_rescue(group, maker.threads, false);
    }
    return status;
}

int ics_device_group_create(const ics_device_parts *parts, const ics_device_maker *makers,
                            uint32_t count, ics_device_backend *out, icestream_error *error)
{
    static const ics_device_functions functions = {.destroy = destroy,
                                                   .submit = ics_device_group_submit,
                                                   .facts_of = ics_device_group_facts,
                                                   .member_facts_of =
                                                       ics_device_group_member_facts};
    ics_device_group *group = calloc(1, sizeof *group);
    if (group == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a group of devices");
    }
    group->options = *parts->options;
    group->parts = *parts;
    group->parts.options = &group->options;
    STAILQ_INIT(&group->queue);
    pthread_mutex_init(&group->lock, NULL);
    pthread_cond_init(&group->changed, NULL);
    uint32_t credits = 0;
    int status = ics_device_choices_create(&group->choices, error);
    if (status == ICESTREAM_OK) {
        status = add_members(group, makers, count, &credits, error);
    }
    if (status != ICESTREAM_OK) {
        destroy(group);
        return status;
    }
    *out = (ics_device_backend){.functions = &functions, .self = group, .credits = credits};
    return ICESTREAM_OK;
}

static int make_gpu(void *user, const ics_device_parts *parts, ics_device_backend *out,
                    icestream_error *error)
{
    (void)user;
    return ics_device_gpu_create(parts, out, error);
}

int ics_device_group_from_options(const ics_device_parts *parts, ics_device_backend *out,
                                  icestream_error *error)
{
    const ics_device_options *options = parts->options;
    const uint32_t gpus = options->gpu_count;
    const uint32_t threads = ics_device_host_threads(options);
    const uint32_t least = threads < HIT_THREADS_LEAST ? threads : HIT_THREADS_LEAST;
    const uint32_t share = threads / gpus;
    ics_device_maker makers[ICS_MEMBERS_MAX] = {{0}};
    for (uint32_t i = 0; i < gpus; ++i) {
        makers[i] = (ics_device_maker){.create = make_gpu,
                                       .is_gpu = true,
                                       .ordinal = options->gpus[i],
                                       .threads = share > least ? share : least,
                                       .assumed = GPU_RATE};
        snprintf(makers[i].name, sizeof makers[i].name, "GPU %d", options->gpus[i]);
    }
    if (options->cpu_too) {
        makers[gpus] = ics_device_cpu_maker(options, gpus);
    }
    return ics_device_group_create(parts, makers, gpus + options->cpu_too, out, error);
}
