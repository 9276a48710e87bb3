/* Schedules on a GPU: takes batches of emissions, gives batches of arrivals, asynchronously.
 *
 * A GPU works in lanes. A lane has a pool of photons, a queue of batches, three streams (upload,
 * compute, download) and pinned staging of its own; batches go to the lanes in turn, and where one
 * lane waits or drains the others compute. Where a schedule loops over small kernels, the parts of
 * a lane's pool go through the loop side by side, as chains, so that the kernels of one fill the
 * GPU while those of another begin and end. All device memory is taken at creation.
 *
 * One thread at a time calls the functions of a GPU. They never wait for the device, except
 * is_gpu_wait() and is_gpu_destroy(). A process may have any number of GPUs, each with a thread of
 * its own. No function prints.
 */
#ifndef IS_GPU_H
#define IS_GPU_H

#include "graphs/graph.h"
#include "kernels/cuda/program.h"

/* Adds to the results of graph.h. */
enum {
    IS_GRAPH_NO_DEVICE = -5, /* no GPU, no driver, driver too old */
    IS_GRAPH_FAULT = -6      /* the GPU failed: nothing that is on it can be trusted any more */
};

typedef enum is_math { IS_MATH_AUTO, IS_MATH_FAST, IS_MATH_PORTABLE } is_math;
typedef enum is_compact_sort { IS_SORT_NONE, IS_SORT_DEPTH, IS_SORT_CELL } is_compact_sort;
typedef enum is_compact_when {
    IS_COMPACT_TAIL,
    IS_COMPACT_ALWAYS,
    IS_COMPACT_EVERY
} is_compact_when;

typedef struct is_gpu_options {
    int ordinal; /* of the device, 0 .. is_gpu_count() - 1 */
    is_schedule schedule;
    ice_variants variants;
    const char *custom[IS_STAGES]; /* the user's stage headers, NULL: a built-in variant */
    is_math math;                  /* AUTO: fast */

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

    is_compact_sort sort;
    is_compact_when when;
    uint32_t every;        /* waves between two compactions, for IS_COMPACT_EVERY */
    uint64_t memory_limit; /* bytes of device memory, 0: what is free */
    double watchdog;       /* seconds without progress after which a launch counts as stuck */
    bool profile;          /* wavefront, fused: time every stage (slower: no graph) */
    bool host_loop; /* wavefront, fused: the host decides after every trip whether to go on, and
                       waits for it (slower; for tools that cannot look into the body of a
                       conditional node: profilers, sanitizers) */
    bool use_cache; /* of programs and of choices */
} is_gpu_options;

typedef struct is_gpu_error {
    int status;      /* IS_GRAPH_... */
    char text[2048]; /* names device, call and remedy */
} is_gpu_error;

/* Devices that this process can use; 0 with the reason in `error` (may be NULL). */
int is_gpu_count(is_gpu_error *error);

/* About a device, for reports. */
typedef struct is_gpu_device {
    char name[256];
    int architecture; /* 90 for sm_90 */
    int processors;   /* multiprocessors */
    int driver;       /* 13000 for 13.0 */
    uint64_t memory_bytes, memory_free, cache_bytes;
} is_gpu_device;
int is_gpu_describe(int ordinal, is_gpu_device *out, is_gpu_error *error);

typedef struct is_gpu is_gpu;

/* Makes lanes, loads kernels, takes memory (a pool that does not fit shrinks, down to a floor, with
 * a sentence in is_gpu_warnings). `tables` must outlive it. `options->schedule` AUTO is an error:
 * see is_gpu_choose. IS_GRAPH_NO_MEMORY, _UNSUPPORTED, _NO_DEVICE, _FAULT. */
int is_gpu_create(const is_gpu_options *options, const is_tables *tables, is_gpu **out,
                  is_gpu_error *error);
/* Waits for the device to be idle, frees everything. Accepts NULL. After a fault it does neither:
 * what the device could still touch goes with the process. */
void is_gpu_destroy(is_gpu *gpu);

/* A sentence per line about what was not done as asked; "" mostly. */
const char *is_gpu_warnings(const is_gpu *gpu);
/* The options as they are in force: no zeros, no AUTO. */
const is_gpu_options *is_gpu_options_of(const is_gpu *gpu);

