#include "tests/kernels/emulated/grid.h"

#include "kernels/cuda/device/job_queue.h"

GRID_KERNEL(job_queue)

const grid_schedule grid_job_queue = {.name = "job-queue",
                                      .kernels = {{run_job_queue, 1}},
                                      .takes_steps = true,
                                      .slots_per_thread = 2,
                                      .waves = 1};
