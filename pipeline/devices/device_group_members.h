/* The state of a group, and how it gets its members. device_group.c divides the batches and handles
 * losses, device_group_members.c adds members, device_group_facts.c reports. */
#ifndef ICS_DEVICES_DEVICE_GROUP_MEMBERS_H
#define ICS_DEVICES_DEVICE_GROUP_MEMBERS_H

#include "pipeline/devices/device_choice.h"
#include "pipeline/devices/device_group.h"
#include "pipeline/devices/device_meter.h"

#include <pthread.h>

typedef struct ics_device_member {
    ics_device_group *group;
    ics_device_backend backend; /* functions NULL: it could not be created */
    char name[32];              /* for messages */
    bool is_gpu;
    int ordinal; /* number of a GPU; else -1 */
    /* Protected by the group's lock: */
    bool lost;
    bool distrusted; /* it returned an impossible batch, so its other batches are not used either */
    ics_device_meter meter;
} ics_device_member;

struct ics_device_group {
    ics_device_options options;
    ics_device_parts parts; /* for members; with `options` above */
    uint32_t asked;         /* members that were asked for */
    uint32_t credits;
    /* What a member calls with itself as `user`; set before members are added. */
    void (*finished)(void *user, ics_job *job);
    void (*lost)(void *user, const icestream_error *why);

    pthread_mutex_t lock; /* protects what follows */
    pthread_cond_t changed;
    ics_device_member members[ICS_DEVICE_MEMBERS_MAX];
    uint32_t count, alive;
    ics_job_queue queue;    /* batches that wait for a member */
    uint32_t held;          /* batches that have not left the group */
    bool dispatching;       /* a thread gives batches to members */
    bool replacing;         /* a thread adds a CPU, because all members are lost */
    bool closing;           /* members are being destroyed; their losses are ignored */
    bool failed;            /* whether all batches end with `failure` */
    ics_error_kept failure; /* errors of all members that were lost, one line or more each */
};

/* Adds the members that the makers describe, and their credits. A member that cannot be created is
 * logged and counts as lost. If none can be created, adds a CPU as below. */
int ics_device_group_members_create(ics_device_group *group, const ics_device_maker *makers,
                                    uint32_t count, icestream_error *error);
void ics_device_group_members_destroy(ics_device_group *group);

/* Adds a CPU that continues for the lost members, and logs it. `late`: there may be hits of GPUs.
 * Returns group->failure if the CPU cannot be created, or if it is not allowed: options.fall_back
 * is false, or the group had a CPU, and another one would be lost in the same way. The caller does
 * not hold the lock; one thread at a time. `error` may be NULL. */
int ics_device_group_members_add_cpu(ics_device_group *group, bool late, icestream_error *error);

/* Adds `before` and `text` to group->failure. The caller holds the lock. */
void ics_device_group_members_blame(ics_device_group *group, int status, const char *before,
                                    const char *text);

#endif
