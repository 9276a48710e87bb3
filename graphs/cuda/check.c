#include "graphs/cuda/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int ics_check_error_set(ics_gpu_error *error, int status, const char *format, ...)
{
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->text, sizeof error->text, format, arguments);
        va_end(arguments);
        error->status = status;
    }
    return status;
}

/* What a user can do about it. */
static const char *remedy(cudaError_t result)
{
    switch (result) {
    case cudaErrorMemoryAllocation:
        return "lower graph.pool, graph.hits or device.memory_limit, or free the device's memory";
    case cudaErrorInsufficientDriver:
    case cudaErrorSystemDriverMismatch:
        return "update the NVIDIA driver to one that supports CUDA 13, or use device.backend: cpu";
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
               "happens "
               "again on this device only, its hardware or driver is at fault";
    }
}

int ics_check_failed(cudaError_t result, const char *call, int ordinal, ics_gpu_error *error)
{
    (void)cudaGetLastError(); /* a failed launch must not be reported a second time */
    int status = ICS_GRAPH_FAULT;
    if (result == cudaErrorMemoryAllocation) {
        status = ICS_GRAPH_NO_MEMORY;
    } else if (result == cudaErrorNoDevice || result == cudaErrorInvalidDevice ||
               result == cudaErrorInsufficientDriver || result == cudaErrorSystemDriverMismatch ||
               result == cudaErrorDevicesUnavailable) {
        status = ICS_GRAPH_NO_DEVICE;
    }
    const size_t name = strcspn(call, "(");
    return ics_check_error_set(error, status, "GPU %d: %.*s: %s (%s); %s", ordinal, (int)name, call,
                               cudaGetErrorString(result), cudaGetErrorName(result),
                               remedy(result));
}
