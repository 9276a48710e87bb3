/* Errors of the CUDA runtime, turned into messages that name device, call and remedy. */
#ifndef ICS_GRAPHS_CUDA_CHECK_H
#define ICS_GRAPHS_CUDA_CHECK_H

#include "graphs/gpu.h"

#include <cuda_runtime_api.h>

/* Fills `error` for a failed call and returns its status: ICS_GRAPH_NO_MEMORY, _NO_DEVICE, _FAULT.
 */
int ics_check_failed(cudaError_t result, const char *call, int ordinal, ics_gpu_error *error);

/* Fills `error` and returns `status`. */
int ics_check_error_set(ics_gpu_error *error, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns from the calling function if a call of the runtime fails. */
#define CUDA_TRY(ordinal, error, call)                                                             \
    do {                                                                                           \
        const cudaError_t cuda_result = (call);                                                    \
        if (cuda_result != cudaSuccess)                                                            \
            return ics_check_failed(cuda_result, #call, (ordinal), (error));                       \
    } while (0)

#endif
