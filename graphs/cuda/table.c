/* graphs/gpu_table.h: a table in the memory of a device. */
#include "base/error.h"
#include "graphs/cuda/check.h"
#include "graphs/cuda/settings.h"
#include "graphs/cuda/upload.h"
#include "graphs/gpu_table.h"
#include "kernels/cuda/device/table_work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* 128 threads in 4 blocks may have 128 registers each, and more threads would have too few. */
    TABLE_BLOCK = 128,
    TABLE_BLOCKS = 4,
    TABLE_REFILL = 8,
    SHAPE_SIZE = 512, /* of the definitions of the shape */
    /* A launch of this number of photons takes some seconds at most, after which `cancel` is looked
       at. */
    LAUNCH_PHOTONS = 1 << 22,
    PIECE_CELLS = 1 << 22 /* of the sums, in one download */
};

#define KERNEL "gpu_table"

struct ics_gpu_table {
    ics_gpu_options options;
    ice_tables tables;    /* tables whose pointers are those of the device */
    ice_tabulation stage; /* stage on the device, NULL until there is memory */
    uint64_t cells;
    cudaLibrary_t library;
    cudaKernel_t kernel;
    uint32_t blocks; /* blocks of a launch */
    ics_upload upload;
    ice_emission *emissions;      /* device, [capacity] */
    ice_tabulate_origin *origins; /* device, [capacity] */
    uint32_t *offsets;            /* device, [capacity] */
    uint32_t *offsets_here;       /* [capacity] */
    uint32_t capacity;
    ics_table_counts *counts; /* device */
    cudaEvent_t begun, computed;
    ics_gpu_usage usage;
    bool lost; /* the device failed */
};

/* ---- creation -------------------------------------------------------------------------------- */

static int no_memory(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a table of a GPU");
}

static void add_list(FILE *file, const char *name, const ice_tabulation *stage, bool of_powers)
{
    fprintf(file, "#define GPU_TABLE_%s {", name);
    for (int32_t i = 0; i < stage->axis_count; ++i) {
        const ice_tabulate_axis *axis = &stage->axes[i];
        fprintf(file, "%s%d", i > 0 ? ", " : "", of_powers ? axis->power : axis->coordinate);
    }
    fprintf(file, "%s}\n", stage->axis_count == 0 ? "0" : "");
}

/* Adds the kernel and the shape of the table to the definitions of a program. */
static int define_table(const ics_gpu_options *options, const ice_tabulation *stage,
                        char *definitions, size_t size, icestream_error *error)
{
    FILE *file = ics_settings_definitions(definitions, size);
    if (file != NULL) {
        ics_settings_define_kernel(options, ICS_TUNED_TABLE, file);
        fprintf(file,
                "#define GPU_TABLE_GEOMETRY %d\n#define GPU_TABLE_AXES %d\n"
                "#define GPU_TABLE_SQUARES %d\n",
                stage->geometry, stage->axis_count, stage->squares != NULL ? 1 : 0);
        add_list(file, "COORDINATES", stage, false);
        add_list(file, "POWERS", stage, true);
    }
    return ics_settings_end_definitions(file, error);
}

/* Compiles the kernel, or finds it in a cache. */
static int make_program(const ics_gpu_options *options, const ics_tables *tables,
                        const ice_tabulation *stage, int architecture, ics_program **out,
                        icestream_error *error)
{
    char definitions[ICS_DEFINITIONS_SIZE + SHAPE_SIZE];
    ics_program_options program;
    ICS_TRY(ics_settings_program(options, tables, architecture, &program, definitions, error));
    ICS_TRY(define_table(options, stage, definitions, sizeof definitions, error));
    program.entry = "kernels/cuda/device/table.h";
    return ics_program_create(&program, out, error);
}

static int load_kernel(ics_gpu_table *table, const ics_tables *tables, const ice_tabulation *stage,
                       int architecture, icestream_error *error)
{
    const int ordinal = table->options.ordinal;
    ics_program *program = NULL;
    ICS_TRY(make_program(&table->options, tables, stage, architecture, &program, error));
    const cudaError_t result =
        cudaLibraryLoadData(&table->library, program->image, NULL, NULL, 0, NULL, NULL, 0);
    ics_program_destroy(program);
    if (result != cudaSuccess) {
        return ics_check_failed(result, "cudaLibraryLoadData", ordinal, error);
    }
    CUDA_TRY(ordinal, error, cudaLibraryGetKernel(&table->kernel, table->library, KERNEL));
    return ICESTREAM_OK;
}

