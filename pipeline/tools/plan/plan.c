/* `icestream plan`: what a run would take, without running photons. */
#include "base/error.h"
#include "graphs/gpu.h"
#include "kernels/cuda/state.h"
#include "pipeline/devices/device.h"
#include "pipeline/tools/measure/report.h"
#include "pipeline/tools/measure/schedules.h"
#include "pipeline/tools/measure/world.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { ARCHITECTURE_DEFAULT = 90 };

typedef struct cpu_plan {
    bool wanted;
    ics_schedule schedule;
    uint32_t threads;
    char instruction_set[16];
    uint32_t pool;      /* photon slots of a thread */
    size_t slot_bytes;  /* of one slot */
    size_t table_bytes; /* shared by all threads */
} cpu_plan;

typedef struct gpu_plan {
    bool wanted;
    ics_gpu_device device;                       /* name "": there is none */
    ics_gpu_error absent;                        /* why there is none */
    int architecture;                            /* that is planned for */
    bool assumed;                                /* neither given nor found */
    ics_gpu_plan *schedules[ICS_SCHEDULE_COUNT]; /* [count] */
    size_t count;
    char missing[sizeof((icestream_error *)0)->text]; /* why there is no plan; "": there is */
} gpu_plan;

typedef struct plan {
    cpu_plan cpu;
    gpu_plan gpu;
} plan;

/* ---- planning -------------------------------------------------------------------------------- */

static int plan_cpu(const icestream_config *config, const ics_world *world, cpu_plan *out,
                    icestream_error *error)
{
    ics_device_options options;
    int status = ics_device_options_from_config(config, &options, error);
    if (status != ICESTREAM_OK) {
        return status;
    }
    ics_hit_models models = {.tables = &world->tables->device,
                             .detector = world->models->detector,
                             .light = world->models->light,
                             .detection = world->models->detection};
    ics_device *device = NULL;
    status = ics_device_create(&options, world->tables, models, (ics_post){0}, &device, error);
    if (status != ICESTREAM_OK) {
        return status;
    }
    ics_device_facts facts;
    ics_device_facts_of(device, &facts);
    *out = (cpu_plan){.wanted = true,
                      .schedule = facts.schedule,
                      .threads = facts.threads,
                      .pool = facts.pool,
                      .table_bytes = world->tables->bytes};
    snprintf(out->instruction_set, sizeof out->instruction_set, "%s", facts.instruction_set);
    ics_device_destroy(device);

    /* Stages have no part in how large a slot is. */
    ics_graph_options graph_options = {.schedule = options.graph.schedule,
                                       .pool = options.graph.pool,
                                       .instruction_set = options.instruction_set};
    ics_graph *graph = NULL;
    char why[512] = "";
    if (ics_graph_create(&graph_options, world->tables, &graph, why, sizeof why) != ICS_GRAPH_OK) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s", why);
    }
    out->slot_bytes = ics_graph_slot_bytes(graph);
    ics_graph_destroy(graph);
    return ICESTREAM_OK;
}

/* The device that is planned for; a given architecture wins over what is here. */
static void find_device(const icestream_config *config, int architecture, gpu_plan *out)
{
    if (architecture != 0) {
        out->architecture = architecture;
    } else if (ics_gpu_describe((int)config->device.index[0], &out->device, &out->absent) ==
               ICS_GRAPH_OK) {
        out->architecture = out->device.architecture;
    } else {
        out->device.name[0] = '\0';
        out->architecture = ARCHITECTURE_DEFAULT;
        out->assumed = true;
    }
}

static int plan_schedule(const icestream_config *config, const ics_world *world,
                         ics_schedule schedule, int architecture, gpu_plan *out,
                         icestream_error *error)
{
    ics_gpu_options options;
    int status = ics_device_gpu_options_from_config(config, &options, error);
    if (status != ICESTREAM_OK) {
        return status;
    }
    options.schedule = schedule;
    ics_gpu_error problem = {.status = ICS_GRAPH_OK};
    int result = ics_gpu_plan_create(&options, world->tables, architecture,
                                     &out->schedules[out->count], &problem);
    if (result == ICS_GRAPH_OK) {
        out->count++;
        return ICESTREAM_OK;
    }
    return ics_error_set(error,
                         result == ICS_GRAPH_NO_MEMORY ? ICESTREAM_E_MEMORY : ICESTREAM_E_DEVICE,
                         "%s", problem.text);
}

