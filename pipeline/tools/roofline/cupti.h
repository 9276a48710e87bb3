/* Counts what each kernel of this process does, with NVIDIA's CUPTI (range profiler).
 *
 * Where the headers of CUPTI are missing at build time, cupti_none.c stands for this part. The
 * library itself is loaded when the program runs.
 */
#ifndef ICS_TOOLS_ROOFLINE_CUPTI_H
#define ICS_TOOLS_ROOFLINE_CUPTI_H

#include "pipeline/icestream.h"

/* The environment variable that has the file of the table, for the process whose kernels are
 * counted. */
#define ICS_CUPTI_TABLE "ICESTREAM_CUPTI_TABLE"

typedef struct ics_cupti ics_cupti;

/* Looks for libcupti: the path in ICESTREAM_CUPTI, if that is set; else where the loader looks,
 * then in the folders lib64, extras/CUPTI/lib64 and lib of $CUDA_HOME, of $CUDA_PATH and of
 * /usr/local/cuda. ICESTREAM_E_FAILED: it is in none of them, or this build cannot use it. */
int ics_cupti_find(icestream_error *error);

/* Counts all kernels that this process launches from now on and writes them to the file `path` as
 * ncu writes its table (ncu_csv.h). CUPTI repeats each kernel until all counters are read, and
 * kernels run one after the other. ICESTREAM_E_OUTPUT: the file cannot be made.
 * ICESTREAM_E_FAILED: as ics_cupti_find, or CUPTI refuses. ICESTREAM_E_MEMORY. */
int ics_cupti_begin(const char *path, ics_cupti **out, icestream_error *error);

/* Writes what has been counted, and frees. All kernels must have ended, and their contexts must
 * still exist. Accepts NULL. ICESTREAM_E_DEVICE: CUPTI may not read the counters of the GPU.
 * ICESTREAM_E_FAILED: CUPTI failed, no kernel was launched, or there was a CUDA Graph, whose
 * kernels CUPTI does not count. ICESTREAM_E_OUTPUT. ICESTREAM_E_MEMORY. */
int ics_cupti_end(ics_cupti *cupti, icestream_error *error);

#endif
