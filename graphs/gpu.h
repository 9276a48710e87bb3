/* A graph on a GPU: batches of emissions go in, batches of arrivals come out, asynchronously.
 *
 * A GPU works in lanes. Every lane has a pool of photons, a queue of batches, three CUDA streams
 * (upload, compute, download) and pinned staging. A batch goes to the lane that holds the fewest
 * batches; while one lane waits or drains, the others compute. If a schedule loops over small
 * kernels, a lane's pool is divided into chains that go through the loop at the same time, so that
 * the kernels of one chain fill the GPU while those of another begin and end. All device memory is
 * allocated at creation.
 *
 * One thread at a time calls the functions of a GPU. Only ics_gpu_wait() and ics_gpu_destroy() wait
 * for the device. A process may have any number of GPUs, each with a thread. No function prints.
 *
 * The int functions return an icestream_status and fill `error` (which may be NULL):
 *   ICESTREAM_E_MEMORY  too little memory of the device or of the host
 *   ICESTREAM_E_CONFIG  the options ask for something impossible, or kernels do not compile
 *   ICESTREAM_E_DEVICE  no GPU, no driver, or the driver is too old
 *   ICESTREAM_E_FAILED  the GPU failed: nothing that is on it can be trusted any more
 */
#ifndef ICS_GRAPHS_GPU_H
#define ICS_GRAPHS_GPU_H

#include "graphs/graph.h"
#include "graphs/options.h"
#include "graphs/tune.h"
#include "kernels/cuda/driver.h"
#include "kernels/cuda/hit_sums.h"
#include "kernels/cuda/program.h"
#include "kernels/identity.h"

/* The options that can change how fast a schedule is: type and name. ics_gpu_options has all of
 * them as members, and a remembered choice of schedule AUTO depends on all of them
 * (graphs/cuda/choice.c). */
#define ICS_GPU_SPEED_OPTIONS(X)                                                                   \
    X(ics_math, math) /* AUTO: fast */                                                             \
    /* 0: the default of the schedule; with schedule AUTO, the best candidate. */                  \
    X(uint32_t, pool)                 /* photon slots, of all lanes together */                    \
    X(uint32_t, bounces_per_wave)     /* event-wavefront: of a visit of fly */                     \
    X(uint32_t, block)                /* threads of a block, a multiple of 32 */                   \
    X(uint32_t, blocks_per_processor) /* registers are limited so that this many blocks fit */     \
    X(uint32_t, refill)               /* idle threads after which a warp gets new photons */       \
    X(uint32_t, lanes)                                                                             \
    X(uint32_t, chains)          /* of one lane, for schedules that loop */                        \
    X(bool, join)                /* of one kernel for scatter and propagate; wavefront */          \
    X(uint32_t, hits)            /* capacity of a hit buffer, >= 64 */                             \
    X(uint32_t, batch_emissions) /* at most in one batch */                                        \
    X(uint32_t, batch_photons)   /* at most in one batch */                                        \
    /* Compaction, memory, and how loops run. */                                                   \
    X(ics_compact_sort, sort)                                                                      \
    X(ics_compact_when, when)                                                                      \
    X(uint32_t, every)        /* waves between two compactions, for ICS_COMPACT_EVERY */           \
    X(uint64_t, memory_limit) /* bytes of device memory, 0: what is free */                        \
    /* The kernels can make photons of steps with a profile (stages/profile.h), and are about 5 %  \
     * slower. */                                                                                  \
    X(bool, light_profiles)                                                                        \
    /* Time every stage: every kernel of a loop (slower, with one chain), or some warps. */        \
    X(bool, profile)                                                                               \
    /* Schedules that loop: the host waits for every trip and launches the next one (slower; for   \
     * profilers and sanitizers, which do not see into the body of a conditional node). */         \
    X(bool, host_loop)

typedef struct ics_gpu_options {
    int ordinal; /* number of the device, 0 .. ics_gpu_count() - 1 */
    ics_schedule schedule;
    ice_variants variants;
    const char *custom[ICS_STAGES]; /* the user's stage headers, NULL: a built-in variant */
#define X(type, name) type name;
    ICS_GPU_SPEED_OPTIONS(X)
#undef X
    ics_tune tune; /* settings of single kernels; a remembered choice depends on them, too */
    ice_photon_axes photons; /* the histograms of photons, */
    ics_large_axes large;    /* and those with more bins than ICE_PHOTON_BINS */
    /* Not NULL: the hits of batches that come with their steps become sums on the device. With host
     * pointers, and copied when the GPU is made. */
    const ics_hit_sum_rule *sums;
    ics_without without; /* what is left out to measure the time of a photon; the photons are not
                            those of the run */
    bool check;          /* check what every stage returns (stages/check.h) */
    double watchdog;     /* a launch without progress for this time (s) counts as stuck */
    bool use_cache;      /* whether the cache has programs and choices */
} ics_gpu_options;