static int plan_gpu(const icestream_config *config, const ics_world *world, int architecture,
                    gpu_plan *out, icestream_error *error)
{
    out->wanted = true;
    find_device(config, architecture, out);
    ics_schedule_list list = ics_schedules_of_device(true);
    if (config->graph.schedule != ICS_SCHEDULE_AUTO) {
        list = (ics_schedule_list){.items = {config->graph.schedule}, .count = 1};
    }
    int status = ICESTREAM_OK;
    for (size_t i = 0; status == ICESTREAM_OK && i < list.count; ++i) {
        if (list.items[i] != ICS_SCHEDULE_AUTO) {
            status = plan_schedule(config, world, list.items[i],
                                   out->device.name[0] != '\0' ? 0 : out->architecture, out, error);
        }
    }
    /* Where nobody asked for a GPU, that there is no plan for one is news and not an error. */
    if (status == ICESTREAM_E_DEVICE && config->device.backend == ICS_BACKEND_AUTO &&
        architecture == 0) {
        snprintf(out->missing, sizeof out->missing, "%s", error != NULL ? error->text : "no plan");
        return ics_error_set(error, ICESTREAM_OK, "%s", "");
    }
    return status;
}

/* A CPU's plan where photons would go through the CPU, a GPU's where they could go through one or
 * an architecture was given. */
static int make_plan(const icestream_config *config, const icestream_plan_options *options,
                     plan *out, icestream_error *error)
{
    ics_world world;
    int status = ics_world_create(config, &world, error);
    if (status != ICESTREAM_OK) {
        return status;
    }
    ics_backend backend = config->device.backend;
    if (backend != ICS_BACKEND_CPU || options->architecture != 0) {
        status = plan_gpu(config, &world, options->architecture, &out->gpu, error);
    }
    bool gpu_here = out->gpu.wanted && out->gpu.device.name[0] != '\0';
    bool cpu_alone = backend == ICS_BACKEND_CPU || backend == ICS_BACKEND_AUTO;
    if (status == ICESTREAM_OK && cpu_alone && !gpu_here) {
        status = plan_cpu(config, &world, &out->cpu, error);
    }
    /* Settings that a CPU does not have are those of a machine with a GPU, which is planned for. */
    if (status == ICESTREAM_E_CONFIG && backend == ICS_BACKEND_AUTO && out->gpu.count > 0) {
        status = ics_error_set(error, ICESTREAM_OK, "%s", "");
    }
    ics_world_destroy(&world);
    return status;
}

/* ---- what is in a plan ----------------------------------------------------------------------- */

static const char *origin_text(ics_program_origin origin)
{
    switch (origin) {
    case ICS_PROGRAM_COMPILED:
        return "compiled";
    case ICS_PROGRAM_CACHED:
        return "cached";
    case ICS_PROGRAM_INSTALLED:
        break;
    }
    return "installed";
}

static const ics_kernel_resources *largest_kernel(const ics_gpu_plan *schedule)
{
    const ics_kernel_resources *largest = NULL;
    for (size_t i = 0; i < schedule->kernel_count; ++i) {
        if (largest == NULL || schedule->kernels[i].resources.registers > largest->registers) {
            largest = &schedule->kernels[i].resources;
        }
    }
    return largest;
}

