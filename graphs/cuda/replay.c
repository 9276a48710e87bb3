/* graphs/gpu_replay.h: photons of hits on a device. */
#include "base/error.h"
#include "graphs/cuda/check.h"
#include "graphs/cuda/settings.h"
#include "graphs/cuda/upload.h"
#include "graphs/gpu_replay.h"
#include "kernels/cuda/specialise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    REPLAY_BLOCK = 128, /* threads */
    REPLAY_BLOCKS = 4,  /* of a multiprocessor, so that a thread has 128 registers */
    REPLAY_REFILL = 8,
    DEFINITIONS = ICS_DEFINITIONS_SIZE + 256,
    LAUNCH_PHOTONS = 1 << 17,
    PHOTON_ARRIVALS = 2, /* room for arrivals and for layers, per photon */
    PHOTON_LAYERS = 48,
    TRACE_PHOTONS = 1 << 12, /* the same for paths with all their points */
    PHOTON_POINTS = 256
};
/* Bytes of the arrivals of one launch; fewer photons are launched if they need more. */
#define OUTPUT_BYTES (512ull << 20)

/* The name of the kernel. */
static const char *kernel_of(const ics_gpu_replay_wish *wish)
{
    return wish->points ? "gpu_trace" : "gpu_replay";
}

/* A launch and its memory. */
typedef struct replay_launch {
    cudaStream_t stream;
    ics_replay_work work;      /* with pointers of the device */
    ice_emission *emissions;   /* device, [photons] */
    ics_replay_item *items;    /* device, [photons] */
    ics_replay_counts *counts; /* the pinned memory of the host, from here on */
    ics_replay_arrival *arrivals;
    ice_path_end *ends;
    ice_layer_sum *layers;
    ics_replay_point *points;
    ice_emission *emissions_here;
    ics_replay_item *items_here;
} replay_launch;

struct ics_gpu_replay {
    ics_gpu_options options;
    ice_tables tables; /* with pointers of the device */
    replay_launch launches[ICS_GPU_REPLAY_LAUNCHES];
    ics_upload upload;
    ics_upload *target_uploads; /* [targets] */
    ics_replay_ice *ices;       /* device, [targets] */
    cudaLibrary_t library;
    cudaKernel_t kernel;
    uint64_t device_bytes;
    ics_kernels kernels;
    uint32_t targets;
    uint32_t blocks; /* of a launch, at most */
    uint32_t photons;
    bool sums, points;
    bool lost; /* the device failed */
};

/* ---- the program ----------------------------------------------------------------------------- */

/* The options of a program of one kernel without histograms and shared memory. */
static ics_gpu_options resolve(const ics_gpu_options *options, const ics_gpu_replay_wish *wish,
                               const ics_gpu_limits *limits)
{
    ics_gpu_options out = {.ordinal = options->ordinal,
                           .schedule = ICS_SCHEDULE_THREAD_PER_STEP,
                           .variants = options->variants,
                           .math = options->math,
                           .lanes = 1,
                           .block = REPLAY_BLOCK,
                           .blocks_per_processor = REPLAY_BLOCKS,
                           .refill = REPLAY_REFILL,
                           .light_profiles = wish->profiles,
                           .memory_limit = options->memory_limit,
                           .use_cache = options->use_cache};
    ics_settings_resolve(&out, limits);
    return out;
}

static int make_program(const ics_gpu_options *options, const ics_tables *tables,
                        const ics_gpu_replay_wish *wish, int architecture, ics_program **out,
                        icestream_error *error)
{
    static const ics_special_bounds bounds = {"REPLAY", REPLAY_BLOCK, REPLAY_BLOCKS, 0};
    char definitions[DEFINITIONS];
    ics_program_options program;
    ICS_TRY(ics_settings_program(options, tables, architecture, &program, definitions, error));
    FILE *file = ics_settings_definitions(definitions, sizeof definitions);
    if (file != NULL) {
        ics_specialise_kernel(&bounds, file);
        fprintf(file,
                "#define GPU_REPLAY_TARGETS %d\n#define GPU_REPLAY_SUMS %d\n"
                "#define GPU_REPLAY_ANGLES %d\n",
                wish->target_count > 0, wish->sums, wish->own_angles);
    }
    ICS_TRY(ics_settings_end_definitions(file, error));
    program.entry = wish->points ? "kernels/cuda/device/trace.h" : "kernels/cuda/device/replay.h";
    return ics_program_create(&program, out, error);
}

