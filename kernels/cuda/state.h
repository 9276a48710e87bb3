/* The structs and constants that the host and the kernels of a GPU share, in the common subset of
 * C11 and CUDA C. */
#ifndef ICS_KERNELS_CUDA_STATE_H
#define ICS_KERNELS_CUDA_STATE_H

#include "stages/histograms/photon_histogram.h"
#include "stages/photon.h"

#if defined(__cplusplus)
#define ICS_STATIC_ASSERT(condition, text) static_assert(condition, text)
#else
#define ICS_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif

/* The largest number of batches whose photons are in one lane's pool at a time. */
#define ICS_LANE_BATCHES 4u

/* Waves in one trip through the loop of wavefront, and from one create to the next one. */
#ifndef ICS_WAVES_PER_TRIP /* tests of the kernels on a CPU have shorter trips */
#define ICS_WAVES_PER_TRIP 16u
#endif
#define ICS_WAVES_PER_CREATE 4u
#define ICS_EVENT_WAVES      3u /* of event-wavefront, in a trip, of which the last one flies */
ICS_STATIC_ASSERT(ICS_WAVES_PER_TRIP % ICS_WAVES_PER_CREATE == 0,
                  "a trip has a whole number of creates");
ICS_STATIC_ASSERT(ICS_WAVES_PER_TRIP >= 2, "photons are parked for one wave of a trip");

/* Slots that one thread of create and of collide looks after: a block of create and a warp of
 * collide list slots first and then work through the list. The slots of a chain are a multiple of
 * ICS_CHAIN_PER_THREAD times the threads of a block, so that the slots of no block reach into the
 * next chain. */
#define ICS_CREATE_PER_THREAD  2u
#define ICS_COLLIDE_PER_THREAD 8u
#define ICS_CHAIN_PER_THREAD   8u
ICS_STATIC_ASSERT(ICS_CHAIN_PER_THREAD % ICS_CREATE_PER_THREAD == 0 &&
                      ICS_CHAIN_PER_THREAD % ICS_COLLIDE_PER_THREAD == 0,
                  "the slots of a chain divide evenly among the blocks of every kernel");

/* The queue of new photons of one warp in shared memory (gpu_warp_queue in
 * kernels/cuda/device/warp_queue.h), and the shared memory that every kernel may have. */
#define ICS_WARP_QUEUE_BYTES 2568u
#define ICS_SHARED_BYTES     (48u << 10)

/* The slots of one warp in shared memory (gpu_warp_slots in kernels/cuda/device/warp_lists.h). In
 * the pool a warp has whole slots for every thread, and does not use the last ones. */
#define ICS_WARP_SLOTS            80u
#define ICS_WARP_SLOTS_PER_THREAD 3u
#define ICS_WARP_LISTS            4u
#define ICS_WARP_SLOTS_BYTES      ((56u + ICS_WARP_LISTS) * ICS_WARP_SLOTS)
ICS_STATIC_ASSERT(ICS_WARP_SLOTS <= 32 * ICS_WARP_SLOTS_PER_THREAD, "every slot is in the pool");

/* Slots of a region of event-wavefront for each thread of the warp that it belongs to. */
#ifndef ICS_REGION_PER_THREAD /* tests of the kernels on a CPU have smaller regions */
#define ICS_REGION_PER_THREAD 8u
#endif
#define ICS_REGION_SLOTS (32 * ICS_REGION_PER_THREAD)

/* Shared memory of a warp of fly (gpu_fly_warp in kernels/cuda/device/event_wavefront.h). */
#define ICS_WARP_FLY_BYTES (ICS_WARP_QUEUE_BYTES + ICS_REGION_SLOTS + 392u)

/* Shared memory of a block besides what its warps have: an upper bound. */
#define ICS_BLOCK_BYTES 256u

/* The stages whose time a profile has: those of a wave, compaction, and what is left. A new value
 * needs a name in pipeline/commands/measure/rows.c. */
typedef enum ics_clock {
    ICS_CLOCK_CREATE,
    ICS_CLOCK_PROPAGATE,
    ICS_CLOCK_COLLIDE,
    ICS_CLOCK_SCATTER,
    ICS_CLOCK_COMPACT,
    ICS_CLOCK_OTHER,
    ICS_CLOCKS
} ics_clock;

