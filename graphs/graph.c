#include "graphs/cpu.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const schedule_names[ICS_SCHEDULE_COUNT] = {
    [ICS_SCHEDULE_AUTO] = "auto",           [ICS_SCHEDULE_WAVEFRONT] = "wavefront",
    [ICS_SCHEDULE_FUSED] = "fused",         [ICS_SCHEDULE_MONOLITHIC] = "monolithic",
    [ICS_SCHEDULE_JOB_QUEUE] = "job-queue", [ICS_SCHEDULE_THREAD_PER_STEP] = "thread-per-step",
};

const char *ics_graph_schedule_name(ics_schedule schedule)
{
    return (unsigned)schedule < ICS_SCHEDULE_COUNT ? schedule_names[schedule] : "unknown";
}

bool ics_graph_schedule_find(const char *name, ics_schedule *out)
{
    for (int i = 0; i < ICS_SCHEDULE_COUNT; ++i) {
        if (!strcmp(name, schedule_names[i])) {
            *out = (ics_schedule)i;
            return true;
        }
    }
    return false;
}

bool ics_graph_schedule_on_cpu(ics_schedule schedule)
{
    return schedule == ICS_SCHEDULE_AUTO || schedule == ICS_SCHEDULE_WAVEFRONT ||
           schedule == ICS_SCHEDULE_MONOLITHIC;
}

void ics_graph_arrivals_free(ics_arrivals *arrivals)
{
    free(arrivals->items);
    *arrivals = (ics_arrivals){0};
}

int ics_graph_arrivals_put(void *self, const ice_arrival *arrival)
{
    ics_arrivals *arrivals = self;
    if (arrivals->count == arrivals->capacity) {
        const size_t capacity = arrivals->capacity ? 2 * arrivals->capacity : 1024;
        ice_arrival *items = capacity <= SIZE_MAX / sizeof *items
                                 ? realloc(arrivals->items, capacity * sizeof *items)
                                 : NULL;
        if (items == NULL) {
            return ICS_GRAPH_NO_MEMORY;
        }
        arrivals->items = items;
        arrivals->capacity = capacity;
    }
    arrivals->items[arrivals->count++] = *arrival;
    return ICS_GRAPH_OK;
}

bool ics_graph_is_cancelled(const ics_graph *graph)
{
    return graph->options.cancel != NULL &&
           atomic_load_explicit(graph->options.cancel, memory_order_relaxed);
}

static int allocate_wave(ics_graph *graph, char *why, size_t why_size)
{
    const uint32_t asked = graph->options.pool ? graph->options.pool : ICS_WAVE_SLOTS_DEFAULT;
    const size_t slots =
        ((size_t)asked + ICS_WAVE_ALIGNMENT - 1) / ICS_WAVE_ALIGNMENT * ICS_WAVE_ALIGNMENT;
    /* Every column is 4 bytes wide, so 16 slots are a cache line. An odd number of lines between
     * columns keeps them from competing for the same sets of the cache. */
    const size_t stride = (slots / 16 | 1) * 64;
    char *memory = aligned_alloc(64, stride * (ICS_WAVE_SLOT_BYTES / 4));
    if (memory == NULL) {
        snprintf(why, why_size, "out of memory for a wave of %u photons", asked);
        return ICS_GRAPH_NO_MEMORY;
    }
    /* Vector loops may read whole vectors of scratch that no photon has written yet. */
    memset(memory, 0, stride * (ICS_WAVE_SLOT_BYTES / 4));
    graph->wave_memory = memory;
    graph->wave.capacity = asked;
    graph->wave.count = 0;
#define X(type, name)                                                                              \
    graph->wave.name = (type *)memory;                                                             \
    memory += stride;
    ICS_WAVE_COLUMNS(X)
    ICS_WAVE_SCRATCH(X)
#undef X
    return ICS_GRAPH_OK;
}