int ics_gpu_replay_plan(const ics_gpu_options *options, const ics_tables *tables,
                        const ics_gpu_replay_wish *wish, int architecture,
                        ics_kernel_resources *out, icestream_error *error)
{
    const ics_gpu_limits limits = ics_settings_assumed_limits(architecture, tables);
    const ics_gpu_options resolved = resolve(options, wish, &limits);
    ics_program *program = NULL;
    ICS_TRY(make_program(&resolved, tables, wish, limits.architecture, &program, error));
    const ics_kernel_resources *kernel = ics_program_kernel(program, kernel_of(wish));
    *out = kernel != NULL ? *kernel : (ics_kernel_resources){.registers = 0};
    ics_program_destroy(program);
    return ICESTREAM_OK;
}

static int load_kernel(ics_gpu_replay *replay, const ics_tables *tables,
                       const ics_gpu_replay_wish *wish, const ics_gpu_device *about,
                       icestream_error *error)
{
    const int ordinal = replay->options.ordinal;
    ics_program *program = NULL;
    ICS_TRY(make_program(&replay->options, tables, wish, about->architecture, &program, error));
    if (replay->options.math != ICS_MATH_PORTABLE) {
        replay->kernels =
            ics_kernels_of(about->name, about->architecture, program->compiler, program->is_ptx);
    }
    const cudaError_t result =
        cudaLibraryLoadData(&replay->library, program->image, NULL, NULL, 0, NULL, NULL, 0);
    ics_program_destroy(program);
    if (result != cudaSuccess) {
        return ics_check_failed(result, "cudaLibraryLoadData", ordinal, error);
    }
    CUDA_TRY(ordinal, error,
             cudaLibraryGetKernel(&replay->kernel, replay->library, kernel_of(wish)));
    return ICESTREAM_OK;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static int no_memory(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for the replay on a GPU");
}

/* Takes memory of the device, zeroed; none for 0 bytes. */
static int take(ics_gpu_replay *replay, void **out, uint64_t bytes, icestream_error *error)
{
    const int ordinal = replay->options.ordinal;
    const uint64_t limit = replay->options.memory_limit;
    if (bytes == 0) {
        return ICESTREAM_OK;
    }
    replay->device_bytes += bytes;
    if (limit != 0 && replay->device_bytes > limit) {
        return ics_error_set(error, ICESTREAM_E_MEMORY,
                             "GPU %d: the replay of hits needs %llu bytes of device memory or "
                             "more, expected at most device.memory_limit = %llu",
                             ordinal, (unsigned long long)replay->device_bytes,
                             (unsigned long long)limit);
    }
    CUDA_TRY(ordinal, error, cudaMalloc(out, bytes));
    CUDA_TRY(ordinal, error, cudaMemset(*out, 0, bytes));
    return ICESTREAM_OK;
}

/* Takes memory of the device and pinned memory of the host for the same array. */
static int take_both(ics_gpu_replay *replay, void **device, void **host, uint64_t bytes,
                     icestream_error *error)
{
    ICS_TRY(take(replay, device, bytes, error));
    if (bytes > 0) {
        CUDA_TRY(replay->options.ordinal, error, cudaMallocHost(host, bytes));
    }
    return ICESTREAM_OK;
}

/* Bytes of the arrivals of one photon. */
static uint64_t output_bytes(const ics_gpu_replay *replay)
{
    const uint64_t arrival =
        sizeof(ics_replay_arrival) + (1 + replay->targets) * sizeof(ice_path_end);
    return PHOTON_ARRIVALS * arrival + (replay->sums ? PHOTON_LAYERS * sizeof(ice_layer_sum) : 0);
}

static int make_launch(ics_gpu_replay *replay, replay_launch *launch, icestream_error *error)
{
    const uint64_t photons = replay->photons, threads = (uint64_t)replay->blocks * REPLAY_BLOCK;
    const uint64_t slots = (uint64_t)replay->tables.layer_count + 1;
    ics_replay_work *work = &launch->work;
    /* Room for the arrivals and layers of one photon, however long its path is. */
    work->arrival_capacity = (replay->points ? PHOTON_POINTS : PHOTON_ARRIVALS) * photons;
    work->layer_capacity = replay->sums ? PHOTON_LAYERS * photons + slots : 0;
    work->targets = replay->targets;
    work->ices = replay->ices;
    CUDA_TRY(replay->options.ordinal, error,
             cudaStreamCreateWithFlags(&launch->stream, cudaStreamNonBlocking));
    ICS_TRY(take(replay, (void **)&work->states, threads * replay->targets * sizeof *work->states,
                 error));
    ICS_TRY(take(replay, (void **)&work->sums,
                 replay->sums ? threads * 2 * slots * sizeof *work->sums : 0, error));
    ICS_TRY(take_both(replay, (void **)&launch->emissions, (void **)&launch->emissions_here,
                      photons * sizeof *launch->emissions, error));
    ICS_TRY(take_both(replay, (void **)&launch->items, (void **)&launch->items_here,
                      photons * sizeof *launch->items, error));
    ICS_TRY(take_both(replay, (void **)&work->counts, (void **)&launch->counts,
                      sizeof *work->counts, error));
    const uint64_t rows = work->arrival_capacity;
    const uint64_t arrivals = replay->points ? 0 : rows, points = replay->points ? rows : 0;
    ICS_TRY(take_both(replay, (void **)&work->arrivals, (void **)&launch->arrivals,
                      arrivals * sizeof *work->arrivals, error));
    ICS_TRY(take_both(replay, (void **)&work->ends, (void **)&launch->ends,
                      arrivals * (1 + replay->targets) * sizeof *work->ends, error));
    ICS_TRY(take_both(replay, (void **)&work->layers, (void **)&launch->layers,
                      work->layer_capacity * sizeof *work->layers, error));
    ICS_TRY(take_both(replay, (void **)&work->points, (void **)&launch->points,
                      points * sizeof *work->points, error));
    work->emissions = launch->emissions;
    work->items = launch->items;
    return ICESTREAM_OK;
}

static int upload_targets(ics_gpu_replay *replay, const ics_gpu_replay_wish *wish,
                          icestream_error *error)
{
    const int ordinal = replay->options.ordinal;
    const bool fast_math = replay->options.math != ICS_MATH_PORTABLE;
    const uint64_t bytes = wish->target_count * sizeof *replay->ices;
    if (bytes == 0) {
        return ICESTREAM_OK;
    }
    replay->target_uploads = calloc(wish->target_count, sizeof *replay->target_uploads);
    ics_replay_ice *ices = calloc(1, bytes);
    if (ices == NULL || replay->target_uploads == NULL) {
        free(ices);
        return no_memory(error);
    }
    int status = ICESTREAM_OK;
    for (uint32_t i = 0; i < wish->target_count && status == ICESTREAM_OK; ++i) {
        const ics_gpu_replay_target *target = &wish->targets[i];
        replay->targets = i + 1;
        ices[i].scatter = (uint32_t)target->scatter;
        ices[i].needs_angles = target->needs_angles ? 1 : 0;
        status = ics_upload_tables(ordinal, target->tables, fast_math, &replay->target_uploads[i],
                                   &ices[i].tables, error);
    }
    if (status == ICESTREAM_OK) {
        status = take(replay, (void **)&replay->ices, bytes, error);
    }
    if (status == ICESTREAM_OK) {
        const cudaError_t result = cudaMemcpy(replay->ices, ices, bytes, cudaMemcpyHostToDevice);
        status = result == cudaSuccess ? ICESTREAM_OK
                                       : ics_check_failed(result, "cudaMemcpy", ordinal, error);
    }
    free(ices);
    return status;
}

/* ---- creation -------------------------------------------------------------------------------- */

static int set_up(ics_gpu_replay *replay, const ics_gpu_options *options, const ics_tables *tables,
                  const ics_gpu_replay_wish *wish, icestream_error *error)
{
    ics_gpu_device about;
    ICS_TRY(ics_gpu_describe(options->ordinal, &about, error)); /* and makes it the current one */
    const ics_gpu_limits limits = {.architecture = about.architecture,
                                   .processors = about.processors,
                                   .features = tables->device.features};
    replay->options = resolve(options, wish, &limits);
    replay->sums = wish->sums;
    replay->points = wish->points;
    replay->blocks = (uint32_t)about.processors * REPLAY_BLOCKS;
    ICS_TRY(load_kernel(replay, tables, wish, &about, error));
    ICS_TRY(ics_upload_tables(options->ordinal, tables, replay->options.math != ICS_MATH_PORTABLE,
                              &replay->upload, &replay->tables, error));
    ICS_TRY(upload_targets(replay, wish, error));
    const uint64_t most = OUTPUT_BYTES / output_bytes(replay);
    replay->photons = replay->points          ? TRACE_PHOTONS
                      : most < LAUNCH_PHOTONS ? (uint32_t)most
                                              : LAUNCH_PHOTONS;
    for (int i = 0; i < ICS_GPU_REPLAY_LAUNCHES; ++i) {
        ICS_TRY(make_launch(replay, &replay->launches[i], error));
    }
    return ICESTREAM_OK;
}

int ics_gpu_replay_create(const ics_gpu_options *options, const ics_tables *tables,
                          const ics_gpu_replay_wish *wish, ics_gpu_replay **out,
                          icestream_error *error)
{
    *out = NULL;
    ics_gpu_replay *replay = calloc(1, sizeof *replay);
    if (replay == NULL) {
        return no_memory(error);
    }
    replay->options.ordinal = options->ordinal;
    const int status = set_up(replay, options, tables, wish, error);
    if (status != ICESTREAM_OK) {
        replay->lost = status == ICESTREAM_E_FAILED;
        ics_gpu_replay_destroy(replay);
        return status;
    }
    *out = replay;
    return ICESTREAM_OK;
}

static void free_launch(replay_launch *launch)
{
    void *const device[] = {launch->emissions, launch->items,       launch->work.states,
                            launch->work.sums, launch->work.counts, launch->work.arrivals,
                            launch->work.ends, launch->work.layers, launch->work.points};
    void *const host[] = {launch->emissions_here, launch->items_here, launch->counts,
                          launch->arrivals,       launch->ends,       launch->layers,
                          launch->points};
    if (launch->stream != NULL) {
        (void)cudaStreamSynchronize(launch->stream);
        (void)cudaStreamDestroy(launch->stream);
    }
    for (size_t i = 0; i < sizeof device / sizeof *device; ++i) {
        (void)cudaFree(device[i]);
    }
    for (size_t i = 0; i < sizeof host / sizeof *host; ++i) {
        (void)cudaFreeHost(host[i]);
    }
}

void ics_gpu_replay_destroy(ics_gpu_replay *replay)
{
    if (replay == NULL) {
        return;
    }
    if (!replay->lost && cudaSetDevice(replay->options.ordinal) == cudaSuccess) {
        for (int i = 0; i < ICS_GPU_REPLAY_LAUNCHES; ++i) {
            free_launch(&replay->launches[i]);
        }
        ics_upload_free(&replay->upload);
        for (uint32_t i = 0; i < replay->targets; ++i) {
            ics_upload_free(&replay->target_uploads[i]);
        }
        (void)cudaFree(replay->ices);
        if (replay->library != NULL) {
            (void)cudaLibraryUnload(replay->library);
        }
    }
    (void)cudaGetLastError();
    free(replay->target_uploads);
    free(replay);
}

ics_kernels ics_gpu_replay_kernels(const ics_gpu_replay *replay)
{
    return replay->kernels;
}

uint32_t ics_gpu_replay_most(const ics_gpu_replay *replay)
{
    return replay->photons;
}

/* ---- launches -------------------------------------------------------------------------------- */

static int submit(ics_gpu_replay *replay, replay_launch *launch,
                  const ics_gpu_replay_photons *photons, icestream_error *error)
{
    const int ordinal = replay->options.ordinal;
    const uint64_t emission_bytes = photons->emission_count * sizeof *launch->emissions;
    const uint64_t item_bytes = photons->count * sizeof *launch->items;
    const uint32_t wanted = (photons->count + REPLAY_BLOCK - 1) / REPLAY_BLOCK;
    const dim3 grid = {wanted < replay->blocks ? wanted : replay->blocks, 1, 1};
    const dim3 threads = {REPLAY_BLOCK, 1, 1};
    void *arguments[] = {&replay->tables, &launch->work};
    launch->work.count = photons->count;
    memcpy(launch->emissions_here, photons->emissions, emission_bytes);
    memcpy(launch->items_here, photons->items, item_bytes);
    CUDA_TRY(ordinal, error, cudaSetDevice(ordinal));
    CUDA_TRY(ordinal, error,
             cudaMemcpyAsync(launch->emissions, launch->emissions_here, emission_bytes,
                             cudaMemcpyHostToDevice, launch->stream));
    CUDA_TRY(ordinal, error,
             cudaMemcpyAsync(launch->items, launch->items_here, item_bytes, cudaMemcpyHostToDevice,
                             launch->stream));
    CUDA_TRY(ordinal, error,
             cudaMemsetAsync(launch->work.counts, 0, sizeof *launch->counts, launch->stream));
    CUDA_TRY(ordinal, error,
             ics_launch_kernel(replay->kernel, grid, threads, arguments, launch->stream));
    CUDA_TRY(ordinal, error,
             cudaMemcpyAsync(launch->counts, launch->work.counts, sizeof *launch->counts,
                             cudaMemcpyDeviceToHost, launch->stream));
    return ICESTREAM_OK;
}

int ics_gpu_replay_submit(ics_gpu_replay *replay, uint32_t launch,
                          const ics_gpu_replay_photons *photons, icestream_error *error)
{
    const int status = submit(replay, &replay->launches[launch], photons, error);
    replay->lost |= status == ICESTREAM_E_FAILED;
    return status;
}

static int download(const ics_gpu_replay *replay, const replay_launch *launch, void *to,
                    const void *from, uint64_t bytes, icestream_error *error)
{
    if (bytes > 0) {
        CUDA_TRY(replay->options.ordinal, error,
                 cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, launch->stream));
    }
    return ICESTREAM_OK;
}

