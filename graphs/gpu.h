/* Schedules on a GPU: takes batches of emissions, gives batches of arrivals, asynchronously.
 *
 * A GPU works in lanes. A lane has a pool of photons, a queue of batches, three streams (upload,
 * compute, download) and pinned staging of its own; batches go to the lanes in turn, and where one
 * lane waits or drains the others compute. Where a schedule loops over small kernels, the parts of
 * a lane's pool go through the loop side by side, as chains, so that the kernels of one fill the
 * GPU while those of another begin and end. All device memory is taken at creation.
 *
 * One thread at a time calls the functions of a GPU. They never wait for the device, except
 * ics_gpu_wait() and ics_gpu_destroy(). A process may have any number of GPUs, each with a thread
 * of its own. No function prints.
 */
#ifndef ICS_GRAPHS_GPU_H
#define ICS_GRAPHS_GPU_H

#include "graphs/graph.h"
#include "kernels/cuda/program.h"

/* Adds to the results of graph.h. */
enum {
    ICS_GRAPH_NO_DEVICE = -5, /* no GPU, no driver, driver too old */
    ICS_GRAPH_FAULT = -6      /* the GPU failed: nothing that is on it can be trusted any more */
};

typedef enum ics_math { ICS_MATH_AUTO, ICS_MATH_FAST, ICS_MATH_PORTABLE } ics_math;
typedef enum ics_compact_sort { ICS_SORT_NONE, ICS_SORT_DEPTH, ICS_SORT_CELL } ics_compact_sort;
typedef enum ics_compact_when {
    ICS_COMPACT_TAIL,
    ICS_COMPACT_ALWAYS,
    ICS_COMPACT_EVERY
} ics_compact_when;

typedef struct ics_gpu_options {
    int ordinal; /* of the device, 0 .. ics_gpu_count() - 1 */
    ics_schedule schedule;
    ice_variants variants;
    const char *custom[ICS_STAGES]; /* the user's stage headers, NULL: a built-in variant */
    ics_math math;                  /* AUTO: fast */

    /* 0: chosen by the schedule (and, with schedule AUTO, measured). */
    uint32_t pool;                 /* photon slots, of all lanes together */
    uint32_t bounces_per_wave;     /* fused: bounces between two refills */
    uint32_t block;                /* threads of a block, a multiple of 32 */
    uint32_t blocks_per_processor; /* that the compiler makes room for, by limiting registers */
    uint32_t refill; /* monolithic, fused: idle lanes of a warp that make it take new photons */
    uint32_t lanes;
    uint32_t chains;          /* of a lane; wavefront, fused */
    uint32_t hits;            /* places of a hit buffer, >= 64 */
    uint32_t batch_emissions; /* of a batch at most */
    uint32_t batch_photons;   /* of a batch at most */

    ics_compact_sort sort;
    ics_compact_when when;
    uint32_t every;        /* waves between two compactions, for ICS_COMPACT_EVERY */
    uint64_t memory_limit; /* bytes of device memory, 0: what is free */
    double watchdog;       /* seconds without progress after which a launch counts as stuck */
    bool profile;          /* wavefront, fused: time every stage (slower: no graph) */
    bool host_loop; /* wavefront, fused: the host decides after every trip whether to go on, and
                       waits for it (slower; for tools that cannot look into the body of a
                       conditional node: profilers, sanitizers) */
    bool use_cache; /* of programs and of choices */
} ics_gpu_options;

typedef struct ics_gpu_error {
    int status;      /* ICS_GRAPH_... */
    char text[2048]; /* names device, call and remedy */
} ics_gpu_error;

/* Devices that this process can use; 0 with the reason in `error` (may be NULL). */
int ics_gpu_count(ics_gpu_error *error);

/* About a device, for reports. */
typedef struct ics_gpu_device {
    char name[256];
    int architecture; /* 90 for sm_90 */
    int processors;   /* multiprocessors */
    int driver;       /* 13000 for 13.0 */
    uint64_t memory_bytes, memory_free, cache_bytes;
} ics_gpu_device;
int ics_gpu_describe(int ordinal, ics_gpu_device *out, ics_gpu_error *error);

typedef struct ics_gpu ics_gpu;

/* Makes lanes, loads kernels, takes memory (a pool that does not fit shrinks, down to a floor, with
 * a sentence in ics_gpu_warnings). `tables` must outlive it. `options->schedule` AUTO is an error:
 * see ics_gpu_choose. ICS_GRAPH_NO_MEMORY, _UNSUPPORTED, _NO_DEVICE, _FAULT. */
int ics_gpu_create(const ics_gpu_options *options, const ics_tables *tables, ics_gpu **out,
                   ics_gpu_error *error);
