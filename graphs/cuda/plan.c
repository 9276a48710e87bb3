/* The resources that a schedule needs of a device, found without running it; and its programs for
 * the cache that is installed with icestream. */
#include "base/error.h"
#include "graphs/cuda/check.h"
#include "graphs/cuda/lane.h"
#include "graphs/cuda/upload.h"

#include <stdio.h>
#include <stdlib.h>

/* Multiprocessor limits by architecture (CUDA C++ Programming Guide, "Compute Capabilities"). */
typedef struct processor_limits {
    uint32_t threads, blocks, registers, shared_bytes;
    uint32_t reserved; /* shared memory that the system takes for a block (bytes) */
} processor_limits;

static processor_limits processor_of(int architecture)
{
    processor_limits found = {.threads = 2048,
                              .blocks = 32,
                              .registers = 65536,
                              .shared_bytes = 228 << 10,
                              .reserved = architecture >= 80 ? 1024 : 0};
    switch (architecture) {
    case 70:
        found.shared_bytes = 96 << 10;
        break;
    case 75:
        found.threads = 1024;
        found.blocks = 16;
        found.shared_bytes = 64 << 10;
        break;
    case 80:
        found.shared_bytes = 164 << 10;
        break;
    case 86:
    case 89:
        found.threads = 1536;
        found.blocks = architecture == 86 ? 16 : 24;
        found.shared_bytes = 100 << 10;
        break;
    case 120:
        found.threads = 1536;
        found.blocks = 24;
        found.shared_bytes = 100 << 10;
        break;
    default:
        break;
    }
    return found;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Returns the number of blocks of a kernel that a multiprocessor holds at a time. A warp gets
 * registers in units of 256. */
static uint32_t resident_blocks(const ics_kernel_resources *resources, uint32_t block,
                                const processor_limits *processor)
{
    const uint32_t per_warp = (resources->registers * 32 + 255) / 256 * 256;
    const uint32_t warps = processor->registers / (per_warp ? per_warp : 256);
    const uint32_t by_registers = warps / (block / 32);
    const uint32_t by_threads = processor->threads / block;
    const uint32_t used = resources->shared_bytes + processor->reserved;
    const uint32_t by_memory = used > 0 ? processor->shared_bytes / used : processor->blocks;
    return least(least(by_registers, by_threads), least(by_memory, processor->blocks));
}

/* The waves in which a kernel runs, divided by all waves (1). */
static double share_of_waves(const ics_gpu_schedule *schedule, const ics_schedule_kernel *kernel)
{
    uint32_t waves = 0;
    for (uint32_t wave = 0; wave < schedule->waves_per_trip; ++wave) {
        waves += ics_schedule_has_kernel(schedule, kernel, wave) ? 1 : 0;
    }
    return schedule->waves_per_trip > 0 ? (double)waves / schedule->waves_per_trip : 1.0;
}

static int plan_kernels(ics_gpu_plan *plan, const ics_program *program, const ice_tables *tables,
                        int architecture, icestream_error *error)
{
    const ics_gpu_schedule *schedule = ics_schedule_row(plan->options.schedule);
    const processor_limits processor = processor_of(architecture);
    plan->kernels = calloc(ICS_SCHEDULE_KERNELS, sizeof *plan->kernels);
    if (plan->kernels == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a plan");
    }
    const ics_schedule_kernel *rows = ics_schedule_kernels(schedule, plan->options.join);
    for (size_t i = 0; rows[i].name != NULL; ++i) {
        const ics_schedule_kernel *row = &rows[i];
        if (row->in_columns && !ics_settings_has_columns(&plan->options, tables)) {
            continue;
        }
        ics_kernel_resources unknown = {.registers = 0}; /* the driver compiles PTX later */
        snprintf(unknown.name, sizeof unknown.name, "%s", row->name);
        const ics_kernel_resources *resources =
            program->is_ptx ? &unknown : ics_program_kernel(program, row->name);
        if (resources == NULL) {
            return ics_error_set(error, ICESTREAM_E_CONFIG,
                                 "internal error: the program has no kernel %s", row->name);
        }
        ics_gpu_plan_kernel *kernel = &plan->kernels[plan->kernel_count++];
        kernel->resources = *resources;
        kernel->block = ics_settings_kernel(&plan->options, row->name).threads;
        if (resources->registers > 0) {
            kernel->blocks_per_processor = resident_blocks(resources, kernel->block, &processor);
        }
        kernel->occupancy =
            (double)kernel->blocks_per_processor * kernel->block / processor.threads;
        kernel->bytes_per_slot = row->bytes_per_slot;
        plan->bytes_per_bounce +=
            row->sparse ? 0 : share_of_waves(schedule, row) * row->bytes_per_slot;
    }
    if (schedule->long_visits) {
        plan->bytes_per_bounce /= plan->options.bounces_per_wave;
    }
    return ICESTREAM_OK;
}

/* Compiles the kernels, or finds them in a cache. */
static int plan_program(ics_gpu_plan *plan, const ics_tables *tables, int architecture,
                        icestream_error *error)
{
    char definitions[ICS_DEFINITIONS_SIZE];
    ics_program_options options;
    ICS_TRY(
        ics_settings_program(&plan->options, tables, architecture, &options, definitions, error));
    ics_program *program = NULL;
    ICS_TRY(ics_program_create(&options, &program, error));
    plan->origin = program->origin;
    const int status = plan_kernels(plan, program, &tables->device, architecture, error);
    ics_program_destroy(program);
    return status;
}

/* Resolves the options. *architecture 0: becomes that of the device. */
static int resolve(ics_gpu_options *options, const ics_tables *tables, int *architecture,
                   icestream_error *error)
{
    ics_gpu_limits limits = ics_settings_assumed_limits(*architecture, tables);
    if (*architecture == 0) {
        ics_gpu_device device;
        ICS_TRY(ics_gpu_describe(options->ordinal, &device, error));
        limits.architecture = *architecture = device.architecture;
        limits.processors = device.processors;
    }
    if (ics_schedule_row(options->schedule) == NULL) {
        return ics_error_set(error, ICESTREAM_E_CONFIG, "schedule %s cannot be planned",
                             ics_graph_schedule_name(options->schedule));
    }
    ics_settings_resolve(options, &limits);
    return ICESTREAM_OK;
}

int ics_gpu_plan_check(ics_gpu_options *options, const ics_tables *tables, icestream_error *error)
{
    char definitions[ICS_DEFINITIONS_SIZE];
    ics_program_options program;
    int architecture = 0;
    ICS_TRY(resolve(options, tables, &architecture, error));
    ICS_TRY(ics_settings_program(options, tables, architecture, &program, definitions, error));
    return ics_program_check(&program, error);
}

static int fill_plan(ics_gpu_plan *plan, const ics_tables *tables, int architecture,
                     icestream_error *error)
{
    ICS_TRY(resolve(&plan->options, tables, &architecture, error));
    ICS_TRY(plan_program(plan, tables, architecture, error));

    const uint32_t lanes = plan->options.lanes;
    ics_lane_bytes(&plan->options, &tables->device, plan);
    plan->pool_bytes *= lanes;
    plan->queue_bytes *= lanes;
    plan->hit_bytes *= lanes;
    plan->staging_bytes *= lanes;
    plan->table_bytes = ics_upload_bytes(tables, plan->options.math != ICS_MATH_PORTABLE);
    plan->device_bytes = plan->pool_bytes + plan->queue_bytes + plan->hit_bytes + plan->table_bytes;
    return ICESTREAM_OK;
}

int ics_gpu_plan_create(const ics_gpu_options *options, const ics_tables *tables, int architecture,
                        ics_gpu_plan **out, icestream_error *error)
{
    *out = NULL;
    ics_gpu_plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a plan");
    }
    plan->options = *options;
    const int status = fill_plan(plan, tables, architecture, error);
    plan->options.sums = NULL; /* it may not outlive this call */
    if (status != ICESTREAM_OK) {
        ics_gpu_plan_destroy(plan);
        return status;
    }
    *out = plan;
    return ICESTREAM_OK;
}

