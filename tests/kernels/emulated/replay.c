/* The kernel that replays photons, as a thread function of the emulated grid. */
#include "tests/kernels/emulated/grid.h"

static int has_sums, has_angles, has_targets;
#define GPU_REPLAY_SUMS    has_sums
#define GPU_REPLAY_ANGLES  has_angles
#define GPU_REPLAY_TARGETS has_targets
#define GPU_BOUNDS_REPLAY
#include "kernels/cuda/device/replay.h"
#include "tests/kernels/emulated/replay.h"

_Static_assert(GRID_REPLAY_THREADS == GRID_REPLAY_BLOCKS * GRID_BLOCK, "all threads");

typedef struct arguments {
    const ice_tables *tables;
    const ics_replay_work *work;
} arguments;

static void run_replay(void *user)
{
    const arguments *given = user;
    gpu_replay(*given->tables, *given->work);
}

void grid_replay_run(const ice_tables *tables, const ics_replay_work *work, bool sums, bool angles)
{
    arguments given = {tables, work};
    has_sums = sums;
    has_angles = angles;
    has_targets = work->targets > 0;
    grid_tables = tables;
    grid_run(GRID_REPLAY_BLOCKS, GRID_BLOCK, run_replay, &given);
}
