/* What a kind of device does; private to the files pipeline/host/device*.c.
 *
 * A backend starts its threads when it is made and gives finished batches to parts->finished.
 */
#ifndef ICS_DEVICES_DEVICE_BACKEND_H
#define ICS_DEVICES_DEVICE_BACKEND_H

#include "pipeline/devices/device.h"

typedef struct ics_device_functions {
    /* Waits for the batches that it has, then frees everything. */
    void (*destroy)(void *self);
    /* Takes a batch; there is room, for device.c counts. One thread at a time; it may give batches
     * to parts->finished before it returns. */
    void (*submit)(void *self, ics_batch *batch);
    /* Any thread. */
    void (*facts_of)(void *self, ics_device_facts *out);
    /* Of a device that is made of others; false: there is none with this index. Any thread. NULL:
     * it is one device. */
    bool (*member_facts_of)(void *self, uint32_t index, ics_device_member_facts *out);
} ics_device_functions;

typedef struct ics_device_backend {
    const ics_device_functions *functions;
    void *self;
    uint32_t credits; /* batches that it may hold */
} ics_device_backend;

typedef struct ics_device_choices ics_device_choices;

/* What a backend is made from; `options` need not outlive its creation, the rest must outlive the
 * backend. */
typedef struct ics_device_parts {
    const ics_device_options *options;
    const ics_tables *tables;
    ics_hit_models models;
    ics_post finished;                                         /* any thread */
    void (*note)(void *user, bool warning, const char *lines); /* any thread */
    void *note_user;
    /* A member of a group tells that it is lost, before it gives back what it holds with that
     * error, and takes nothing more. On a thread of its own; not while it is made. NULL: nobody
     * asks, and it does what options->fall_back says. */
    void (*lost)(void *user, const icestream_error *why);
    void *lost_user;
    ics_device_choices *choices; /* of a group; NULL: alone */
} ics_device_parts;

/* How a CPU shares out its work. */
typedef enum ics_cpu_work {
    ICS_CPU_BATCHES, /* a thread for every batch: batches have the size that the CPU asks for */
    ICS_CPU_PIECES   /* all threads for every batch, however large */
} ics_cpu_work;

/* A graph on every thread. `capacity`: batches that it shall be able to hold at least. */
int ics_device_cpu_create(const ics_device_parts *parts, ics_cpu_work work, uint32_t capacity,
                          ics_device_backend *out, icestream_error *error);
/* One thread that serves a GPU, and threads that make hits. */
int ics_device_gpu_create(const ics_device_parts *parts, ics_device_backend *out,
                          icestream_error *error);

/* ---- groups ---------------------------------------------------------------------------------- */

/* How a group comes by a member. */
typedef struct ics_device_maker {
    /* `parts`: with the member's own options, finished and lost. ICESTREAM_E_DEVICE,
     * ICESTREAM_E_MEMORY and ICESTREAM_E_FAILED leave the member out, as if it had been lost later;
     * others are the group's. */
    int (*create)(void *user, const ics_device_parts *parts, ics_device_backend *out,
                  icestream_error *error);
    void *user;
    char name[32]; /* for messages: "GPU 1" */
    bool is_gpu;
    int ordinal;      /* of a GPU; others: -1 */
    uint32_t threads; /* options.threads */
    uint32_t credits; /* what it adds to those of the group; 0: its own */
    double assumed;   /* photons/s, until it is measured */
} ics_device_maker;

/* Several devices as one. Batches wait in one queue; each goes to the member that will be done with
 * it first by its measured speed and by what it holds, once that member has room: a slow one gets
 * a batch only where the others would need longer still. What a lost member held goes to the
 * others, from its beginning. When none is left, options->fall_back decides: a CPU is made, or all
 * batches end with the errors of all members. `makers` need not outlive the creation; 1 .. 65 of
 * them. */
int ics_device_group_create(const ics_device_parts *parts, const ics_device_maker *makers,
                            uint32_t count, ics_device_backend *out, icestream_error *error);
/* The group that options ask for: their GPUs, and the CPU with cpu_too. */
int ics_device_group_from_options(const ics_device_parts *parts, ics_device_backend *out,
                                  icestream_error *error);

/* How schedule AUTO was decided, for GPUs of one kind to share: the first one measures, the others
 * wait for it. */
int ics_device_choices_create(ics_device_choices **out, icestream_error *error);
/* Accepts NULL. */
void ics_device_choices_destroy(ics_device_choices *choices);
/* ics_gpu_choose for a GPU of a group; choices NULL: of its own. */
int ics_device_choose(ics_device_choices *choices, ics_gpu_options *settings,
                      const ics_tables *tables, const ics_batch *batch, char *report,
                      size_t report_size, ics_gpu_error *error);

/* ---- what all have in common ----------------------------------------------------------------- */

/* What both do at the end of a batch: account and arrivals of the stages become those of files;
 * batch->error says how it went. */
void ics_device_finish_batch(const ics_hit_models *models, ics_batch *batch,
                             const ice_account *account, const ics_arrivals *arrivals);

/* As configured, or one for each CPU that this process may use. */
uint32_t ics_device_host_threads(const ics_device_options *options);

#endif
