/* The begins and ends of blocks that kernels with a profile record (kernels/cuda/device/clocks.h).
 */
#ifndef ICS_GRAPHS_CUDA_BLOCK_SPANS_H
#define ICS_GRAPHS_CUDA_BLOCK_SPANS_H

#include "kernels/load.h"

#include <cuda_runtime_api.h>

/* Evaluates `times` in the memory of the current device: an ics_busy_times of a schedule that
 * loops, or an ics_block_spans of another one; NULL: there are none. `processors`: of the device.
 * out->processors is 0 if they cannot be read. */
void ics_block_spans_read(const void *times, bool loops, uint32_t processors, ics_load *out);

#endif
