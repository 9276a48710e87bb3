#include "graphs/tune.h"

#include "kernels/cuda/state.h"

#include <stdio.h>
#include <string.h>

/* What a multiprocessor has for its threads, from compute capability 8.0 on (CUDA C++ Programming
 * Guide, "Compute Capabilities"), and in which units the threads of a warp get registers. */
enum { REGISTERS = 65536, THREADS = 2048, WARP_UNIT = 256 };

/* The facts about a kernel. */
typedef struct fact {
    const char *word, *constant;
    bool in_loop;
    uint32_t warp_bytes;
} fact;

static const fact facts[ICS_TUNED_COUNT] = {
#define X(constant, word, in_loop, warp_bytes) {#word, #constant, in_loop, warp_bytes},
    ICS_TUNED_KERNELS(X)
#undef X
};

const char *ics_tune_word(ics_tuned_kernel kernel)
{
    return facts[kernel].word;
}

const char *ics_tune_constant(ics_tuned_kernel kernel)
{
    return facts[kernel].constant;
}

bool ics_tune_find(const char *name, ics_tuned_kernel *out)
{
    const char *word = strncmp(name, "gpu_", 4) == 0 ? name + 4 : name;
    for (int i = 0; i < ICS_TUNED_COUNT; ++i) {
        if (strcmp(word, facts[i].word) == 0) {
            *out = (ics_tuned_kernel)i;
            return true;
        }
    }
    return false;
}

bool ics_tune_is_given(const ics_kernel_tune *one)
{
    return one->threads != 0 || one->blocks != 0 || one->registers != 0;
}

uint32_t ics_tune_fitting_blocks(uint32_t threads, uint32_t registers)
{
    const uint32_t per_warp = (registers * 32 + WARP_UNIT - 1) / WARP_UNIT * WARP_UNIT;
    const uint32_t by_registers = REGISTERS / per_warp / (threads / 32);
    const uint32_t by_threads = THREADS / threads;
    const uint32_t fewer = by_registers < by_threads ? by_registers : by_threads;
    return fewer < ICS_TUNE_BLOCKS_MAX ? fewer : ICS_TUNE_BLOCKS_MAX;
}

/* The largest block whose warps fit into the shared memory that every kernel may have. */
static uint32_t most_threads(ics_tuned_kernel kernel)
{
    const uint32_t warp_bytes = facts[kernel].warp_bytes;
    const uint32_t most = ICS_TUNE_THREADS_MAX;
    const uint32_t fitting =
        warp_bytes > 0 ? (ICS_SHARED_BYTES - ICS_BLOCK_BYTES) / warp_bytes * 32 : most;
    return fitting < most ? fitting : most;
}

bool ics_tune_fits(ics_tuned_kernel kernel, const ics_kernel_tune *one, uint32_t threads,
                   char *reason, size_t size)
{
    const uint32_t block = one->threads != 0 ? one->threads : threads;
    if (block > most_threads(kernel)) {
        snprintf(reason, size,
                 "found %u threads, expected at most %u, because each warp of this kernel has %u "
                 "of the %u bytes of shared memory of a block",
                 block, most_threads(kernel), facts[kernel].warp_bytes, ICS_SHARED_BYTES);
        return false;
    }
    if (one->blocks > THREADS / block) {
        snprintf(reason, size,
                 "found %u blocks of %u threads, expected at most %u, because a multiprocessor "
                 "holds %u threads",
                 one->blocks, block, THREADS / block, (uint32_t)THREADS);
        return false;
    }
    if (one->registers == 0) {
        return true;
    }
    const uint32_t blocks = one->blocks != 0 ? one->blocks : 1;
    if (blocks > ics_tune_fitting_blocks(block, one->registers)) {
        const uint32_t most = REGISTERS / (blocks * block) / (WARP_UNIT / 32) * (WARP_UNIT / 32);
        snprintf(reason, size,
                 "found %u registers for each of %u x %u threads, expected at most %u, because a "
                 "multiprocessor has %u registers",
                 one->registers, blocks, block, most, (uint32_t)REGISTERS);
        return false;
    }
    return true;
}

uint64_t ics_tune_multiple_of(uint64_t a, uint64_t b)
{
    uint64_t larger = a, smaller = b;
    while (smaller != 0) {
        const uint64_t rest = larger % smaller;
        larger = smaller;
        smaller = rest;
    }
    return a / larger * b;
}

uint64_t ics_tune_common_multiple(const ics_tune *tune)
{
    uint64_t common = 1;
    for (int i = 0; i < ICS_TUNED_COUNT; ++i) {
        if (facts[i].in_loop && tune->kernels[i].threads != 0) {
            common = ics_tune_multiple_of(common, tune->kernels[i].threads);
        }
    }
    return common; /* six numbers of at most 32 * 32 fit */
}
