/* A fake GPU that fills a table: the functions of graphs/gpu_table.h for tests on machines without
 * a GPU. A test program that includes this file gets these functions instead of those of the
 * library. They compute photons with a graph of the CPU, in sums that are the GPU's until they are
 * collected, and fail where a test asks for it. How to use it: set the members of `fake_table`
 * after reset_fake(), which says how many GPUs there are. */
#ifndef FAKE_GPU_TABLE_H
#define FAKE_GPU_TABLE_H

#include "graphs/gpu_table.h"
#include "tests/devices/fake_gpu.h"

/* When a GPU fails. */
static struct {
    int faulty;                           /* the GPU that fails; -1: none */
    bool fails_to_collect;                /* sums, and not to compute a batch */
    uint32_t good_calls;                  /* of this kind before that */
    atomic_uint filled, collected, wrong; /* calls; wrong: after a failure */
} fake_table = {.faulty = -1};

struct ics_gpu_table {
    ics_gpu_options options;
    ice_tabulation stage; /* with its sums */
    ics_graph *graph;
    uint64_t cells;
    uint32_t fills, collections;
    bool lost;
};

static void *fake_column(uint64_t cells)
{
    void *column = calloc(cells, sizeof(uint64_t));
    ck_assert_ptr_nonnull(column);
    return column;
}

int ics_gpu_table_create(const ics_gpu_options *options, const ics_tables *tables,
                         const ice_tabulation *stage, ics_gpu_table **out, icestream_error *error)
{
    ics_gpu_table *table = calloc(1, sizeof *table);
    ck_assert_ptr_nonnull(table);
    table->options = in_force(options);
    table->options.math = ICS_MATH_PORTABLE;
    table->options.schedule = ICS_SCHEDULE_MONOLITHIC;
    table->stage = *stage;
    table->cells = ics_gpu_table_cells(stage);
    table->stage.sums = fake_column(table->cells);
    table->stage.squares = stage->squares != NULL ? fake_column(table->cells) : NULL;
    const ics_graph_options graph = {.schedule = ICS_SCHEDULE_MONOLITHIC,
                                     .variants = options->variants,
                                     .instruction_set = "auto",
                                     .table = &table->stage,
                                     .fills_table_alone = true};
    ck_assert_int_eq(ics_graph_create(&graph, tables, &table->graph, error), ICESTREAM_OK);
    *out = table;
    return ICESTREAM_OK;
}

int ics_gpu_table_plan(const ics_gpu_options *options, const ics_tables *tables,
                       const ice_tabulation *stage, int architecture, ics_kernel_resources *out,
                       icestream_error *error)
{
    return fail_with(error, ICESTREAM_E_DEVICE, "a fake GPU has no kernels");
}

void ics_gpu_table_destroy(ics_gpu_table *table)
{
    if (table != NULL) {
        ics_graph_destroy(table->graph);
        free(table->stage.sums);
        free(table->stage.squares);
        free(table);
    }
}

void ics_gpu_table_facts_of(const ics_gpu_table *table, ics_gpu_table_facts *out)
{
    *out = (ics_gpu_table_facts){.options = table->options};
}

/* Whether a call fails, which is the one after `calls` calls of this kind. */
static bool is_faulty_call(ics_gpu_table *table, bool collects, uint32_t calls)
{
    const bool fails = table->options.ordinal == fake_table.faulty &&
                       fake_table.fails_to_collect == collects && calls >= fake_table.good_calls;
    table->lost |= fails;
    return fails;
}

int ics_gpu_table_fill(ics_gpu_table *table, const ics_gpu_table_light *light,
                       ics_gpu_table_result *out, icestream_error *error)
{
    *out = (ics_gpu_table_result){.samples = 0};
    atomic_fetch_add(&fake_table.wrong, table->lost);
    if (is_faulty_call(table, false, table->fills)) {
        return fail_with(error, ICESTREAM_E_FAILED, "cudaLaunchKernel: unspecified launch failure");
    }
    ++table->fills;
    atomic_fetch_add(&fake_table.filled, 1);
    const int status = ics_graph_tabulate(table->graph, light->emissions, light->origins,
                                          light->count, &out->samples, &out->account);
    out->overflows = status == ICESTREAM_E_FAILED;
    return ICESTREAM_OK;
}

static void collect_fake(uint64_t *to, uint64_t *from, uint64_t cells, bool *overflows)
{
    for (uint64_t i = 0; i < cells; ++i) {
        to[i] += from[i];
        *overflows |= to[i] >> 63 != 0;
        from[i] = 0;
    }
}

int ics_gpu_table_collect(ics_gpu_table *table, uint64_t *sums, uint64_t *squares, bool *overflows,
                          icestream_error *error)
{
    atomic_fetch_add(&fake_table.wrong, table->lost);
    /* A failure in the middle leaves sums that must not be used. */
    collect_fake(sums, table->stage.sums, table->cells, overflows);
    if (is_faulty_call(table, true, table->collections)) {
        return fail_with(error, ICESTREAM_E_FAILED, "cudaMemcpy: an illegal memory access");
    }
    if (squares != NULL) {
        collect_fake(squares, table->stage.squares, table->cells, overflows);
    }
    ++table->collections;
    atomic_fetch_add(&fake_table.collected, 1);
    return ICESTREAM_OK;
}

#endif
