/* graphs/gpu.h: a device with its lanes. gpu_device.c describes devices, plan.c makes plans,
 * trials.c chooses a schedule. */
#include "base/clock.h"
#include "base/error.h"
#include "graphs/cuda/busy.h"
#include "graphs/cuda/check.h"
#include "graphs/cuda/lane.h"
#include "graphs/cuda/loop_check.h"
#include "graphs/cuda/upload.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES_MAX = 8, POOL_FLOOR = 1 << 14 };

struct ics_gpu {
    ics_gpu_options options;
    ics_program *program;
    ics_kernels kernels;
    cudaLibrary_t library;
    ics_upload tables;
    void *bias;   /* memory of the device with options.sums: wavelengths, then probabilities */
    void *memory; /* memory of the device for all lanes */
    uint64_t lane_bytes, device_bytes;
    ics_lane lanes[LANES_MAX];
    bool lost; /* the device failed: no function waits for it any more */
    char warnings[512];

    /* Time in which at least one lane computed. */
    cudaEvent_t origin;
    ics_busy busy;
    uint64_t launches, waves;
    void *cycles; /* cycles of the stages, on the device; NULL: the kernels do not record them */

    pthread_mutex_t lock;
    pthread_cond_t condition;
    bool event; /* whether there was an event since the last wait */
    void (*on_event)(void *user);
    void *on_event_user;
};

/* ---- creation -------------------------------------------------------------------------------- */

/* A thread of CUDA calls this function, which must not call CUDA. */
static void CUDART_CB wake_up(void *user)
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

/* Finds the cycles of the stages, [ICS_CLOCKS] (kernels/cuda/device/clocks.h), in the program that
 * `library` has loaded. With options->profile, a schedule that does not loop has them; otherwise
 * *cycles does not change. `options` are resolved. */
static int find_cycles(const ics_gpu_options *options, cudaLibrary_t library, void **cycles,
                       icestream_error *error)
{
    size_t bytes;
    if (options->profile && !ics_schedule_row(options->schedule)->loops) {
        CUDA_TRY(options->ordinal, error,
                 cudaLibraryGetGlobal(cycles, &bytes, library, "gpu_clock_cycles"));
    }
    return ICESTREAM_OK;
}

static int load_program(ics_gpu *gpu, const ics_tables *tables, const ics_gpu_limits *limits,
                        icestream_error *error)
{
    char definitions[ICS_DEFINITIONS_SIZE];
    ics_program_options options;
    ICS_TRY(ics_settings_program(&gpu->options, tables, limits->architecture, &options, definitions,
                                 error));
    ICS_TRY(ics_program_create(&options, &gpu->program, error));
    CUDA_TRY(gpu->options.ordinal, error,
             cudaLibraryLoadData(&gpu->library, gpu->program->image, NULL, NULL, 0, NULL, NULL, 0));
    return find_cycles(&gpu->options, gpu->library, &gpu->cycles, error);
}

static int too_little_memory(const ics_gpu *gpu, uint64_t bytes, uint32_t pool,
                             icestream_error *error)
{
    return ics_error_set(
        error, ICESTREAM_E_MEMORY,
        "GPU %d: %llu bytes of device memory are wanted for a pool of %u photons, %u hits and "
        "batches of %u steps, but %s allows less; raise device.memory_limit, or lower graph.hits "
        "or "
        "graph.lanes",
        gpu->options.ordinal, (unsigned long long)bytes, pool, gpu->options.hits,
        gpu->options.batch_emissions,
        gpu->options.memory_limit ? "device.memory_limit" : "the device");
}

/* Allocates the device memory of all lanes. If there is too little memory for the pool, the pool is
 * halved, down to a floor. */
static int allocate_memory(ics_gpu *gpu, const ice_tables *tables, const ics_gpu_limits *limits,
                           icestream_error *error)
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
        ics_settings_resolve(&gpu->options, limits);
        /* With large blocks or many chains, the smallest possible pool is above the floor. */
        if (gpu->options.pool < POOL_FLOOR || gpu->options.pool >= before) {
            return too_little_memory(gpu, total, before, error);
        }
    }
    if (gpu->options.pool != asked) {
        const size_t used = strlen(gpu->warnings);
        snprintf(gpu->warnings + used, sizeof gpu->warnings - used,
                 "%sGPU %d: too little device memory for a pool of %u photons: it has %u",
                 used > 0 ? "\n" : "", ordinal, asked, gpu->options.pool);
    }
    return ICESTREAM_OK;
}

/* Reserves a part of the second level cache for the pools of loops, if the device can do this. */
static void reserve_cache(int ordinal)
{
    int most = 0;
    if (cudaDeviceGetAttribute(&most, cudaDevAttrMaxPersistingL2CacheSize, ordinal) !=
            cudaSuccess ||
        cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, (size_t)most) != cudaSuccess) {
        (void)cudaGetLastError();
    }
}