/* Photons per entry of ics_lane_memory.starts. */
#define ICS_START_STRIDE 256u

/* One batch in a lane's step queue. The photons of the queue have numbers from 0 on, through all
 * batches that a lane ever gets. This batch has the numbers first .. first + size - 1. */
typedef struct ics_queue_batch {
    uint64_t first;
    uint32_t size;
    uint32_t emissions; /* 0: there is no batch here */
} ics_queue_batch;

/* The counts of a batch: how its photons ended, in the order of ice_fate, their hits and their
 * bounces. */
enum {
    ICS_COUNT_ABSORBED,
    ICS_COUNT_DETECTED,
    ICS_COUNT_LEFT,
    ICS_COUNT_STOPPED,
    ICS_COUNT_HITS,
    ICS_COUNT_BOUNCES,
    ICS_BATCH_COUNTS
};

/* The counts of one batch, summed over all launches since the batch was submitted. */
typedef struct ics_batch_count {
    unsigned long long of[ICS_BATCH_COUNTS];
} ics_batch_count;

/* The order that the host gives the kernels before every launch. The queue, and therefore `end` and
 * the numbers of a batch, count photons; for schedules that take whole steps they count steps. */
typedef struct ics_launch {
    uint64_t end;          /* photons (or steps) with numbers below this one may be created */
    ice_arrival *hits;     /* [hit_capacity] device memory of this launch */
    uint32_t hit_capacity; /* >= 1 */
    uint32_t drain;        /* 1: run until the pool is empty, 0: until the steps are used up */
    uint64_t wave_limit;   /* end the loop after this number of waves, 0: no limit */
    ics_queue_batch batches[ICS_LANE_BATCHES];
} ics_launch;

/* Sums that the blocks of a grid add to. There are ICS_SHARES of them, and the number of a block
 * decides which one it adds to, because thousands of blocks that add to one address would wait for
 * each other longer than they compute. All shares are zeroed when a lane is made. The host zeroes
 * the counts of a batch before the first launch with that batch, and `stalled` before every launch.
 */
#define ICS_SHARES 64u

typedef struct ics_share {
    ics_batch_count batches[ICS_LANE_BATCHES];
    uint32_t alive;   /* photons that came into the pool minus those that left it, modulo 2^32 */
    uint32_t stalled; /* photons that wait for room in the hit buffer */
    uint32_t unused[14];
} ics_share;

/* Shared memory of a block for the histograms of photons of all batches, and for their edges
 * (bytes, at most). `cells`: of all histograms together, which is more than their edges. */
#define ICS_PHOTON_BYTES(cells) ((ICS_LANE_BATCHES + 1) * (cells)*4u)

/* Entries of the cache of a block for histograms with many bins, of 8 bytes each
 * (kernels/cuda/device/large_counts.h). */
#ifndef ICS_CACHE_ENTRIES /* tests of the kernels on a CPU have fewer */
#define ICS_CACHE_ENTRIES 256u
#endif
#define ICS_CACHE_BYTES (8u * ICS_CACHE_ENTRIES)

/* Copies of the counts of histograms with many bins in the memory of a lane, of 32 bits each, to
 * which kernels add that have no such cache. */
#define ICS_COUNT_COPIES 8u

/* Bits of ics_launch_progress.decision. */
#define ICS_GOES_ON  1u /* another trip follows */
#define ICS_COMPACTS 2u /* a compaction follows first */

/* The counters of a launch, which the kernels share and the host reads after the launch. Zeroed
 * when a lane is made; the host zeroes `waves`, `hits` and `stalled` before every launch. */
typedef struct ics_launch_progress {
    uint64_t next;     /* the next number of the queue: all below are created or being created */
    uint64_t waves;    /* trips through the loop in this launch */
    uint32_t hits;     /* hits that asked for room in the buffer; may exceed its capacity */
    uint32_t stalled;  /* sum over the shares, after a trip through the loop */
    uint32_t alive;    /* photons in the pool: sum over the shares, after a trip through the loop */
    uint32_t slots;    /* slots in use: 0 .. slots - 1 hold all living photons; all slots are in use
                          while there are steps left */
    uint32_t trips;    /* trips through the loop in all launches, modulo 2^32 */
    uint32_t decision; /* what is decided after a trip: bits ICS_GOES_ON, ICS_COMPACTS */
} ics_launch_progress;