/* Makes a column of zeros, [cells]. */
static int allocate_column(const ics_gpu_table *table, uint64_t **out, icestream_error *error)
{
    const int ordinal = table->options.ordinal;
    const uint64_t bytes = table->cells * sizeof **out;
    const cudaError_t result = cudaMalloc((void **)out, bytes);
    if (result == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        return ics_error_set(error, ICESTREAM_E_MEMORY,
                             "GPU %d: found too little free memory for %llu bytes of a table of "
                             "%llu cells, expected fewer bins, no table.squares, or a device with "
                             "more memory",
                             ordinal, (unsigned long long)bytes, (unsigned long long)table->cells);
    }
    if (result != cudaSuccess) {
        return ics_check_failed(result, "cudaMalloc", ordinal, error);
    }
    CUDA_TRY(ordinal, error, cudaMemset(*out, 0, bytes));
    return ICESTREAM_OK;
}

static int allocate(ics_gpu_table *table, const ics_tables *tables, bool has_squares,
                    icestream_error *error)
{
    const int ordinal = table->options.ordinal;
    const uint64_t bytes = table->cells * sizeof(uint64_t);
    const bool fast_math = table->options.math != ICS_MATH_PORTABLE;
    const uint64_t all =
        ics_upload_bytes(tables, fast_math) + sizeof *table->counts + bytes * (has_squares ? 2 : 1);
    if (table->options.memory_limit != 0 && all > table->options.memory_limit) {
        return ics_error_set(error, ICESTREAM_E_MEMORY,
                             "GPU %d: a table of %llu cells needs %llu bytes of device memory, "
                             "expected at most device.memory_limit = %llu",
                             ordinal, (unsigned long long)table->cells, (unsigned long long)all,
                             (unsigned long long)table->options.memory_limit);
    }
    ICS_TRY(ics_upload_tables(ordinal, tables, fast_math, &table->upload, &table->tables, error));
    CUDA_TRY(ordinal, error, cudaMalloc((void **)&table->counts, sizeof *table->counts));
    ICS_TRY(allocate_column(table, &table->stage.sums, error));
    if (has_squares) {
        ICS_TRY(allocate_column(table, &table->stage.squares, error));
    }
    table->usage.device_bytes = all;
    return ICESTREAM_OK;
}

/* Sets what the kernel for tables needs, where the user chose nothing. */
static ics_gpu_options resolve(const ics_gpu_options *options)
{
    ics_gpu_options out = *options;
    ics_kernel_tune *own = &out.tune.kernels[ICS_TUNED_TABLE];
    /* A schedule with one kernel without shared memory, whose own settings do not count here. */
    out.schedule = ICS_SCHEDULE_THREAD_PER_STEP;
    out.tune.kernels[ICS_TUNED_THREAD_PER_STEP] = (ics_kernel_tune){0};
    out.lanes = 1;
    out.pool = 0;
    out.math = options->math == ICS_MATH_AUTO ? ICS_MATH_PORTABLE : options->math;
    ics_settings_resolve_table(options, own, TABLE_BLOCK, TABLE_BLOCKS);
    out.block = own->threads;
    out.blocks_per_processor = own->blocks;
    out.refill = options->refill == 0 ? TABLE_REFILL : options->refill;
    return out;
}

static int set_up(ics_gpu_table *table, const ics_tables *tables, const ice_tabulation *stage,
                  icestream_error *error)
{
    const int ordinal = table->options.ordinal;
    ics_gpu_device about;
    ICS_TRY(ics_gpu_describe(ordinal, &about, error)); /* also makes the device the current one */
    const ics_gpu_limits limits = {.architecture = about.architecture,
                                   .processors = about.processors,
                                   .features = tables->device.features};
    ics_settings_resolve(&table->options, &limits);
    table->blocks = (uint32_t)about.processors * table->options.blocks_per_processor;
    ICS_TRY(load_kernel(table, tables, stage, about.architecture, error));
    ICS_TRY(allocate(table, tables, stage->squares != NULL, error));
    CUDA_TRY(ordinal, error, cudaEventCreate(&table->begun));
    CUDA_TRY(ordinal, error, cudaEventCreate(&table->computed));
    return ICESTREAM_OK;
}

int ics_gpu_table_plan(const ics_gpu_options *options, const ics_tables *tables,
                       const ice_tabulation *stage, int architecture, ics_kernel_resources *out,
                       icestream_error *error)
{
    ics_gpu_options resolved = resolve(options);
    ics_program *program = NULL;
    const ics_gpu_limits limits = ics_settings_assumed_limits(architecture, tables);
    ics_settings_resolve(&resolved, &limits);
    ICS_TRY(make_program(&resolved, tables, stage, architecture, &program, error));
    const ics_kernel_resources *kernel = ics_program_kernel(program, KERNEL);
    *out = kernel != NULL ? *kernel : (ics_kernel_resources){.name = KERNEL};
    ics_program_destroy(program);
    return ICESTREAM_OK;
}

