/* graphs/gpu.h: a device with its lanes. */
#include "graphs/cuda/busy.h"
#include "graphs/cuda/check.h"
#include "graphs/cuda/lane.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LANES_MAX = 8, POOL_FLOOR = 1 << 14 };

struct ics_gpu {
    ics_gpu_options options;
    char *custom[ICS_STAGES]; /* copies of the paths */
    ics_program *program;
    cudaLibrary_t library;
    void *tables; /* device */
    void *memory; /* device, of all lanes */
    uint64_t lane_bytes, device_bytes;
    ics_lane lanes[LANES_MAX];
    bool lost; /* a fault: the device is not waited for any more */
    char warnings[512];

    /* Time in which at least one lane computed. */
    cudaEvent_t origin;
    ics_busy busy;
    uint64_t launches, waves;

    pthread_mutex_t lock;
    pthread_cond_t condition;
    bool event; /* since the last wait */
    void (*on_event)(void *user);
    void *on_event_user;
};

/* ---- devices --------------------------------------------------------------------------------- */

int ics_gpu_count(ics_gpu_error *error)
{
    int count = 0, driver = 0;
    const cudaError_t result = cudaGetDeviceCount(&count);
    /* Of a driver that is not there, CUDA says that it is too old. */
    if (result == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess &&
        driver == 0) {
        ics_check_error_set(
            error, ICS_GRAPH_NO_DEVICE,
            "this machine has no NVIDIA driver (cudaGetDeviceCount); install one that "
            "supports CUDA 13, or use device.backend: cpu");
        return 0;
    }
    if (result != cudaSuccess) {
        ics_check_failed(result, "cudaGetDeviceCount", 0, error);
        return 0;
    }
    if (count == 0) {
        ics_check_failed(cudaErrorNoDevice, "cudaGetDeviceCount", 0, error);
    }
    return count;
}

static int has_device(int ordinal, ics_gpu_error *error)
{
    const int count = ics_gpu_count(error);
    if (count == 0) {
        return ICS_GRAPH_NO_DEVICE;
    }
    if (ordinal < 0 || ordinal >= count) {
        return ics_check_error_set(
            error, ICS_GRAPH_NO_DEVICE,
            "device.index: found %d, expected 0 to %d: this machine has %d GPU%s", ordinal,
            count - 1, count, count == 1 ? "" : "s");
    }
    return ICS_GRAPH_OK;
}

int ics_gpu_describe(int ordinal, ics_gpu_device *out, ics_gpu_error *error)
{
    const int status = has_device(ordinal, error);
    if (status != ICS_GRAPH_OK) {
        return status;
    }
    struct cudaDeviceProp properties;
    CUDA_TRY(ordinal, error, cudaGetDeviceProperties(&properties, ordinal));
    *out = (ics_gpu_device){.architecture = properties.major * 10 + properties.minor,
                            .processors = properties.multiProcessorCount,
                            .memory_bytes = properties.totalGlobalMem,
                            .cache_bytes = (uint64_t)properties.l2CacheSize};
    snprintf(out->name, sizeof out->name, "%s", properties.name);
    CUDA_TRY(ordinal, error, cudaDriverGetVersion(&out->driver));
    CUDA_TRY(ordinal, error, cudaSetDevice(ordinal));
    size_t free_bytes, total;
    CUDA_TRY(ordinal, error, cudaMemGetInfo(&free_bytes, &total));
    out->memory_free = free_bytes;
    return ICS_GRAPH_OK;
}

static int limits_of(int ordinal, ics_gpu_limits *out, ics_gpu_error *error)
{
    struct cudaDeviceProp properties;
    CUDA_TRY(ordinal, error, cudaGetDeviceProperties(&properties, ordinal));
    *out = (ics_gpu_limits){.architecture = properties.major * 10 + properties.minor,
                            .processors = properties.multiProcessorCount};
    return ICS_GRAPH_OK;
}

/* ---- creation -------------------------------------------------------------------------------- */

/* On a thread of CUDA's: no call of CUDA is allowed here. */
static void CUDART_CB wake(void *user)
{
    ics_gpu *gpu = user;
    pthread_mutex_lock(&gpu->lock);
    gpu->event = true;
    pthread_cond_signal(&gpu->condition);
    void (*event)(void *) = gpu->on_event;
    void *event_user = gpu->on_event_user;
    pthread_mutex_unlock(&gpu->lock);
    if (event != NULL) {
        event(event_user);
    }
}

