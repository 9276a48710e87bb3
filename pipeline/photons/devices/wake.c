#include "pipeline/photons/devices/wake.h"

#include "graphs/gpu.h"

#include <pthread.h>
#include <stdlib.h>

struct ics_device_wake {
    uint32_t count;
    struct {
        pthread_t thread;
        int ordinal;
    } gpus[ICS_CONFIG_GPUS];
};

static void *wake_gpu(void *user)
{
    ics_gpu_wake(*(const int *)user);
    return NULL;
}

ics_device_wake *ics_device_wake_begin(const ics_device_options *options)
{
    if (options->backend != ICS_BACKEND_CUDA) {
        return NULL;
    }
    ics_device_wake *wake = calloc(1, sizeof *wake);
    for (uint32_t i = 0; wake != NULL && i < options->gpu_count; ++i) {
        wake->gpus[wake->count].ordinal = options->gpus[i];
        if (pthread_create(&wake->gpus[wake->count].thread, NULL, wake_gpu,
                           &wake->gpus[wake->count].ordinal) == 0) {
            wake->count++;
        }
    }
    return wake;
}

void ics_device_wake_end(ics_device_wake *wake)
{
    for (uint32_t i = 0; wake != NULL && i < wake->count; ++i) {
        pthread_join(wake->gpus[i].thread, NULL);
    }
    free(wake);
}