/* Resolves the options for this device and checks them. */
static int resolve_options(ics_gpu_options *options, const ics_gpu_limits *limits,
                           icestream_error *error)
{
    if (ics_schedule_row(options->schedule) == NULL) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "internal error: schedule %s was not chosen before it is made",
                             ics_graph_schedule_name(options->schedule));
    }
    ics_settings_resolve(options, limits);
    if (options->lanes > LANES_MAX) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "graph.lanes: found %u, expected at most %d", options->lanes,
                             LANES_MAX);
    }
    if (options->chains > ICS_CHAINS_MAX) {
        return ics_error_set(error, ICESTREAM_E_CONFIG, "chains: found %u, expected at most %d",
                             options->chains, ICS_CHAINS_MAX);
    }
    return ICESTREAM_OK;
}

/* Lets the host run the loops where the driver does not. */
static int choose_loop(ics_gpu *gpu, icestream_error *error)
{
    bool works = true;
    if (ics_schedule_row(gpu->options.schedule)->loops && !gpu->options.host_loop) {
        ICS_TRY(ics_loop_check(gpu->options.ordinal, &works, gpu->warnings, sizeof gpu->warnings,
                               error));
    }
    gpu->options.host_loop |= !works;
    return ICESTREAM_OK;
}

static int set_up(ics_gpu *gpu, const ics_tables *tables, icestream_error *error)
{
    const int ordinal = gpu->options.ordinal;
    ics_gpu_device about;
    ICS_TRY(ics_gpu_describe(ordinal, &about, error)); /* also makes the device the current one */
    const ics_gpu_limits limits = {.architecture = about.architecture,
                                   .processors = about.processors,
                                   .features = tables->device.features};
    ICS_TRY(resolve_options(&gpu->options, &limits, error));
    ICS_TRY(choose_loop(gpu, error));
    ice_tables moved;
    ICS_TRY(ics_upload_tables(ordinal, tables, gpu->options.math != ICS_MATH_PORTABLE, &gpu->tables,
                              &moved, error));
    gpu->device_bytes = gpu->tables.bytes;
    ics_hit_sum_rule rule;
    ICS_TRY(ics_lane_rule_upload(&gpu->options, &rule, &gpu->bias, &gpu->device_bytes, error));
    ICS_TRY(load_program(gpu, tables, &limits, error));
    if (gpu->options.math != ICS_MATH_PORTABLE) {
        gpu->kernels = ics_kernels_of(about.name, about.architecture, gpu->program->compiler,
                                      gpu->program->is_ptx);
    }
    ICS_TRY(allocate_memory(gpu, &moved, &limits, error));
    if (ics_schedule_row(gpu->options.schedule)->compacts) {
        reserve_cache(ordinal);
    }
    CUDA_TRY(ordinal, error, cudaEventCreate(&gpu->origin));
    CUDA_TRY(ordinal, error, cudaEventRecord(gpu->origin, cudaStreamPerThread));
    for (uint32_t i = 0; i < gpu->options.lanes; ++i) {
        const ics_lane_parts parts = {.options = &gpu->options,
                                      .tables = &moved,
                                      .rule = &rule,
                                      .library = gpu->library,
                                      .memory = (char *)gpu->memory + i * gpu->lane_bytes};
        ICS_TRY(ics_lane_create(&gpu->lanes[i], &parts, error));
    }
    return ICESTREAM_OK;
}

int ics_gpu_create(const ics_gpu_options *options, const ics_tables *tables, ics_gpu **out,
                   icestream_error *error)
{
    *out = NULL;
    ics_gpu *gpu = calloc(1, sizeof *gpu);
    if (gpu == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a GPU's graph");
    }
    pthread_mutex_init(&gpu->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&gpu->condition, &attributes);
    pthread_condattr_destroy(&attributes);
    gpu->options = *options;
    const int status = set_up(gpu, tables, error);
    if (status != ICESTREAM_OK) {
        ics_gpu_destroy(gpu);
        return status;
    }
    *out = gpu;
    return ICESTREAM_OK;
}

