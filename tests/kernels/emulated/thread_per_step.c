#include "tests/kernels/emulated/grid.h"

#include "kernels/cuda/device/thread_per_step.h"

GRID_KERNEL(thread_per_step)

const grid_schedule grid_thread_per_step = {.name = "thread-per-step",
                                            .kernels = {{run_thread_per_step, 1}},
                                            .takes_steps = true,
                                            .slots_per_thread = 1,
                                            .waves = 1};
