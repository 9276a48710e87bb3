#include "tests/kernels/emulated/grid.h"

#include "kernels/cuda/device/fused.h"

GRID_CHAIN_KERNEL(create)
GRID_CHAIN_KERNEL(visit)

const grid_schedule grid_fused = {.name = "fused",
                                  .kernels = {{run_create, 2}, {run_visit, 1}},
                                  .loops = true,
                                  .creates_every_wave = true,
                                  .slots_per_thread = 1,
                                  .waves = 2};
