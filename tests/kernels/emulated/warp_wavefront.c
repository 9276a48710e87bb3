/* The kernel of schedule warp-wavefront as a thread function of the emulated grid. */
#include "tests/kernels/emulated/grid.h"

#include "kernels/cuda/device/warp_wavefront.h"

GRID_KERNEL(warp_wavefront)

const grid_schedule grid_warp_wavefront = {.threads = {run_warp_wavefront}};