/* A photon in a slot is packed into three words of 16 bytes: position, direction and identity
 * (kernels/cuda/device/slot_words.h), and its random numbers have a state of 8 bytes. `emission` of
 * the identity is an index into the ring of emissions; ICS_NOBODY says that the slot is free. The
 * bit ICS_WAITING of `scatters` says that the photon waits for room in the hit buffer. */
#define ICS_NOBODY  0xffffffffu
#define ICS_WAITING 0x80000000u

/* 16 bytes that one instruction loads or stores. */
#if defined(__CUDACC__)
typedef float4 ics_word;
#else
typedef struct ics_word {
    float x, y, z, w;
} ics_word;
#endif

/* 8 bytes that one instruction loads or stores. */
#if defined(__CUDACC__)
typedef float2 ics_pair;
#else
typedef struct ics_pair {
    float x, y;
} ics_pair;
#endif

/* The part of a pool that a kernel of a loop works on. The kernels of several chains run at the
 * same time. */
typedef struct ics_chain {
    uint32_t first, slots; /* multiples of 32 */
    uint32_t wave;         /* number of the wave in the trip, from 0 */
} ics_chain;

/* ---- the columns of a pool ------------------------------------------------------------------- */

/* Bits for the columns that only some schedules have (ics_gpu_schedule.columns). */
enum {
    ICS_COLUMN_SEGMENT = 1 << 0,    /* segments wait between kernels, and photons have extracts */
    ICS_COLUMN_VACANT = 1 << 1,     /* create looks for free slots */
    ICS_COLUMN_CANDIDATES = 1 << 2, /* collide looks for segments that may reach a module */
    ICS_COLUMN_CURSORS = 1 << 3,    /* a thread or a warp remembers the step that it works on */
    ICS_COLUMN_NEEDS = 1 << 4       /* a slot says which kernel its photon needs next */
};

/* The columns of a pool are declared only here. Each of them is a pointer of ics_lane_memory to an
 * array in device memory; graphs/cuda/lane_memory.c lays the arrays out in the order of the rows,
 * those for the cache first.
 *
 *   COLUMN(type, name, entries, slots, needed, fill, in_cache)
 *
 *   entries, slots   `slots` slots, 1 or the 32 of a warp, have this number of entries
 *   needed           the bit of the schedules that have the column; 0: all have it
 *   fill             the value of every byte in a new lane. 0xff marks a free slot or an empty
 *                    entry. ICS_ANY_FILL: nothing reads the column before it is written
 *   in_cache         the second level cache should keep the column
 */
#define ICS_ANY_FILL (-1)

/* The columns of a photon, which every pool has.
 *
 *   random   before the next bounce of the photon. Wavefront has the ways of photons here
 *            (slot_words.h) */
#define ICS_PHOTON_COLUMNS(COLUMN)                                                                 \
    COLUMN(ics_word, position, 1, 1, 0, ICS_ANY_FILL, true)                                        \
    COLUMN(ics_word, direction, 1, 1, 0, ICS_ANY_FILL, true)                                       \
    COLUMN(ics_word, identity, 1, 1, 0, 0xff, false)                                               \
    COLUMN(ice_random, random, 1, 1, 0, ICS_ANY_FILL, true)

/* The columns that compaction moves.
 *
 *   recorded   hits of the present segment that are recorded already; not 0 only for photons that
 *              wait. In pools of wavefront it has no meaning for others */
#define ICS_MOVED_COLUMNS(COLUMN)                                                                  \
    ICS_PHOTON_COLUMNS(COLUMN)                                                                     \
    COLUMN(uint32_t, recorded, 1, 1, 0, 0, false)

