/* Photons of hits on a GPU once more: lists of photons go in, and the arrivals on their paths come
 * out, with the sums of each path (stages/path_ice.h).
 *
 * All schedules give the same photons, and are replayed by the same kernel,
 * kernels/cuda/device/replay.h. Several launches are on their way at the same time. One thread at a
 * time calls these functions. The int functions return an icestream_status and fill `error` as
 * those of graphs/gpu.h do.
 */
#ifndef ICS_GRAPHS_GPU_REPLAY_H
#define ICS_GRAPHS_GPU_REPLAY_H

#include "graphs/gpu.h"
#include "kernels/cuda/device/replay_work.h"

/* Another ice. */
typedef struct ics_gpu_replay_target {
    const ics_tables *tables;
    ice_variant scatter;
    bool needs_angles; /* whether the densities of its angles count */
} ics_gpu_replay_target;

/* What is wanted of the paths. */
typedef struct ics_gpu_replay_wish {
    const ics_gpu_replay_target *targets; /* [target_count] */
    uint32_t target_count;
    bool sums;       /* the sums of the layers */
    bool own_angles; /* the densities of the angles in the own ice */
    bool profiles;   /* steps may have a profile */
    bool points;     /* all points of the paths, and nothing else; without targets and sums */
} ics_gpu_replay_wish;

typedef struct ics_gpu_replay ics_gpu_replay;

/* Compiles the kernel, and makes room on the GPU options->ordinal. Of the options count ordinal,
 * variants, math, memory_limit and use_cache; math must be that of the run, which is not AUTO.
 * `tables` and those of the targets are copied. */
int ics_gpu_replay_create(const ics_gpu_options *options, const ics_tables *tables,
                          const ics_gpu_replay_wish *wish, ics_gpu_replay **out,
                          icestream_error *error);
/* Compiles the kernel for an architecture, for example 90, and reports what it needs. Needs no GPU.
 */
int ics_gpu_replay_plan(const ics_gpu_options *options, const ics_tables *tables,
                        const ics_gpu_replay_wish *wish, int architecture,
                        ics_kernel_resources *out, icestream_error *error);
/* Accepts NULL. After a failure of the device its memory is left to the end of the process. */
void ics_gpu_replay_destroy(ics_gpu_replay *replay);

/* The kernel, if it has fast maths; else all zero. */
ics_kernels ics_gpu_replay_kernels(const ics_gpu_replay *replay);

/* Launches that may be on their way at the same time: numbers 0 .. ICS_GPU_REPLAY_LAUNCHES - 1. */
enum { ICS_GPU_REPLAY_LAUNCHES = 3 };
/* The most photons of one launch. */
uint32_t ics_gpu_replay_most(const ics_gpu_replay *replay);

/* Photons of one launch; copied. */
typedef struct ics_gpu_replay_photons {
    const ice_emission *emissions; /* [emission_count] */
    const ics_replay_item *items;  /* [count], 1 to ics_gpu_replay_most() */
    uint32_t emission_count, count;
} ics_gpu_replay_photons;

/* Begins a launch. The one before with this number has been awaited. */
int ics_gpu_replay_submit(ics_gpu_replay *replay, uint32_t launch,
                          const ics_gpu_replay_photons *photons, icestream_error *error);

/* What a launch has found, until the next one with its number begins. */
typedef struct ics_gpu_replay_output {
    const ics_replay_arrival *arrivals; /* [arrival_count], in any order */
    const ice_path_end *ends;           /* [arrival_count][1 + target_count] */
    const ice_layer_sum *layers;        /* [layer_count] */
    const ics_replay_point *points; /* [arrival_count], in any order, in place of the arrivals */
    uint64_t arrival_count, layer_count;
    bool overflows; /* there was too little room, and nothing is given: launch fewer photons */
} ics_gpu_replay_output;
/* Waits for a launch. */
int ics_gpu_replay_wait(ics_gpu_replay *replay, uint32_t launch, ics_gpu_replay_output *out,
                        icestream_error *error);

#endif
