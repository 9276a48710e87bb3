#include "pipeline/devices/device_group_members.h"

#include <stdlib.h>
#include <string.h>

void ics_device_group_members_blame(ics_device_group *group, int status, const char *before,
                                    const char *text)
{
    icestream_error failure;
    ics_error_copy_kept(&failure, &group->failure);
    ics_error_add(&failure, status, "%s%s", before, text);
    ics_error_keep(&group->failure, &failure);
}

/* A member that is being created. */
typedef struct new_member {
    ics_device_group *group;
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
    ics_device_parts parts = self->group->parts;
    parts.options = &self->options;
    parts.finished = (ics_post){.post = self->group->finished, .user = self->member};
    parts.lost = self->group->lost;
    parts.lost_user = self->member;
    const int status = self->maker->create(self->maker->user, &parts, &self->backend, &self->error);
    self->error.status = status;
    return NULL;
}

/* Prepares the member that gets this index in the group. */
static void prepare_member(new_member *self, ics_device_group *group, uint32_t index,
                           const ics_device_maker *maker)
{
    ics_device_member *member = &group->members[index];
    member->group = group;
    member->is_gpu = maker->is_gpu;
    member->ordinal = maker->ordinal;
    member->meter = (ics_device_meter){.assumed = maker->assumed, .warms_up = maker->is_gpu};
    memcpy(member->name, maker->name, sizeof member->name);
    self->group = group;
    self->maker = maker;
    self->member = member;
    self->options = group->options;
    self->options.graph.ordinal = maker->ordinal;
    self->options.threads = maker->threads;
    if (!maker->is_gpu && self->options.backend == ICS_BACKEND_CUDA) {
        ics_device_options_for_cpu(&self->options);
    }
}

/* The next member of the group is complete. The caller does not hold the lock. */
static void count_member(ics_device_group *group, const new_member *self)
{
    pthread_mutex_lock(&group->lock);
    self->member->backend = self->backend;
    group->count++;
    group->alive++;
    pthread_mutex_unlock(&group->lock);
}

/* Adds a member. If that fails, it is not counted. The caller does not hold the lock. */
static int add_member(ics_device_group *group, const ics_device_maker *maker,
                      icestream_error *error)
{
    new_member *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a device");
    }
    prepare_member(self, group, group->count, maker);
    create_backend(self);
    const int status = self->error.status;
    if (status == ICESTREAM_OK) {
        count_member(group, self);
    } else {
        ics_error_copy(error, &self->error);
    }
    free(self);
    return status;
}

/* Counts a member that cannot be created as lost. Returns false if the error does not concern this
 * member alone. */
static bool leave_out(ics_device_group *group, const ics_device_maker *maker,
                      const icestream_error *why)
{
    const int status = why->status;
    if (status != ICESTREAM_E_DEVICE && status != ICESTREAM_E_FAILED &&
        status != ICESTREAM_E_MEMORY) {
        return false;
    }
    pthread_mutex_lock(&group->lock);
    group->members[group->count++].lost = true;
    ics_device_group_members_blame(group, status, "", why->text);
    pthread_mutex_unlock(&group->lock);
    char lines[sizeof why->text + 64];
    snprintf(lines, sizeof lines, "%s\n%s is left out", why->text, maker->name);
    group->parts.note(group->parts.note_user, true, lines);
    return true;
}

static void log_cpu(const ics_device_group *group, uint32_t threads, bool late)
{
    const bool mixed = late && group->options.graph.math != ICS_MATH_PORTABLE;
    char line[256];
    snprintf(line, sizeof line, "device.fallback cpu: %u CPU threads continue the work%s", threads,
             mixed ? "; their hits equal those of a GPU bit by bit only with device.math portable"
                   : "");
    group->parts.note(group->parts.note_user, true, line);
}

int ics_device_group_members_add_cpu(ics_device_group *group, bool late, icestream_error *error)
{
    bool had_cpu = false;
    for (uint32_t i = 0; i < group->count; ++i) {
        had_cpu |= !group->members[i].is_gpu;
    }
    if (!group->options.fall_back || had_cpu) {
        return ics_error_copy_kept(error, &group->failure);
    }
    const ics_device_maker maker = ics_device_makers_cpu(&group->options, 0);
    icestream_error why = {.status = ICESTREAM_OK};
    if (add_member(group, &maker, &why) != ICESTREAM_OK) {
        pthread_mutex_lock(&group->lock);
        ics_device_group_members_blame(group, why.status, "device.fallback cpu: ", why.text);
        pthread_mutex_unlock(&group->lock);
        return ics_error_copy_kept(error, &group->failure);
    }
    log_cpu(group, maker.threads, late);
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
static int count_all(ics_device_group *group, const new_member *all, uint32_t count,
                     icestream_error *error)
{
    int status = ICESTREAM_OK;
    for (uint32_t i = 0; i < count; ++i) {
        if (all[i].error.status == ICESTREAM_OK) {
            count_member(group, &all[i]);
            group->credits +=
                all[i].maker->credits != 0 ? all[i].maker->credits : all[i].backend.credits;
        } else if (status != ICESTREAM_OK || !leave_out(group, all[i].maker, &all[i].error)) {
            pthread_mutex_lock(&group->lock);
            group->members[group->count++].lost = true;
            pthread_mutex_unlock(&group->lock);
            status = status != ICESTREAM_OK ? status : ics_error_copy(error, &all[i].error);
        }
    }
    return status;
}

int ics_device_group_members_create(ics_device_group *group, const ics_device_maker *makers,
                                    uint32_t count, icestream_error *error)
{
    new_member *all = calloc(count, sizeof *all);
    if (all == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a group of devices");
    }
    for (uint32_t i = 0; i < count; ++i) {
        prepare_member(&all[i], group, i, &makers[i]);
    }
    create_all(all, count);
    const int status = count_all(group, all, count, error);
    free(all);
    if (status != ICESTREAM_OK || group->alive > 0) {
        return status;
    }
    ICS_TRY(ics_device_group_members_add_cpu(group, false, error));
    group->credits = group->members[group->count - 1].backend.credits;
    return ICESTREAM_OK;
}

void ics_device_group_members_destroy(ics_device_group *group)
{
    for (uint32_t i = 0; i < group->count; ++i) {
        const ics_device_backend *backend = &group->members[i].backend;
        if (backend->functions != NULL) {
            backend->functions->destroy(backend->self);
        }
    }
}
