#include "graphs/cpu.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const schedule_names[IS_SCHEDULE_COUNT] = {
    [IS_SCHEDULE_AUTO] = "auto",           [IS_SCHEDULE_WAVEFRONT] = "wavefront",
    [IS_SCHEDULE_FUSED] = "fused",         [IS_SCHEDULE_MONOLITHIC] = "monolithic",
    [IS_SCHEDULE_JOB_QUEUE] = "job-queue", [IS_SCHEDULE_THREAD_PER_STEP] = "thread-per-step",
};

const char *is_schedule_name(is_schedule schedule)
{
    return (unsigned)schedule < IS_SCHEDULE_COUNT ? schedule_names[schedule] : "unknown";
}

bool is_schedule_find(const char *name, is_schedule *out)
{
    for (int i = 0; i < IS_SCHEDULE_COUNT; ++i)
        if (!strcmp(name, schedule_names[i])) {
            *out = (is_schedule)i;
            return true;
        }
    return false;
}

bool is_schedule_on_cpu(is_schedule schedule)
{
    return schedule == IS_SCHEDULE_AUTO || schedule == IS_SCHEDULE_WAVEFRONT ||
           schedule == IS_SCHEDULE_MONOLITHIC;
}

void is_arrivals_free(is_arrivals *arrivals)
{
    free(arrivals->items);
    *arrivals = (is_arrivals){0};
}

int is_arrivals_put(void *self, const ice_arrival *arrival)
{
    is_arrivals *arrivals = self;
    if (arrivals->count == arrivals->capacity) {
        const size_t capacity = arrivals->capacity ? 2 * arrivals->capacity : 1024;
        ice_arrival *items = capacity <= SIZE_MAX / sizeof *items
                                 ? realloc(arrivals->items, capacity * sizeof *items)
                                 : NULL;
        if (!items)
            return IS_GRAPH_NO_MEMORY;
        arrivals->items = items;
        arrivals->capacity = capacity;
    }
    arrivals->items[arrivals->count++] = *arrival;
    return IS_GRAPH_OK;
}

bool is_graph_cancelled(const is_graph *graph)
{
    return graph->options.cancel &&
           atomic_load_explicit(graph->options.cancel, memory_order_relaxed);
}

static int allocate_wave(is_graph *graph, char *why, size_t why_size)
{
    const uint32_t asked = graph->options.pool ? graph->options.pool : IS_WAVE_SLOTS_DEFAULT;
    const size_t slots =
        ((size_t)asked + IS_WAVE_ALIGNMENT - 1) / IS_WAVE_ALIGNMENT * IS_WAVE_ALIGNMENT;
    /* Every column is 4 bytes wide, so 16 slots are a cache line. An odd number of lines between
     * columns keeps them from competing for the same sets of the cache. */
    const size_t stride = (slots / 16 | 1) * 64;
    char *memory = aligned_alloc(64, stride * (IS_WAVE_SLOT_BYTES / 4));
    if (!memory) {
        snprintf(why, why_size, "out of memory for a wave of %u photons", asked);
        return IS_GRAPH_NO_MEMORY;
    }
    /* Vector loops may read whole vectors of scratch that no photon has written yet. */
    memset(memory, 0, stride * (IS_WAVE_SLOT_BYTES / 4));
    graph->wave_memory = memory;
    graph->wave.capacity = asked;
    graph->wave.count = 0;
#define X(type, name)                                                                              \
    graph->wave.name = (type *)memory;                                                             \
    memory += stride;
    IS_WAVE_COLUMNS(X)
    IS_WAVE_SCRATCH(X)
#undef X
    return IS_GRAPH_OK;
}

