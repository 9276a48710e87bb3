/* The kernels of schedule thread-per-step as thread functions of the emulated grid. */
#include "tests/kernels/emulated/grid.h"

#include "kernels/cuda/device/thread_per_step.h"

GRID_KERNEL(thread_per_step)

const grid_schedule grid_thread_per_step = {.threads = {run_thread_per_step}};
