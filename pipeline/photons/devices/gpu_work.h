/* The work of the thread that serves a GPU (graphs/gpu.h): starts the GPU, gives it batches and
 * gets them back. Only that thread may call these functions. None of them waits for the GPU, except
 * the start and the end.
 */
#ifndef ICS_PHOTONS_DEVICES_GPU_WORK_H
#define ICS_PHOTONS_DEVICES_GPU_WORK_H

#include "pipeline/photons/devices/backend.h"
#include "pipeline/photons/devices/gpu_sums.h"

/* Initialise it with zeros, `parts`, `settings`, `batches`, `event` and `event_user`. */
typedef struct ics_device_gpu_work {
    const ics_device_parts *parts;
    ics_gpu_options settings; /* settings that were asked for; once there is a GPU those in force */
    ics_batch **batches;      /* the first `count`: batches with the GPU; room for all credits */
    void (*event)(void *user); /* called from any thread when the GPU needs its thread */
    void *event_user;

    char name[256]; /* name of the GPU */
    ics_gpu *gpu;   /* schedule AUTO: NULL until the first batch */
    /* Sums of hits on the GPU. */
    bool makes_sums;
    bool noted_pulse; /* whether a note says that the host makes those of steps with a pulse */
    ics_hit_sum_rule rule;
    ics_hit_sum_step *steps; /* [batch_emissions] of one batch; NULL until the first; the owner of
                                the structure frees them */
    uint32_t count;
    bool has_profiles; /* a batch had a step with a profile */
    /* One of `batches` waits until the GPU has computed all others, because the kernels cannot
     * make its photons (graphs/gpu.h, light_profiles). Then the GPU is made again. */
    bool holds_batch;
    uint32_t submitted; /* batches, counted only if a loss is simulated */

    /* Schedule AUTO. */
    ics_gpu_options asked;  /* options that were asked for, with the limits of batches */
    ics_gpu_trials *trials; /* trials of the first GPU of a kind; NULL: this GPU makes none */
    bool pauses;      /* the GPU gets no batch until it is empty: then the schedule may change */
    double paused_at; /* time (s) */
    ics_gpu_usage before; /* usage of the graphs that were in use before this one */
} ics_device_gpu_work;

/* Starts the GPU. With schedule AUTO, whose choice depends on the steps of a batch, it only checks
 * what it can, and plans how large batches may be. Returns an icestream_status. */
int ics_device_gpu_work_start(ics_device_gpu_work *work, icestream_error *error);
/* Ends the work with the GPU. No batch may be with it, unless it has failed. */
void ics_device_gpu_work_end(ics_device_gpu_work *work);

/* Whether the GPU can take another batch. */
bool ics_device_gpu_work_has_room(const ics_device_gpu_work *work);
/* Gives the GPU a batch; the batch is in `batches` also after an error. With schedule AUTO the
 * first call chooses a schedule and starts the GPU, and a call after a pause may make a trial and
 * change the schedule. Returns an icestream_status. */
int ics_device_gpu_work_submit(ics_device_gpu_work *work, ics_batch *batch, icestream_error *error);
/* Gives the GPU the batch that was held, if all others are computed. Returns an icestream_status.
 */
int ics_device_gpu_work_release(ics_device_gpu_work *work, icestream_error *error);
/* Returns a batch that the GPU has computed, with its arrivals; NULL if there is none now. */
ics_batch *ics_device_gpu_work_take(ics_device_gpu_work *work);

/* Fills in all facts of the GPU but `threads`. */
void ics_device_gpu_work_facts(ics_device_gpu_work *work, ics_device_facts *out);

#endif
