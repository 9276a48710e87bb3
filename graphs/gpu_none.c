/* graphs/gpu.h in a build without the CUDA toolkit: there is never a device. */
#include "base/error.h"
#include "graphs/gpu.h"

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
    (void)ordinal;
    (void)out;
    return no_gpu(error);
}

int ics_gpu_create(const ics_gpu_options *options, const ics_tables *tables, ics_gpu **out,
                   icestream_error *error)
{
    (void)options;
    (void)tables;
    *out = NULL;
    return no_gpu(error);
}

void ics_gpu_destroy(ics_gpu *gpu)
{
    (void)gpu;
}

const char *ics_gpu_warnings(const ics_gpu *gpu)
{
    (void)gpu;
    return "";
}

const ics_gpu_options *ics_gpu_options_of(const ics_gpu *gpu)
{
    (void)gpu;
    return NULL;
}

void ics_gpu_on_event(ics_gpu *gpu, void (*event)(void *user), void *user)
{
    (void)gpu;
    (void)event;
    (void)user;
}

uint32_t ics_gpu_credits(const ics_gpu *gpu)
{
    (void)gpu;
    return 0;
}

int ics_gpu_submit(ics_gpu *gpu, const ice_emission *emissions, const ics_hit_sum_step *steps,
                   uint32_t count, void *tag, icestream_error *error)
{
    (void)gpu;
    (void)emissions;
    (void)steps;
    (void)count;
    (void)tag;
    return no_gpu(error);
}

int ics_gpu_advance(ics_gpu *gpu, icestream_error *error)
{
    (void)gpu;
    return no_gpu(error);
}

bool ics_gpu_take(ics_gpu *gpu, ics_gpu_result *out)
{
    (void)gpu;
    (void)out;
    return false;
}

void ics_gpu_wait(ics_gpu *gpu, double seconds)
{
    (void)gpu;
    (void)seconds;
}

void ics_gpu_usage_of(ics_gpu *gpu, ics_gpu_usage *out)
{
    (void)gpu;
    *out = (ics_gpu_usage){0};
}

int ics_gpu_plan_create(const ics_gpu_options *options, const ics_tables *tables, int architecture,
                        ics_gpu_plan **out, icestream_error *error)
{
    (void)options;
    (void)tables;
    (void)architecture;
    *out = NULL;
    return no_gpu(error);
}

int ics_gpu_plan_check(ics_gpu_options *options, const ics_tables *tables, icestream_error *error)
{
    (void)options;
    (void)tables;
    return no_gpu(error);
}

void ics_gpu_plan_destroy(ics_gpu_plan *plan)
{
    (void)plan;
}

int ics_gpu_choose(ics_gpu_options *options, const ics_tables *tables,
                   const ice_emission *emissions, uint32_t count, char *report, size_t report_size,
                   icestream_error *error)
{
    (void)options;
    (void)tables;
    (void)emissions;
    (void)count;
    (void)report;
    (void)report_size;
    return no_gpu(error);
}

void ics_gpu_wake(int ordinal)
{
    (void)ordinal;
}

bool ics_gpu_suits(const ics_gpu_options *options, const ice_emission *emissions, uint32_t count)
{
    (void)options;
    (void)emissions;
    (void)count;
    return true;
}

int ics_gpu_trials_create(const ics_gpu_options *options, const ics_tables *tables,
                          ics_gpu_trials **out, icestream_error *error)
{
    (void)options;
    (void)tables;
    *out = NULL;
    return no_gpu(error);
}

void ics_gpu_trials_destroy(ics_gpu_trials *trials)
{
    (void)trials;
}

bool ics_gpu_trials_due(ics_gpu_trials *trials, double computed, const ice_emission *emissions,
                        uint32_t count)
{
    (void)trials;
    (void)computed;
    (void)emissions;
    (void)count;
    return false;
}

int ics_gpu_trials_run(ics_gpu_trials *trials, const ice_emission *emissions, uint32_t count,
                       uint64_t bytes_in_use, ics_gpu_options *options,
                       char report[ICS_GPU_REPORT_SIZE], icestream_error *error)
{
    (void)trials;
    (void)emissions;
    (void)count;
    (void)bytes_in_use;
    (void)options;
    (void)report;
    return no_gpu(error);
}

void ics_gpu_trials_spend(ics_gpu_trials *trials, double seconds)
{
    (void)trials;
    (void)seconds;
}

double ics_gpu_trials_seconds(const ics_gpu_trials *trials)
{
    (void)trials;
    return 0;
}

int ics_gpu_store(const ics_gpu_options *options, const ics_tables *tables, int architecture,
                  bool as_ptx, const char *directory, icestream_error *error)
{
    (void)options;
    (void)tables;
    (void)architecture;
    (void)as_ptx;
    (void)directory;
    return no_gpu(error);
}
