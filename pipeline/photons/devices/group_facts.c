/* What a device and its members report about themselves. */
#include "base/clock.h"
#include "pipeline/photons/devices/group.h"

#include <string.h>

bool ics_device_member_facts_of(const ics_device *device, uint32_t index,
                                ics_device_member_facts *out)
{
    ics_device *locked = (ics_device *)device;
    const double now = ics_clock_seconds();
    pthread_mutex_lock(&locked->lock);
    const bool exists = index < device->count;
    ics_device_backend backend = {0};
    if (exists) {
        const ics_device_member *member = &device->members[index];
        const ics_device_meter *meter = &member->meter;
        backend = member->backend;
        *out = (ics_device_member_facts){.is_gpu = member->is_gpu,
                                         .ordinal = member->ordinal,
                                         .alive = !member->lost,
                                         .batches = meter->batches,
                                         .photons = meter->photons,
                                         .seconds = ics_device_meter_busy(meter, now),
                                         .photons_per_second = ics_device_meter_rate(meter),
                                         .held = meter->held};
        snprintf(out->name, sizeof out->name, "%s", member->name);
    }
    pthread_mutex_unlock(&locked->lock);
    if (backend.functions != NULL) {
        ics_device_facts facts;
        backend.functions->facts_of(backend.self, &facts);
        snprintf(out->name, sizeof out->name, "%s", facts.name);
    }
    return exists;
}

/* Adds a member to the name of the group, unless the name would get too long. */
static void add_name(char *names, size_t size, const ics_device_member *member,
                     const ics_device_facts *facts)
{
    char name[sizeof facts->name + 64];
    if (member->is_gpu) {
        snprintf(name, sizeof name, "%s (GPU %d)", facts->name, member->ordinal);
    } else {
        snprintf(name, sizeof name, "%s (%u thread%s, %s)", facts->name, facts->threads,
                 facts->threads == 1 ? "" : "s", facts->instruction_set);
    }
    const size_t used = strlen(names);
    if (used + strlen(name) + 3 <= size) {
        snprintf(names + used, size - used, "%s%.*s", used > 0 ? ", " : "", (int)strlen(name),
                 name);
    }
}

/* Limits of batches that all GPUs accept; a CPU accepts any batch. A file is divided into at least
 * one batch for each GPU. */
static void add_limits(ics_batch_limits *limits, const ics_batch_limits *other)
{
    limits->steps = other->steps < limits->steps ? other->steps : limits->steps;
    if (other->emission_photons != 0 &&
        (limits->emission_photons == 0 || other->emission_photons < limits->emission_photons)) {
        limits->emission_photons = other->emission_photons;
    }
    limits->photons = other->photons < limits->photons ? other->photons : limits->photons;
    limits->most_photons =
        other->most_photons < limits->most_photons ? other->most_photons : limits->most_photons;
    limits->least_photons =
        other->least_photons < limits->least_photons ? other->least_photons : limits->least_photons;
    limits->shares += other->shares;
}

static void add_usage(ics_gpu_usage *sum, const ics_gpu_usage *usage)
{
    sum->seconds += usage->seconds;
    sum->launches += usage->launches;
    sum->waves += usage->waves;
    sum->device_bytes += usage->device_bytes;
    sum->downloaded_bytes += usage->downloaded_bytes;
    sum->trial_seconds += usage->trial_seconds;
    for (size_t i = 0; i < sizeof sum->stage_seconds / sizeof sum->stage_seconds[0]; ++i) {
        sum->stage_seconds[i] += usage->stage_seconds[i];
    }
}

/* Finds the members that the facts are about: those that are alive. If all are lost, the first
 * member that was created. Returns the number of members; their other values do not change. */
static uint32_t find_alive(const ics_device *device, bool alive[ICS_DEVICE_MEMBERS_MAX])
{
    ics_device *locked = (ics_device *)device;
    pthread_mutex_lock(&locked->lock);
    const uint32_t count = device->count;
    bool any = false;
    for (uint32_t i = 0; i < count; ++i) {
        alive[i] = !device->members[i].lost;
        any |= alive[i];
    }
    for (uint32_t i = 0; i < count && !any; ++i) {
        any = alive[i] = device->members[i].backend.functions != NULL;
    }
    pthread_mutex_unlock(&locked->lock);
    return count;
}

void ics_device_facts_of(const ics_device *device, ics_device_facts *out)
{
    bool alive[ICS_DEVICE_MEMBERS_MAX] = {false};
    const uint32_t count = find_alive(device, alive);
    ics_device_facts first_cpu = {0}, gpu = {0};
    ics_gpu_usage usage = {0};
    char names[sizeof out->name - 32] = "";
    uint32_t gpus = 0, cpus = 0, threads = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const ics_device_member *member = &device->members[i];
        if (member->backend.functions == NULL) {
            continue;
        }
        ics_device_facts facts;
        member->backend.functions->facts_of(member->backend.self, &facts);
        add_usage(&usage, &facts.usage);
        if (!alive[i]) {
            continue;
        }
        add_name(names, sizeof names, member, &facts);
        threads += facts.threads;
        if (!member->is_gpu) {
            first_cpu = cpus++ == 0 ? facts : first_cpu;
        } else if (gpus++ == 0) {
            gpu = facts;
        } else {
            add_limits(&gpu.limits, &facts.limits);
        }
    }
    *out = gpus > 0 ? gpu : first_cpu;
    out->members = device->asked;
    out->usage = usage;
    out->threads = threads;
    out->gpus = gpus;
    memcpy(out->first_name, device->first_name, sizeof out->first_name);
    if (gpus > 1) {
        out->limits.least_photons = (out->limits.least_photons + 3) / 4;
    }
    if (gpus > 0 && device->asked > 1) {
        snprintf(out->name, sizeof out->name, "%u GPU%s%s: %s", gpus, gpus == 1 ? "" : "s",
                 cpus > 0 ? " and the CPU" : "", names);
    }
}