int ics_gpu_table_create(const ics_gpu_options *options, const ics_tables *tables,
                         const ice_tabulation *stage, ics_gpu_table **out, icestream_error *error)
{
    *out = NULL;
    ics_gpu_table *table = calloc(1, sizeof *table);
    if (table == NULL) {
        return no_memory(error);
    }
    table->options = resolve(options);
    table->stage = *stage;
    table->stage.sums = table->stage.squares = NULL; /* those are the caller's */
    table->cells = ics_gpu_table_cells(stage);
    const int status = set_up(table, tables, stage, error);
    if (status != ICESTREAM_OK) {
        ics_gpu_table_destroy(table);
        return status;
    }
    *out = table;
    return ICESTREAM_OK;
}

static void free_buffers(ics_gpu_table *table)
{
    (void)cudaFree(table->emissions);
    (void)cudaFree(table->origins);
    (void)cudaFree(table->offsets);
    free(table->offsets_here);
    table->emissions = NULL;
    table->origins = NULL;
    table->offsets = table->offsets_here = NULL;
    table->capacity = 0;
}

void ics_gpu_table_destroy(ics_gpu_table *table)
{
    if (table == NULL) {
        return;
    }
    if (!table->lost && cudaSetDevice(table->options.ordinal) == cudaSuccess) {
        free_buffers(table);
        ics_upload_free(&table->upload);
        (void)cudaFree(table->counts);
        (void)cudaFree(table->stage.sums);
        (void)cudaFree(table->stage.squares);
        if (table->library != NULL) {
            (void)cudaLibraryUnload(table->library);
        }
        if (table->begun != NULL) {
            (void)cudaEventDestroy(table->begun);
        }
        if (table->computed != NULL) {
            (void)cudaEventDestroy(table->computed);
        }
    }
    (void)cudaGetLastError();
    free(table->offsets_here);
    free(table);
}

void ics_gpu_table_facts_of(const ics_gpu_table *table, ics_gpu_table_facts *out)
{
    *out = (ics_gpu_table_facts){.options = table->options, .usage = table->usage};
    out->options.schedule = ICS_SCHEDULE_MONOLITHIC; /* a thread carries one photon after another */
}

/* ---- photons --------------------------------------------------------------------------------- */

/* Makes room for a batch. */
static int reserve(ics_gpu_table *table, uint32_t count, icestream_error *error)
{
    const int ordinal = table->options.ordinal;
    if (count <= table->capacity) {
        return ICESTREAM_OK;
    }
    free_buffers(table);
    table->offsets_here = calloc(count, sizeof *table->offsets_here);
    if (table->offsets_here == NULL) {
        return no_memory(error);
    }
    CUDA_TRY(ordinal, error,
             cudaMalloc((void **)&table->emissions, count * sizeof *table->emissions));
    CUDA_TRY(ordinal, error, cudaMalloc((void **)&table->origins, count * sizeof *table->origins));
    CUDA_TRY(ordinal, error, cudaMalloc((void **)&table->offsets, count * sizeof *table->offsets));
    table->capacity = count;
    return ICESTREAM_OK;
}

static int upload(ics_gpu_table *table, const ics_gpu_table_light *light, uint64_t *photons,
                  icestream_error *error)
{
    const int ordinal = table->options.ordinal;
    const size_t count = light->count;
    *photons = 0;
    for (size_t i = 0; i < count; ++i) {
        table->offsets_here[i] = (uint32_t)*photons;
        *photons += light->emissions[i].photons;
    }
    if (*photons > UINT32_MAX) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "graph.batch: found %llu photons, expected at most %u",
                             (unsigned long long)*photons, UINT32_MAX);
    }
    CUDA_TRY(ordinal, error,
             cudaMemcpy(table->emissions, light->emissions, count * sizeof *table->emissions,
                        cudaMemcpyHostToDevice));
    CUDA_TRY(ordinal, error,
             cudaMemcpy(table->origins, light->origins, count * sizeof *table->origins,
                        cudaMemcpyHostToDevice));
    CUDA_TRY(ordinal, error,
             cudaMemcpy(table->offsets, table->offsets_here, count * sizeof *table->offsets,
                        cudaMemcpyHostToDevice));
    return ICESTREAM_OK;
}

