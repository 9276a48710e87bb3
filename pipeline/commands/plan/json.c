/* The report of `icestream plan` as JSON. */
#include "kernels/cuda/state.h"
#include "pipeline/commands/measure/report.h"
#include "pipeline/commands/plan/plan.h"

#include <jansson.h>

static json_t *cpu_json(const ics_plan_on_cpu *cpu)
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
    const ics_kernel_resources *largest = ics_plan_largest_kernel(schedule);
    json_t *kernels = json_array();
    for (size_t i = 0; i < schedule->kernel_count; ++i) {
        json_array_append_new(kernels, kernel_json(&schedule->kernels[i]));
    }
    return json_pack(
        "{s:s, s:s, s:s, s:o, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, "
        "s:{s:I, s:I, s:I, s:I, s:I, s:I}}",
        "schedule", ics_graph_schedule_name(options->schedule), "math",
        options->math == ICS_MATH_PORTABLE ? "portable" : "fast", "program",
        ics_plan_origin_text(schedule->origin), "kernels", kernels, "largest_kernel", largest->name,
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

static json_t *table_json(const ics_plan_table *table)
{
    return !table->wanted
               ? json_null()
               : json_pack("{s:s, s:I, s:I, s:I, s:I}", "kernel", table->kernel.name, "registers",
                           (json_int_t)table->kernel.registers, "spill_stores",
                           (json_int_t)table->kernel.spill_stores, "cells",
                           (json_int_t)table->cells, "bytes", (json_int_t)table->bytes);
}

static json_t *gpu_json(const ics_plan_on_gpu *gpu)
{
    json_t *schedules = json_array();
    for (size_t i = 0; i < gpu->count; ++i) {
        json_array_append_new(schedules, schedule_json(gpu->schedules[i]));
    }
    const char *name = gpu->device.name[0] != '\0' ? gpu->device.name : NULL;
    const char *missing = gpu->missing[0] != '\0' ? gpu->missing : NULL;
    const char *sums = gpu->makes_sums ? "gpu" : "host";
    return json_pack("{s:s?, s:i, s:b, s:s?, s:o, s:o, s:s?}", "device", name, "architecture",
                     gpu->architecture, "assumed", (int)gpu->assumed, "no_plan", missing,
                     "schedules", schedules, "table", table_json(&gpu->table), "sums",
                     gpu->sums[0] != '\0' ? sums : NULL);
}

int ics_plan_print_json(const ics_plan *all, FILE *out, icestream_error *error)
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
