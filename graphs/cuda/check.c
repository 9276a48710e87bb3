#include "graphs/cuda/check.h"

#include "base/error.h"

#include <string.h>

/* What a user can do about it. */
static const char *remedy(cudaError_t result)
{
    switch (result) {
    case cudaErrorMemoryAllocation:
        return "lower graph.pool, graph.hits or device.memory_limit, or free the device's memory";
    case cudaErrorInsufficientDriver:
    case cudaErrorSystemDriverMismatch:
        return "update the NVIDIA driver to one for the CUDA of this build (icestream --version "
               "--verbose), or use device.backend: cpu";
    case cudaErrorUnsupportedPtxVersion:
        return "NVRTC is newer than the driver: update the driver, or name an NVRTC of its CUDA "
               "with "
               "ICESTREAM_NVRTC";
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
        return "choose another device with device.index, or use device.backend: cpu";
    case cudaErrorNoKernelImageForDevice:
        return "this build has no code for the device: build with its architecture";
    case cudaErrorDevicesUnavailable:
        return "another process holds the device exclusively";
    case cudaErrorECCUncorrectable:
        return "the device's memory is damaged: take it out of service";
    default:
        return "run again (--resume keeps what is done), or set device.fallback: cpu; if it "
               "happens again on this device only, its hardware or driver is at fault";
    }
}

int ics_check_failed(cudaError_t result, const char *call, int ordinal, icestream_error *error)
{
    (void)cudaGetLastError(); /* a failed launch must not be reported a second time */
    int status = ICESTREAM_E_FAILED;
    if (result == cudaErrorMemoryAllocation) {
        status = ICESTREAM_E_MEMORY;
    } else if (result == cudaErrorNoDevice || result == cudaErrorInvalidDevice ||
               result == cudaErrorInsufficientDriver || result == cudaErrorSystemDriverMismatch ||
               result == cudaErrorDevicesUnavailable) {
        status = ICESTREAM_E_DEVICE;
    }
    const size_t name = strcspn(call, "(");
    return ics_error_set(error, status, "GPU %d: %.*s: %s (%s); %s", ordinal, (int)name, call,
                         cudaGetErrorString(result), cudaGetErrorName(result), remedy(result));
}
