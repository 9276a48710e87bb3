/* The kernels of schedule fused as thread functions of the emulated grid. */
#include "tests/kernels/emulated/grid.h"

#include "kernels/cuda/device/fused.h"

GRID_CHAIN_KERNEL(create)
GRID_CHAIN_KERNEL(visit)
GRID_STAMP_KERNEL(stamp)

const grid_schedule grid_fused = {.threads = {run_create, run_visit}, .stamp = run_stamp};
