#include "pipeline/devices/device_makers.h"

/* Rates (photons/s) of a CPU thread and of a GPU until they are measured. A short run ends before
 * that. It should not have to wait for a CPU that got a GPU's batch, so the difference is large. */
#define CPU_THREAD_RATE 2e6
#define GPU_RATE        1e9

enum {
    CPU_CREDITS = 2,      /* of a CPU in a group with GPUs: one batch is computed, one waits */
    HIT_THREADS_LEAST = 2 /* of a GPU, if the options allow as many */
};

static int make_cpu(void *user, const ics_device_parts *parts, ics_device_backend *out,
                    icestream_error *error)
{
    (void)user;
    return ics_device_cpu_create(parts, ICS_CPU_BATCHES, out, error);
}

static int make_cpu_in_group(void *user, const ics_device_parts *parts, ics_device_backend *out,
                             icestream_error *error)
{
    (void)user;
    return ics_device_cpu_create(parts, ICS_CPU_PIECES, out, error);
}

static int make_gpu(void *user, const ics_device_parts *parts, ics_device_backend *out,
                    icestream_error *error)
{
    (void)user;
    return parts->options->table != NULL ? ics_device_gpu_table_create(parts, out, error)
                                         : ics_device_gpu_create(parts, out, error);
}

ics_device_maker ics_device_makers_cpu(const ics_device_options *options, uint32_t gpus)
{
    uint32_t threads = ics_workers_thread_count(options->threads);
    /* Each thread that serves a GPU gets a core, so that it does not wait for one. */
    if (options->threads == 0) {
        threads = threads > gpus ? threads - gpus : 1;
    }
    return (ics_device_maker){.create = make_cpu_in_group,
                              .name = "the CPU",
                              .ordinal = -1,
                              .threads = threads,
                              .credits = CPU_CREDITS,
                              .assumed = CPU_THREAD_RATE * threads};
}

uint32_t ics_device_makers_from_options(const ics_device_options *options,
                                        ics_device_maker makers[ICS_DEVICE_MEMBERS_MAX])
{
    if (options->backend != ICS_BACKEND_CUDA) {
        makers[0] = ics_device_makers_cpu(options, 0);
        makers[0].create = make_cpu;
        makers[0].credits = 0;
        return 1;
    }
    const uint32_t gpus = options->gpu_count;
    const uint32_t threads = ics_workers_thread_count(options->threads);
    const uint32_t least = threads < HIT_THREADS_LEAST ? threads : HIT_THREADS_LEAST;
    const uint32_t share = threads / gpus;
    for (uint32_t i = 0; i < gpus; ++i) {
        makers[i] = (ics_device_maker){.create = make_gpu,
                                       .is_gpu = true,
                                       .ordinal = options->gpus[i],
                                       .threads = share > least ? share : least,
                                       .assumed = GPU_RATE};
        snprintf(makers[i].name, sizeof makers[i].name, "GPU %d", options->gpus[i]);
    }
    if (options->cpu_too) {
        makers[gpus] = ics_device_makers_cpu(options, gpus);
    }
    return gpus + options->cpu_too;
}
