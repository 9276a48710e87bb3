/* The counters of one CUDA context. Needs the headers of CUPTI. */
#ifndef ICS_TOOLS_ROOFLINE_CUPTI_CONTEXT_H
#define ICS_TOOLS_ROOFLINE_CUPTI_CONTEXT_H

#include "pipeline/tools/roofline/counters.h"
#include "pipeline/tools/roofline/cupti_library.h"

/* Launches that are counted before their counters are read, and the bytes of a kernel's name. */
enum { ICS_CUPTI_LAUNCHES = 128, ICS_CUPTI_NAME = 256 };

typedef struct ics_cupti_context {
    CUcontext context;
    CUpti_Profiler_Host_Object *host;
    CUpti_RangeProfiler_Object *profiler;
    const char *metrics[ICS_COUNTERS];
    uint8_t *available; /* image of CUPTI: the counters of the GPU; the host object refers to it */
    uint8_t *config, *counters; /* [config_size], [counters_size]: further images */
    size_t config_size, counters_size;
    bool started;
    char (*kernels)[ICS_CUPTI_NAME]; /* [ICS_CUPTI_LAUNCHES], of which `count` were launched */
    size_t count;
} ics_cupti_context;

/* Gets the launches in their order, in the units of CUPTI. Returns a status. */
typedef int (*ics_cupti_launch_function)(const char *kernel, const double values[ICS_COUNTERS],
                                         void *user, icestream_error *error);

/* Prepares CUPTI for a context; cuptiProfilerInitialize has been called. The errors of
 * ics_cupti_library_check, and ICESTREAM_E_MEMORY. The caller calls ics_cupti_context_close, also
 * after an error. */
int ics_cupti_context_open(const ics_cupti_library *cupti, CUcontext context,
                           ics_cupti_context *out, icestream_error *error);
/* Accepts zeros. */
void ics_cupti_context_close(const ics_cupti_library *cupti, ics_cupti_context *one);

/* Counts the kernel that is about to be launched. There must be fewer than ICS_CUPTI_LAUNCHES that
 * have not been read. */
int ics_cupti_context_launch(const ics_cupti_library *cupti, ics_cupti_context *one,
                             const char *kernel, icestream_error *error);

/* Reads the counters of all launches since the last call. ICESTREAM_E_FAILED: also if CUPTI counted
 * another number of kernels than were launched. */
int ics_cupti_context_read(const ics_cupti_library *cupti, ics_cupti_context *one,
                           ics_cupti_launch_function function, void *user, icestream_error *error);

#endif