/* Registers of the largest kernel of a schedule, 0: it was not planned. */
static uint32_t registers_of(const gpu_plan *gpu, ics_schedule schedule)
{
    for (size_t i = 0; i < gpu->count; ++i) {
        if (gpu->schedules[i]->options.schedule == schedule) {
            return largest_kernel(gpu->schedules[i])->registers;
        }
    }
    return 0;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void print_cpu(const cpu_plan *cpu, FILE *out)
{
    fprintf(out, "CPU         %" PRIu32 " threads, %s\n", cpu->threads, cpu->instruction_set);
    fprintf(out, "  schedule  %s, waves of %" PRIu32 " photon slots of %zu bytes\n",
            ics_graph_schedule_name(cpu->schedule), cpu->pool, cpu->slot_bytes);
    fprintf(out, "  memory    waves %.1f KiB a thread, tables %.1f KiB for all\n",
            (double)cpu->pool * (double)cpu->slot_bytes / 1024, (double)cpu->table_bytes / 1024);
}

static void print_device(const gpu_plan *gpu, FILE *out)
{
    const ics_gpu_device *device = &gpu->device;
    if (device->name[0] != '\0') {
        fprintf(out, "GPU         %s, sm_%d, %d multiprocessors, %.1f GiB of memory\n",
                device->name, device->architecture, device->processors,
                (double)device->memory_bytes / (1 << 30));
    } else if (gpu->assumed) {
        fprintf(out,
                "GPU         none here; sm_%d is assumed (--architecture names another)\n"
                "  reason    %s\n",
                gpu->architecture, gpu->absent.text);
    } else {
        fprintf(out, "GPU         any of architecture sm_%d\n", gpu->architecture);
    }
    if (gpu->missing[0] != '\0' && strcmp(gpu->missing, gpu->absent.text) != 0) {
        fprintf(out, "  no plan   %s\n", gpu->missing);
    }
}

static int print_kernels(const ics_gpu_plan *schedule, FILE *out, icestream_error *error)
{
    static const char *const headings[] = {
        "kernel",        "registers", "shared B",  "stack B",   "spill stores B",
        "spill loads B", "threads",   "blocks/SM", "occupancy", "bytes/slot"};
    ics_report *report = ics_report_create(headings, sizeof headings / sizeof *headings);
    for (size_t i = 0; i < schedule->kernel_count; ++i) {
        const ics_gpu_plan_kernel *kernel = &schedule->kernels[i];
        const ics_kernel_resources *resources = &kernel->resources;
        ics_report_cell(report, "%s", resources->name);
        if (resources->registers == 0) { /* the driver will know */
            for (int column = 0; column < 5; ++column) {
                ics_report_cell(report, "-");
            }
            ics_report_cell(report, "%" PRIu32, kernel->block);
            ics_report_cell(report, "-");
            ics_report_cell(report, "-");
            ics_report_number(report, kernel->bytes_per_slot, 0);
            continue;
        }
        ics_report_cell(report, "%" PRIu32, resources->registers);
        ics_report_cell(report, "%" PRIu32, resources->shared_bytes);
        ics_report_cell(report, "%" PRIu32, resources->stack_bytes);
        ics_report_cell(report, "%" PRIu32, resources->spill_stores);
        ics_report_cell(report, "%" PRIu32, resources->spill_loads);
        ics_report_cell(report, "%" PRIu32, kernel->block);
        ics_report_cell(report, "%" PRIu32, kernel->blocks_per_processor);
        ics_report_cell(report, "%.0f %%", 100 * kernel->occupancy);
        ics_report_number(report, kernel->bytes_per_slot, 0);
    }
    int status = ics_report_print(report, false, 2, out, error);
    ics_report_destroy(report);
    return status;
}

static double megabytes(uint64_t bytes)
{
    return 1e-6 * (double)bytes;
}

static int print_schedule(const ics_gpu_plan *schedule, FILE *out, icestream_error *error)
{
    const ics_gpu_options *options = &schedule->options;
    fprintf(out, "\n%s, %s maths, kernels %s\n", ics_graph_schedule_name(options->schedule),
            options->math == ICS_MATH_PORTABLE ? "portable" : "fast",
            origin_text(schedule->origin));
    int status = print_kernels(schedule, out, error);
    fprintf(out, "  pool      %" PRIu32 " slots of %u bytes in %" PRIu32 " lanes", options->pool,
            ICS_SLOT_BYTES, options->lanes);
    if (options->schedule == ICS_SCHEDULE_MONOLITHIC ||
        options->schedule == ICS_SCHEDULE_JOB_QUEUE) {
        fprintf(out, ", and as many for photons that warps have made and nobody has taken");
    }
    if (options->schedule == ICS_SCHEDULE_FUSED) {
        fprintf(out, ", %" PRIu32 " bounces per wave", options->bounces_per_wave);
    }
    if (options->schedule == ICS_SCHEDULE_MONOLITHIC) {
        fprintf(out, ", refilled at %" PRIu32 " idle lanes of a warp", options->refill);
    }
    if (schedule->bytes_per_bounce > 0) {
        fprintf(out,
                "\n  traffic   %.1f bytes per photon and bounce, between pool and processors\n",
                schedule->bytes_per_bounce);
    } else {
        fprintf(
            out,
            "\n  traffic   none with the pool: photons stay in registers and shared memory while "
            "a launch lasts\n");
    }
    fprintf(out,
            "  batches   up to %" PRIu32 " steps and %" PRIu32 " photons, %" PRIu32
            " places for hits\n",
            options->batch_emissions, options->batch_photons, options->hits);
    fprintf(out,
            "  memory    %.1f MB of the device: pool %.1f, queues %.1f, hits %.1f, tables %.1f; "
            "%.1f MB of the host\n",
            megabytes(schedule->device_bytes), megabytes(schedule->pool_bytes),
            megabytes(schedule->queue_bytes), megabytes(schedule->hit_bytes),
            megabytes(schedule->table_bytes), megabytes(schedule->staging_bytes));
    return status;
}

static void print_largest(const gpu_plan *gpu, FILE *out)
{
    if (largest_kernel(gpu->schedules[0])->registers == 0) {
        fputs("\nRegisters are unknown: the GPU's driver compiles these kernels.\n", out);
        return;
    }
    fputs("\nRegisters of the largest kernel:", out);
    for (size_t i = 0; i < gpu->count; ++i) {
        const ics_gpu_plan *schedule = gpu->schedules[i];
        const ics_kernel_resources *largest = largest_kernel(schedule);
        fprintf(out, "%s %s %" PRIu32 " (%s)", i > 0 ? "," : "",
                ics_graph_schedule_name(schedule->options.schedule), largest->registers,
                largest->name);
    }
    uint32_t wavefront = registers_of(gpu, ICS_SCHEDULE_WAVEFRONT);
    uint32_t monolithic = registers_of(gpu, ICS_SCHEDULE_MONOLITHIC);
    if (wavefront > 0 && monolithic > 0 && wavefront != monolithic) {
        fprintf(out, ": wavefront has %" PRIu32 " %s than monolithic",
                wavefront < monolithic ? monolithic - wavefront : wavefront - monolithic,
                wavefront < monolithic ? "fewer" : "more");
    } else if (wavefront > 0 && monolithic > 0) {
        fprintf(out, ": wavefront has as many as monolithic");
    }
    fputc('\n', out);
}

static int print_text(const plan *all, FILE *out, icestream_error *error)
{
    int status = ICESTREAM_OK;
    if (all->cpu.wanted) {
        print_cpu(&all->cpu, out);
    }
    if (all->cpu.wanted && all->gpu.wanted) {
        fputc('\n', out);
    }
    if (all->gpu.wanted) {
        print_device(&all->gpu, out);
    }
    for (size_t i = 0; status == ICESTREAM_OK && i < all->gpu.count; ++i) {
        status = print_schedule(all->gpu.schedules[i], out, error);
    }
    if (all->gpu.count > 0) {
        print_largest(&all->gpu, out);
    }
    return status == ICESTREAM_OK ? ics_report_end("plan", out, error) : status;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *cpu_json(const cpu_plan *cpu)
{
    return json_pack("{s:s, s:I, s:s, s:I, s:I, s:I}", "schedule",
                     ics_graph_schedule_name(cpu->schedule), "threads", (json_int_t)cpu->threads,
                     "instruction_set", cpu->instruction_set, "pool", (json_int_t)cpu->pool,
                     "slot_bytes", (json_int_t)cpu->slot_bytes, "table_bytes",
                     (json_int_t)cpu->table_bytes);
}

static json_t *kernel_json(const ics_gpu_plan_kernel *kernel)
{
    const ics_kernel_resources *resources = &kernel->resources;
    return json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:o}", "name", resources->name, "registers",
        (json_int_t)resources->registers, "shared_bytes", (json_int_t)resources->shared_bytes,
        "stack_bytes", (json_int_t)resources->stack_bytes, "spill_stores",
        (json_int_t)resources->spill_stores, "spill_loads", (json_int_t)resources->spill_loads,
        "block", (json_int_t)kernel->block, "blocks_per_multiprocessor",
        (json_int_t)kernel->blocks_per_processor, "occupancy", kernel->occupancy, "bytes_per_slot",
        kernel->bytes_per_slot > 0 ? json_integer(kernel->bytes_per_slot) : json_null());
}