static int upload_tables(ics_gpu *gpu, const ics_tables *tables, ice_tables *out,
                         ics_gpu_error *error)
{
    const int ordinal = gpu->options.ordinal;
    CUDA_TRY(ordinal, error, cudaMalloc(&gpu->tables, tables->bytes));
    CUDA_TRY(ordinal, error,
             cudaMemcpy(gpu->tables, tables->memory, tables->bytes, cudaMemcpyHostToDevice));
    *out = ics_tables_at(tables, gpu->tables);
    return ICS_GRAPH_OK;
}

static int load_program(ics_gpu *gpu, const ics_tables *tables, const ics_gpu_limits *limits,
                        ics_gpu_error *error)
{
    char definitions[ICS_DEFINITIONS_SIZE];
    ics_program_options options;
    const int status = ics_schedule_program_options(&gpu->options, tables, limits->architecture,
                                                    &options, definitions, error);
    if (status != ICS_GRAPH_OK) {
        return status;
    }
    char why[sizeof error->text];
    if (ics_program_create(&options, &gpu->program, why, sizeof why) != 0) {
        return ics_check_error_set(error, ICS_GRAPH_UNSUPPORTED, "%s", why);
    }
    CUDA_TRY(gpu->options.ordinal, error,
             cudaLibraryLoadData(&gpu->library, gpu->program->image, NULL, NULL, 0, NULL, NULL, 0));
    return ICS_GRAPH_OK;
}

/* Takes the device memory of all lanes. A pool for which there is too little is halved, down to a
 * floor. */
static int take_memory(ics_gpu *gpu, const ice_tables *tables, const ics_gpu_limits *limits,
                       ics_gpu_error *error)
{
    const int ordinal = gpu->options.ordinal;
    const uint32_t asked = gpu->options.pool;
    const uint64_t limit = gpu->options.memory_limit;
    for (;;) {
        gpu->lane_bytes = ics_lane_bytes(&gpu->options, tables, NULL);
        const uint64_t bytes = gpu->lane_bytes * gpu->options.lanes;
        const uint64_t total = bytes + gpu->device_bytes;
        cudaError_t result = cudaErrorMemoryAllocation;
        if (limit == 0 || total <= limit) {
            result = cudaMalloc(&gpu->memory, bytes);
        }
        if (result == cudaSuccess) {
            gpu->device_bytes = total;
            break;
        }
        if (result != cudaErrorMemoryAllocation) {
            return ics_check_failed(result, "cudaMalloc", ordinal, error);
        }
        (void)cudaGetLastError();
        const uint32_t before = gpu->options.pool;
        gpu->options.pool /= 2;
        ics_schedule_resolve(&gpu->options, limits);
        /* Large blocks and many chains make a smallest pool of their own. */
        if (gpu->options.pool < POOL_FLOOR || gpu->options.pool >= before) {
            return ics_check_error_set(
                error, ICS_GRAPH_NO_MEMORY,
                "GPU %d: %llu bytes of device memory are wanted for a pool of %u photons, %u hits "
                "and batches of %u steps, but %s allows less; raise device.memory_limit, or lower "
                "graph.hits or graph.lanes",
                ordinal, (unsigned long long)total, before, gpu->options.hits,
                gpu->options.batch_emissions, limit ? "device.memory_limit" : "the device");
        }
    }
    if (gpu->options.pool != asked) {
        snprintf(gpu->warnings, sizeof gpu->warnings,
                 "GPU %d: too little device memory for a pool of %u photons: it has %u", ordinal,
                 asked, gpu->options.pool);
    }
    return ICS_GRAPH_OK;
}

/* Lets loops keep their pools in the second level cache. Not every device can, and none has to. */
static void set_cache_aside(int ordinal)
{
    int most = 0;
    if (cudaDeviceGetAttribute(&most, cudaDevAttrMaxPersistingL2CacheSize, ordinal) !=
            cudaSuccess ||
        cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, (size_t)most) != cudaSuccess) {
        (void)cudaGetLastError();
    }
}

