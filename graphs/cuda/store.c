/* Programs for the cache that is installed with icestream. */
#include "graphs/cuda/check.h"
#include "graphs/cuda/schedule.h"

static int store_one(const ics_gpu_options *options, const ics_tables *tables, int architecture,
                     bool as_ptx, const char *directory, ics_gpu_error *error)
{
    ics_gpu_options resolved = *options;
    /* Numbers that depend on a device's size are no part of its programs. */
    const ics_gpu_limits limits = ics_schedule_assumed_limits(architecture, tables);
    ics_schedule_resolve(&resolved, &limits);
    char definitions[ICS_DEFINITIONS_SIZE];
    ics_program_options program;
    const int status =
        ics_schedule_program_options(&resolved, tables, architecture, &program, definitions, error);
    if (status != ICS_GRAPH_OK) {
        return status;
    }
    char why[sizeof error->text];
    if (ics_program_store(&program, as_ptx, directory, why, sizeof why) != 0) {
        return ics_check_error_set(error, ICS_GRAPH_UNSUPPORTED, "%s", why);
    }
    return ICS_GRAPH_OK;
}

int ics_gpu_store(const ics_gpu_options *options, const ics_tables *tables, int architecture,
                  bool as_ptx, const char *directory, ics_gpu_error *error)
{
    if (options->schedule != ICS_SCHEDULE_AUTO) {
        return store_one(options, tables, architecture, as_ptx, directory, error);
    }
    ics_gpu_options candidate;
    int status = ICS_GRAPH_OK;
    for (size_t i = 0; status == ICS_GRAPH_OK && ics_schedule_candidate(options, i, &candidate);
         ++i) {
        status = store_one(&candidate, tables, architecture, as_ptx, directory, error);
    }
    return status;
}