/* Returns the number of devices that this process can use; if it is 0, `error` has the reason. */
int ics_gpu_count(icestream_error *error);

/* About a device, for reports. */
typedef struct ics_gpu_device {
    char name[256];
    int architecture; /* 90 for sm_90 */
    int processors;   /* multiprocessors */
    int driver;       /* 13000 for 13.0 */
    uint64_t memory_bytes, memory_free, cache_bytes;
} ics_gpu_device;
int ics_gpu_describe(int ordinal, ics_gpu_device *out, icestream_error *error);

/* Makes a device ready on the calling thread, which takes about 0.1 s, so that ics_gpu_create()
 * does not have to. Ignores faults, because ics_gpu_create() finds and reports them. */
void ics_gpu_wake(int ordinal);

typedef struct ics_gpu ics_gpu;

/* Makes lanes, loads kernels, allocates memory. A pool that does not fit is made smaller, down to a
 * floor, and the host runs loops that the driver does not, with a sentence in ics_gpu_warnings().
 * `tables` and the paths in options->custom must outlive the GPU. options->schedule must not be
 * AUTO: see ics_gpu_choose().
 */
int ics_gpu_create(const ics_gpu_options *options, const ics_tables *tables, ics_gpu **out,
                   icestream_error *error);
/* Waits until the device is idle and frees everything. After a failure of the device it does
 * neither, because the device could still use the memory until the process ends. Accepts NULL. */
void ics_gpu_destroy(ics_gpu *gpu);

/* Warnings, one sentence per line; "" if everything was done as configured. */
const char *ics_gpu_warnings(const ics_gpu *gpu);
/* The resolved options: no zeros, no AUTO. */
const ics_gpu_options *ics_gpu_options_of(const ics_gpu *gpu);
/* The kernels, if they have fast maths; else all zero. */
ics_kernels ics_gpu_kernels_of(const ics_gpu *gpu);

/* Sets the function that any thread calls when ics_gpu_advance() would find something to do. Call
 * this once, before the first batch. */
void ics_gpu_on_event(ics_gpu *gpu, void (*event)(void *user), void *user);

/* The number of batches that the device holds at most. */
uint32_t ics_gpu_credits(const ics_gpu *gpu);

/* Submits a batch of 1 .. batch_emissions emissions, each with at least one photon, with at most
 * batch_photons photons in all. The emissions are copied, and one with a profile needs the option
 * light_profiles. `steps`: [count], what sums need of the steps of the emissions, of which none has
 * a pulse; it is copied. NULL: the batch shall have hits. `tag` comes back with the result. The
 * device holds at most ics_gpu_credits() batches. */
int ics_gpu_submit(ics_gpu *gpu, const ice_emission *emissions, const ics_hit_sum_step *steps,
                   uint32_t count, void *tag, icestream_error *error);

/* Sums of hits of one batch in no particular order. Several of them may have the same bin and
 * class, because every launch makes its own. */
typedef struct ics_hit_sums {
    ics_hit_sum *items; /* [count] */
    size_t count, capacity;
} ics_hit_sums;

/* A finished batch. The caller of ics_gpu_take() frees large_cells, and the items of arrivals and
 * of sums, whose indices of emissions count from the first emission of the batch. Every hit is in
 * one of the two. */
typedef struct ics_gpu_result {
    void *tag;
    /* Also a batch with steps may have arrivals: those of a launch that worked at the same time on
     * a batch without steps, or that had a hit for which there is no sum. */
    ics_arrivals arrivals;
    ics_hit_sums sums;
    ice_account account; /* account, created photons included */
    /* The histograms of photons: options.photons.cells counts, then zeros. */
    uint64_t photon_cells[ICE_PHOTON_CELLS];
    uint64_t *large_cells; /* [options.large.cells]; NULL: there are none */
} ics_gpu_result;

/* Does everything that is possible without waiting: launches, downloads, completed batches.
 * ICESTREAM_E_FAILED also if the watchdog found a loop stuck; the message has all counters. */
int ics_gpu_advance(ics_gpu *gpu, icestream_error *error);
/* Moves a finished batch to *out. Returns false if there is none now. */
bool ics_gpu_take(ics_gpu *gpu, ics_gpu_result *out);
/* Waits for an event, at most `seconds` (s). */
void ics_gpu_wait(ics_gpu *gpu, double seconds);

/* What the kernels did since creation. */
typedef struct ics_gpu_usage {
    double seconds; /* time in which at least one lane computed (s) */
    uint64_t launches, waves;
    uint64_t device_bytes;     /* allocated device memory */
    uint64_t downloaded_bytes; /* bytes of hits and of sums */
    double trial_seconds;    /* time (s) of trials of schedule AUTO, which pipeline/photons/devices
                                counts */
    double stage_seconds[6]; /* with `profile`, time (s) of create, propagate, collide, scatter,
                                compact and the rest; of a schedule that does not loop, `seconds`
                                divided among them as the clock cycles of sampled warps */
} ics_gpu_usage;
void ics_gpu_usage_of(ics_gpu *gpu, ics_gpu_usage *out);

