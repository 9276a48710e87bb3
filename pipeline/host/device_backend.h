/* What a kind of device does; private to the files pipeline/host/device*.c.
 *
 * A backend starts its threads when it is made and gives finished batches to parts->finished.
 */
#ifndef IS_DEVICE_BACKEND_H
#define IS_DEVICE_BACKEND_H

#include "pipeline/host/device.h"

typedef struct is_device_functions {
    /* Waits for the batches that it has, then frees everything. */
    void (*destroy)(void *self);
    /* Takes a batch; there is room, for device.c counts. One thread at a time; it may give batches
     * to parts->finished before it returns. */
    void (*submit)(void *self, is_batch *batch);
    /* Any thread. */
    void (*facts_of)(void *self, is_device_facts *out);
    /* Of a device that is made of others; false: there is none with this index. Any thread. NULL:
     * it is one device. */
    bool (*member_facts_of)(void *self, uint32_t index, is_device_member_facts *out);
} is_device_functions;

typedef struct is_device_backend {
    const is_device_functions *functions;
    void *self;
    uint32_t credits; /* batches that it may hold */
} is_device_backend;

typedef struct is_device_choices is_device_choices;

/* What a backend is made from; `options` need not outlive its creation, the rest must outlive the
 * backend. */
typedef struct is_device_parts {
    const is_device_options *options;
    const is_tables *tables;
    is_hit_models models;
    is_post finished;                                          /* any thread */
    void (*note)(void *user, bool warning, const char *lines); /* any thread */
    void *note_user;
    /* A member of a group tells that it is lost, before it gives back what it holds with that
     * error, and takes nothing more. On a thread of its own; not while it is made. NULL: nobody
     * asks, and it does what options->fall_back says. */
    void (*lost)(void *user, const is_error *why);
    void *lost_user;
    is_device_choices *choices; /* of a group; NULL: alone */
} is_device_parts;

/* How a CPU shares out its work. */
typedef enum is_cpu_work {
    IS_CPU_BATCHES, /* a thread for every batch: batches have the size that the CPU asks for */
    IS_CPU_PIECES   /* all threads for every batch, however large */
} is_cpu_work;

/* A graph on every thread. `capacity`: batches that it shall be able to hold at least. */
int is_device_cpu_create(const is_device_parts *parts, is_cpu_work work, uint32_t capacity,
                         is_device_backend *out, is_error *error);
/* One thread that serves a GPU, and threads that make hits. */
int is_device_gpu_create(const is_device_parts *parts, is_device_backend *out, is_error *error);

/* ---- groups ---------------------------------------------------------------------------------- */

/* How a group comes by a member. */
typedef struct is_device_maker {
    /* `parts`: with the member's own options, finished and lost. IS_E_DEVICE, IS_E_MEMORY and
     * IS_E_FAILED leave the member out, as if it had been lost later; others are the group's. */
    int (*create)(void *user, const is_device_parts *parts, is_device_backend *out,
                  is_error *error);
    void *user;
    char name[32]; /* for messages: "GPU 1" */
    bool is_gpu;
    int ordinal;      /* of a GPU; others: -1 */
    uint32_t threads; /* options.threads */
    uint32_t credits; /* what it adds to those of the group; 0: its own */
    double assumed;   /* photons/s, until it is measured */
} is_device_maker;

/* Several devices as one. Batches wait in one queue; each goes to the member that will be done with
 * it first by its measured speed and by what it holds, once that member has room: a slow one gets
 * a batch only where the others would need longer still. What a lost member held goes to the
 * others, from its beginning. When none is left, options->fall_back decides: a CPU is made, or all
 * batches end with the errors of all members. `makers` need not outlive the creation; 1 .. 65 of
 * them. */
int is_device_group_create(const is_device_parts *parts, const is_device_maker *makers,
                           uint32_t count, is_device_backend *out, is_error *error);
/* The group that options ask for: their GPUs, and the CPU with cpu_too. */
int is_device_group_from_options(const is_device_parts *parts, is_device_backend *out,
                                 is_error *error);

/* How schedule AUTO was decided, for GPUs of one kind to share: the first one measures, the others
 * wait for it. */
int is_device_choices_create(is_device_choices **out, is_error *error);
/* Accepts NULL. */
void is_device_choices_destroy(is_device_choices *choices);
/* is_gpu_choose for a GPU of a group; choices NULL: of its own. */
int is_device_choose(is_device_choices *choices, is_gpu_options *settings, const is_tables *tables,
                     const is_batch *batch, char *report, size_t report_size, is_gpu_error *error);

/* ---- what all have in common ----------------------------------------------------------------- */

/* What both do at the end of a batch: account and arrivals of the stages become those of files;
 * batch->error says how it went. */
void is_device_finish_batch(const is_hit_models *models, is_batch *batch,
                            const ice_account *account, const is_arrivals *arrivals);

/* As configured, or one for each CPU that this process may use. */
uint32_t is_device_host_threads(const is_device_options *options);

#endif
