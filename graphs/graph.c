#include "base/error.h"
#include "base/memory.h"
#include "graphs/cpu.h"

#include <stdlib.h>

/* The schedules of the CPU; run NULL: the CPU does not have this schedule. */
static const struct {
    int (*run)(ics_graph *graph, const ice_emission *emissions, uint32_t count,
               ics_arrival_sink *sink, ice_account *account);
    bool has_wave;
} cpu_schedules[ICS_SCHEDULE_COUNT] = {
    [ICS_SCHEDULE_WAVEFRONT] = {ics_cpu_run_wavefront, true},
    [ICS_SCHEDULE_MONOLITHIC] = {ics_cpu_run_monolithic, false},
};

bool ics_graph_schedule_on_cpu(ics_schedule schedule)
{
    return schedule == ICS_SCHEDULE_AUTO || cpu_schedules[schedule].run != NULL;
}

void ics_graph_arrivals_free(ics_arrivals *arrivals)
{
    free(arrivals->items);
    *arrivals = (ics_arrivals){0};
}

int ics_graph_arrivals_reserve(ics_arrivals *arrivals, size_t more)
{
    size_t capacity = arrivals->capacity;
    if (more <= capacity - arrivals->count) {
        return ICESTREAM_OK;
    }
    const size_t least = arrivals->count + more;
    capacity = capacity > 0 ? 2 * capacity : 1024;
    capacity = capacity > least ? capacity : least;
    ice_arrival *items = capacity <= SIZE_MAX / sizeof *items
                             ? realloc(arrivals->items, capacity * sizeof *items)
                             : NULL;
    if (items == NULL) {
        return ICESTREAM_E_MEMORY;
    }
    ics_memory_prefer_large(items, capacity * sizeof *items);
    arrivals->items = items;
    arrivals->capacity = capacity;
    return ICESTREAM_OK;
}

int ics_graph_arrivals_put(void *self, const ice_arrival *arrival)
{
    ics_arrivals *arrivals = self;
    ICS_TRY(ics_graph_arrivals_reserve(arrivals, 1));
    arrivals->items[arrivals->count++] = *arrival;
    return ICESTREAM_OK;
}

static bool has_wave(const ics_graph *graph)
{
    return cpu_schedules[graph->options.schedule].has_wave;
}

static int allocate_wave(ics_graph *graph, icestream_error *error)
{
    const uint32_t asked = graph->options.pool ? graph->options.pool : ICS_WAVE_SLOTS_DEFAULT;
    const size_t slots =
        ((size_t)asked + ICS_WAVE_ALIGNMENT - 1) / ICS_WAVE_ALIGNMENT * ICS_WAVE_ALIGNMENT;
    /* Columns are 4 or 8 bytes wide, and 16 slots of 4 bytes are a cache line. An odd number of
     * lines between columns keeps them from competing for the same sets of the cache. */
    const size_t stride = (slots / 16 | 1) * 64;
    char *memory = aligned_alloc(64, stride * (ICS_WAVE_SLOT_BYTES / 4));
    if (memory == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a wave of %u photons",
                             asked);
    }
    /* Vector loops may read whole vectors of scratch that no photon has written yet. */
    memset(memory, 0, stride * (ICS_WAVE_SLOT_BYTES / 4));
    graph->wave_memory = memory;
    graph->wave.capacity = asked;
    graph->wave.count = 0;
#define X(type, name)                                                                              \
    graph->wave.name = (type *)memory;                                                             \
    memory += stride * (sizeof(type) / 4);
    ICS_WAVE_COLUMNS(X)
    ICS_WAVE_SCRATCH(X)
#undef X
    return ICESTREAM_OK;
}

void ics_graph_custom_variants(const char *const custom[ICS_STAGES], ice_variants *variants)
{
    const struct {
        ice_variant *chosen, custom;
    } stages[ICS_STAGES] = {
        [ICS_STAGE_CREATE] = {&variants->create, ICE_create_custom},
        [ICS_STAGE_PROPAGATE] = {&variants->propagate, ICE_propagate_custom},
        [ICS_STAGE_COLLIDE] = {&variants->collide, ICE_collide_custom},
        [ICS_STAGE_SCATTER] = {&variants->scatter, ICE_scatter_custom},
        /* The geometry of a table says whether its coordinates are those of a header. */
        [ICS_STAGE_TABULATE] = {NULL, ICE_VARIANT_COUNT},
    };
    for (int i = 0; i < ICS_STAGES; ++i) {
        if (custom[i] != NULL && stages[i].chosen != NULL) {
            *stages[i].chosen = stages[i].custom;
        }
    }
}