void ics_gpu_destroy(ics_gpu *gpu)
{
    if (gpu == NULL) {
        return;
    }
    /* A lost device would never become idle. Its memory is freed when the process ends. The struct
     * stays, too, because callbacks of CUDA may still use it: a kernel that the watchdog found
     * stuck may end later, while the run continues on other devices. */
    if (gpu->lost) {
        ics_gpu_on_event(gpu, NULL, NULL);
        return;
    }
    /* Another device may be current on this thread. */
    if (cudaSetDevice(gpu->options.ordinal) == cudaSuccess) {
        for (uint32_t i = 0; i < LANES_MAX; ++i) {
            if (gpu->lanes[i].compute != NULL) {
                (void)cudaStreamSynchronize(gpu->lanes[i].upload);
                (void)cudaStreamSynchronize(gpu->lanes[i].compute);
                (void)cudaStreamSynchronize(gpu->lanes[i].download);
            }
        }
        for (uint32_t i = 0; i < LANES_MAX; ++i) {
            if (gpu->lanes[i].schedule != NULL) {
                ics_lane_destroy(&gpu->lanes[i]);
            }
        }
        (void)cudaFree(gpu->memory);
        ics_upload_free(&gpu->tables);
        (void)cudaFree(gpu->bias);
        if (gpu->library != NULL) {
            (void)cudaLibraryUnload(gpu->library);
        }
        if (gpu->origin != NULL) {
            (void)cudaEventDestroy(gpu->origin);
        }
    }
    (void)cudaGetLastError();
    ics_program_destroy(gpu->program);
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

ics_kernels ics_gpu_kernels_of(const ics_gpu *gpu)
{
    return gpu->kernels;
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

/* Remembers that the device failed: it is not used any more. Returns `status`. */
static int note_loss(ics_gpu *gpu, int status)
{
    gpu->lost |= status == ICESTREAM_E_FAILED;
    return status;
}

int ics_gpu_submit(ics_gpu *gpu, const ice_emission *emissions, const ics_hit_sum_step *steps,
                   uint32_t count, void *tag, icestream_error *error)
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
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "internal error: more batches than credits");
    }
    return note_loss(gpu, ics_lane_submit(least, emissions, steps, count, tag, error));
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

int ics_gpu_advance(ics_gpu *gpu, icestream_error *error)
{
    CUDA_TRY(gpu->options.ordinal, error, cudaSetDevice(gpu->options.ordinal));
    const ics_lane_wake wake = {wake_up, gpu};
    const ics_launch_observer observer = {launch_computed, gpu};
    int status = ICESTREAM_OK;
    for (uint32_t i = 0; status == ICESTREAM_OK && i < gpu->options.lanes; ++i) {
        status = ics_lane_advance(&gpu->lanes[i], wake, observer, error);
        if (status == ICESTREAM_OK) {
            status = ics_lane_watch(&gpu->lanes[i], ics_clock_seconds(), error);
        }
    }
    return note_loss(gpu, status);
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
    const struct timespec until = ics_clock_deadline(seconds);
    pthread_mutex_lock(&gpu->lock);
    int result = 0;
    while (!gpu->event && result == 0) {
        result = pthread_cond_timedwait(&gpu->condition, &gpu->lock, &until);
    }
    gpu->event = false;
    pthread_mutex_unlock(&gpu->lock);
}

/* Divides out->seconds among the stages as the sampled warps spent their cycles. `from` is in the
 * memory of the current device; NULL: there are none. */
static void share_seconds(const void *from, ics_gpu_usage *out)
{
    unsigned long long cycles[ICS_CLOCKS], all = 0;
    if (from == NULL ||
        cudaMemcpy(cycles, from, sizeof cycles, cudaMemcpyDeviceToHost) != cudaSuccess) {
        return;
    }
    for (int stage = 0; stage < ICS_CLOCKS; ++stage) {
        all += cycles[stage];
    }
    for (int stage = 0; stage < ICS_CLOCKS && all > 0; ++stage) {
        out->stage_seconds[stage] = out->seconds * ((double)cycles[stage] / (double)all);
    }
}

/* Adds the times of the stages of a lane to out->stage_seconds. `clock` is in the memory of the
 * current device; NULL: the lane has none. */
static void add_stage_times(const ics_stage_clock *clock, ics_gpu_usage *out)
{
    ics_stage_clock here;
    if (clock == NULL ||
        cudaMemcpy(&here, clock, sizeof here, cudaMemcpyDeviceToHost) != cudaSuccess) {
        return;
    }
    for (int stage = 0; stage < ICS_CLOCKS; ++stage) {
        out->stage_seconds[stage] += 1e-9 * (double)here.stages[stage];
    }
}

void ics_gpu_usage_of(ics_gpu *gpu, ics_gpu_usage *out)
{
    *out = (ics_gpu_usage){.seconds = ics_busy_seconds(&gpu->busy),
                           .launches = gpu->launches,
                           .waves = gpu->waves,
                           .device_bytes = gpu->device_bytes};
    for (uint32_t i = 0; i < gpu->options.lanes; ++i) {
        out->downloaded_bytes += gpu->lanes[i].downloaded_bytes;
    }
    if (!gpu->options.profile || gpu->lost || cudaSetDevice(gpu->options.ordinal) != cudaSuccess) {
        return;
    }
    share_seconds(gpu->cycles, out);
    for (uint32_t i = 0; i < gpu->options.lanes; ++i) {
        add_stage_times(gpu->lanes[i].loop.clock, out);
    }
}
