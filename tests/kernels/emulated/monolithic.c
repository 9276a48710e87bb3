/* The kernels of schedule monolithic as thread functions of the emulated grid. */
#include "tests/kernels/emulated/grid.h"

#include "kernels/cuda/device/monolithic.h"

GRID_KERNEL(monolithic)

const grid_schedule grid_monolithic = {.threads = {run_monolithic}};
