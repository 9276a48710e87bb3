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
    /* Takes a batch; there is room, for device.c counts. */
    void (*submit)(void *self, is_batch *batch);
    /* Any thread. */
    void (*facts_of)(void *self, is_device_facts *out);
} is_device_functions;

typedef struct is_device_backend {
    const is_device_functions *functions;
    void *self;
    uint32_t credits; /* batches that it may hold */
} is_device_backend;

/* What a backend is made from; `options` need not outlive its creation, the rest must outlive the
 * backend. */
typedef struct is_device_parts {
    const is_device_options *options;
    const is_tables *tables;
    is_hit_models models;
    is_post finished;                                          /* any thread */
    void (*note)(void *user, bool warning, const char *lines); /* any thread */
    void *note_user;
} is_device_parts;

/* A graph on every thread. `capacity`: batches that it shall be able to hold at least. */
int is_device_cpu_create(const is_device_parts *parts, uint32_t capacity, is_device_backend *out,
                         is_error *error);
/* One thread that serves a GPU, and threads that make hits. */
int is_device_gpu_create(const is_device_parts *parts, is_device_backend *out, is_error *error);

/* What both do at the end of a batch: account and arrivals of the stages become those of files;
 * batch->error says how it went. */
void is_device_finish_batch(const is_hit_models *models, is_batch *batch,
                            const ice_account *account, const is_arrivals *arrivals);

/* As configured, or one for each CPU that this process may use. */
uint32_t is_device_host_threads(const is_device_options *options);

#endif
