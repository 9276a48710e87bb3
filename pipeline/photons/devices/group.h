/* The inside of a device: a group of members that compute batches from one queue. Used only by the
 * files of pipeline/photons/devices, and by tests, which give a device other members.
 *
 * Each batch goes to the member that should finish it first, by the measured rates and by the work
 * that each member holds. It waits in the queue until that member has room, so a slow member gets a
 * batch only if the fast members would finish it later. If a member is lost, the others compute its
 * unfinished batches again from the start. If no member is left, options->fall_back decides: a CPU
 * is added, or all batches end with the errors of all members.
 *
 * device.c has the life and the notes of a device, devices/group.c divides the batches and handles
 * losses, devices/group_members.c creates members, devices/group_facts.c reports. */
#ifndef ICS_PHOTONS_DEVICES_GROUP_H
#define ICS_PHOTONS_DEVICES_GROUP_H

#include "pipeline/photons/devices/backend.h"
#include "pipeline/photons/devices/choice.h"
#include "pipeline/photons/devices/meter.h"

#include <pthread.h>

/* ---- members --------------------------------------------------------------------------------- */

/* How a member is created: one maker for each GPU, and one for the CPU. */
typedef struct ics_device_maker {
    /* `parts` has the member's own options, finished, lost and choices. After ICESTREAM_E_DEVICE,
     * ICESTREAM_E_MEMORY and ICESTREAM_E_FAILED the group starts without the member, as if it had
     * been lost later. Other errors end the creation of the group. */
    int (*create)(const struct ics_device_maker *self, const ics_device_parts *parts,
                  ics_device_backend *out, icestream_error *error);
    void *user;    /* for makers of tests */
    char name[32]; /* for messages: "GPU 1" */
    bool is_gpu;
    ics_cpu_work work; /* of a CPU */
    int ordinal;       /* of a GPU; else -1 */
    uint32_t threads;  /* the member's options.threads */
    uint32_t credits;  /* added to the credits of the group; 0: the credits of the member */
    double assumed;    /* rate (photons/s) until it is measured */
} ics_device_maker;

/* The GPUs, the CPU, and a CPU that is added when all of them are lost. */
enum { ICS_DEVICE_MEMBERS_MAX = ICS_CONFIG_GPUS + 2 };

typedef struct ics_device_makers {
    ics_device_maker items[ICS_DEVICE_MEMBERS_MAX];
    uint32_t count;
} ics_device_makers;

typedef struct ics_device_member {
    ics_device *device;
    ics_device_backend backend; /* functions NULL: it could not be created */
    char name[32];              /* for messages */
    bool is_gpu;
    int ordinal; /* of a GPU; else -1 */
    /* Protected by the lock of the device: */
    bool lost;
    bool distrusted; /* it returned an impossible batch, so its other batches are not used either */
    ics_device_meter meter;
} ics_device_member;

/* ---- the device ------------------------------------------------------------------------------ */

/* Lines of notes, each with its newline. */
typedef struct ics_device_note_list {
    char *lines; /* NULL: none yet */
    size_t size; /* bytes, without the final 0 */
    size_t read; /* bytes that ics_device_next_note() has returned */
} ics_device_note_list;

struct ics_device {
    ics_device_options options;
    ics_device_parts parts; /* for members, which are the users of `finished` and `lost` */
    ics_post finished;      /* receives the batches that leave the device */
    uint32_t asked;         /* members that were asked for */
    uint32_t credits;
    char first_name[256];

    pthread_mutex_t note_lock; /* protects the two lists of notes */
    ics_device_note_list choice, warnings;

    pthread_mutex_t lock; /* protects what follows */
    pthread_cond_t changed;
    ics_device_member members[ICS_DEVICE_MEMBERS_MAX];
    uint32_t count, alive;
    ics_job_queue queue;    /* batches that wait for a member */
    uint32_t held;          /* batches that have not left the device */
    bool dispatching;       /* a thread gives batches to members */
    bool replacing;         /* a thread adds a CPU, because all members are lost */
    bool closing;           /* members are being destroyed; their losses are ignored */
    bool failed;            /* for good: all batches end with `failure` */
    ics_error_kept failure; /* of all members that were lost, one line or more each */
};

/* Starts a device with 1 to ICS_CONFIG_GPUS + 1 members. `makers` need not outlive the call. The
 * rest as ics_device_create(). */
int ics_device_create_of(const ics_device_options *options, const ics_tables *tables,
                         ics_hit_models models, ics_post finished, const ics_device_makers *makers,
                         ics_device **out, icestream_error *error);

/* What a member calls, with itself as `user`: it returns a batch, computed or not; it is lost, and
 * returns its batches after this (devices/group.c). */
void ics_device_receive(void *user, ics_job *job);
void ics_device_lose_member(void *user, const icestream_error *why);

/* Returns the makers of the members that the options ask for. */
ics_device_makers ics_device_makers_of(const ics_device_options *options);
/* Adds the members that the makers describe, and their credits. A member that cannot be created is
 * logged and counts as lost. If none can be created, adds a CPU as below. */
int ics_device_create_members(ics_device *device, const ics_device_makers *makers,
                              icestream_error *error);
/* Adds a CPU that continues for the lost members, and logs it. `late`: there may be hits of GPUs.
 * Returns device->failure if the CPU cannot be created, or if it is not allowed: options.fall_back
 * is false, or the device had a CPU, and another one would be lost in the same way. The caller does
 * not hold the lock; one thread at a time. `error` may be NULL. */
int ics_device_add_cpu(ics_device *device, bool late, icestream_error *error);
/* Adds `before` and `text` to device->failure. The caller holds the lock. */
void ics_device_blame(ics_device *device, int status, const char *before, const char *text);

#endif
