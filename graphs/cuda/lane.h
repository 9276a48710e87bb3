/* A lane of a GPU: pool, queue of batches, streams, staging. See graphs/gpu.h. */
#ifndef IS_GRAPHS_CUDA_LANE_H
#define IS_GRAPHS_CUDA_LANE_H

#include "graphs/cuda/schedule.h"
#include "kernels/cuda/state.h"

/* Launches that may be in flight: one computes, one waits behind it, one is being downloaded. */
enum { IS_LANE_LAUNCHES = 3, IS_WAVE_STAGES = 6, IS_CHAINS_MAX = 8 };

/* A batch in a lane's hands, at its place in the ring. */
typedef struct is_lane_batch {
    bool used, fresh; /* fresh: its copy is enqueued, the next launch takes it in */
    uint32_t count;   /* emissions */
    uint64_t photons;
    uint64_t serial; /* unlike that of any other batch of the lane, > 0 */
    is_queue_batch queue;
    ice_emission *emissions; /* pinned staging, [batch_emissions] */
    uint32_t *offsets;       /* pinned, likewise */
    uint32_t *starts;        /* pinned, [start_count] */
    cudaEvent_t ready;       /* its upload is done */
    is_gpu_result result;    /* what came back so far */
} is_lane_batch;

typedef enum is_launch_state {
    IS_LAUNCH_FREE,
    IS_LAUNCH_COMPUTES,
    IS_LAUNCH_DOWNLOADS
} is_launch_state;

/* What comes back from a launch. */
typedef struct is_lane_report {
    is_progress progress;
    is_share shares[IS_SHARES];
} is_lane_report;

/* One launch of the schedule. */
typedef struct is_lane_launch {
    is_launch_state state;
    is_launch *order;                /* pinned: what the kernels are told */
    is_lane_report *report;          /* pinned: what they said */
    ice_arrival *hits;               /* device, [hits] */
    ice_arrival *download;           /* pinned, [hits] */
    uint64_t holds[IS_LANE_BATCHES]; /* `serial` of the batches that it knew, 0: none */
    uint32_t count;                  /* hits of it */
    cudaEvent_t begun, computed, reported, downloaded;
} is_lane_launch;

typedef struct is_lane {
    const is_gpu_options *options;
    const is_gpu_schedule *schedule;
    int ordinal;
    is_lane_memory memory;
    ice_tables tables; /* with device pointers */
    cudaStream_t upload, compute, download;
    cudaKernel_t kernels[IS_SCHEDULE_KERNELS];
    cudaKernel_t stamp;       /* with `profile` */
    cudaKernel_t mark_vacant; /* schedules that loop */
    uint32_t grid;            /* blocks of a kernel that has a thread for every slot */
    cudaGraph_t graph;
    cudaGraphExec_t loop;         /* schedules that loop; with `host_loop` one trip of it */
    cudaGraph_t compaction_graph; /* with `host_loop` */
    cudaGraphExec_t compaction;   /* likewise */
    uint32_t *decision;           /* pinned: is_progress.decision, likewise */
    /* The pool's columns, which a loop goes through again and again, stay in the second level cache
     * if they fit; num_bytes 0: no such wish. */
    struct cudaAccessPolicyWindow window;
    void *compact_memory; /* device, for compaction */
    size_t compact_bytes;
    is_word *spare[3]; /* device, columns for sorting */
    uint32_t *spare_met;
    unsigned long long *clock; /* device, [IS_WAVE_STAGES + 1]: ns per stage, the last stamp */

    is_lane_batch batches[IS_LANE_BATCHES];
    is_lane_launch launches[IS_LANE_LAUNCHES];
    uint32_t first_launch, launches_out; /* a ring: the oldest, how many */
    uint64_t queue_end;                  /* numbers given to batches so far */
    uint32_t *whole;                     /* pinned: the number of all slots */

    /* The watchdog. */
    const is_lane_launch *watched;
    is_lane_report *snapshot; /* pinned */
    is_lane_report seen;
    double seen_at, asked_at; /* s */
} is_lane;

/* Device memory of one lane, bytes; by part where `plan` is given. */
uint64_t is_lane_bytes(const is_gpu_options *options, const ice_tables *tables, is_gpu_plan *plan);

/* Makes a lane from device memory that the caller took: [is_lane_bytes()], and frees. `tables`:
 * with device pointers. */
int is_lane_create(is_lane *lane, const is_gpu_options *options, const ice_tables *tables,
                   cudaLibrary_t library, void *memory, is_gpu_error *error);
/* After the device is idle or lost. Fine for a zeroed lane. */
void is_lane_destroy(is_lane *lane);

/* Whether the lane has a place for a batch. */
bool is_lane_has_room(const is_lane *lane);
/* Copies a batch to staging and sends it to the device. */
int is_lane_submit(is_lane *lane, const ice_emission *emissions, uint32_t count, void *tag,
                   is_gpu_error *error);
/* Is told of every launch that has computed. */
typedef struct is_launch_observer {
    void (*computed)(void *user, const is_lane_launch *launch);
    void *user;
} is_launch_observer;

/* Whatever the device's progress allows. `wake(user)` is called on a thread of CUDA's when there is
 * more to do. */
int is_lane_advance(is_lane *lane, cudaHostFn_t wake, void *user, is_launch_observer observer,
                    is_gpu_error *error);
/* Looks after a launch that runs, now and then; `now` in s. IS_GRAPH_FAULT: it is stuck. */
int is_lane_watch(is_lane *lane, double now, is_gpu_error *error);
/* A batch whose photons have all come to their end, with its hits. */
bool is_lane_take(is_lane *lane, is_gpu_result *out);
/* Batches that are in its hands. */
uint32_t is_lane_load(const is_lane *lane);

/* Temporary device memory of a compaction (loop.c); a cudaError_t. */
int is_lane_compact_bytes(const is_gpu_options *options, const ice_tables *tables, size_t *bytes);
/* Builds the loop of a schedule (loop.c). */
int is_lane_build_loop(is_lane *lane, is_gpu_error *error);
/* Enqueues the kernels of one launch. */
int is_lane_enqueue(is_lane *lane, is_gpu_error *error);

#endif
