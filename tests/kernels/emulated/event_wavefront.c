/* The kernels of schedule event-wavefront as thread functions of the emulated grid. */
#include "tests/kernels/emulated/grid.h"

#include "kernels/cuda/device/event_wavefront.h"

GRID_CHAIN_KERNEL(collide)
GRID_CHAIN_KERNEL(column)
GRID_CHAIN_KERNEL(fly)
GRID_STAMP_KERNEL(stamp)

const grid_schedule grid_event_wavefront = {.threads = {run_collide, run_column, run_fly},
                                            .stamp = run_stamp};