static json_t *schedule_json(const ics_gpu_plan *schedule)
{
    const ics_gpu_options *options = &schedule->options;
    const ics_kernel_resources *largest = largest_kernel(schedule);
    json_t *kernels = json_array();
    for (size_t i = 0; i < schedule->kernel_count; ++i) {
        json_array_append_new(kernels, kernel_json(&schedule->kernels[i]));
    }
    return json_pack(
        "{s:s, s:s, s:s, s:o, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, "
        "s:{s:I, s:I, s:I, s:I, s:I, s:I}}",
        "schedule", ics_graph_schedule_name(options->schedule), "math",
        options->math == ICS_MATH_PORTABLE ? "portable" : "fast", "program",
        origin_text(schedule->origin), "kernels", kernels, "largest_kernel", largest->name,
        "registers", (json_int_t)largest->registers, "pool", (json_int_t)options->pool, "lanes",
        (json_int_t)options->lanes, "bounces_per_wave", (json_int_t)options->bounces_per_wave,
        "refill", (json_int_t)options->refill, "batch_steps", (json_int_t)options->batch_emissions,
        "batch_photons", (json_int_t)options->batch_photons, "hit_places",
        (json_int_t)options->hits, "bytes_per_photon", (json_int_t)ICS_SLOT_BYTES,
        "bytes_per_bounce", ics_report_json_number(schedule->bytes_per_bounce), "bytes", "pool",
        (json_int_t)schedule->pool_bytes, "queues", (json_int_t)schedule->queue_bytes, "hits",
        (json_int_t)schedule->hit_bytes, "tables", (json_int_t)schedule->table_bytes, "device",
        (json_int_t)schedule->device_bytes, "staging", (json_int_t)schedule->staging_bytes);
}

