/* The GPU schedules: which kernels they consist of, and what they choose where the user did not. */
#ifndef ICS_GRAPHS_CUDA_SCHEDULE_H
#define ICS_GRAPHS_CUDA_SCHEDULE_H

#include "graphs/gpu.h"

#include <cuda_runtime_api.h>

enum { ICS_SCHEDULE_KERNELS = 5, ICS_DEFINITIONS_SIZE = 2048 };

typedef struct ics_gpu_kernel_info {
    const char *name;        /* of the kernel */
    uint32_t bytes_per_slot; /* of the pool, read and written for one photon and visit */
} ics_gpu_kernel_info;

typedef struct ics_gpu_schedule {
    const char *entry;                                 /* embedded source */
    ics_gpu_kernel_info kernels[ICS_SCHEDULE_KERNELS]; /* in the order of a wave; name NULL: end */
    bool loops;       /* a WHILE node around waves of kernels; else one persistent kernel */
    bool takes_steps; /* the queue counts steps instead of photons */
    bool warp_queues; /* new photons wait in shared memory (kernels/cuda/device/warp_queue.h) */
    uint32_t slots_per_thread; /* persistent kernels */
} ics_gpu_schedule;

/* NULL for AUTO. */
const ics_gpu_schedule *ics_schedule_row(ics_schedule schedule);

/* Whether its kernels can have blocks of so many threads: the queues of a block's warps have to fit
 * into shared memory. */
bool ics_schedule_accepts_block(const ics_gpu_schedule *schedule, uint32_t block);

/* What of a device and of the ice the choices depend on. */
typedef struct ics_gpu_limits {
    int architecture;
    int processors;
    uint32_t features; /* of the tables, ICE_HAS_... */
} ics_gpu_limits;

/* A device like the one that defaults were measured on, for plans without a GPU. */
ics_gpu_limits ics_schedule_assumed_limits(int architecture, const ics_tables *tables);

/* Puts numbers where the options say 0 or AUTO (schedule stays), and makes pool and block fit each
 * other: the pool of every lane is a multiple of the create kernel's stretch. */
void ics_schedule_resolve(ics_gpu_options *options, const ics_gpu_limits *limits);

/* The index-th way to do what the options leave open, for schedule AUTO to measure. False: there
 * are no more. */
bool ics_schedule_candidate(const ics_gpu_options *options, size_t index, ics_gpu_options *out);

/* Slots of one lane; options are resolved. */
uint32_t ics_schedule_lane_slots(const ics_gpu_options *options);

/* Emissions of a batch as a power of two: where batches begin in a lane's ring. */
uint32_t ics_schedule_start_shift(const ics_gpu_options *options);

/* What the program of these (resolved) options is made from. `definitions`: [ICS_DEFINITIONS_SIZE].
 * Returns 0 or ICS_GRAPH_UNSUPPORTED. */
int ics_schedule_program_options(const ics_gpu_options *options, const ics_tables *tables,
                                 int architecture, ics_program_options *out, char *definitions,
                                 ics_gpu_error *error);

#endif
