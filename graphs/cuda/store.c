/* Compiles programs for the cache that is installed with icestream. */
#include "base/error.h"
#include "graphs/cuda/settings.h"

static int store_one(const ics_gpu_options *options, const ics_tables *tables, int architecture,
                     bool as_ptx, const char *directory, icestream_error *error)
{
    ics_gpu_options resolved = *options;
    /* The size of the device is assumed: no program depends on it. */
    const ics_gpu_limits limits = ics_settings_assumed_limits(architecture, tables);
    ics_settings_resolve(&resolved, &limits);
    char definitions[ICS_DEFINITIONS_SIZE];
    ics_program_options program;
    ICS_TRY(ics_settings_program(&resolved, tables, architecture, &program, definitions, error));
    return ics_program_store(&program, as_ptx, directory, error);
}

int ics_gpu_store(const ics_gpu_options *options, const ics_tables *tables, int architecture,
                  bool as_ptx, const char *directory, icestream_error *error)
{
    if (options->schedule != ICS_SCHEDULE_AUTO) {
        return store_one(options, tables, architecture, as_ptx, directory, error);
    }
    ics_gpu_options candidate;
    int status = ICESTREAM_OK;
    for (size_t i = 0; status == ICESTREAM_OK && ics_settings_candidate(options, i, &candidate);
         ++i) {
        status = store_one(&candidate, tables, architecture, as_ptx, directory, error);
    }
    return status;
}