static json_t *gpu_json(const gpu_plan *gpu)
{
    json_t *schedules = json_array();
    for (size_t i = 0; i < gpu->count; ++i) {
        json_array_append_new(schedules, schedule_json(gpu->schedules[i]));
    }
    const char *name = gpu->device.name[0] != '\0' ? gpu->device.name : NULL;
    const char *missing = gpu->missing[0] != '\0' ? gpu->missing : NULL;
    return json_pack("{s:s?, s:i, s:b, s:s?, s:o}", "device", name, "architecture",
                     gpu->architecture, "assumed", (int)gpu->assumed, "no_plan", missing,
                     "schedules", schedules);
}

static int print_json(const plan *all, FILE *out, icestream_error *error)
{
    json_t *report = json_object();
    if (all->cpu.wanted) {
        json_object_set_new(report, "cpu", cpu_json(&all->cpu));
    }
    if (all->gpu.wanted) {
        json_object_set_new(report, "gpu", gpu_json(&all->gpu));
    }
    return ics_report_json("plan", report, out, error);
}

/* ---- the command ----------------------------------------------------------------------------- */

int icestream_plan(const icestream_config *config, const icestream_plan_options *options, FILE *out,
                   icestream_error *error)
{
    plan *all = calloc(1, sizeof *all);
    if (all == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "plan: out of memory");
    }
    int status = make_plan(config, options, all, error);
    if (status == ICESTREAM_OK) {
        status = options->json ? print_json(all, out, error) : print_text(all, out, error);
    }
    for (size_t i = 0; i < all->gpu.count; ++i) {
        ics_gpu_plan_destroy(all->gpu.schedules[i]);
    }
    free(all);
    return status;
}
