/* A lane of a GPU: pool, queue of batches, streams, staging. See graphs/gpu.h.
 *
 * The functions are spread over five files by purpose: lane.c (creation, batches), lane_memory.c
 * (device memory and staging), lane_launch.c (launches and the watchdog), lane_sums.c (sums of the
 * hits of a launch), loop.c (the CUDA graph).
 * One thread at a time calls them. All int functions return an icestream_status: ICESTREAM_E_FAILED
 * if the device failed, ICESTREAM_E_MEMORY if there is too little memory. */
#ifndef ICS_GRAPHS_CUDA_LANE_H
#define ICS_GRAPHS_CUDA_LANE_H

#include "graphs/cuda/settings.h"
#include "graphs/cuda/toolkit.h"
#include "kernels/cuda/compact.h"
#include "kernels/cuda/device/stage_clock.h"
#include "kernels/cuda/photon_counts.h"

/* Launches that may be on their way: one computes, one waits behind it, one is downloaded. */
enum { ICS_LANE_LAUNCHES = 3, ICS_CHAINS_MAX = 8 };

/* A batch that a lane holds, at its index in the ring of batches. */
typedef struct ics_lane_batch {
    bool used, fresh; /* fresh: the upload is enqueued, and the next launch begins the batch */
    uint32_t count;   /* emissions */
    uint64_t photons;
    uint64_t serial; /* > 0, different for all batches of the lane */
    ics_queue_batch queue;
    ice_emission *emissions; /* pinned staging, [batch_emissions] */
    uint32_t *offsets;       /* pinned staging, [batch_emissions] */
    uint32_t *starts;        /* pinned staging, [start_count] */
    ics_hit_sum_step *steps; /* pinned staging, [batch_emissions]; NULL: the lane makes no sums */
    bool has_steps;          /* its hits shall become sums */
    cudaEvent_t ready;       /* the upload is done */
    ics_gpu_result result;   /* hits and counts that came back so far */
} ics_lane_batch;

typedef enum ics_launch_state {
    ICS_LAUNCH_FREE,
    ICS_LAUNCH_COMPUTES,
    ICS_LAUNCH_DOWNLOADS
} ics_launch_state;

/* The counters of a launch, copied from the device. */
typedef struct ics_lane_report {
    ics_launch_progress progress;
    ics_share shares[ICS_SHARES];
    ice_fault fault; /* the first fault, if options->check is set */
    ics_hit_sum_report sums;
} ics_lane_report;

/* One launch of the schedule. */
typedef struct ics_lane_launch {
    ics_launch_state state;
    ics_launch *order;         /* pinned: what the kernels shall do */
    ics_lane_report *report;   /* pinned: what they did */
    ice_arrival *hits;         /* device, [hits] */
    ice_arrival *download;     /* pinned, [hits]; or the keys and then the totals of sums */
    ics_hit_sum_key *keys;     /* device, [hits]; NULL: the lane makes no sums */
    ics_hit_sum_total *totals; /* device, [hits] */
    bool makes_sums;           /* all its batches have steps */
    bool has_sums;             /* sums are downloaded, and not hits */
    /* Pinned, a copy of the counts of ics_lane_memory.photon_cells; NULL: no histograms. */
    unsigned long long *photon_cells;
    uint64_t holds[ICS_LANE_BATCHES]; /* `serial` of the batches that it works on, 0: none */
    uint32_t count;                   /* hits or sums that are downloaded */
    cudaEvent_t begun, computed, reported, downloaded;
} ics_lane_launch;

/* The kernels of a lane, found by lane.c and launched by loop.c. */
typedef struct ics_lane_kernels {
    cudaKernel_t of_waves[ICS_SCHEDULE_KERNELS]; /* kernels in the order of the schedule's row */
    cudaKernel_t add_copies;  /* kernel at the end of a launch, where ics_lane_copy_bytes() > 0 */
    cudaKernel_t mark_vacant; /* kernel of schedules that loop */
    cudaKernel_t stamp;       /* kernel of schedules that loop, if `profile` is set */
} ics_lane_kernels;

