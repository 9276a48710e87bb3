/* A lane of a GPU: pool, queue of batches, streams, staging. See graphs/gpu.h. */
#ifndef ICS_GRAPHS_CUDA_LANE_H
#define ICS_GRAPHS_CUDA_LANE_H

#include "graphs/cuda/schedule.h"
#include "kernels/cuda/state.h"

/* Launches that may be in flight: one computes, one waits behind it, one is being downloaded. */
enum { ICS_LANE_LAUNCHES = 3, ICS_WAVE_STAGES = 6, ICS_CHAINS_MAX = 8 };

/* A batch in a lane's hands, at its place in the ring. */
typedef struct ics_lane_batch {
    bool used, fresh; /* fresh: its copy is enqueued, the next launch takes it in */
    uint32_t count;   /* emissions */
    uint64_t photons;
    uint64_t serial; /* unlike that of any other batch of the lane, > 0 */
    ics_queue_batch queue;
    ice_emission *emissions; /* pinned staging, [batch_emissions] */
    uint32_t *offsets;       /* pinned, likewise */
    uint32_t *starts;        /* pinned, [start_count] */
    cudaEvent_t ready;       /* its upload is done */
    ics_gpu_result result;   /* what came back so far */
} ics_lane_batch;

typedef enum ics_launch_state {
    ICS_LAUNCH_FREE,
    ICS_LAUNCH_COMPUTES,
    ICS_LAUNCH_DOWNLOADS
} ics_launch_state;

/* What comes back from a launch. */
typedef struct ics_lane_report {
    ics_launch_progress progress;
    ics_share shares[ICS_SHARES];
} ics_lane_report;

/* One launch of the schedule. */
typedef struct ics_lane_launch {
    ics_launch_state state;
    ics_launch *order;                /* pinned: what the kernels are told */
    ics_lane_report *report;          /* pinned: what they said */
    ice_arrival *hits;                /* device, [hits] */
    ice_arrival *download;            /* pinned, [hits] */
    uint64_t holds[ICS_LANE_BATCHES]; /* `serial` of the batches that it knew, 0: none */
    uint32_t count;                   /* hits of it */
    cudaEvent_t begun, computed, reported, downloaded;
} ics_lane_launch;

typedef struct ics_lane {
    const ics_gpu_options *options;
    const ics_gpu_schedule *schedule;
    int ordinal;
    ics_lane_memory memory;
    ice_tables tables; /* with device pointers */
    cudaStream_t upload, compute, download;
    cudaKernel_t kernels[ICS_SCHEDULE_KERNELS];
    cudaKernel_t stamp;       /* with `profile` */
    cudaKernel_t mark_vacant; /* schedules that loop */
    uint32_t grid;            /* blocks of a kernel that has a thread for every slot */
    cudaGraph_t graph;
    cudaGraphExec_t loop;         /* schedules that loop; with `host_loop` one trip of it */
    cudaGraph_t compaction_graph; /* with `host_loop` */
    cudaGraphExec_t compaction;   /* likewise */
    uint32_t *decision;           /* pinned: ics_launch_progress.decision, likewise */
    /* The pool's columns, which a loop goes through again and again, stay in the second level cache
     * if they fit; num_bytes 0: no such wish. */
    struct cudaAccessPolicyWindow window;
    void *compact_memory; /* device, for compaction */
    size_t compact_bytes;
    ics_word *spare[3]; /* device, columns for sorting */
    uint32_t *spare_met;
    unsigned long long *clock; /* device, [ICS_WAVE_STAGES + 1]: ns per stage, the last stamp */

    ics_lane_batch batches[ICS_LANE_BATCHES];
    ics_lane_launch launches[ICS_LANE_LAUNCHES];
    uint32_t first_launch, launches_out; /* a ring: the oldest, how many */
    uint64_t queue_end;                  /* numbers given to batches so far */
    uint32_t *whole;                     /* pinned: the number of all slots */

    /* The watchdog. */
    const ics_lane_launch *watched;
    ics_lane_report *snapshot; /* pinned */
    ics_lane_report seen;
    double seen_at, asked_at; /* s */
} ics_lane;

/* Device memory of one lane, bytes; by part where `plan` is given. */
uint64_t ics_lane_bytes(const ics_gpu_options *options, const ice_tables *tables,
                        ics_gpu_plan *plan);

/* Makes a lane from device memory that the caller took: [ics_lane_bytes()], and frees. `tables`:
 * with device pointers. */
int ics_lane_create(ics_lane *lane, const ics_gpu_options *options, const ice_tables *tables,
                    cudaLibrary_t library, void *memory, ics_gpu_error *error);
/* After the device is idle or lost. Fine for a zeroed lane. */
void ics_lane_destroy(ics_lane *lane);

/* Whether the lane has a place for a batch. */
bool ics_lane_has_room(const ics_lane *lane);
/* Copies a batch to staging and sends it to the device. */
int ics_lane_submit(ics_lane *lane, const ice_emission *emissions, uint32_t count, void *tag,
                    ics_gpu_error *error);
/* Is told of every launch that has computed. */
typedef struct ics_launch_observer {
    void (*computed)(void *user, const ics_lane_launch *launch);
    void *user;
} ics_launch_observer;

/* Whatever the device's progress allows. `wake(user)` is called on a thread of CUDA's when there is
 * more to do. */
int ics_lane_advance(ics_lane *lane, cudaHostFn_t wake, void *user, ics_launch_observer observer,
                     ics_gpu_error *error);
/* Looks after a launch that runs, now and then; `now` in s. ICS_GRAPH_FAULT: it is stuck. */
int ics_lane_watch(ics_lane *lane, double now, ics_gpu_error *error);
/* A batch whose photons have all come to their end, with its hits. */
bool ics_lane_take(ics_lane *lane, ics_gpu_result *out);
/* Batches that are in its hands. */
uint32_t ics_lane_load(const ics_lane *lane);

/* Temporary device memory of a compaction (loop.c); a cudaError_t. */
int ics_lane_compact_bytes(const ics_gpu_options *options, const ice_tables *tables, size_t *bytes);
/* Builds the loop of a schedule (loop.c). */
int ics_lane_build_loop(ics_lane *lane, ics_gpu_error *error);
/* Enqueues the kernels of one launch. */
int ics_lane_enqueue(ics_lane *lane, ics_gpu_error *error);

#endif
