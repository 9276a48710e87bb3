/* The kernels of schedule wavefront as thread functions of the emulated grid. */
#include "tests/kernels/emulated/grid.h"

#include "kernels/cuda/device/wavefront.h"

GRID_CHAIN_KERNEL(create)
GRID_CHAIN_KERNEL(propagate)
GRID_CHAIN_KERNEL(collide)
GRID_CHAIN_KERNEL(scatter)
GRID_CHAIN_KERNEL(scatter_propagate)
GRID_STAMP_KERNEL(stamp)
#if defined(GPU_SPECIAL_LARGE_CELLS)
GRID_KERNEL(add_copies)
#else
#define run_add_copies NULL
#endif

const grid_schedule grid_wavefront = {
    .threads = {run_create, run_propagate, run_collide, run_scatter},
    .joined = {run_create, run_propagate, run_scatter_propagate, run_collide, run_scatter},
    .stamp = run_stamp,
    .add_copies = run_add_copies};
