/* Errors of the CUDA runtime, turned into messages that name device, call and remedy. */
#ifndef IS_GRAPHS_CUDA_CHECK_H
#define IS_GRAPHS_CUDA_CHECK_H

#include "graphs/gpu.h"

#include <cuda_runtime_api.h>

/* Fills `error` for a failed call and returns its status: IS_GRAPH_NO_MEMORY, _NO_DEVICE, _FAULT.
 */
int is_cuda_failed(cudaError_t result, const char *call, int ordinal, is_gpu_error *error);

/* Fills `error` and returns `status`. */
int is_gpu_error_set(is_gpu_error *error, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns from the calling function if a call of the runtime fails. */
#define IS_CUDA(ordinal, error, call)                                                              \
    do {                                                                                           \
        const cudaError_t cuda_result = (call);                                                    \
        if (cuda_result != cudaSuccess)                                                            \
            return is_cuda_failed(cuda_result, #call, (ordinal), (error));                         \
    } while (0)

#endif
