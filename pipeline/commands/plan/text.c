/* The report of `icestream plan` as text. */
#include "graphs/schedule.h"
#include "kernels/cuda/state.h"
#include "pipeline/commands/measure/report.h"
#include "pipeline/commands/plan/plan.h"

#include <inttypes.h>
#include <string.h>

const char *ics_plan_origin_text(ics_program_origin origin)
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

const ics_kernel_resources *ics_plan_largest_kernel(const ics_gpu_plan *schedule)
{
    const ics_kernel_resources *largest = NULL;
    for (size_t i = 0; i < schedule->kernel_count; ++i) {
        if (largest == NULL || schedule->kernels[i].resources.registers > largest->registers) {
            largest = &schedule->kernels[i].resources;
        }
    }
    return largest;
}

/* Returns the registers of the largest kernel of a schedule, or 0 if it was not planned. */
static uint32_t registers_of(const ics_plan_on_gpu *gpu, ics_schedule schedule)
{
    for (size_t i = 0; i < gpu->count; ++i) {
        if (gpu->schedules[i]->options.schedule == schedule) {
            return ics_plan_largest_kernel(gpu->schedules[i])->registers;
        }
    }
    return 0;
}

static void print_cpu(const ics_plan_on_cpu *cpu, FILE *out)
{
    fprintf(out, "CPU         %" PRIu32 " threads, %s\n", cpu->threads, cpu->instruction_set);
    fprintf(out, "  schedule  %s, waves of %" PRIu32 " photon slots of %zu bytes\n",
            ics_graph_schedule_name(cpu->schedule), cpu->pool, cpu->slot_bytes);
    fprintf(out, "  memory    waves %.1f KiB a thread, tables %.1f KiB for all\n",
            (double)cpu->pool * (double)cpu->slot_bytes / 1024, (double)cpu->table_bytes / 1024);
}

static void print_device(const ics_plan_on_gpu *gpu, FILE *out)
{
    const ics_gpu_device *device = &gpu->device;
    if (device->name[0] != '\0') {
        fprintf(out, "GPU         %s, sm_%d, %d multiprocessors, %.1f GiB of memory\n",
                device->name, device->architecture, device->processors,
                (double)device->memory_bytes / (1 << 30));
    } else if (gpu->assumed) {
        fprintf(
            out,
            "GPU         none in this machine; sm_%d is assumed (--architecture names another)\n"
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
        if (resources->registers == 0) { /* the driver compiles this kernel later */
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
            ics_plan_origin_text(schedule->origin));
    int status = print_kernels(schedule, out, error);
    fprintf(out, "  pool      %" PRIu32 " slots of %u bytes in %" PRIu32 " lanes", options->pool,
            ICS_SLOT_BYTES, options->lanes);
    const ics_gpu_schedule *row = ics_schedule_row(options->schedule);
    if (row->slots_per_thread > 1) {
        fprintf(out, ", and %" PRIu32 " for photons that wait for a thread",
                options->pool * (row->slots_per_thread - 1));
    }
    if (row->long_visits) {
        fprintf(out, ", %" PRIu32 " bounces per wave", options->bounces_per_wave);
    }
    if (row->refill > 0) {
        fprintf(out, ", refilled at %" PRIu32 " idle threads of a warp", options->refill);
    }
    if (schedule->bytes_per_bounce > 0) {
        fprintf(out,
                "\n  traffic   %.1f bytes per photon and bounce, between pool and processors\n",
                schedule->bytes_per_bounce);
    } else {
        fprintf(
            out,
            "\n  traffic   none with the pool: photons stay in registers and shared memory during "
            "a launch\n");
    }
    fprintf(out,
            "  batches   up to %" PRIu32 " steps and %" PRIu32 " photons, %" PRIu32
            " slots for hits\n",
            options->batch_emissions, options->batch_photons, options->hits);
    fprintf(out,
            "  memory    %.1f MB of the device: pool %.1f, queues %.1f, hits %.1f, tables %.1f; "
            "%.1f MB of the host\n",
            megabytes(schedule->device_bytes), megabytes(schedule->pool_bytes),
            megabytes(schedule->queue_bytes), megabytes(schedule->hit_bytes),
            megabytes(schedule->table_bytes), megabytes(schedule->staging_bytes));
    return status;
}

static void print_largest(const ics_plan_on_gpu *gpu, FILE *out)
{
    if (ics_plan_largest_kernel(gpu->schedules[0])->registers == 0) {
        fputs("\nRegisters are unknown: the GPU's driver compiles these kernels.\n", out);
        return;
    }
    fputs("\nRegisters of the largest kernel:", out);
    for (size_t i = 0; i < gpu->count; ++i) {
        const ics_gpu_plan *schedule = gpu->schedules[i];
        const ics_kernel_resources *largest = ics_plan_largest_kernel(schedule);
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

static void print_table(const ics_plan_table *table, FILE *out)
{
    fprintf(out,
            "\ntable (stages.tabulate), filled by %s in all schedules\n"
            "  memory    %.1f MB of the device for %" PRIu64 " cells, and as much of the host\n",
            table->kernel.name, megabytes(table->bytes), table->cells);
    if (table->kernel.registers > 0) {
        fprintf(out, "  kernel    %" PRIu32 " registers, spills of %" PRIu32 " bytes\n",
                table->kernel.registers, table->kernel.spill_stores);
    }
}

int ics_plan_print_text(const ics_plan *all, FILE *out, icestream_error *error)
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
    if (all->gpu.table.kernel.name[0] != '\0') {
        print_table(&all->gpu.table, out);
    }
    if (all->gpu.sums[0] != '\0') {
        fprintf(out, "\n%s\n", all->gpu.sums);
    }
    return status == ICESTREAM_OK ? ics_report_end("plan", out, error) : status;
}
