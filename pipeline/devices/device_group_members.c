#include "pipeline/devices/device_group_members.h"

#include <string.h>

void ics_device_group_members_blame(ics_device_group *group, int status, const char *before,
                                    const char *text)
{
    icestream_error failure;
    ics_error_copy_kept(&failure, &group->failure);
    ics_error_add(&failure, status, "%s%s", before, text);
    ics_error_keep(&group->failure, &failure);
}

/* Adds a member. If that fails, it is not counted. The caller does not hold the lock. */
static int add_member(ics_device_group *group, const ics_device_maker *maker,
                      icestream_error *error)
{
    ics_device_member *member = &group->members[group->count];
    member->group = group;
    member->is_gpu = maker->is_gpu;
    member->ordinal = maker->ordinal;
    member->meter = (ics_device_meter){.assumed = maker->assumed, .warms_up = maker->is_gpu};
    memcpy(member->name, maker->name, sizeof member->name);
    ics_device_options options = group->options;
    options.graph.ordinal = maker->ordinal;
    options.threads = maker->threads;
    if (!maker->is_gpu && options.backend == ICS_BACKEND_CUDA) {
        ics_device_options_for_cpu(&options);
    }
    ics_device_parts parts = group->parts;
    parts.options = &options;
    parts.finished = (ics_post){.post = group->finished, .user = member};
    parts.lost = group->lost;
    parts.lost_user = member;
    ics_device_backend backend = {0};
    ICS_TRY(maker->create(maker->user, &parts, &backend, error));
    pthread_mutex_lock(&group->lock);
    member->backend = backend;
    group->count++;
    group->alive++;
    pthread_mutex_unlock(&group->lock);
    return ICESTREAM_OK;
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

int ics_device_group_members_create(ics_device_group *group, const ics_device_maker *makers,
                                    uint32_t count, icestream_error *error)
{
    for (uint32_t i = 0; i < count; ++i) {
        icestream_error why = {.status = ICESTREAM_OK};
        if (add_member(group, &makers[i], &why) == ICESTREAM_OK) {
            const uint32_t own = group->members[group->count - 1].backend.credits;
            group->credits += makers[i].credits != 0 ? makers[i].credits : own;
        } else if (!leave_out(group, &makers[i], &why)) {
            return ics_error_copy(error, &why);
        }
    }
    if (group->alive > 0) {
        return ICESTREAM_OK;
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
