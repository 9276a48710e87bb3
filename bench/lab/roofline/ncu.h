/* Finds NVIDIA's profiler ncu (Nsight Compute), which counts what each kernel does. */
#ifndef ICS_BENCH_LAB_ROOFLINE_NCU_H
#define ICS_BENCH_LAB_ROOFLINE_NCU_H

#include "pipeline/icestream.h"

/* Finds ncu in PATH, then in the folder bin of $CUDA_HOME, of $CUDA_PATH and of /usr/local/cuda.
 * ICESTREAM_E_FAILED: it is in none of them. */
int ics_ncu_find(char *path, size_t size, icestream_error *error);

#endif
