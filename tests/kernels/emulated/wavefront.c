#include "tests/kernels/emulated/grid.h"

#include "kernels/cuda/device/wavefront.h"

GRID_CHAIN_KERNEL(create)
GRID_CHAIN_KERNEL(propagate)
GRID_CHAIN_KERNEL(collide)
GRID_CHAIN_KERNEL(scatter)

const grid_schedule grid_wavefront = {
    .name = "wavefront",
    .kernels = {{run_create, 2}, {run_propagate, 1}, {run_collide, 4}, {run_scatter, 1}},
    .loops = true,
    .slots_per_thread = 1,
    .waves = ICS_WAVES_PER_TRIP};