void ics_gpu_plan_destroy(ics_gpu_plan *plan)
{
    if (plan != NULL) {
        free(plan->kernels);
    }
    free(plan);
}

/* ---- the cache of an installation ------------------------------------------------------------ */

static int store_one(const ics_gpu_options *options, const ics_tables *tables, int architecture,
                     bool as_ptx, const char *directory, icestream_error *error)
{
    ics_gpu_options resolved = *options;
    /* The size of the device is assumed: no program depends on it. */
    const ics_gpu_limits limits = ics_settings_assumed_limits(architecture, tables);
    ics_settings_resolve(&resolved, &limits);
    char definitions[ICS_DEFINITIONS_SIZE];
    ics_program_options program;
    ICS_TRY(ics_settings_program(&resolved, tables, architecture, &program, definitions, error));
    return ics_program_store(&program, as_ptx, directory, error);
}

int ics_gpu_store(const ics_gpu_options *options, const ics_tables *tables, int architecture,
                  bool as_ptx, const char *directory, icestream_error *error)
{
    if (options->schedule != ICS_SCHEDULE_AUTO) {
        return store_one(options, tables, architecture, as_ptx, directory, error);
    }
    ics_gpu_options candidate;
    for (size_t i = 0; ics_settings_candidate(options, i, &candidate); ++i) {
        ICS_TRY(store_one(&candidate, tables, architecture, as_ptx, directory, error));
    }
    return ICESTREAM_OK;
}
