/* The kernels that replay photons on the emulated grid. */
#ifndef EMULATED_REPLAY_H
#define EMULATED_REPLAY_H

#include "kernels/cuda/device/replay_work.h"

#include <stdbool.h>

enum { GRID_REPLAY_BLOCKS = 2, GRID_REPLAY_THREADS = 2 * 64 };

/* Runs one launch. `sums`, `angles`: the sums of the layers, and the densities of the angles in the
 * own ice, are wanted. */
void grid_replay_run(const ice_tables *tables, const ics_replay_work *work, bool sums, bool angles);
/* The same for the kernel that stores paths. */
void grid_trace_run(const ice_tables *tables, const ics_replay_work *work);

#endif