void is_custom_variants(const char *const custom[IS_STAGES], ice_variants *variants)
{
    const struct {
        ice_variant *chosen, custom;
    } stages[IS_STAGES] = {
        [IS_STAGE_CREATE] = {&variants->create, ICE_create_custom},
        [IS_STAGE_PROPAGATE] = {&variants->propagate, ICE_propagate_custom},
        [IS_STAGE_COLLIDE] = {&variants->collide, ICE_collide_custom},
        [IS_STAGE_SCATTER] = {&variants->scatter, ICE_scatter_custom},
    };
    for (int i = 0; i < IS_STAGES; ++i)
        if (custom[i])
            *stages[i].chosen = stages[i].custom;
}

/* Replaces the graph's kernels where a stage comes from a header. */
static int load_custom(is_graph *graph, char *why, size_t why_size)
{
    bool any = false;
    for (int i = 0; i < IS_STAGES; ++i)
        any = any || graph->options.custom[i];
    if (!any)
        return IS_GRAPH_OK;
    if (is_custom_kernels_create(graph->options.custom, graph->kernels->name, &graph->custom, why,
                                 why_size) != 0)
        return IS_GRAPH_UNSUPPORTED;
    graph->kernels = is_custom_kernels_get(graph->custom);
    is_custom_variants(graph->options.custom, &graph->options.variants);
    return IS_GRAPH_OK;
}

int is_graph_create(const is_graph_options *options, const is_tables *tables, is_graph **out,
                    char *why, size_t why_size)
{
    *out = NULL;
    if (!is_schedule_on_cpu(options->schedule)) {
        snprintf(why, why_size, "schedule %s needs a GPU; a CPU has wavefront and monolithic",
                 is_schedule_name(options->schedule));
        return IS_GRAPH_UNSUPPORTED;
    }
    const is_cpu_kernels *kernels = is_cpu_kernels_find(options->instruction_set);
    if (!kernels) {
        snprintf(why, why_size, "this machine does not run instruction set %s",
                 options->instruction_set);
        return IS_GRAPH_UNSUPPORTED;
    }
    is_graph *graph = calloc(1, sizeof *graph);
    if (!graph) {
        snprintf(why, why_size, "out of memory for a graph");
        return IS_GRAPH_NO_MEMORY;
    }
    graph->options = *options;
    if (graph->options.schedule == IS_SCHEDULE_AUTO)
        graph->options.schedule = IS_SCHEDULE_WAVEFRONT;
    graph->tables = &tables->device;
    graph->kernels = kernels;
    int status = load_custom(graph, why, why_size);
    if (status == IS_GRAPH_OK && graph->options.schedule == IS_SCHEDULE_WAVEFRONT)
        status = allocate_wave(graph, why, why_size);
    if (status != IS_GRAPH_OK) {
        is_graph_destroy(graph);
        return status;
    }
    *out = graph;
    return IS_GRAPH_OK;
}

void is_graph_destroy(is_graph *graph)
{
    if (!graph)
        return;
    is_custom_kernels_destroy(graph->custom);
    free(graph->wave_memory);
    free(graph);
}

int is_graph_run(is_graph *graph, const ice_emission *emissions, uint32_t count,
                 is_arrivals *arrivals, ice_account *account)
{
    is_arrival_sink sink = {is_arrivals_put, arrivals};
    for (uint32_t i = 0; i < count; ++i)
        account->created += emissions[i].photons;
    return graph->options.schedule == IS_SCHEDULE_MONOLITHIC
               ? is_run_monolithic(graph, emissions, count, &sink, account)
               : is_run_wavefront(graph, emissions, count, &sink, account);
}

is_schedule is_graph_schedule(const is_graph *graph)
{
    return graph->options.schedule;
}

uint32_t is_graph_pool(const is_graph *graph)
{
    return graph->options.schedule == IS_SCHEDULE_WAVEFRONT ? graph->wave.capacity : 1;
}

const char *is_graph_instruction_set(const is_graph *graph)
{
    return graph->kernels->name;
}

size_t is_graph_slot_bytes(const is_graph *graph)
{
    return graph->options.schedule == IS_SCHEDULE_WAVEFRONT ? IS_WAVE_SLOT_BYTES
                                                            : sizeof(ice_photon);
}
