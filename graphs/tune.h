/* What a user may choose about single kernels of a GPU (graph.tune): sizes of blocks, blocks of a
 * multiprocessor, limits of registers. This part needs no CUDA. */
#ifndef ICS_GRAPHS_TUNE_H
#define ICS_GRAPHS_TUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kernels: constant, name of the key (the kernel is gpu_NAME), whether it is in a loop, where
 * kernels share a pool, and the shared memory that each warp of a block has (bytes). */
#define ICS_TUNED_KERNELS(X)                                                                       \
    X(CREATE, create, true, 256u)                                                                  \
    X(PROPAGATE, propagate, true, 0u)                                                              \
    X(COLLIDE, collide, true, 1028u)                                                               \
    X(SCATTER, scatter, true, 0u)                                                                  \
    X(SCATTER_PROPAGATE, scatter_propagate, true, 0u)                                              \
    X(FLY, fly, true, ICS_WARP_FLY_BYTES)                                                          \
    X(COLUMN, column, true, ICS_REGION_SLOTS)                                                      \
    X(MONOLITHIC, monolithic, false, ICS_WARP_QUEUE_BYTES)                                         \
    X(JOB_QUEUE, job_queue, false, ICS_WARP_QUEUE_BYTES)                                           \
    X(THREAD_PER_STEP, thread_per_step, false, 0u)                                                 \
    X(WARP_WAVEFRONT, warp_wavefront, false, ICS_WARP_SLOTS_BYTES)                                 \
    X(TABLE, table, false, 0u)

typedef enum ics_tuned_kernel {
#define X(constant, word, in_loop, warp_bytes) ICS_TUNED_##constant,
    ICS_TUNED_KERNELS(X)
#undef X
        ICS_TUNED_COUNT
} ics_tuned_kernel;

/* Ranges of the settings of a kernel. A compiler gives a thread at least 24 registers, and an
 * instruction can name 255 of them. */
enum {
    ICS_TUNE_THREADS_MIN = 32, /* and a multiple of it */
    ICS_TUNE_THREADS_MAX = 1024,
    ICS_TUNE_BLOCKS_MAX = 32,
    ICS_TUNE_REGISTERS_MIN = 24,
    ICS_TUNE_REGISTERS_MAX = 255
};

/* The settings of one kernel; 0: the default. */
typedef struct ics_kernel_tune {
    uint32_t threads; /* threads of a block */
    uint32_t blocks; /* blocks of a multiprocessor: registers are limited so that this many fit, and
                        a persistent kernel has this many */
    uint32_t registers; /* largest number of registers of a thread */
} ics_kernel_tune;

typedef struct ics_tune {
    ics_kernel_tune kernels[ICS_TUNED_COUNT];
} ics_tune;

/* The name of a kernel as a key ("scatter_propagate"), and as the definitions of a program have it
 * ("SCATTER_PROPAGATE"). */
const char *ics_tune_word(ics_tuned_kernel kernel);
const char *ics_tune_constant(ics_tuned_kernel kernel);

/* Finds a kernel by its name as a key, or with gpu_ in front of it. Returns false if there is none.
 */
bool ics_tune_find(const char *name, ics_tuned_kernel *out);

/* Whether a kernel has a setting that is not the default. */
bool ics_tune_is_given(const ics_kernel_tune *one);

/* The blocks of `threads` threads that a multiprocessor holds at most if a thread has this many
 * registers; 0: not even one. */
uint32_t ics_tune_fitting_blocks(uint32_t threads, uint32_t registers);

/* Checks the settings of a kernel against each other and against what a multiprocessor has.
 * `threads`: the size of its blocks if the settings have none. Returns false, and writes what was
 * found and what was expected, if they cannot work. */
bool ics_tune_fits(ics_tuned_kernel kernel, const ics_kernel_tune *one, uint32_t threads,
                   char *reason, size_t size);

/* The least common multiple of the blocks of all kernels of loops that have a setting, in threads;
 * 1: there are none. */
uint64_t ics_tune_common_multiple(const ics_tune *tune);

/* The largest common multiple that is accepted: a pool is a whole number of blocks of each kernel
 * for every chain. */
enum { ICS_TUNE_MULTIPLE_MAX = 4096 };

/* The least common multiple of two numbers above 0. */
uint64_t ics_tune_multiple_of(uint64_t a, uint64_t b);

#endif
