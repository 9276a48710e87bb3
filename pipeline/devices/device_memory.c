/* Checks the memory that the photons of a CPU need, before it is taken. */
#include "base/error.h"
#include "base/memory.h"
#include "graphs/cpu.h"
#include "pipeline/devices/device_options.h"
#include "pipeline/devices/workers.h"

#include <pthread.h>

/* The address space (bytes) of the stack of a thread. */
static double stack_size(void)
{
    pthread_attr_t attributes;
    size_t size = 0;
    if (pthread_getattr_default_np(&attributes) == 0) {
        pthread_attr_getstacksize(&attributes, &size);
        pthread_attr_destroy(&attributes);
    }
    return (double)size;
}

int ics_device_memory_check(const icestream_config *config, const ics_device_options *options,
                            icestream_error *error)
{
    const uint32_t threads = ics_workers_thread_count(options->threads);
    const uint32_t pool = options->graph.pool > 0 ? options->graph.pool : ICS_WAVE_SLOTS_DEFAULT;
    char what[128], place[1024];
    icestream_error why = {.status = ICESTREAM_OK};
    if (options->backend != ICS_BACKEND_CPU || options->graph.schedule == ICS_SCHEDULE_MONOLITHIC) {
        return ICESTREAM_OK;
    }
    snprintf(what, sizeof what, "%u threads with %u photon slots each need", threads, pool);
    if (ics_memory_check(what, (double)threads * pool * ICS_WAVE_SLOT_BYTES, threads * stack_size(),
                         &why) == ICESTREAM_OK) {
        return ICESTREAM_OK;
    }
    const char *key = options->graph.pool > 0 ? "graph.pool" : "device.threads";
    return ics_error_set(error, ICESTREAM_E_CONFIG,
                         "%s: error: %s: found too much: %s; expected "
                         "less in device.threads or graph.pool",
                         ics_config_place(config, key, place, sizeof place), key, why.text);
}
