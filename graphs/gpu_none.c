/* graphs/gpu.h and graphs/gpu_table.h in a build without the CUDA toolkit: there is never a device,
 * so no function uses what it is given. */
#include "base/error.h"
#include "graphs/gpu_table.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

static int no_gpu(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_DEVICE,
                         "this build has no GPU part: it was made without the CUDA toolkit");
}

int ics_gpu_count(icestream_error *error)
{
    no_gpu(error);
    return 0;
}

int ics_gpu_describe(int ordinal, ics_gpu_device *out, icestream_error *error)
{
    return no_gpu(error);
}

int ics_gpu_create(const ics_gpu_options *options, const ics_tables *tables, ics_gpu **out,
                   icestream_error *error)
{
    *out = NULL;
    return no_gpu(error);
}

void ics_gpu_destroy(ics_gpu *gpu)
{
}

const char *ics_gpu_warnings(const ics_gpu *gpu)
{
    return "";
}

const ics_gpu_options *ics_gpu_options_of(const ics_gpu *gpu)
{
    return NULL;
}

ics_kernels ics_gpu_kernels_of(const ics_gpu *gpu)
{
    return (ics_kernels){.code = 0};
}

void ics_gpu_on_event(ics_gpu *gpu, void (*event)(void *user), void *user)
{
}

uint32_t ics_gpu_credits(const ics_gpu *gpu)
{
    return 0;
}

int ics_gpu_submit(ics_gpu *gpu, const ice_emission *emissions, const ics_hit_sum_step *steps,
                   uint32_t count, void *tag, icestream_error *error)
{
    return no_gpu(error);
}

int ics_gpu_advance(ics_gpu *gpu, icestream_error *error)
{
    return no_gpu(error);
}

bool ics_gpu_take(ics_gpu *gpu, ics_gpu_result *out)
{
    return false;
}

void ics_gpu_wait(ics_gpu *gpu, double seconds)
{
}

void ics_gpu_usage_of(ics_gpu *gpu, ics_gpu_usage *out)
{
    *out = (ics_gpu_usage){0};
}

int ics_gpu_plan_create(const ics_gpu_options *options, const ics_tables *tables, int architecture,
                        ics_gpu_plan **out, icestream_error *error)
{
    *out = NULL;
    return no_gpu(error);
}

int ics_gpu_plan_check(ics_gpu_options *options, const ics_tables *tables, icestream_error *error)
{
    return no_gpu(error);
}

void ics_gpu_plan_destroy(ics_gpu_plan *plan)
{
}

int ics_gpu_choose(ics_gpu_options *options, const ics_tables *tables,
                   const ice_emission *emissions, uint32_t count, char *report, size_t report_size,
                   icestream_error *error)
{
    return no_gpu(error);
}

void ics_gpu_wake(int ordinal)
{
}

bool ics_gpu_suits(const ics_gpu_options *options, const ice_emission *emissions, uint32_t count)
{
    return true;
}

int ics_gpu_trials_create(const ics_gpu_options *options, const ics_tables *tables,
                          ics_gpu_trials **out, icestream_error *error)
{
    *out = NULL;
    return no_gpu(error);
}

void ics_gpu_trials_destroy(ics_gpu_trials *trials)
{
}

bool ics_gpu_trials_due(ics_gpu_trials *trials, double computed, const ice_emission *emissions,
                        uint32_t count)
{
    return false;
}

int ics_gpu_trials_run(ics_gpu_trials *trials, const ice_emission *emissions, uint32_t count,
                       uint64_t bytes_in_use, ics_gpu_options *options,
                       char report[ICS_GPU_REPORT_SIZE], icestream_error *error)
{
    return no_gpu(error);
}

void ics_gpu_trials_spend(ics_gpu_trials *trials, double seconds)
{
}

double ics_gpu_trials_seconds(const ics_gpu_trials *trials)
{
    return 0;
}

int ics_gpu_store(const ics_gpu_options *options, const ics_tables *tables, int architecture,
                  bool as_ptx, const char *directory, icestream_error *error)
{
    return no_gpu(error);
}

int ics_gpu_table_create(const ics_gpu_options *options, const ics_tables *tables,
                         const ice_tabulation *stage, ics_gpu_table **out, icestream_error *error)
{
    *out = NULL;
    return no_gpu(error);
}

int ics_gpu_table_plan(const ics_gpu_options *options, const ics_tables *tables,
                       const ice_tabulation *stage, int architecture, ics_kernel_resources *out,
                       icestream_error *error)
{
    *out = (ics_kernel_resources){.registers = 0};
    return no_gpu(error);
}

void ics_gpu_table_destroy(ics_gpu_table *table)
{
}

void ics_gpu_table_facts_of(const ics_gpu_table *table, ics_gpu_table_facts *out)
{
    *out = (ics_gpu_table_facts){.usage = {0}};
}

int ics_gpu_table_fill(ics_gpu_table *table, const ics_gpu_table_light *light,
                       ics_gpu_table_result *out, icestream_error *error)
{
    return no_gpu(error);
}

int ics_gpu_table_collect(ics_gpu_table *table, uint64_t *sums, uint64_t *squares, bool *overflows,
                          icestream_error *error)
{
    return no_gpu(error);
}
