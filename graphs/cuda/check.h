/* Errors of the CUDA runtime, turned into messages that name device, call and remedy. */
#ifndef ICS_GRAPHS_CUDA_CHECK_H
#define ICS_GRAPHS_CUDA_CHECK_H

#include "base/icestream_error.h"
#include "graphs/cuda/toolkit.h"

/* Fills `error` (may be NULL) for a failed call and returns its status: ICESTREAM_E_MEMORY,
 * ICESTREAM_E_DEVICE (no usable device), or ICESTREAM_E_FAILED (a fault of the device). */
int ics_check_failed(cudaError_t result, const char *call, int ordinal, icestream_error *error);

/* Calls a function of the CUDA runtime, and returns from the calling function if the call fails. */
#define CUDA_TRY(ordinal, error, call)                                                             \
    do {                                                                                           \
        const cudaError_t cuda_result = (call);                                                    \
        if (cuda_result != cudaSuccess) {                                                          \
            return ics_check_failed(cuda_result, #call, (ordinal), (error));                       \
        }                                                                                          \
    } while (0)

#endif
