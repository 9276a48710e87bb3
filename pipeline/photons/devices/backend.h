/* The interface between a group and its members: what a kind of device implements. Used only by the
 * files of pipeline/photons/devices.
 *
 * A backend starts its threads when it is created, and posts finished batches to parts->finished.
 */
#ifndef ICS_PHOTONS_DEVICES_BACKEND_H
#define ICS_PHOTONS_DEVICES_BACKEND_H

#include "pipeline/photons/devices/device.h"

typedef struct ics_device_functions {
    /* Waits for the batches that the backend holds, then frees everything. */
    void (*destroy)(void *self);
    /* Gives the backend a batch and does not wait. The caller makes sure that the backend holds
     * fewer batches than its credits. One thread at a time calls it. The backend may post batches
     * to parts->finished before this function returns. An error is reported in the batch. */
    void (*submit)(void *self, ics_batch *batch);
    /* Fills in what the backend knows: not `members`, `gpus` and `first_name`. Any thread. */
    void (*facts_of)(void *self, ics_device_facts *out);
    /* Adds what the backend has of a table to the table of its options. NULL: it has nothing. Any
     * thread, while the backend holds no batch. */
    int (*finish_table)(void *self, icestream_error *error);
} ics_device_functions;

typedef struct ics_device_backend {
    const ics_device_functions *functions;
    void *self;
    uint32_t credits; /* batches that it can hold */
} ics_device_backend;

typedef struct ics_device_choices ics_device_choices;

/* What a backend is created from. The backend copies `options`; everything else must outlive the
 * backend. All functions may be called from any thread. */
typedef struct ics_device_parts {
    const ics_device_options *options; /* graph.ordinal: the GPU */
    const ics_tables *tables;
    ics_hit_models models;
    ics_post finished;
    /* Receives lines for people. */
    void (*note)(void *user, bool warning, const char *lines);
    void *note_user;
    /* Called by a GPU that is lost after its creation, before it posts its batches with that error.
     * It accepts no batch after this. */
    void (*lost)(void *user, const icestream_error *why);
    void *lost_user;
    ics_device_choices *choices; /* shared by the GPUs of a group */
} ics_device_parts;

/* How a CPU divides its work between its threads. */
typedef enum ics_cpu_work {
    ICS_CPU_BATCHES, /* one thread for each batch; for batches within the limits of the CPU */
    ICS_CPU_PIECES   /* all threads for each batch; for batches of any size */
} ics_cpu_work;

/* Creates a CPU device: a graph on every thread. ICESTREAM_E_MEMORY, ICESTREAM_E_CONFIG,
 * ICESTREAM_E_FAILED. */
int ics_device_cpu_create(const ics_device_parts *parts, ics_cpu_work work, ics_device_backend *out,
                          icestream_error *error);
/* Creates a GPU device: one thread that serves the GPU, and threads that make hits.
 * ICESTREAM_E_MEMORY, ICESTREAM_E_CONFIG, ICESTREAM_E_DEVICE, ICESTREAM_E_FAILED. */
int ics_device_gpu_create(const ics_device_parts *parts, ics_device_backend *out,
                          icestream_error *error);
/* The same for options with a table: one thread that serves the GPU. */
int ics_device_gpu_table_create(const ics_device_parts *parts, ics_device_backend *out,
                                icestream_error *error);

#endif