/* Replaces the graph's kernels if a stage comes from a header of the user, or is checked. */
static int load_custom(ics_graph *graph, icestream_error *error)
{
    bool any = graph->options.check;
    for (int i = 0; i < ICS_STAGES; ++i) {
        any = any || graph->options.custom[i] != NULL;
    }
    if (!any) {
        return ICESTREAM_OK;
    }
    ics_graph_custom_variants(graph->options.custom, &graph->options.variants);
    ics_custom_wanted wanted = {.instruction_set = graph->kernels->name,
                                .variants = graph->options.variants,
                                .features = graph->tables->features,
                                .check = graph->options.check,
                                .tabulates = graph->options.table != NULL,
                                .compiling = graph->options.compiling};
    memcpy(wanted.headers, graph->options.custom, sizeof wanted.headers);
    ics_stage_guard_names(wanted.headers, graph->headers);
    ICS_TRY(ics_custom_kernels_create(&wanted, &graph->custom, error));
    graph->kernels = ics_custom_kernels_get(graph->custom);
    return ICESTREAM_OK;
}

/* The header of a custom table must have a coordinate for every axis. */
static int check_header(const ics_graph *graph, icestream_error *error)
{
    const ice_tabulation *table = graph->options.table;
    const char *header = graph->options.custom[ICS_STAGE_TABULATE];
    if (table->geometry != ICE_TABULATE_CUSTOM ||
        table->axis_count <= graph->kernels->table_coordinates) {
        return ICESTREAM_OK;
    }
    return ics_error_set(error, ICESTREAM_E_CONFIG,
                         "%s: error: stages.tabulate: found ICE_TABULATE_COORDINATES %d, expected "
                         "at least %d, the number of table.axes",
                         header != NULL ? header : "no header", graph->kernels->table_coordinates,
                         table->axis_count);
}

static int begin_table(ics_graph *graph, icestream_error *error)
{
    ICS_TRY(check_header(graph, error));
    graph->table.table = graph->options.table;
    graph->table.is_alone = graph->options.fills_table_alone;
    /* Vector loops read whole vectors. */
    const size_t slots = (ics_graph_pool(graph) | (ICS_WAVE_ALIGNMENT - 1)) + (size_t)1;
    float *memory = calloc(3 * slots, sizeof *memory);
    if (memory == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a graph");
    }
    graph->table.absorption = memory;
    graph->wave.table_offset = memory + slots;
    graph->wave.table_delay = memory + 2 * slots;
    return ICESTREAM_OK;
}

static int set_up(ics_graph *graph, const ics_tables *tables, icestream_error *error)
{
    const ics_graph_options *options = &graph->options;
    graph->tables = &tables->device;
    for (uint32_t i = 0; i < options->photons.count; ++i) {
        if (ice_counts_segments(options->photons.items[i].quantity)) {
            graph->segments = (ics_segment_counter){&tables->device, &options->photons,
                                                    options->variants.collide, graph->photon_cells};
        }
    }
    if (options->schedule == ICS_SCHEDULE_AUTO) {
        graph->options.schedule = ICS_SCHEDULE_WAVEFRONT;
    }
    ICS_TRY(load_custom(graph, error));
    if (has_wave(graph)) {
        ICS_TRY(allocate_wave(graph, error));
    }
    if (options->table != NULL) {
        ICS_TRY(begin_table(graph, error));
    }
    return ics_large_counts_create(&graph->large, &options->large, error);
}

