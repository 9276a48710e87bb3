/* A table on a GPU: batches of emissions go in, and their samples add up in the memory of the GPU
 * (docs/tabulate.md).
 *
 * All schedules fill a table by the same kernel, kernels/cuda/device/table.h. One thread at a time
 * calls these functions, and ics_gpu_table_fill() waits for the device. The int functions return an
 * icestream_status and fill `error` as those of graphs/gpu.h do.
 */
#ifndef ICS_GRAPHS_GPU_TABLE_H
#define ICS_GRAPHS_GPU_TABLE_H

#include "graphs/gpu.h"

typedef struct ics_gpu_table ics_gpu_table;

/* Compiles the kernel, and makes an empty table on the GPU options->ordinal: 8 bytes for each cell,
 * twice as much if stage->squares is not NULL. `tables` and `stage` without its sums are copied. Of
 * the options, schedule, lanes, chains, pool and those of hits and compaction have no effect; math
 * AUTO is PORTABLE, so that the table has the bytes of the CPU's. */
int ics_gpu_table_create(const ics_gpu_options *options, const ics_tables *tables,
                         const ice_tabulation *stage, ics_gpu_table **out, icestream_error *error);
/* Compiles the kernel for an architecture, for example 90, and reports what it needs. Needs no GPU.
 */
int ics_gpu_table_plan(const ics_gpu_options *options, const ics_tables *tables,
                       const ice_tabulation *stage, int architecture, ics_kernel_resources *out,
                       icestream_error *error);
/* Accepts NULL. After a failure of the device its memory is left to the end of the process. */
void ics_gpu_table_destroy(ics_gpu_table *table);

/* What has been done, and with which options. */
typedef struct ics_gpu_table_facts {
    ics_gpu_options options; /* resolved: no zeros, no AUTO */
    ics_gpu_usage usage;
} ics_gpu_table_facts;
void ics_gpu_table_facts_of(const ics_gpu_table *table, ics_gpu_table_facts *out);

/* Light for a table. */
typedef struct ics_gpu_table_light {
    const ice_emission *emissions;      /* [count], without pulses */
    const ice_tabulate_origin *origins; /* [count] */
    uint32_t count;                     /* >= 1 */
    const atomic_bool *
        cancel; /* when it becomes true, the GPU gives up after some seconds at most; may be NULL */
} ics_gpu_table_light;

typedef struct ics_gpu_table_result {
    uint64_t samples; /* added */
    bool overflows;   /* a sum was 2^63 units or more, and the table has no meaning */
    ice_account account;
} ics_gpu_table_result;

/* Computes all photons of the light, and adds their samples to the table of the GPU.
 * ICESTREAM_E_INTERRUPTED: after `cancel`. */
int ics_gpu_table_fill(ics_gpu_table *table, const ics_gpu_table_light *light,
                       ics_gpu_table_result *out, icestream_error *error);

/* Adds the sums of the GPU to other sums with as many cells: [cells], in units of 2^-32. `squares`
 * may be NULL if the table has none. Empties the table of the GPU. *overflows is set if a sum is
 * 2^63 units or more. */
int ics_gpu_table_collect(ics_gpu_table *table, uint64_t *sums, uint64_t *squares, bool *overflows,
                          icestream_error *error);

/* The number of cells of a table, with under- and overflow. */
static inline uint64_t ics_gpu_table_cells(const ice_tabulation *stage)
{
    return stage->axis_count == 0
               ? 1
               : (uint64_t)stage->axes[0].stride * ((uint64_t)stage->axes[0].bins + 2);
}

#endif
