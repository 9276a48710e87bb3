/* Stands for the files of CUPTI in builds without its headers. */
#include "base/error.h"
#include "pipeline/tools/roofline/cupti.h"

int ics_cupti_find(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_FAILED,
                         "this icestream cannot use CUPTI: it was built without CUDA, or without "
                         "the header cupti_range_profiler.h of CUDA 13.0 or later");
}

int ics_cupti_begin(const char *path, ics_cupti **out, icestream_error *error)
{
    (void)path;
    *out = NULL;
    return ics_cupti_find(error);
}

int ics_cupti_end(ics_cupti *cupti, icestream_error *error)
{
    (void)cupti;
    (void)error;
    return ICESTREAM_OK;
}
