/* Runs a command while NVIDIA's profiler ncu counts what its kernels do. */
#ifndef ICS_BENCH_LAB_ROOFLINE_COUNTED_RUN_H
#define ICS_BENCH_LAB_ROOFLINE_COUNTED_RUN_H

#include "pipeline/icestream.h"

/* What a command wrote. */
typedef struct ics_counted_result {
    char *table; /* [table_size], the counters as ncu writes them, with a NUL byte behind it */
    size_t table_size;
    char *output; /* [output_size], standard output of the command, with a NUL byte behind it */
    size_t output_size;
} ics_counted_result;

/* Runs command[count], a program and its arguments, with the metrics of counters.h and waits for
 * the end. The program `ncu` neither changes the clocks nor empties the caches between kernels. The
 * host drives the loop of the command (ICESTREAM_GPU_HOST_LOOP), because kernels in the body of a
 * conditional node cannot be counted. ICESTREAM_E_DEVICE: the counters of the GPU may not be read.
 * ICESTREAM_E_FAILED: ncu or the command ended with an error, which the message repeats, or a
 * temporary file cannot be made. ICESTREAM_E_MEMORY. The caller frees *out with ics_counted_free,
 * also after an error. */
int ics_counted_run(const char *ncu, char *const *command, size_t count, ics_counted_result *out,
                    icestream_error *error);
void ics_counted_free(ics_counted_result *result);

#endif
