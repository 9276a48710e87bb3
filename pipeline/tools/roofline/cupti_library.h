/* The functions of libcupti that icestream calls, found when the program runs. Needs the headers of
 * CUPTI. */
#ifndef ICS_TOOLS_ROOFLINE_CUPTI_LIBRARY_H
#define ICS_TOOLS_ROOFLINE_CUPTI_LIBRARY_H

#include "pipeline/icestream.h"

#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#define ICS_CUPTI_FUNCTIONS(FUNCTION)                                                              \
    FUNCTION(cuptiSubscribe)                                                                       \
    FUNCTION(cuptiUnsubscribe)                                                                     \
    FUNCTION(cuptiEnableCallback)                                                                  \
    FUNCTION(cuptiGetResultString)                                                                 \
    FUNCTION(cuptiGetDeviceId)                                                                     \
    FUNCTION(cuptiDeviceGetChipName)                                                               \
    FUNCTION(cuptiProfilerInitialize)                                                              \
    FUNCTION(cuptiProfilerDeInitialize)                                                            \
    FUNCTION(cuptiProfilerGetCounterAvailability)                                                  \
    FUNCTION(cuptiProfilerHostInitialize)                                                          \
    FUNCTION(cuptiProfilerHostDeinitialize)                                                        \
    FUNCTION(cuptiProfilerHostConfigAddMetrics)                                                    \
    FUNCTION(cuptiProfilerHostGetConfigImageSize)                                                  \
    FUNCTION(cuptiProfilerHostGetConfigImage)                                                      \
    FUNCTION(cuptiProfilerHostEvaluateToGpuValues)                                                 \
    FUNCTION(cuptiRangeProfilerEnable)                                                             \
    FUNCTION(cuptiRangeProfilerDisable)                                                            \
    FUNCTION(cuptiRangeProfilerGetCounterDataSize)                                                 \
    FUNCTION(cuptiRangeProfilerCounterDataImageInitialize)                                         \
    FUNCTION(cuptiRangeProfilerSetConfig)                                                          \
    FUNCTION(cuptiRangeProfilerStart)                                                              \
    FUNCTION(cuptiRangeProfilerStop)                                                               \
    FUNCTION(cuptiRangeProfilerDecodeData)                                                         \
    FUNCTION(cuptiRangeProfilerGetCounterDataInfo)

/* Each function has a member with its name. */
typedef struct ics_cupti_library {
    void *library;
#define ICS_CUPTI_MEMBER(name) __typeof__(name) *name;
    ICS_CUPTI_FUNCTIONS(ICS_CUPTI_MEMBER)
#undef ICS_CUPTI_MEMBER
} ics_cupti_library;

/* Loads libcupti and finds all functions. The library stays loaded until the process ends.
 * ICESTREAM_E_FAILED: see ics_cupti_find. */
int ics_cupti_library_load(ics_cupti_library *out, icestream_error *error);

/* Makes the error of a call that gave `result`. ICESTREAM_OK: it gave CUPTI_SUCCESS.
 * ICESTREAM_E_DEVICE: the counters may not be read. ICESTREAM_E_FAILED: everything else. */
int ics_cupti_library_check(const ics_cupti_library *cupti, CUptiResult result, const char *call,
                            icestream_error *error);

/* Calls a function of the library with its parameters, and returns the error from the caller. */
#define ICS_CUPTI_TRY(cupti, error, function, ...)                                                 \
    ICS_TRY(ics_cupti_library_check((cupti), (cupti)->function(__VA_ARGS__), #function, (error)))

#endif
