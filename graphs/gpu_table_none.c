/* graphs/gpu_table.h in a build without the CUDA toolkit: there is never a device. */
#include "base/error.h"
#include "graphs/gpu_table.h"

static int no_gpu(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_DEVICE,
                         "this build has no GPU part: it was made without the CUDA toolkit");
}

int ics_gpu_table_create(const ics_gpu_options *options, const ics_tables *tables,
                         const ice_tabulation *stage, ics_gpu_table **out, icestream_error *error)
{
    (void)options;
    (void)tables;
    (void)stage;
    *out = NULL;
    return no_gpu(error);
}

int ics_gpu_table_plan(const ics_gpu_options *options, const ics_tables *tables,
                       const ice_tabulation *stage, int architecture, ics_kernel_resources *out,
                       icestream_error *error)
{
    (void)options;
    (void)tables;
    (void)stage;
    (void)architecture;
    *out = (ics_kernel_resources){.registers = 0};
    return no_gpu(error);
}

void ics_gpu_table_destroy(ics_gpu_table *table)
{
    (void)table;
}

void ics_gpu_table_facts_of(const ics_gpu_table *table, ics_gpu_table_facts *out)
{
    (void)table;
    *out = (ics_gpu_table_facts){.usage = {0}};
}

int ics_gpu_table_fill(ics_gpu_table *table, const ics_gpu_table_light *light,
                       ics_gpu_table_result *out, icestream_error *error)
{
    (void)table;
    (void)light;
    (void)out;
    return no_gpu(error);
}

int ics_gpu_table_collect(ics_gpu_table *table, uint64_t *sums, uint64_t *squares, bool *overflows,
                          icestream_error *error)
{
    (void)table;
    (void)sums;
    (void)squares;
    (void)overflows;
    return no_gpu(error);
}