static int set_up(ics_gpu *gpu, const ics_tables *tables, ics_gpu_error *error)
{
    const int ordinal = gpu->options.ordinal;
    int status = has_device(ordinal, error);
    if (status != ICS_GRAPH_OK) {
        return status;
    }
    CUDA_TRY(ordinal, error, cudaSetDevice(ordinal));
    ics_gpu_limits limits = {0};
    status = limits_of(ordinal, &limits, error);
    limits.features = tables->device.features;
    if (status != ICS_GRAPH_OK) {
        return status;
    }
    if (ics_schedule_row(gpu->options.schedule) == NULL) {
        return ics_check_error_set(error, ICS_GRAPH_UNSUPPORTED,
                                   "internal error: schedule %s was not chosen before it is made",
                                   ics_graph_schedule_name(gpu->options.schedule));
    }
    ics_schedule_resolve(&gpu->options, &limits);
    if (gpu->options.lanes > LANES_MAX) {
        return ics_check_error_set(error, ICS_GRAPH_UNSUPPORTED,
                                   "graph.lanes: found %u, expected at most %d", gpu->options.lanes,
                                   LANES_MAX);
    }
    if (gpu->options.chains > ICS_CHAINS_MAX) {
        return ics_check_error_set(error, ICS_GRAPH_UNSUPPORTED,
                                   "chains: found %u, expected at most %d", gpu->options.chains,
                                   ICS_CHAINS_MAX);
    }
    ice_tables moved;
    status = upload_tables(gpu, tables, &moved, error);
    gpu->device_bytes = tables->bytes;
    if (status == ICS_GRAPH_OK) {
        status = load_program(gpu, tables, &limits, error);
    }
    if (status == ICS_GRAPH_OK) {
        status = take_memory(gpu, &moved, &limits, error);
    }
    if (status != ICS_GRAPH_OK) {
        return status;
    }
    if (ics_schedule_row(gpu->options.schedule)->loops) {
        set_cache_aside(ordinal);
    }
    CUDA_TRY(ordinal, error, cudaEventCreate(&gpu->origin));
    CUDA_TRY(ordinal, error, cudaEventRecord(gpu->origin, cudaStreamPerThread));
    for (uint32_t i = 0; status == ICS_GRAPH_OK && i < gpu->options.lanes; ++i) {
        status = ics_lane_create(&gpu->lanes[i], &gpu->options, &moved, gpu->library,
                                 (char *)gpu->memory + i * gpu->lane_bytes, error);
    }
    return status;
}

int ics_gpu_create(const ics_gpu_options *options, const ics_tables *tables, ics_gpu **out,
                   ics_gpu_error *error)
{
    *out = NULL;
    ics_gpu *gpu = calloc(1, sizeof *gpu);
    if (gpu == NULL) {
        return ics_check_error_set(error, ICS_GRAPH_NO_MEMORY, "out of memory for a GPU's graph");
    }
    gpu->options = *options;
    pthread_mutex_init(&gpu->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&gpu->condition, &attributes);
    pthread_condattr_destroy(&attributes);
    int status = ICS_GRAPH_OK;
    for (int i = 0; i < ICS_STAGES; ++i) {
        if (options->custom[i] != NULL) {
            gpu->custom[i] = strdup(options->custom[i]);
            gpu->options.custom[i] = gpu->custom[i];
            if (gpu->custom[i] == NULL) {
                status = ics_check_error_set(error, ICS_GRAPH_NO_MEMORY,
                                             "out of memory for a GPU's graph");
            }
        }
    }
    if (status == ICS_GRAPH_OK) {
        status = set_up(gpu, tables, error);
    }
    if (status != ICS_GRAPH_OK) {
        ics_gpu_destroy(gpu);
        return status;
    }
    *out = gpu;
    return ICS_GRAPH_OK;
}

void ics_gpu_destroy(ics_gpu *gpu)
{
    if (gpu == NULL) {
        return;
    }
    /* A lost device would never become idle; what it holds goes with the process. So does what its
     * callbacks reach: a kernel that was taken for stuck may come to its end after all, while the
     * run goes on on other devices. */
    if (gpu->lost) {
        ics_gpu_on_event(gpu, NULL, NULL);
        return;
    }
    /* The thread may have come from another device. */
    if (cudaSetDevice(gpu->options.ordinal) == cudaSuccess) {
        for (uint32_t i = 0; i < LANES_MAX; ++i) {
            if (gpu->lanes[i].compute != NULL) {
                for (int k = 0; k < 3; ++k) {
                    (void)cudaStreamSynchronize((cudaStream_t[]){
                        gpu->lanes[i].upload, gpu->lanes[i].compute, gpu->lanes[i].download}[k]);
                }
            }
        }
        for (uint32_t i = 0; i < LANES_MAX; ++i) {
            if (gpu->lanes[i].schedule != NULL) {
                ics_lane_destroy(&gpu->lanes[i]);
            }
        }
        (void)cudaFree(gpu->memory);
        (void)cudaFree(gpu->tables);
        if (gpu->library != NULL) {
            (void)cudaLibraryUnload(gpu->library);
        }
        if (gpu->origin != NULL) {
            (void)cudaEventDestroy(gpu->origin);
        }
    }
    (void)cudaGetLastError();
    ics_program_destroy(gpu->program);
    for (int i = 0; i < ICS_STAGES; ++i) {
        free(gpu->custom[i]);
    }
    pthread_cond_destroy(&gpu->condition);
    pthread_mutex_destroy(&gpu->lock);
    free(gpu);
}

const char *ics_gpu_warnings(const ics_gpu *gpu)
{
    return gpu->warnings;
}

const ics_gpu_options *ics_gpu_options_of(const ics_gpu *gpu)
{
    return &gpu->options;
}

