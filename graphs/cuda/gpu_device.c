/* graphs/gpu.h: which devices there are. */
#include "base/error.h"
#include "graphs/cuda/check.h"
#include "graphs/gpu.h"

#include <stdio.h>

int ics_gpu_count(icestream_error *error)
{
    ics_driver driver;
    ics_driver_look(&driver);
    if (driver.fault[0] != '\0') {
        ics_error_set(error, ICESTREAM_E_DEVICE, "%s", driver.fault);
        return 0;
    }
    int count = 0;
    const cudaError_t result = cudaGetDeviceCount(&count);
    if (result != cudaSuccess) {
        ics_check_failed(result, "cudaGetDeviceCount", 0, error);
        return 0;
    }
    if (count == 0) {
        ics_check_failed(cudaErrorNoDevice, "cudaGetDeviceCount", 0, error);
    }
    return count;
}

static int check_ordinal(int ordinal, icestream_error *error)
{
    const int count = ics_gpu_count(error);
    if (count == 0) {
        return ICESTREAM_E_DEVICE;
    }
    if (ordinal < 0 || ordinal >= count) {
        return ics_error_set(error, ICESTREAM_E_DEVICE,
                             "device.index: found %d, expected 0 to %d: this machine has %d GPU%s",
                             ordinal, count - 1, count, count == 1 ? "" : "s");
    }
    return ICESTREAM_OK;
}

void ics_gpu_wake(int ordinal)
{
    (void)cudaSetDevice(ordinal);
    (void)cudaFree(NULL);
    (void)cudaGetLastError();
}

int ics_gpu_describe(int ordinal, ics_gpu_device *out, icestream_error *error)
{
    ICS_TRY(check_ordinal(ordinal, error));
    struct cudaDeviceProp properties;
    CUDA_TRY(ordinal, error, cudaGetDeviceProperties(&properties, ordinal));
    *out = (ics_gpu_device){.architecture = properties.major * 10 + properties.minor,
                            .processors = properties.multiProcessorCount,
                            .memory_bytes = properties.totalGlobalMem,
                            .cache_bytes = (uint64_t)properties.l2CacheSize};
    snprintf(out->name, sizeof out->name, "%s", properties.name);
    if (out->architecture < ICS_GPU_OLDEST) {
        return ics_error_set(
            error, ICESTREAM_E_DEVICE,
            "GPU %d (%s): found compute capability %d.%d, expected %d.%d or later; choose "
            "another device with device.index, or use device.backend: cpu",
            ordinal, out->name, properties.major, properties.minor, ICS_GPU_OLDEST / 10,
            ICS_GPU_OLDEST % 10);
    }
    CUDA_TRY(ordinal, error, cudaDriverGetVersion(&out->driver));
    CUDA_TRY(ordinal, error, cudaSetDevice(ordinal));
    size_t free_bytes, total;
    CUDA_TRY(ordinal, error, cudaMemGetInfo(&free_bytes, &total));
    out->memory_free = free_bytes;
    return ICESTREAM_OK;
}
