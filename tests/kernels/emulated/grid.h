/* A grid of CUDA threads on the CPU. This header defines in C the part of CUDA that the kernels of
 * kernels/cuda/device use, so that their logic is tested on machines without a GPU. Blocks run one
 * after the other. The threads of a block take turns: another thread runs when a thread waits for
 * others. Maths is portable.
 */
#ifndef EMULATED_GRID_H
#define EMULATED_GRID_H

/* Trips of wavefront are half as long as on a GPU, because most waves of a test have few photons.
 */
#define ICS_WAVES_PER_TRIP 8u

/* Few entries, so that most photons of a test find that of another count. */
#define ICS_CACHE_ENTRIES 8u

/* Small regions, so that a visit of fly often ends because its region is full. */
#define ICS_REGION_PER_THREAD 4u

#include "graphs/schedule.h"
#include "kernels/cuda/device/stage_clock.h"
#include "kernels/cuda/state.h"
#include "stages/tables.h"

#include <stdbool.h>

/* ---- running a grid -------------------------------------------------------------------------- */

enum { GRID_THREADS_MAX = 128 }; /* of a block, a multiple of 32 */

/* Runs `thread` on every thread of a grid. Fails the test if threads wait for each other for ever.
 */
void grid_run(uint32_t blocks, uint32_t threads, void (*thread)(void *argument), void *argument);

/* ---- what the kernels call ------------------------------------------------------------------- */

typedef struct grid_index {
    uint32_t x;
} grid_index;
extern grid_index grid_thread, grid_block, grid_threads, grid_blocks;
#define threadIdx grid_thread
#define blockIdx  grid_block
#define blockDim  grid_threads
#define gridDim   grid_blocks

/* All threads of a warp, or of a block, must call the same one of these functions. */
uint32_t grid_ballot(bool predicate);
uint64_t grid_shuffle(uint64_t value, uint32_t lane);
uint32_t grid_match(uint32_t value);
uint32_t grid_sum(uint32_t value);
int grid_sync_count(bool predicate);

#define __ballot_sync(mask, predicate) grid_ballot(predicate)
#define __any_sync(mask, predicate)    (grid_ballot(predicate) != 0)
#define __all_sync(mask, predicate)    (grid_ballot(predicate) == 0xffffffffu)
#define __shfl_sync(mask, value, lane) grid_shuffle(value, lane)
#define __match_any_sync(mask, value)  grid_match(value)
#define __reduce_add_sync(mask, value) grid_sum(value)
#define __syncwarp()                   ((void)grid_ballot(false))
#define __syncthreads()                ((void)grid_sync_count(false))
#define __syncthreads_count(predicate) grid_sync_count(predicate)

#define __launch_bounds__(...)
#define __grid_constant__
#define __shared__ static
#define __device__
#define __forceinline__ __attribute__((unused)) inline
#define ICS_KERNEL      static __attribute__((unused)) void

typedef ics_word float4;
typedef ics_pair float2;
typedef struct uint4 {
    uint32_t x, y, z, w;
} uint4;

static inline float4 make_float4(float x, float y, float z, float w)
{
    const float4 word = {x, y, z, w};
    return word;
}

static inline float2 make_float2(float x, float y)
{
    const float2 pair = {x, y};
    return pair;
}

