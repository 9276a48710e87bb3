/* How the members of a group are created: one maker for each GPU, and one for the CPU. */
#ifndef ICS_DEVICES_DEVICE_MAKERS_H
#define ICS_DEVICES_DEVICE_MAKERS_H

#include "pipeline/devices/device_backend.h"

typedef struct ics_device_maker {
    /* `parts` has the member's own options, finished, lost and choices. After ICESTREAM_E_DEVICE,
     * ICESTREAM_E_MEMORY and ICESTREAM_E_FAILED the group starts without the member, as if it had
     * been lost later. Other errors end the creation of the group. */
    int (*create)(void *user, const ics_device_parts *parts, ics_device_backend *out,
                  icestream_error *error);
    void *user;
    char name[32]; /* for messages: "GPU 1" */
    bool is_gpu;
    int ordinal;      /* number of a GPU; else -1 */
    uint32_t threads; /* the member's options.threads */
    uint32_t credits; /* added to the credits of the group; 0: the credits of the member */
    double assumed;   /* rate (photons/s) until it is measured */
} ics_device_maker;

/* The GPUs, the CPU, and a CPU that is added when all of them are lost. */
enum { ICS_DEVICE_MEMBERS_MAX = ICS_CONFIG_GPUS + 2 };

/* The makers of the members that the options ask for. Returns their number. */
uint32_t ics_device_makers_from_options(const ics_device_options *options,
                                        ics_device_maker makers[ICS_DEVICE_MEMBERS_MAX]);

/* The maker of a CPU that computes batches of any size, in a group with this number of GPUs. */
ics_device_maker ics_device_makers_cpu(const ics_device_options *options, uint32_t gpus);

#endif