/* What schedules that loop have (loop.c). */
typedef struct ics_lane_loop {
    cudaGraph_t graph;
    cudaGraphExec_t trips;        /* the loop; if the host loops, one trip */
    cudaGraph_t compaction_graph; /* compaction, if the host loops */
    cudaGraphExec_t compaction;   /* compaction, if the host loops */
    uint32_t *decision;           /* pinned: a copy of ics_launch_progress.decision */
    /* The columns of the pool that the second level cache should keep, because a loop reads them
     * again and again. num_bytes 0: the device cannot do this, or they do not fit. */
    struct cudaAccessPolicyWindow window;
    void *compact_memory; /* device, for compaction */
    size_t compact_bytes;
    ics_compact_pool spare; /* columns for sorting */
    ics_stage_clock *clock; /* device; of a profile */
} ics_lane_loop;

/* Sums of hits (lane_sums.c); only with options->sums. */
typedef struct ics_lane_sums {
    ics_hit_sum_rule rule;      /* rule whose pointers are those of the device */
    ics_hit_sum_step *steps;    /* device, a ring like that of the emissions */
    ics_hit_sum_report *report; /* device */
    void *memory;               /* device, temporary */
    size_t bytes;
} ics_lane_sums;

/* The batches that a lane holds (lane.c). */
typedef struct ics_lane_queue {
    ics_lane_batch batches[ICS_LANE_BATCHES];
    uint64_t end; /* numbers given to batches so far */
} ics_lane_queue;

/* The launches of a lane (lane_launch.c). */
typedef struct ics_lane_ring {
    ics_lane_launch launches[ICS_LANE_LAUNCHES];
    uint32_t first, out; /* the oldest launch; how many are on their way */
    uint32_t *whole;     /* pinned: the number of all slots */
} ics_lane_ring;

/* The watchdog of the launches (lane_launch.c). */
typedef struct ics_lane_watchdog {
    const ics_lane_launch *launch; /* NULL: none computes */
    ics_lane_report *snapshot;     /* pinned: the copy that was asked for last */
    ics_lane_report seen;          /* the last copy that differed from the one before */
    double seen_at, asked_at;      /* times (s) */
} ics_lane_watchdog;

typedef struct ics_lane {
    const ics_gpu_options *options;
    const ics_gpu_schedule *schedule;
    int ordinal; /* number of the device */
    ics_lane_memory memory;
    ice_tables tables; /* tables whose pointers are those of the device */
    cudaStream_t upload, compute, download;
    ice_fault *fault; /* device, of all lanes: what a stage returned; NULL without options->check */
    uint64_t downloaded_bytes; /* bytes of hits and of sums */
    ics_lane_kernels kernels;
    ics_lane_loop loop;
    ics_lane_sums sums;
    ics_lane_queue queue;
    ics_lane_ring ring;
    ics_lane_watchdog watch;
} ics_lane;

/* Returns the device memory of one lane (bytes). Adds the bytes of each part to `plan`, unless it
 * is NULL. */
uint64_t ics_lane_bytes(const ics_gpu_options *options, const ice_tables *tables,
                        ics_gpu_plan *plan);

/* Returns the size of the counts of photons of a lane (bytes); 0: there are no histograms. */
static inline uint64_t ics_lane_photon_bytes(const ics_gpu_options *options)
{
    return ics_photon_counts_bytes(&options->photons, &options->large);
}

/* Returns the size of the copies of the counts of histograms with many bins, behind these counts
 * (bytes); 0: there are none. */
static inline uint64_t ics_lane_copy_bytes(const ics_gpu_options *options)
{
    const uint64_t copies =
        ics_schedule_row(options->schedule)->counts_at_once ? ICS_COUNT_COPIES : 0;
    return copies * ICS_LANE_BATCHES * options->large.cells * sizeof(uint32_t);
}

/* What a lane is made from. */
typedef struct ics_lane_parts {
    const ics_gpu_options *options; /* must outlive the lane */
    const ice_tables *tables;       /* tables whose pointers are those of the device */
    const ics_hit_sum_rule *rule;   /* rule on the device; only with options->sums */
    cudaLibrary_t library;
    void *memory; /* device memory of ics_lane_bytes() bytes, which the caller owns */
} ics_lane_parts;

/* Makes a lane in a zeroed struct. After an error the caller still calls ics_lane_destroy. */
int ics_lane_create(ics_lane *lane, const ics_lane_parts *parts, icestream_error *error);
/* Call this only when the device is idle or lost. Accepts a zeroed lane. */
void ics_lane_destroy(ics_lane *lane);

