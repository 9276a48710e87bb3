/* The kernel that stores the paths of photons, as a thread function of the emulated grid. */
#include "tests/kernels/emulated/grid.h"

#define GPU_BOUNDS_REPLAY
#include "kernels/cuda/device/trace.h"
#include "tests/kernels/emulated/replay.h"

typedef struct arguments {
    const ice_tables *tables;
    const ics_replay_work *work;
} arguments;

static void run_trace(void *user)
{
    const arguments *given = user;
    gpu_trace(*given->tables, *given->work);
}

void grid_trace_run(const ice_tables *tables, const ics_replay_work *work)
{
    arguments given = {tables, work};
    grid_tables = tables;
    grid_run(GRID_REPLAY_BLOCKS, GRID_BLOCK, run_trace, &given);
}