static inline uint32_t __float_as_uint(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline int32_t __float_as_int(float value)
{
    return (int32_t)__float_as_uint(value);
}

static inline float __uint_as_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline int __popc(uint32_t word)
{
    return __builtin_popcount(word);
}

static inline int __ffs(int word)
{
    return __builtin_ffs(word);
}

#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))

static inline uint32_t grid_add_32(uint32_t *to, uint32_t value)
{
    const uint32_t before = *to;
    *to += value;
    return before;
}

static inline unsigned long long grid_add_64(unsigned long long *to, unsigned long long value)
{
    const unsigned long long before = *to;
    *to += value;
    return before;
}

#define atomicAdd(to, value)                                                                       \
    _Generic((to), uint32_t *: grid_add_32, unsigned long long *: grid_add_64)(to, value)
static inline uint32_t grid_exchange(uint32_t *to, uint32_t value)
{
    const uint32_t before = *to;
    *to = value;
    return before;
}
#define atomicExch(to, value) grid_exchange(to, value)
static inline uint32_t grid_compare(uint32_t *to, uint32_t expected, uint32_t value)
{
    const uint32_t before = *to;
    *to = before == expected ? value : before;
    return before;
}
#define atomicCAS(to, expected, value) grid_compare(to, expected, value)
#define atomicMax(to, value)           ((void)(*(to) = *(to) > (value) ? *(to) : (value)))
#define atomicAnd(to, value)           ((void)(*(to) &= (value)))

/* The time (ns) that a stamp of a profile reads. */
extern unsigned long long grid_now;
static inline unsigned long long gpu_now(void)
{
    return grid_now;
}

/* ---- what this run's kernels are specialised for --------------------------------------------- */

/* With GRID_COUNTS_PHOTONS the kernels count photons by their bounces, and by their delay with the
 * edges 10, 50 and 150 ns; and segments by their layers with the edges 1, 2 and 3, and by their
 * candidates with the edges 0, 1, 2 and 3. With many bins they count photons by their delay, in 100
 * bins from 0 to 500 ns, and by their bounces, in 70 bins from 0 to 70. */
#if defined(GRID_COUNTS_PHOTONS)
#define GPU_BOUNCES_MOVED        64u /* blocks of a test have few bounces */
#define GPU_SPECIAL_CANDIDATES   1
#define GPU_SPECIAL_PHOTON_WAYS  1
#define GPU_SPECIAL_PHOTON_CELLS 21u
#define GPU_SPECIAL_PHOTONS(ROW)                                                                   \
    ROW(0u, 6u, 0u, 0u)                                                                            \
    ROW(2u, 2u, 8u, 7u)
#define GPU_SPECIAL_SEGMENTS(ROW)                                                                  \
    ROW(3u, 2u, 12u, 10u, 1)                                                                       \
    ROW(4u, 3u, 16u, 13u, 0)
#define GPU_SPECIAL_PHOTON_EDGES                                                                   \
    1u, 2u, 3u, 5u, 12u, 29u, 30u, 0x41200000u, 0x42480000u, 0x43160000u, 1u, 2u, 3u, 0u, 1u, 2u, 3u
#define GPU_SPECIAL_LARGE_CELLS 174u
#define GPU_SPECIAL_LARGE(ROW)                                                                     \
    ROW(2u, 100u, 0u, 0u, 19u, 0u, 0x43fa0000u)                                                    \
    ROW(0u, 70u, 102u, 2278u, 0u, 0u, 70u)
#endif

enum { GRID_BLOCK = 64, GRID_BOUNCES = 3, GRID_START_SHIFT = 4 };
extern const ice_tables *grid_tables; /* the kernels are specialised for their sizes */
extern uint32_t grid_refill;
extern const ics_gpu_schedule *grid_row; /* the schedule for which they are specialised */

#define GPU_SPECIAL_BLOCK  GRID_BLOCK
#define GPU_SPECIAL_BLOCKS 1
/* Kernels of a loop have blocks of different sizes, as graph.tune allows. */
#define GPU_THREADS_CREATE            GRID_BLOCK
#define GPU_THREADS_PROPAGATE         (GRID_BLOCK / 2)
#define GPU_THREADS_COLLIDE           GRID_BLOCK
#define GPU_THREADS_SCATTER           (2 * GRID_BLOCK)
#define GPU_THREADS_SCATTER_PROPAGATE (GRID_BLOCK / 2)
#define GPU_THREADS_FLY               GRID_BLOCK
#define GPU_THREADS_COLUMN            (GRID_BLOCK / 2)
#define GPU_BOUNDS_CREATE
#define GPU_BOUNDS_PROPAGATE
#define GPU_BOUNDS_COLLIDE
#define GPU_BOUNDS_SCATTER
#define GPU_BOUNDS_SCATTER_PROPAGATE
#define GPU_BOUNDS_FLY
#define GPU_BOUNDS_COLUMN
#define GPU_BOUNDS_MONOLITHIC
#define GPU_BOUNDS_JOB_QUEUE
#define GPU_BOUNDS_THREAD_PER_STEP
#define GPU_BOUNDS_WARP_WAVEFRONT
#define GPU_BOUNDS_TABLE
#define GPU_SPECIAL_BOUNCES          GRID_BOUNCES
#define GPU_SPECIAL_REFILL           grid_refill
#define GPU_SPECIAL_PROFILES         1
#define GPU_SPECIAL_START_SHIFT      GRID_START_SHIFT
#define GPU_SPECIAL_COLUMNS          grid_row->columns
#define GPU_SPECIAL_COUNTS_AT_ONCE   grid_row->counts_at_once
#define GPU_SPECIAL_CREATE           ICE_create_cherenkov
#define GPU_SPECIAL_PROPAGATE        ICE_propagate_cumulative
#define GPU_SPECIAL_COLLIDE          ICE_collide_string_grid
#define GPU_SPECIAL_SCATTER          ICE_scatter_hg_sl
#define GPU_SPECIAL_LAYERS           grid_tables->layer_count
#define GPU_SPECIAL_SPECTRA          grid_tables->spectrum_count
#define GPU_SPECIAL_KEEP_HIT_PHOTONS grid_tables->keep_hit_photons
#define GPU_SPECIAL_REACH_CULL       grid_tables->reach_cull
#define GPU_SPECIAL_CLEARANCE_NX     grid_tables->clearance_nx
#define GPU_SPECIAL_CLEARANCE_NY     grid_tables->clearance_ny
#define GPU_SPECIAL_AXIS_MASK        grid_tables->axis_mask
#define GPU_SPECIAL_BOUNDED          grid_tables->bounded
#define GPU_SPECIAL_BOUNCE_LIMIT     grid_tables->bounce_limit
#define GPU_SPECIAL_FEATURES         grid_tables->features
#define GPU_SPECIAL_TILT_ROWS        grid_tables->tilt.depth_rows
#define GPU_SPECIAL_TILT_U           grid_tables->tilt.nodes_u
#define GPU_SPECIAL_TILT_V           grid_tables->tilt.nodes_v
#define GPU_SPECIAL_TILT_CLAMP       grid_tables->tilt.clamp

/* ---- the schedules --------------------------------------------------------------------------- */

typedef struct grid_arguments {
    const ice_tables *tables;
    const ics_lane_memory *lane;
    ics_chain chain;
    ics_stage_clock *clock; /* of a stamp, as the other two */
    uint32_t stage;
    ics_stamp ends;
} grid_arguments;

/* The kernels of a schedule as thread functions, in the order of its row in graphs/schedule.c,
 * which has all other facts; `joined` are those with the join, and `stamp` is the kernel between
 * them in a profile. The file emulated/WORD.c defines grid_WORD for every schedule of
 * ICS_SCHEDULE_LIST. */
typedef struct grid_schedule {
    void (*threads[ICS_SCHEDULE_KERNELS])(void *arguments); /* NULL: end */
    void (*joined[ICS_SCHEDULE_KERNELS])(void *arguments);
    void (*stamp)(void *arguments);      /* NULL: the schedule has no loop */
    void (*add_copies)(void *arguments); /* NULL: the counts have no copies */
} grid_schedule;

#define X(constant, name, word) extern const grid_schedule grid_##word;
ICS_SCHEDULE_LIST(X)
#undef X
extern const grid_schedule *const grid_schedules[ICS_SCHEDULE_COUNT]; /* all of them */

/* All define run_NAME(), the thread function of kernel gpu_NAME. GRID_CHAIN_KERNEL is for kernels
 * of a loop. */
#define GRID_KERNEL(name)                                                                          \
    static void run_##name(void *user)                                                             \
    {                                                                                              \
        const grid_arguments *arguments = user;                                                    \
        gpu_##name(*arguments->tables, *arguments->lane);                                          \
    }
#define GRID_CHAIN_KERNEL(name)                                                                    \
    static void run_##name(void *user)                                                             \
    {                                                                                              \
        const grid_arguments *arguments = user;                                                    \
        gpu_##name(*arguments->tables, *arguments->lane, arguments->chain);                        \
    }
#define GRID_STAMP_KERNEL(name)                                                                    \
    static void run_##name(void *user)                                                             \
    {                                                                                              \
        const grid_arguments *arguments = user;                                                    \
        gpu_##name(arguments->clock, *arguments->lane, arguments->stage, arguments->ends);         \
    }

#endif