/* Copies the rule of sums to *out, with what it points to in device memory *memory, which the
 * caller frees. Adds the size of this memory to *bytes. Without options->sums the rule is empty,
 * and *memory stays (lane_sums.c). */
int ics_lane_rule_upload(const ics_gpu_options *options, ics_hit_sum_rule *out, void **memory,
                         uint64_t *bytes, icestream_error *error);

/* Whether the lane has room for one more batch. */
bool ics_lane_has_room(const ics_lane *lane);
/* Copies a batch to staging and starts its upload. Call it only if the lane has room. */
int ics_lane_submit(ics_lane *lane, const ice_emission *emissions, const ics_hit_sum_step *steps,
                    uint32_t count, void *tag, icestream_error *error);

/* A function that a thread of CUDA calls when ics_lane_advance() has more to do. */
typedef struct ics_lane_wake {
    cudaHostFn_t call;
    void *user;
} ics_lane_wake;

/* A function that is called for every launch that has computed. */
typedef struct ics_launch_observer {
    void (*computed)(void *user, const ics_lane_launch *launch);
    void *user;
} ics_launch_observer;

/* Finishes launches and starts new ones, as far as that is possible without waiting. */
int ics_lane_advance(ics_lane *lane, ics_lane_wake wake, ics_launch_observer observer,
                     icestream_error *error);
/* The watchdog: reads the counters of a running launch about once per second. `now`: monotonic time
 * (s). ICESTREAM_E_FAILED: no counter has changed for options->watchdog seconds. */
int ics_lane_watch(ics_lane *lane, double now, icestream_error *error);
/* Moves a complete batch with its hits to *out. Returns false if there is none. */
bool ics_lane_take(ics_lane *lane, ics_gpu_result *out);
/* The number of batches that the lane holds. */
uint32_t ics_lane_load(const ics_lane *lane);

/* Whether every photon of a batch has ended. */
static inline bool ics_lane_batch_is_complete(const ics_lane_batch *batch)
{
    const ice_account *account = &batch->result.account;
    return account->absorbed + account->detected + account->left + account->stopped ==
           account->created;
}

/* Whether the batch at index `index` is the one that was there when the launch began. The launch
 * before may have completed that batch, and another batch may be at its index now. */
static inline bool ics_lane_launch_knows(const ics_lane_launch *launch, const ics_lane *lane,
                                         uint32_t index)
{
    return lane->queue.batches[index].used &&
           lane->queue.batches[index].serial == launch->holds[index];
}

/* Between the files of a lane. */

/* Lays out the device memory and clears it (lane_memory.c). */
int ics_lane_memory_prepare(ics_lane *lane, void *memory, icestream_error *error);
/* Allocates pinned memory and creates events (lane_memory.c). */
int ics_lane_staging_create(ics_lane *lane, icestream_error *error);
/* Allocates the pinned memory of a batch when the batch is first used: a start needs the memory of
 * one batch only, and memory takes 0.5 ms per megabyte to pin (lane_memory.c). */
int ics_lane_batch_stage(ics_lane *lane, ics_lane_batch *batch, icestream_error *error);
void ics_lane_staging_destroy(ics_lane *lane);
/* Enqueues the sums of a launch behind its kernels, and the copy of their report (lane_sums.c). */
int ics_lane_sums_enqueue(ics_lane *lane, ics_lane_launch *launch, icestream_error *error);
/* Enqueues the download of the sums of a launch, `launch->count` keys (lane_sums.c). */
int ics_lane_sums_download(ics_lane *lane, ics_lane_launch *launch, icestream_error *error);
/* Adds the sums of a launch to its batches (lane_sums.c). */
int ics_lane_sums_add(ics_lane *lane, const ics_lane_launch *launch, icestream_error *error);
/* Sets *bytes to the temporary device memory of a compaction (loop.c). Returns a cudaError_t. */
int ics_lane_compact_bytes(const ics_gpu_options *options, const ice_tables *tables, size_t *bytes);
/* Builds the graph of a schedule that loops (loop.c). */
int ics_lane_build_loop(ics_lane *lane, icestream_error *error);
/* Enqueues the kernels of one launch (loop.c). */
int ics_lane_enqueue(ics_lane *lane, icestream_error *error);

#endif
