/* The rows of the GPU schedules: everything about a schedule that is not in its kernels. No other
 * file asks which schedule it has in front of it; it asks the row. This part needs no CUDA. */
#ifndef ICS_GRAPHS_SCHEDULE_H
#define ICS_GRAPHS_SCHEDULE_H

#include "graphs/options.h"
#include "graphs/tune.h"

#include <stdbool.h>
#include <stdint.h>

enum { ICS_SCHEDULE_KERNELS = 6, ICS_SCHEDULE_CANDIDATES = 2 };

/* The waves of a trip in which a kernel runs. The waves from one create to the next one are a
 * round.
 */
typedef enum ics_kernel_waves {
    ICS_ALL_WAVES,
    ICS_FIRST_WAVE,  /* of every round */
    ICS_LATER_WAVES, /* all but the first one of every round */
    ICS_LAST_WAVE    /* of every round */
} ics_kernel_waves;

/* A kernel of a schedule. */
typedef struct ics_schedule_kernel {
    const char *name;          /* NULL: the end of the list */
    uint32_t slots_per_thread; /* slots that one thread of the kernel's grid looks after, >= 1; it
                                  divides ICS_CHAIN_PER_THREAD */
    uint32_t bytes_per_slot; /* bytes of the pool, read and written in one visit of one slot; 0: the
                                kernel has no such visits */
    uint32_t stage;          /* in a profile, its time counts as create (0), propagate (1),
                                collide (2) or scatter (3) */
    bool sparse;             /* the kernel visits few slots: they do not count in the traffic */
    bool in_columns;         /* the kernel runs only where ice_bounce_in_column() is called */
    ics_kernel_waves waves;  /* loops */
    bool parallel;   /* loops: the kernels that follow in its chain do not wait for it, up to one
                        that awaits it */
    uint32_t awaits; /* loops: the kernel waits for the parallel kernel of this many waves before;
                        0: it does not wait */
} ics_schedule_kernel;

/* Settings that schedule AUTO measures; 0: the default. */
typedef struct ics_schedule_candidate {
    uint32_t block, bounces_per_wave, refill, pool;
} ics_schedule_candidate;

typedef struct ics_gpu_schedule {
    const char *entry;                                 /* the embedded source with the kernels */
    ics_schedule_kernel kernels[ICS_SCHEDULE_KERNELS]; /* kernels in the order of a wave */
    /* The same with scatter and propagate joined; without a kernel: they cannot be joined. */
    ics_schedule_kernel joined[ICS_SCHEDULE_KERNELS];
    uint32_t columns; /* columns of its pools, bits: ICS_COLUMN_... in kernels/cuda/state.h */
    /* A loop of small kernels (graphs/cuda/loop.c), with create, compaction and a profile of its
     * stages; else kernels[0] is the only kernel and each launch runs it once. */
    bool loops;
    bool compacts;    /* loops whose kernels visit every slot: the pool is compacted, and the second
                         level cache keeps it */
    bool takes_steps; /* the queue counts steps instead of photons */
    bool long_visits; /* one visit is graph.bounces_per_wave bounces */
    bool counts_at_once; /* its kernels add every count to those of the lane, and have
                            ICS_COUNT_COPIES copies of the counts of histograms with many bins.
                            Otherwise they add to counts of their block */
    bool few_registers;  /* 56 registers suffice for its kernels, which are faster with more threads
                          */
    bool preferred;      /* AUTO begins with this schedule until another one has proved faster, */
    bool preferred_in_columns;     /* or with this one where ice_bounce_in_column() is called */
    uint32_t waves_per_trip;       /* loops; a multiple of waves_per_create */
    uint32_t waves_per_create;     /* loops: waves of a round */
    uint32_t slots_per_thread;     /* slots of a lane's pool for each thread of its grid */
    uint32_t warp_bytes;           /* shared memory of each warp of a block (bytes) */
    uint32_t lanes, chains, block; /* defaults */
    uint32_t refill; /* default of graph.refill; 0: the schedule does not use graph.refill */
    uint32_t pool;   /* default, photon slots; 0: one for every resident thread of every lane */
    uint32_t batch;  /* default of graph.batch, photons; 0: the usual number */
    ics_schedule_candidate candidates[ICS_SCHEDULE_CANDIDATES]; /* block 0: the end of the list */
} ics_gpu_schedule;

/* The row of a schedule; NULL for AUTO and for numbers that are no schedule. */
const ics_gpu_schedule *ics_schedule_row(ics_schedule schedule);

/* The kernels of a schedule with or without the join, which it must have: up to one whose name is
 * NULL. */
const ics_schedule_kernel *ics_schedule_kernels(const ics_gpu_schedule *schedule, bool joined);

/* Whether the schedule can join scatter and propagate. */
bool ics_schedule_can_join(const ics_gpu_schedule *schedule);

/* Whether a kernel of a loop runs in the wave with this number in the trip. */
bool ics_schedule_has_kernel(const ics_gpu_schedule *schedule, const ics_schedule_kernel *kernel,
                             uint32_t wave);

/* Whether a kernel of a loop, in the wave with this number in the trip, has to wait for the latest
 * parallel kernel of a wave with an even number (parity 0) or an odd number (1). In the last wave
 * of a trip a kernel that awaits the wave before awaits its own wave, too. */
bool ics_schedule_awaits(const ics_gpu_schedule *schedule, const ics_schedule_kernel *kernel,
                         uint32_t wave, uint32_t parity);

/* Whether a GPU can time the stages of this schedule one by one. */
bool ics_schedule_can_profile(ics_schedule schedule);

/* Whether the source of a schedule has a kernel, which may be one that runs only with the join. */
bool ics_schedule_has(const ics_gpu_schedule *schedule, ics_tuned_kernel kernel);

/* The size of the blocks of a kernel if nothing is chosen; of two schedules with this kernel the
 * larger one. */
uint32_t ics_schedule_block_of(ics_tuned_kernel kernel);

/* The largest block that the kernels can have: what its warps have in shared memory has to fit,
 * with the `photon_bytes` that histograms of photons take there (ics_photon_counts_shared). */
uint32_t ics_schedule_block_max(const ics_gpu_schedule *schedule, uint32_t photon_bytes);

#endif