void ics_custom_variants(const char *const custom[ICS_STAGES], ice_variants *variants)
{
    const struct {
        ice_variant *chosen, custom;
    } stages[ICS_STAGES] = {
        [ICS_STAGE_CREATE] = {&variants->create, ICE_create_custom},
        [ICS_STAGE_PROPAGATE] = {&variants->propagate, ICE_propagate_custom},
        [ICS_STAGE_COLLIDE] = {&variants->collide, ICE_collide_custom},
        [ICS_STAGE_SCATTER] = {&variants->scatter, ICE_scatter_custom},
    };
    for (int i = 0; i < ICS_STAGES; ++i) {
        if (custom[i] != NULL) {
            *stages[i].chosen = stages[i].custom;
        }
    }
}

/* Replaces the graph's kernels where a stage comes from a header. */
static int load_custom(ics_graph *graph, char *why, size_t why_size)
{
    bool any = false;
    for (int i = 0; i < ICS_STAGES; ++i) {
        any = any || graph->options.custom[i] != NULL;
    }
    if (!any) {
        return ICS_GRAPH_OK;
    }
    if (ics_custom_kernels_create(graph->options.custom, graph->kernels->name, &graph->custom, why,
                                  why_size) != 0) {
        return ICS_GRAPH_UNSUPPORTED;
    }
    graph->kernels = ics_custom_kernels_get(graph->custom);
    ics_custom_variants(graph->options.custom, &graph->options.variants);
    return ICS_GRAPH_OK;
}

int ics_graph_create(const ics_graph_options *options, const ics_tables *tables, ics_graph **out,
                     char *why, size_t why_size)
{
    *out = NULL;
    if (!ics_graph_schedule_on_cpu(options->schedule)) {
        snprintf(why, why_size, "schedule %s needs a GPU; a CPU has wavefront and monolithic",
                 ics_graph_schedule_name(options->schedule));
        return ICS_GRAPH_UNSUPPORTED;
    }
    const ics_cpu_kernels *kernels = ics_kernels_find(options->instruction_set);
    if (kernels == NULL) {
        snprintf(why, why_size, "this machine does not run instruction set %s",
                 options->instruction_set);
        return ICS_GRAPH_UNSUPPORTED;
    }
    ics_graph *graph = calloc(1, sizeof *graph);
    if (graph == NULL) {
        snprintf(why, why_size, "out of memory for a graph");
        return ICS_GRAPH_NO_MEMORY;
    }
    graph->options = *options;
    if (graph->options.schedule == ICS_SCHEDULE_AUTO) {
        graph->options.schedule = ICS_SCHEDULE_WAVEFRONT;
    }
    graph->tables = &tables->device;
    graph->kernels = kernels;
    int status = load_custom(graph, why, why_size);
    if (status == ICS_GRAPH_OK && graph->options.schedule == ICS_SCHEDULE_WAVEFRONT) {
        status = allocate_wave(graph, why, why_size);
    }
    if (status != ICS_GRAPH_OK) {
        ics_graph_destroy(graph);
        return status;
    }
    *out = graph;
    return ICS_GRAPH_OK;
}

void ics_graph_destroy(ics_graph *graph)
{
    if (graph == NULL) {
        return;
    }
    ics_custom_kernels_destroy(graph->custom);
    free(graph->wave_memory);
    free(graph);
}

int ics_graph_run(ics_graph *graph, const ice_emission *emissions, uint32_t count,
                  ics_arrivals *arrivals, ice_account *account)
{
    ics_arrival_sink sink = {ics_graph_arrivals_put, arrivals};
    for (uint32_t i = 0; i < count; ++i) {
        account->created += emissions[i].photons;
    }
    return graph->options.schedule == ICS_SCHEDULE_MONOLITHIC
               ? ics_cpu_run_monolithic(graph, emissions, count, &sink, account)
               : ics_cpu_run_wavefront(graph, emissions, count, &sink, account);
}

ics_schedule ics_graph_schedule(const ics_graph *graph)
{
    return graph->options.schedule;
}

uint32_t ics_graph_pool(const ics_graph *graph)
{
    return graph->options.schedule == ICS_SCHEDULE_WAVEFRONT ? graph->wave.capacity : 1;
}

const char *ics_graph_instruction_set(const ics_graph *graph)
{
    return graph->kernels->name;
}

size_t ics_graph_slot_bytes(const ics_graph *graph)
{
    return graph->options.schedule == ICS_SCHEDULE_WAVEFRONT ? ICS_WAVE_SLOT_BYTES
                                                             : sizeof(ice_photon);
}