/* The resources of a kernel, for `plan`. */
typedef struct ics_gpu_plan_kernel {
    ics_kernel_resources resources; /* registers 0: it is PTX, and only its name is known */
    uint32_t block, blocks_per_processor;
    double occupancy; /* resident threads, divided by the most that a multiprocessor holds (1) */
    uint32_t bytes_per_slot; /* read and written in one visit of one slot, without tables; 0: the
                                kernel has no such visits */
} ics_gpu_plan_kernel;
typedef struct ics_gpu_plan {
    ics_gpu_options options; /* resolved: no zeros, no AUTO; without `sums` */
    ics_gpu_plan_kernel *kernels;
    size_t kernel_count;
    ics_program_origin origin;
    double bytes_per_bounce; /* traffic between pool and processors for one bounce of one photon; 0:
                                photons are in the pool only between launches */
    /* hit_bytes: of hits and of their sums */
    uint64_t pool_bytes, queue_bytes, hit_bytes, table_bytes, staging_bytes, device_bytes;
} ics_gpu_plan;
/* Makes a plan without running anything. `architecture` 0: that of the device, else no GPU is
 * needed. */
int ics_gpu_plan_create(const ics_gpu_options *options, const ics_tables *tables, int architecture,
                        ics_gpu_plan **out, icestream_error *error);
void ics_gpu_plan_destroy(ics_gpu_plan *plan);
/* Sets the options to those of a plan for the device, with the same errors. Compiles only kernels
 * with a header of the user, and checks for others that a compiler or a cache can give them. */
int ics_gpu_plan_check(ics_gpu_options *options, const ics_tables *tables, icestream_error *error);

/* Schedule AUTO: sets all options to those of the fastest candidate that trials of earlier runs
 * found for this device and configuration and that suits these emissions (a batch of the real
 * input). Without such results it is the candidate that the table of schedules prefers. Measures
 * and compiles nothing. `report`: one line. */
int ics_gpu_choose(ics_gpu_options *options, const ics_tables *tables,
                   const ice_emission *emissions, uint32_t count, char *report, size_t report_size,
                   icestream_error *error);

/* Whether these resolved options can be fast for such emissions, by numbers of steps and photons
 * alone. Schedules that give every step to one warp or thread are slow if a few steps have most of
 * the photons. */
bool ics_gpu_suits(const ics_gpu_options *options, const ice_emission *emissions, uint32_t count);

/* Trials of the candidates of schedule AUTO during a run. All trials together take at most 1 % of
 * the time that the GPU has computed before, and each about 0.3 s at most. The cache keeps their
 * results. */
typedef struct ics_gpu_trials ics_gpu_trials;
enum { ICS_GPU_REPORT_SIZE = 1024 };
/* `options`: as for ics_gpu_choose(), before it sets them. `tables` and the paths in
 * options->custom must outlive the trials. */
int ics_gpu_trials_create(const ics_gpu_options *options, const ics_tables *tables,
                          ics_gpu_trials **out, icestream_error *error);
/* Waits for a program that is being compiled. Accepts NULL. */
void ics_gpu_trials_destroy(ics_gpu_trials *trials);
/* Whether it is time for a trial, and the kernels that it needs are compiled. `computed`: the time
 * (s) that the GPU has computed in this run. The emissions are like those that follow. Does not
 * wait; a thread compiles the kernels of the next candidate before they are needed. */
bool ics_gpu_trials_due(ics_gpu_trials *trials, double computed, const ice_emission *emissions,
                        uint32_t count);
/* Measures one candidate with the first photons of these emissions, and drops the hits. Then sets
 * *options to the fastest candidate that is known and suits the emissions. No other graph may
 * compute on this device. `bytes_in_use`: device memory of the graph in use, which memory_limit
 * includes. `report`: a line for each of the two. If no candidate is left to measure, this is
 * ics_gpu_choose() with the results of this run. */
int ics_gpu_trials_run(ics_gpu_trials *trials, const ice_emission *emissions, uint32_t count,
                       uint64_t bytes_in_use, ics_gpu_options *options,
                       char report[ICS_GPU_REPORT_SIZE], icestream_error *error);
/* Adds time (s) that trials cost outside ics_gpu_trials_run(). */
void ics_gpu_trials_spend(ics_gpu_trials *trials, double seconds);
/* Returns the time (s) that trials took so far. */
double ics_gpu_trials_seconds(const ics_gpu_trials *trials);

/* Compiles into `directory` all programs that these options need on GPUs of an architecture; with
 * schedule AUTO those of every candidate. The result is a cubin, or PTX for all GPUs from that
 * architecture on. Existing files stay. Needs no GPU. */
int ics_gpu_store(const ics_gpu_options *options, const ics_tables *tables, int architecture,
                  bool as_ptx, const char *directory, icestream_error *error);

#endif