/* Called by any thread when is_gpu_advance would find something to do. Set once, before the first
 * batch. */
void is_gpu_on_event(is_gpu *gpu, void (*event)(void *user), void *user);

/* Batches that may be in the device's hands at a time. */
uint32_t is_gpu_credits(const is_gpu *gpu);

/* Hands over a batch of 1 .. batch_emissions emissions, each with at least one photon, of at most
 * batch_photons together; the emissions are copied. `tag` comes back with the result. No more than
 * is_gpu_credits() batches may be out. IS_GRAPH_FAULT. */
int is_gpu_submit(is_gpu *gpu, const ice_emission *emissions, uint32_t count, void *tag,
                  is_gpu_error *error);

/* A finished batch. */
typedef struct is_gpu_result {
    void *tag;
    is_arrivals arrivals; /* the taker frees them; indices of emissions are those of the batch */
    ice_account account;  /* created included */
} is_gpu_result;

/* Does what the device's progress allows, without waiting: launches, downloads, completed batches.
 * IS_GRAPH_FAULT: a kernel fault, a lost device, or a loop that the watchdog found stuck, with all
 * counters in the message. IS_GRAPH_NO_MEMORY: on the host. */
int is_gpu_advance(is_gpu *gpu, is_gpu_error *error);
/* Takes a finished batch; false: there is none now. */
bool is_gpu_take(is_gpu *gpu, is_gpu_result *out);
/* Waits for an event, at most so many seconds. */
void is_gpu_wait(is_gpu *gpu, double seconds);

/* Time that kernels ran and what they did, since creation; lanes run side by side, so that
 * `seconds` is the time in which at least one of them was computing. */
typedef struct is_gpu_usage {
    double seconds;
    uint64_t launches, waves;
    uint64_t device_bytes;   /* device memory taken */
    double stage_seconds[6]; /* with `profile`: create, propagate, collide, scatter, compact, all
                                else */
} is_gpu_usage;
void is_gpu_usage_of(is_gpu *gpu, is_gpu_usage *out);

/* What a schedule's kernels take, for `plan`: no GPU needed where `architecture` is given (else 0:
 * that of the device). */
typedef struct is_gpu_plan_kernel {
    is_kernel_resources resources; /* registers 0: of PTX, nothing is known but the name */
    uint32_t block, blocks_per_processor;
    double occupancy;        /* resident threads over the most that a multiprocessor holds */
    uint32_t bytes_per_slot; /* read and written by one visit of one slot, tables excluded; 0: it
                                has no such visits */
} is_gpu_plan_kernel;
typedef struct is_gpu_plan {
    is_gpu_options options; /* in force */
    is_gpu_plan_kernel *kernels;
    size_t kernel_count;
    is_program_origin origin;
    double bytes_per_bounce; /* pool traffic of one photon's bounce; 0: its photons are in the pool
                                between launches only (the schedules of one kernel) */
    uint64_t pool_bytes, queue_bytes, hit_bytes, table_bytes, staging_bytes, device_bytes;
} is_gpu_plan;
int is_gpu_plan_create(const is_gpu_options *options, const is_tables *tables, int architecture,
                       is_gpu_plan **out, is_gpu_error *error);
void is_gpu_plan_destroy(is_gpu_plan *plan);

/* Schedule AUTO: measures the candidates on these emissions (the first batch of real input) and
 * fills in schedule, pool, bounces per wave and block. A choice made before for this device and
 * configuration is taken from the cache. `report`: a line per candidate. */
int is_gpu_choose(is_gpu_options *options, const is_tables *tables, const ice_emission *emissions,
                  uint32_t count, char *report, size_t report_size, is_gpu_error *error);

/* Compiles into `directory` all programs that these options can lead to on GPUs of an architecture:
 * with schedule AUTO those of every candidate. Cubins, or PTX for all GPUs from that architecture
 * on; what is there already stays. Needs no GPU. IS_GRAPH_UNSUPPORTED, with the reason. */
int is_gpu_store(const is_gpu_options *options, const is_tables *tables, int architecture,
                 bool as_ptx, const char *directory, is_gpu_error *error);

#endif