static int await(ics_gpu_replay *replay, const replay_launch *launch, ics_gpu_replay_output *out,
                 icestream_error *error)
{
    const int ordinal = replay->options.ordinal;
    const ics_replay_work *work = &launch->work;
    CUDA_TRY(ordinal, error, cudaSetDevice(ordinal));
    CUDA_TRY(ordinal, error, cudaStreamSynchronize(launch->stream));
    *out = (ics_gpu_replay_output){.arrivals = launch->arrivals,
                                   .ends = launch->ends,
                                   .layers = launch->layers,
                                   .points = launch->points,
                                   .arrival_count = launch->counts->arrivals,
                                   .layer_count = launch->counts->layers};
    out->overflows =
        out->arrival_count > work->arrival_capacity || out->layer_count > work->layer_capacity;
    if (out->overflows) {
        return ICESTREAM_OK;
    }
    const uint64_t rows = out->arrival_count;
    const uint64_t arrivals = replay->points ? 0 : rows, points = replay->points ? rows : 0;
    ICS_TRY(download(replay, launch, launch->arrivals, work->arrivals,
                     arrivals * sizeof *out->arrivals, error));
    ICS_TRY(download(replay, launch, launch->ends, work->ends,
                     arrivals * (1 + replay->targets) * sizeof *out->ends, error));
    ICS_TRY(download(replay, launch, launch->points, work->points, points * sizeof *out->points,
                     error));
    ICS_TRY(download(replay, launch, launch->layers, work->layers,
                     out->layer_count * sizeof *out->layers, error));
    CUDA_TRY(ordinal, error, cudaStreamSynchronize(launch->stream));
    return ICESTREAM_OK;
}

int ics_gpu_replay_wait(ics_gpu_replay *replay, uint32_t launch, ics_gpu_replay_output *out,
                        icestream_error *error)
{
    const int status = await(replay, &replay->launches[launch], out, error);
    replay->lost |= status == ICESTREAM_E_FAILED;
    return status;
}
