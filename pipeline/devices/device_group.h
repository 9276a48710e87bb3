/* Inside a group of devices (device_backend.h): its queue and its members. device_group.c hands out
 * batches and sees to losses, device_members.c makes members, device_group_facts.c tells of them.
 */
#ifndef ICS_DEVICES_DEVICE_GROUP_H
#define ICS_DEVICES_DEVICE_GROUP_H

#include "pipeline/devices/device_backend.h"
#include "pipeline/devices/device_meter.h"

#include <pthread.h>

/* GPUs, the CPU, and one that comes in when all are lost. */
enum { ICS_MEMBERS_MAX = ICS_CONFIG_GPUS + 2 };

typedef struct ics_device_group ics_device_group;

/* One device of the group. */
typedef struct ics_device_member {
    ics_device_group *group;
    ics_device_backend backend; /* functions NULL: it was never made */
    char name[32];
    bool is_gpu;
    int ordinal;
    /* Protected by the group's lock: */
    bool lost;
    bool distrusted; /* it gave a batch that cannot be: what it still gives is not believed */
    ics_device_meter meter;
} ics_device_member;

struct ics_device_group {
    ics_device_options options;
    ics_device_parts parts; /* with `options` above */
    ics_device_choices *choices;

    pthread_mutex_t lock; /* what follows */
    pthread_cond_t changed;
    ics_device_member members[ICS_MEMBERS_MAX];
    uint32_t count, alive;
    ics_job_queue queue;     /* batches that wait */
    uint32_t held;           /* batches that have not left the group */
    bool dispatching;        /* a thread hands out batches */
    bool rescuing;           /* a thread makes a CPU, for all are lost */
    bool closing;            /* members end: what they still tell is of no interest */
    bool failed;             /* for good: all batches end with `failure` */
    icestream_error failure; /* of all that were lost, a line or more each */
};

/* Makes a member; where that fails it is not counted. Without the lock, one thread at a time. */
int ics_device_group_add(ics_device_group *group, const ics_device_maker *maker,
                         icestream_error *error);
/* The CPU as a member, beside so many GPUs. */
ics_device_maker ics_device_cpu_maker(const ics_device_options *options, uint32_t gpus);
/* Whether a CPU may come in when no member is left. */
bool ics_device_group_may_rescue(const ics_device_group *group);
/* Says that it has. `mixed`: there may be hits of GPUs already. */
void ics_device_group_tell_rescue(const ics_device_group *group, uint32_t threads, bool mixed);

/* For members: a batch is computed, or not; the member is lost. `user`: the member. */
void ics_device_group_take_back(void *user, ics_job *job);
void ics_device_group_lost(void *user, const icestream_error *why);

/* Functions of the backend. */
void ics_device_group_submit(void *self, ics_batch *batch);
void ics_device_group_facts(void *self, ics_device_facts *out);
bool ics_device_group_member_facts(void *self, uint32_t index, ics_device_member_facts *out);

#endif
