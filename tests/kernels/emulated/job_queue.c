/* The kernels of schedule job-queue as thread functions of the emulated grid. */
#include "tests/kernels/emulated/grid.h"

#include "kernels/cuda/device/job_queue.h"

GRID_KERNEL(job_queue)

const grid_schedule grid_job_queue = {.threads = {run_job_queue}};