/* Waits for the device to be idle, frees everything. Accepts NULL. After a fault it does neither:
 * what the device could still touch goes with the process. */
void ics_gpu_destroy(ics_gpu *gpu);

/* A sentence per line about what was not done as asked; "" mostly. */
const char *ics_gpu_warnings(const ics_gpu *gpu);
/* The options as they are in force: no zeros, no AUTO. */
const ics_gpu_options *ics_gpu_options_of(const ics_gpu *gpu);

/* Called by any thread when ics_gpu_advance would find something to do. Set once, before the first
 * batch. */
void ics_gpu_on_event(ics_gpu *gpu, void (*event)(void *user), void *user);

/* Batches that may be in the device's hands at a time. */
uint32_t ics_gpu_credits(const ics_gpu *gpu);

/* Hands over a batch of 1 .. batch_emissions emissions, each with at least one photon, of at most
 * batch_photons together; the emissions are copied. `tag` comes back with the result. No more than
 * ics_gpu_credits() batches may be out. ICS_GRAPH_FAULT. */
int ics_gpu_submit(ics_gpu *gpu, const ice_emission *emissions, uint32_t count, void *tag,
                   ics_gpu_error *error);

/* A finished batch. */
typedef struct ics_gpu_result {
    void *tag;
    ics_arrivals arrivals; /* the taker frees them; indices of emissions are those of the batch */
    ice_account account;   /* created included */
} ics_gpu_result;

/* Does what the device's progress allows, without waiting: launches, downloads, completed batches.
 * ICS_GRAPH_FAULT: a kernel fault, a lost device, or a loop that the watchdog found stuck, with all
 * counters in the message. ICS_GRAPH_NO_MEMORY: on the host. */
int ics_gpu_advance(ics_gpu *gpu, ics_gpu_error *error);
/* Takes a finished batch; false: there is none now. */
bool ics_gpu_take(ics_gpu *gpu, ics_gpu_result *out);
/* Waits for an event, at most so many seconds. */
void ics_gpu_wait(ics_gpu *gpu, double seconds);

/* Time that kernels ran and what they did, since creation; lanes run side by side, so that
 * `seconds` is the time in which at least one of them was computing. */
typedef struct ics_gpu_usage {
    double seconds;
    uint64_t launches, waves;
    uint64_t device_bytes;   /* device memory taken */
    double stage_seconds[6]; /* with `profile`: create, propagate, collide, scatter, compact, all
                                else */
} ics_gpu_usage;
void ics_gpu_usage_of(ics_gpu *gpu, ics_gpu_usage *out);

/* What a schedule's kernels take, for `plan`: no GPU needed where `architecture` is given (else 0:
 * that of the device). */
typedef struct ics_gpu_plan_kernel {
    ics_kernel_resources resources; /* registers 0: of PTX, nothing is known but the name */
    uint32_t block, blocks_per_processor;
    double occupancy;        /* resident threads over the most that a multiprocessor holds */
    uint32_t bytes_per_slot; /* read and written by one visit of one slot, tables excluded; 0: it
                                has no such visits */
} ics_gpu_plan_kernel;
typedef struct ics_gpu_plan {
    ics_gpu_options options; /* in force */
    ics_gpu_plan_kernel *kernels;
    size_t kernel_count;
    ics_program_origin origin;
    double bytes_per_bounce; /* pool traffic of one photon's bounce; 0: its photons are in the pool
                                between launches only (the schedules of one kernel) */
    uint64_t pool_bytes, queue_bytes, hit_bytes, table_bytes, staging_bytes, device_bytes;
} ics_gpu_plan;
int ics_gpu_plan_create(const ics_gpu_options *options, const ics_tables *tables, int architecture,
                        ics_gpu_plan **out, ics_gpu_error *error);
void ics_gpu_plan_destroy(ics_gpu_plan *plan);

/* Schedule AUTO: measures the candidates on these emissions (the first batch of real input) and
 * fills in schedule, pool, bounces per wave and block. A choice made before for this device and
 * configuration is taken from the cache. `report`: a line per candidate. */
int ics_gpu_choose(ics_gpu_options *options, const ics_tables *tables,
                   const ice_emission *emissions, uint32_t count, char *report, size_t report_size,
                   ics_gpu_error *error);

/* Compiles into `directory` all programs that these options can lead to on GPUs of an architecture:
 * with schedule AUTO those of every candidate. Cubins, or PTX for all GPUs from that architecture
 * on; what is there already stays. Needs no GPU. ICS_GRAPH_UNSUPPORTED, with the reason. */
int ics_gpu_store(const ics_gpu_options *options, const ics_tables *tables, int architecture,
                  bool as_ptx, const char *directory, ics_gpu_error *error);

#endif