int ics_graph_create(const ics_graph_options *options, const ics_tables *tables, ics_graph **out,
                     icestream_error *error)
{
    *out = NULL;
    if (!ics_graph_schedule_on_cpu(options->schedule)) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "schedule %s needs a GPU; a CPU has wavefront and monolithic",
                             ics_graph_schedule_name(options->schedule));
    }
    const ics_cpu_kernels *kernels = ics_kernels_find(options->instruction_set);
    if (kernels == NULL) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "this machine does not run instruction set %s",
                             options->instruction_set);
    }
    ics_graph *graph = calloc(1, sizeof *graph);
    if (graph == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a graph");
    }
    graph->options = *options;
    graph->kernels = kernels;
    const int status = set_up(graph, tables, error);
    if (status != ICESTREAM_OK) {
        ics_graph_destroy(graph);
        return status;
    }
    *out = graph;
    return ICESTREAM_OK;
}

void ics_graph_destroy(ics_graph *graph)
{
    if (graph == NULL) {
        return;
    }
    ics_custom_kernels_destroy(graph->custom);
    free(graph->wave_memory);
    free(graph->table.absorption);
    ics_large_counts_destroy(&graph->large);
    free(graph);
}

int ics_graph_run(ics_graph *graph, const ice_emission *emissions, uint32_t count,
                  ics_arrivals *arrivals, ice_account *account)
{
    ics_arrival_sink sink = {.put = ics_graph_arrivals_put, .self = arrivals};
    if (graph->segments.axes != NULL) {
        sink.count_segment = ics_segments_count;
        sink.counter = &graph->segments;
    }
    memset(graph->photon_cells, 0, sizeof graph->photon_cells);
    ics_large_counts_clear(&graph->large);
    for (uint32_t i = 0; i < count; ++i) {
        account->created += emissions[i].photons;
    }
    if (graph->kernels->fault != NULL) {
        *graph->kernels->fault() = (ice_fault){.kind = ICE_FAULT_NONE};
    }
    ics_stage_guard_enter(graph->headers);
    const int status =
        cpu_schedules[graph->options.schedule].run(graph, emissions, count, &sink, account);
    ics_stage_guard_leave(graph->headers);
    return ics_graph_fault(graph).kind != ICE_FAULT_NONE ? ICESTREAM_E_CONFIG : status;
}

const uint64_t *ics_graph_photon_cells(const ics_graph *graph)
{
    return graph->photon_cells;
}

const uint64_t *ics_graph_large_cells(const ics_graph *graph)
{
    return graph->large.cells;
}

int ics_graph_tabulate(ics_graph *graph, const ice_emission *emissions,
                       const ice_tabulate_origin *origins, uint32_t count, uint64_t *samples,
                       ice_account *account)
{
    ics_arrivals none = {0};
    graph->table.origins = origins;
    graph->table.samples = 0;
    graph->table.overflows = false;
    const int status = ics_graph_run(graph, emissions, count, &none, account);
    ics_graph_arrivals_free(&none);
    *samples = graph->table.samples;
    return status == ICESTREAM_OK && graph->table.overflows ? ICESTREAM_E_FAILED : status;
}

ice_fault ics_graph_fault(const ics_graph *graph)
{
    return graph->kernels->fault != NULL ? *graph->kernels->fault()
                                         : (ice_fault){.kind = ICE_FAULT_NONE};
}

double ics_graph_mean_cosine(const ics_graph *graph)
{
    enum { NUMBERS = 1 << 14 };
    double sum = 0;
    ics_stage_guard_enter(graph->headers);
    for (int i = 0; i < NUMBERS; ++i) {
        const float u = ((float)i + 0.5f) / (float)NUMBERS;
        sum += 1.0 - (double)graph->kernels->one_minus_cosine(graph->options.variants.scatter,
                                                              &graph->tables->scatter, u);
    }
    ics_stage_guard_leave(graph->headers);
    return sum / NUMBERS;
}

ics_schedule ics_graph_schedule(const ics_graph *graph)
{
    return graph->options.schedule;
}

uint32_t ics_graph_pool(const ics_graph *graph)
{
    return has_wave(graph) ? graph->wave.capacity : 1;
}

const char *ics_graph_instruction_set(const ics_graph *graph)
{
    return graph->kernels->name;
}

size_t ics_graph_slot_bytes(const ics_graph *graph)
{
    return has_wave(graph) ? ICS_WAVE_SLOT_BYTES : sizeof(ice_photon);
}