/* Computes some photons of the batch that was uploaded. */
static int launch(ics_gpu_table *table, ics_table_work work, ics_table_counts *counts,
                  icestream_error *error)
{
    const int ordinal = table->options.ordinal;
    void *arguments[] = {&table->tables, &table->stage, &work};
    const uint32_t block = table->options.block;
    const uint32_t wanted = (work.photons + block - 1) / block;
    const dim3 grid = {wanted < table->blocks ? wanted : table->blocks, 1, 1};
    const dim3 threads = {block, 1, 1};
    float milliseconds = 0.0f;
    CUDA_TRY(ordinal, error, cudaMemset(table->counts, 0, sizeof *table->counts));
    CUDA_TRY(ordinal, error, cudaEventRecord(table->begun, NULL));
    CUDA_TRY(ordinal, error, ics_launch_kernel(table->kernel, grid, threads, arguments, NULL));
    CUDA_TRY(ordinal, error, cudaEventRecord(table->computed, NULL));
    CUDA_TRY(ordinal, error,
             cudaMemcpy(counts, table->counts, sizeof *counts, cudaMemcpyDeviceToHost));
    CUDA_TRY(ordinal, error, cudaEventElapsedTime(&milliseconds, table->begun, table->computed));
    table->usage.seconds += 1e-3 * (double)milliseconds;
    ++table->usage.launches;
    return ICESTREAM_OK;
}

static void add_counts(const ics_table_counts *counts, uint32_t photons, ics_gpu_table_result *out)
{
    out->account.created += photons;
    out->account.absorbed += counts->absorbed;
    out->account.detected += counts->detected;
    out->account.left += counts->left;
    out->account.stopped += counts->stopped;
    out->account.bounces += counts->bounces;
    out->samples += counts->samples;
    out->overflows |= counts->overflows > 0;
}

static int fill(ics_gpu_table *table, const ics_gpu_table_light *light, ics_gpu_table_result *out,
                icestream_error *error)
{
    uint64_t photons = 0;
    CUDA_TRY(table->options.ordinal, error, cudaSetDevice(table->options.ordinal));
    ICS_TRY(reserve(table, light->count, error));
    ICS_TRY(upload(table, light, &photons, error));
    for (uint64_t first = 0; first < photons; first += LAUNCH_PHOTONS) {
        const uint64_t left = photons - first;
        const uint32_t now = left < LAUNCH_PHOTONS ? (uint32_t)left : LAUNCH_PHOTONS;
        const ics_table_work work = {.emissions = table->emissions,
                                     .origins = table->origins,
                                     .offsets = table->offsets,
                                     .counts = table->counts,
                                     .count = light->count,
                                     .first = (uint32_t)first,
                                     .photons = now};
        ics_table_counts counts = {.next = 0};
        if (light->cancel != NULL && atomic_load(light->cancel)) {
            return ics_error_set(error, ICESTREAM_E_INTERRUPTED, "interrupted");
        }
        ICS_TRY(launch(table, work, &counts, error));
        add_counts(&counts, now, out);
    }
    return ICESTREAM_OK;
}

int ics_gpu_table_fill(ics_gpu_table *table, const ics_gpu_table_light *light,
                       ics_gpu_table_result *out, icestream_error *error)
{
    *out = (ics_gpu_table_result){.samples = 0};
    const int status = fill(table, light, out, error);
    table->lost |= status == ICESTREAM_E_FAILED;
    return status;
}

/* ---- the sums -------------------------------------------------------------------------------- */

/* Adds a column of the device to one of the host, and zeroes it. */
static int collect_column(const ics_gpu_table *table, uint64_t *from, uint64_t *to, uint64_t *piece,
                          bool *overflows, icestream_error *error)
{
    const int ordinal = table->options.ordinal;
    for (uint64_t first = 0; first < table->cells; first += PIECE_CELLS) {
        const uint64_t left = table->cells - first;
        const uint64_t count = left < PIECE_CELLS ? left : PIECE_CELLS;
        CUDA_TRY(ordinal, error,
                 cudaMemcpy(piece, from + first, count * sizeof *piece, cudaMemcpyDeviceToHost));
        uint64_t high = 0;
        for (uint64_t i = 0; i < count; ++i) {
            /* Both are below 2^63, unless an overflow was reported before. */
            to[first + i] += piece[i];
            high |= to[first + i];
        }
        *overflows |= high >> 63 != 0;
    }
    CUDA_TRY(ordinal, error, cudaMemset(from, 0, table->cells * sizeof *from));
    return ICESTREAM_OK;
}

int ics_gpu_table_collect(ics_gpu_table *table, uint64_t *sums, uint64_t *squares, bool *overflows,
                          icestream_error *error)
{
    uint64_t *piece = malloc(PIECE_CELLS * sizeof *piece);
    if (piece == NULL) {
        return no_memory(error);
    }
    const cudaError_t result = cudaSetDevice(table->options.ordinal);
    int status = result == cudaSuccess
                     ? ICESTREAM_OK
                     : ics_check_failed(result, "cudaSetDevice", table->options.ordinal, error);
    if (status == ICESTREAM_OK) {
        status = collect_column(table, table->stage.sums, sums, piece, overflows, error);
    }
    if (status == ICESTREAM_OK && table->stage.squares != NULL) {
        status = collect_column(table, table->stage.squares, squares, piece, overflows, error);
    }
    free(piece);
    table->lost |= status == ICESTREAM_E_FAILED;
    return status;
}
