/* Inside a group of devices (device_backend.h): its queue and its members. device_group.c hands out
 * batches and sees to losses, device_members.c makes members, device_group_facts.c tells of them.
 */
#ifndef IS_DEVICE_GROUP_H
#define IS_DEVICE_GROUP_H

#include "pipeline/host/device_backend.h"
#include "pipeline/host/device_meter.h"

#include <pthread.h>

/* GPUs, the CPU, and one that comes in when all are lost. */
enum { IS_MEMBERS_MAX = IS_CONFIG_GPUS + 2 };

typedef struct is_device_group is_device_group;

/* One device of the group. */
typedef struct is_device_member {
    is_device_group *group;
    is_device_backend backend; /* functions NULL: it was never made */
    char name[32];
    bool is_gpu;
    int ordinal;
    /* Protected by the group's lock: */
    bool lost;
    bool distrusted; /* it gave a batch that cannot be: what it still gives is not believed */
    is_device_meter meter;
} is_device_member;

struct is_device_group {
    is_device_options options;
    is_device_parts parts; /* with `options` above */
    is_device_choices *choices;

    pthread_mutex_t lock; /* what follows */
    pthread_cond_t changed;
    is_device_member members[IS_MEMBERS_MAX];
    uint32_t count, alive;
    is_job *first, **last; /* batches that wait */
    uint32_t held;         /* batches that have not left the group */
    bool dispatching;      /* a thread hands out batches */
    bool rescuing;         /* a thread makes a CPU, for all are lost */
    bool closing;          /* members end: what they still tell is of no interest */
    bool failed;           /* for good: all batches end with `failure` */
    is_error failure;      /* of all that were lost, a line or more each */
};

/* Makes a member; where that fails it is not counted. Without the lock, one thread at a time. */
int is_device_group_add(is_device_group *group, const is_device_maker *maker, is_error *error);
/* The CPU as a member, beside so many GPUs. */
is_device_maker is_device_cpu_maker(const is_device_options *options, uint32_t gpus);
/* Whether a CPU may come in when no member is left. */
bool is_device_group_may_rescue(const is_device_group *group);
/* Says that it has. `mixed`: there may be hits of GPUs already. */
void is_device_group_tell_rescue(const is_device_group *group, uint32_t threads, bool mixed);

/* For members: a batch is computed, or not; the member is lost. `user`: the member. */
void is_device_group_take_back(void *user, is_job *job);
void is_device_group_lost(void *user, const is_error *why);

/* Functions of the backend. */
void is_device_group_submit(void *self, is_batch *batch);
void is_device_group_facts(void *self, is_device_facts *out);
bool is_device_group_member_facts(void *self, uint32_t index, is_device_member_facts *out);

#endif
