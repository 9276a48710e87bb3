#include "tests/kernels/emulated/grid.h"

#include "kernels/cuda/device/monolithic.h"

GRID_KERNEL(monolithic)

const grid_schedule grid_monolithic = {.name = "monolithic",
                                       .kernels = {{run_monolithic, 1}},
                                       .takes_steps = false,
                                       .slots_per_thread = 2,
                                       .waves = 1};