void ics_gpu_on_event(ics_gpu *gpu, void (*event)(void *user), void *user)
{
    pthread_mutex_lock(&gpu->lock);
    gpu->on_event = event;
    gpu->on_event_user = user;
    pthread_mutex_unlock(&gpu->lock);
}

/* ---- batches --------------------------------------------------------------------------------- */

uint32_t ics_gpu_credits(const ics_gpu *gpu)
{
    return gpu->options.lanes * (ICS_LANE_BATCHES - 1);
}

/* After a fault nothing on the device is touched any more. */
static int note(ics_gpu *gpu, int status)
{
    gpu->lost |= status == ICS_GRAPH_FAULT;
    return status;
}

int ics_gpu_submit(ics_gpu *gpu, const ice_emission *emissions, uint32_t count, void *tag,
                   ics_gpu_error *error)
{
    CUDA_TRY(gpu->options.ordinal, error, cudaSetDevice(gpu->options.ordinal));
    ics_lane *least = NULL;
    for (uint32_t i = 0; i < gpu->options.lanes; ++i) {
        ics_lane *lane = &gpu->lanes[i];
        if (ics_lane_has_room(lane) &&
            (least == NULL || ics_lane_load(lane) < ics_lane_load(least))) {
            least = lane;
        }
    }
    if (least == NULL) {
        return ics_check_error_set(error, ICS_GRAPH_UNSUPPORTED,
                                   "internal error: more batches than credits");
    }
    return note(gpu, ics_lane_submit(least, emissions, count, tag, error));
}

static void launch_computed(void *user, const ics_lane_launch *launch)
{
    ics_gpu *gpu = user;
    float begun = 0, computed = 0;
    if (cudaEventElapsedTime(&begun, gpu->origin, launch->begun) == cudaSuccess &&
        cudaEventElapsedTime(&computed, gpu->origin, launch->computed) == cudaSuccess) {
        ics_busy_add(&gpu->busy, 1e-3 * (double)begun, 1e-3 * (double)computed);
    }
    ++gpu->launches;
    gpu->waves += launch->report->progress.waves;
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int ics_gpu_advance(ics_gpu *gpu, ics_gpu_error *error)
{
    CUDA_TRY(gpu->options.ordinal, error, cudaSetDevice(gpu->options.ordinal));
    const ics_launch_observer observer = {launch_computed, gpu};
    int status = ICS_GRAPH_OK;
    for (uint32_t i = 0; status == ICS_GRAPH_OK && i < gpu->options.lanes; ++i) {
        status = ics_lane_advance(&gpu->lanes[i], wake, gpu, observer, error);
        if (status == ICS_GRAPH_OK) {
            status = ics_lane_watch(&gpu->lanes[i], seconds_now(), error);
        }
    }
    return note(gpu, status);
}

bool ics_gpu_take(ics_gpu *gpu, ics_gpu_result *out)
{
    for (uint32_t i = 0; i < gpu->options.lanes; ++i) {
        if (ics_lane_take(&gpu->lanes[i], out)) {
            return true;
        }
    }
    return false;
}

void ics_gpu_wait(ics_gpu *gpu, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const double total = (double)until.tv_nsec + 1e9 * seconds;
    until.tv_sec += (time_t)(total / 1e9);
    until.tv_nsec = (long)(total - 1e9 * (double)(time_t)(total / 1e9));
    pthread_mutex_lock(&gpu->lock);
    int result = 0;
    while (!gpu->event && result == 0) {
        result = pthread_cond_timedwait(&gpu->condition, &gpu->lock, &until);
    }
    gpu->event = false;
    pthread_mutex_unlock(&gpu->lock);
}

void ics_gpu_usage_of(ics_gpu *gpu, ics_gpu_usage *out)
{
    *out = (ics_gpu_usage){.seconds = ics_busy_seconds(&gpu->busy),
                           .launches = gpu->launches,
                           .waves = gpu->waves,
                           .device_bytes = gpu->device_bytes};
    if (!gpu->options.profile || gpu->lost || cudaSetDevice(gpu->options.ordinal) != cudaSuccess) {
        return;
    }
    for (uint32_t i = 0; i < gpu->options.lanes; ++i) {
        unsigned long long clock[ICS_WAVE_STAGES + 1] = {0};
        if (gpu->lanes[i].clock != NULL && cudaMemcpy(clock, gpu->lanes[i].clock, sizeof clock,
                                                      cudaMemcpyDeviceToHost) == cudaSuccess) {
            for (int stage = 0; stage < ICS_WAVE_STAGES; ++stage) {
                out->stage_seconds[stage] += 1e-9 * (double)clock[1 + stage];
            }
        }
    }
}
