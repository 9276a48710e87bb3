#include "tests/kernels/emulated/grid.h"

#include <check.h>
#include <stdlib.h>
#include <ucontext.h>

enum { STACK = 128 << 10, WARPS_MAX = GRID_THREADS_MAX / 32 };

grid_index grid_thread, grid_block, grid_threads, grid_blocks;
const ice_tables *grid_tables;
uint32_t grid_refill = 5;
static const ics_gpu_schedule no_schedule;
const ics_gpu_schedule *grid_row = &no_schedule;
unsigned long long grid_now;

/* A barrier of `size` threads. */
typedef struct barrier {
    uint32_t size, arrived, generation;
    uint64_t values[GRID_THREADS_MAX], results[GRID_THREADS_MAX];
} barrier;

static struct {
    ucontext_t scheduler, threads[GRID_THREADS_MAX];
    bool done[GRID_THREADS_MAX];
    void (*function)(void *argument);
    void *argument;
    barrier warps[WARPS_MAX], block;
    uint64_t events; /* barriers that all threads reached, threads that ended */
} grid;

static void switch_over(void)
{
    const uint32_t self = grid_thread.x;
    swapcontext(&grid.threads[self], &grid.scheduler);
    grid_thread.x = self;
}

static const uint64_t *wait_for_all(barrier *place, uint32_t number, uint64_t value)
{
    const uint32_t generation = place->generation;
    place->values[number] = value;
    if (++place->arrived == place->size) {
        memcpy(place->results, place->values, sizeof place->results);
        place->arrived = 0;
        ++place->generation;
        ++grid.events;
    } else {
        while (place->generation == generation) {
            switch_over();
        }
    }
    return place->results;
}

static const uint64_t *wait_for_warp(uint64_t value)
{
    return wait_for_all(&grid.warps[grid_thread.x / 32], grid_thread.x % 32, value);
}

uint32_t grid_ballot(bool predicate)
{
    const uint64_t *votes = wait_for_warp(predicate);
    uint32_t word = 0;
    for (uint32_t lane = 0; lane < 32; ++lane) {
        word |= votes[lane] ? 1u << lane : 0;
    }
    return word;
}

uint64_t grid_shuffle(uint64_t value, uint32_t lane)
{
    return wait_for_warp(value)[lane];
}

uint32_t grid_match(uint32_t value)
{
    const uint64_t *values = wait_for_warp(value);
    uint32_t peers = 0;
    for (uint32_t lane = 0; lane < 32; ++lane) {
        peers |= values[lane] == value ? 1u << lane : 0;
    }
    return peers;
}

uint32_t grid_sum(uint32_t value)
{
    const uint64_t *values = wait_for_warp(value);
    uint32_t sum = 0;
    for (uint32_t lane = 0; lane < 32; ++lane) {
        sum += (uint32_t)values[lane];
    }
    return sum;
}

int grid_sync_count(bool predicate)
{
    const uint64_t *votes = wait_for_all(&grid.block, grid_thread.x, predicate);
    int count = 0;
    for (uint32_t i = 0; i < grid_threads.x; ++i) {
        count += votes[i] != 0;
    }
    return count;
}

static void thread_main(void)
{
    grid.function(grid.argument);
    grid.done[grid_thread.x] = true;
    ++grid.events;
}

static void run_block(char *stacks)
{
    for (uint32_t i = 0; i < grid_threads.x; ++i) {
        getcontext(&grid.threads[i]);
        grid.threads[i].uc_stack.ss_sp = stacks + (size_t)i * STACK;
        grid.threads[i].uc_stack.ss_size = STACK;
        grid.threads[i].uc_link = &grid.scheduler;
        makecontext(&grid.threads[i], thread_main, 0);
        grid.done[i] = false;
    }
    for (uint32_t left = grid_threads.x; left > 0;) {
        const uint64_t before = grid.events;
        left = 0;
        for (uint32_t i = 0; i < grid_threads.x; ++i) {
            if (grid.done[i]) {
                continue;
            }
            grid_thread.x = i;
            swapcontext(&grid.scheduler, &grid.threads[i]);
            left += !grid.done[i];
        }
        ck_assert_msg(left == 0 || grid.events > before,
                      "%u threads of block %u wait for each other for ever", left, grid_block.x);
    }
}

void grid_run(uint32_t blocks, uint32_t threads, void (*thread)(void *argument), void *argument)
{
    ck_assert_uint_le(threads, GRID_THREADS_MAX);
    char *stacks = malloc((size_t)threads * STACK);
    ck_assert_ptr_nonnull(stacks);
    grid.function = thread;
    grid.argument = argument;
    grid_threads.x = threads;
    grid_blocks.x = blocks;
    grid.block = (barrier){.size = threads};
    for (uint32_t i = 0; i < threads / 32; ++i) {
        grid.warps[i] = (barrier){.size = 32};
    }
    for (grid_block.x = 0; grid_block.x < blocks; ++grid_block.x) {
        run_block(stacks);
    }
    free(stacks);
}