/* All columns, in their order in memory behind those that the cache keeps. With candidates before
 * vacant and begin behind identity, wavefront took 0.8 to 1.3 % longer on an H200
 * (bench/results/2026-11-30-one-engine.md). Those in EITHER are one pointer, because parameters of
 * a kernel are short, and no schedule has more than one of them.
 *
 *   extract      wavefront: what propagate reads of an identity (slot_words.h)
 *   segment      wavefront: the segment between propagate and scatter (segment_words.h)
 *   height       wavefront: in birefringent or anisotropic ice the height of the start of the
 *                segment among the layers (m)
 *   begin        wavefront: the begin of a segment that may touch a module
 *   cursors      schedules that take steps: emission, photons made
 *   needs        event-wavefront, a byte per slot: the kernel that its photon needs (region.h)
 *   candidates   wavefront, a bit per slot: its segment may reach a module; for waves with an even
 *                and an odd number in the trip
 *   vacant       wavefront, a bit per slot: the slot is free */
#define ICS_POOL_COLUMNS(COLUMN, EITHER)                                                           \
    EITHER(COLUMN(ics_word, begin, 1, 1, ICS_COLUMN_SEGMENT, ICS_ANY_FILL, false)                  \
               COLUMN(uint32_t, cursors, 2, 1, ICS_COLUMN_CURSORS, 0xff, false)                    \
                   COLUMN(uint32_t, needs, 8, 32, ICS_COLUMN_NEEDS, 0xff, false))                  \
    ICS_MOVED_COLUMNS(COLUMN)                                                                      \
    COLUMN(ics_pair, extract, 1, 1, ICS_COLUMN_SEGMENT, 0xff, true)                                \
    COLUMN(uint32_t, segment, 1, 1, ICS_COLUMN_SEGMENT, 0xff, true)                                \
    COLUMN(float, height, 1, 1, ICS_COLUMN_SEGMENT, ICS_ANY_FILL, true)                            \
    COLUMN(uint32_t, vacant, 1, 32, ICS_COLUMN_VACANT, 0xff, false)                                \
    COLUMN(uint32_t, candidates, 2, 32, ICS_COLUMN_CANDIDATES, ICS_ANY_FILL, false)

/* The pointer of a column in a struct; one pointer for several columns, or one for each. */
#define ICS_COLUMN_POINTER(type, name, ...) type *name;
#define ICS_EACH_COLUMN(columns)            columns
#define ICS_ONE_POINTER(columns)                                                                   \
    union {                                                                                        \
        columns                                                                                    \
    };

/* Bytes of the columns of one photon. */
#define ICS_COLUMN_BYTES(type, name, ...) +sizeof(type)
#define ICS_SLOT_BYTES                    ((uint32_t)(0 ICS_PHOTON_COLUMNS(ICS_COLUMN_BYTES)))

/* ---- a lane ---------------------------------------------------------------------------------- */

/* Everything that the kernels of a lane work on, passed by value. All pointers are device pointers.
 */
typedef struct ics_lane_memory {
    ICS_POOL_COLUMNS(ICS_COLUMN_POINTER, ICS_ONE_POINTER)
    ice_emission *emissions; /* [ICS_LANE_BATCHES << ics_settings_start_shift()] the ring */
    uint32_t *offsets;       /* photons of the batch before each emission [number of emissions] */
    uint32_t *starts;        /* [ICS_LANE_BATCHES][start_count] emission (within the batch) of every
                                ICS_START_STRIDE-th photon, and of the last */
    ics_launch *launch;
    ics_launch_progress *progress;
    ics_share *shares; /* [ICS_SHARES] */
    uint32_t capacity;
    uint32_t start_count;
    /* Photons that ended, for each of ICS_LANE_BATCHES: [ICS_SHARES][cells of all histograms of
     * photons], and then the cells of those with more than ICE_PHOTON_BINS bins. Behind all counts
     * are the copies of the latter, [copies][ICS_LANE_BATCHES][cells] of 32 bits, in schedules that
     * have copies, and then their words (stages/histograms/large_histogram.h). The host zeroes the
     * counts of a batch with the other ones. Between two launches all copies are zero. NULL: the
     * kernels are compiled without histograms. */
    unsigned long long *photon_cells;
} ics_lane_memory;

#endif
