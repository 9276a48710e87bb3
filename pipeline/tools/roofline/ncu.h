/* Runs a command under NVIDIA's profiler ncu (Nsight Compute), which counts what each kernel does.
 */
#ifndef ICS_TOOLS_ROOFLINE_NCU_H
#define ICS_TOOLS_ROOFLINE_NCU_H

#include "pipeline/icestream.h"

/* What a command wrote. */
typedef struct ics_ncu_result {
    char *table; /* [table_size], what ncu wrote, with a NUL byte behind it */
    size_t table_size;
    char *output; /* [output_size], standard output of the command, with a NUL byte behind it */
    size_t output_size;
} ics_ncu_result;

/* Finds ncu in PATH, then in the folder bin of $CUDA_HOME, of $CUDA_PATH and of /usr/local/cuda.
 * ICESTREAM_E_FAILED: it is in none of them. */
int ics_ncu_find(char *path, size_t size, icestream_error *error);

/* Runs command[count], a program and its arguments, under the program `ncu` with the metrics of
 * counters.h and waits for the end. The host drives the loop of the command
 * (ICESTREAM_GPU_HOST_LOOP), because ncu cannot count in the body of a conditional node. ncu
 * neither changes the clocks nor empties the caches between kernels. ICESTREAM_E_DEVICE: ncu may
 * not read the counters of the GPU. ICESTREAM_E_FAILED: ncu or the command ended with an error,
 * which the message repeats, or a temporary file cannot be made. ICESTREAM_E_MEMORY. The caller
 * frees *out with ics_ncu_result_free, also after an error. */
int ics_ncu_run(const char *ncu, char *const *command, size_t count, ics_ncu_result *out,
                icestream_error *error);
void ics_ncu_result_free(ics_ncu_result *result);

#endif
