/* Programs for the cache that is installed with icestream. */
#include "graphs/cuda/check.h"
#include "graphs/cuda/schedule.h"

static int store_one(const is_gpu_options *options, const is_tables *tables, int architecture,
                     bool as_ptx, const char *directory, is_gpu_error *error)
{
    is_gpu_options resolved = *options;
    /* Numbers that depend on a device's size are no part of its programs. */
    const is_gpu_limits limits = is_gpu_limits_assumed(architecture, tables);
    is_gpu_resolve(&resolved, &limits);
    char definitions[IS_DEFINITIONS_SIZE];
    is_program_options program;
    const int status =
        is_gpu_program_options(&resolved, tables, architecture, &program, definitions, error);
    if (status != IS_GRAPH_OK)
        return status;
    char why[sizeof error->text];
    if (is_program_store(&program, as_ptx, directory, why, sizeof why) != 0)
        return is_gpu_error_set(error, IS_GRAPH_UNSUPPORTED, "%s", why);
    return IS_GRAPH_OK;
}

int is_gpu_store(const is_gpu_options *options, const is_tables *tables, int architecture,
                 bool as_ptx, const char *directory, is_gpu_error *error)
{
    if (options->schedule != IS_SCHEDULE_AUTO)
        return store_one(options, tables, architecture, as_ptx, directory, error);
    is_gpu_options candidate;
    int status = IS_GRAPH_OK;
    for (size_t i = 0; status == IS_GRAPH_OK && is_gpu_candidate(options, i, &candidate); ++i)
        status = store_one(&candidate, tables, architecture, as_ptx, directory, error);
    return status;
}
