/* graphs/gpu.h in a build without the CUDA toolkit: there is never a device. */
#include "graphs/gpu.h"

#include <stdio.h>

static int no_gpu(is_gpu_error *error)
{
    if (error) {
        error->status = IS_GRAPH_NO_DEVICE;
        snprintf(error->text, sizeof error->text,
                 "this build has no GPU part: it was made without the CUDA toolkit");
    }
    return IS_GRAPH_NO_DEVICE;
}

int is_gpu_count(is_gpu_error *error)
{
    no_gpu(error);
    return 0;
}

int is_gpu_describe(int ordinal, is_gpu_device *out, is_gpu_error *error)
{
    (void)ordinal;
    (void)out;
    return no_gpu(error);
}

int is_gpu_create(const is_gpu_options *options, const is_tables *tables, is_gpu **out,
                  is_gpu_error *error)
{
    (void)options;
    (void)tables;
    *out = NULL;
    return no_gpu(error);
}

void is_gpu_destroy(is_gpu *gpu)
{
    (void)gpu;
}

const char *is_gpu_warnings(const is_gpu *gpu)
{
    (void)gpu;
    return "";
}

const is_gpu_options *is_gpu_options_of(const is_gpu *gpu)
{
    (void)gpu;
    return NULL;
}

void is_gpu_on_event(is_gpu *gpu, void (*event)(void *user), void *user)
{
    (void)gpu;
    (void)event;
    (void)user;
}

uint32_t is_gpu_credits(const is_gpu *gpu)
{
    (void)gpu;
    return 0;
}

int is_gpu_submit(is_gpu *gpu, const ice_emission *emissions, uint32_t count, void *tag,
                  is_gpu_error *error)
{
    (void)gpu;
    (void)emissions;
    (void)count;
    (void)tag;
    return no_gpu(error);
}

int is_gpu_advance(is_gpu *gpu, is_gpu_error *error)
{
    (void)gpu;
    return no_gpu(error);
}

bool is_gpu_take(is_gpu *gpu, is_gpu_result *out)
{
    (void)gpu;
    (void)out;
    return false;
}

void is_gpu_wait(is_gpu *gpu, double seconds)
{
    (void)gpu;
    (void)seconds;
}

void is_gpu_usage_of(is_gpu *gpu, is_gpu_usage *out)
{
    (void)gpu;
    *out = (is_gpu_usage){0};
}

int is_gpu_plan_create(const is_gpu_options *options, const is_tables *tables, int architecture,
                       is_gpu_plan **out, is_gpu_error *error)
{
    (void)options;
    (void)tables;
    (void)architecture;
    *out = NULL;
    return no_gpu(error);
}

void is_gpu_plan_destroy(is_gpu_plan *plan)
{
    (void)plan;
}

int is_gpu_choose(is_gpu_options *options, const is_tables *tables, const ice_emission *emissions,
                  uint32_t count, char *report, size_t report_size, is_gpu_error *error)
{
    (void)options;
    (void)tables;
    (void)emissions;
    (void)count;
    (void)report;
    (void)report_size;
    return no_gpu(error);
}

int is_gpu_store(const is_gpu_options *options, const is_tables *tables, int architecture,
                 bool as_ptx, const char *directory, is_gpu_error *error)
{
    (void)options;
    (void)tables;
    (void)architecture;
    (void)as_ptx;
    (void)directory;
    return no_gpu(error);
}
