/* After NVIDIA, "CUPTI documentation", sections "Range Profiling API" and "Host Profiling API": the
 * host object makes an image of the configuration from the names of metrics; the profiler fills an
 * image of counters with one range per kernel (auto range), and repeats each kernel as often as the
 * counters need (kernel replay); the host object computes metrics from the image of counters. */
#include "pipeline/tools/roofline/cupti_context.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for CUPTI");
}

/* ---- preparing ------------------------------------------------------------------------------- */

/* Makes the host object for the chip of the context. */
static int open_host(const ics_cupti_library *cupti, ics_cupti_context *one, icestream_error *error)
{
    uint32_t device = 0;
    ICS_CUPTI_TRY(cupti, error, cuptiGetDeviceId, one->context, &device);
    CUpti_Device_GetChipName_Params chip = {
        .structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE, .deviceIndex = device};
    ICS_CUPTI_TRY(cupti, error, cuptiDeviceGetChipName, &chip);
    CUpti_Profiler_GetCounterAvailability_Params available = {
        .structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE,
        .ctx = one->context};
    ICS_CUPTI_TRY(cupti, error, cuptiProfilerGetCounterAvailability, &available);
    one->available = calloc(1, available.counterAvailabilityImageSize + 1);
    if (one->available == NULL) {
        return no_memory(error);
    }
    available.pCounterAvailabilityImage = one->available;
    ICS_CUPTI_TRY(cupti, error, cuptiProfilerGetCounterAvailability, &available);
    CUpti_Profiler_Host_Initialize_Params host = {
        .structSize = CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE,
        .profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER,
        .pChipName = chip.pChipName,
        .pCounterAvailabilityImage = one->available};
    ICS_CUPTI_TRY(cupti, error, cuptiProfilerHostInitialize, &host);
    one->host = host.pHostObject;
    return ICESTREAM_OK;
}

/* Makes the image of the configuration: which counters are read in which repeat. */
static int make_config(const ics_cupti_library *cupti, ics_cupti_context *one,
                       icestream_error *error)
{
    for (int i = 0; i < ICS_COUNTERS; ++i) {
        one->metrics[i] = ics_counters_metric((ics_counter)i);
    }
    CUpti_Profiler_Host_ConfigAddMetrics_Params add = {
        .structSize = CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE,
        .pHostObject = one->host,
        .ppMetricNames = one->metrics,
        .numMetrics = ICS_COUNTERS};
    ICS_CUPTI_TRY(cupti, error, cuptiProfilerHostConfigAddMetrics, &add);
    CUpti_Profiler_Host_GetConfigImageSize_Params size = {
        .structSize = CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE,
        .pHostObject = one->host};
    ICS_CUPTI_TRY(cupti, error, cuptiProfilerHostGetConfigImageSize, &size);
    one->config_size = size.configImageSize;
    one->config = calloc(1, one->config_size + 1);
    if (one->config == NULL) {
        return no_memory(error);
    }
    CUpti_Profiler_Host_GetConfigImage_Params image = {
        .structSize = CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE,
        .pHostObject = one->host,
        .configImageSize = one->config_size,
        .pConfigImage = one->config};
    ICS_CUPTI_TRY(cupti, error, cuptiProfilerHostGetConfigImage, &image);
    return ICESTREAM_OK;
}

/* Makes the profiler and room for its counters. */
static int open_profiler(const ics_cupti_library *cupti, ics_cupti_context *one,
                         icestream_error *error)
{
    CUpti_RangeProfiler_Enable_Params enable = {
        .structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE, .ctx = one->context};
    ICS_CUPTI_TRY(cupti, error, cuptiRangeProfilerEnable, &enable);
    one->profiler = enable.pRangeProfilerObject;
    CUpti_RangeProfiler_GetCounterDataSize_Params size = {
        .structSize = CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE,
        .pRangeProfilerObject = one->profiler,
        .pMetricNames = one->metrics,
        .numMetrics = ICS_COUNTERS,
        .maxNumOfRanges = ICS_CUPTI_LAUNCHES,
        .maxNumRangeTreeNodes = ICS_CUPTI_LAUNCHES};
    ICS_CUPTI_TRY(cupti, error, cuptiRangeProfilerGetCounterDataSize, &size);
    one->counters_size = size.counterDataSize;
    one->counters = calloc(1, one->counters_size + 1);
    one->kernels = calloc(ICS_CUPTI_LAUNCHES, sizeof *one->kernels);
    return one->counters != NULL && one->kernels != NULL ? ICESTREAM_OK : no_memory(error);
}

int ics_cupti_context_open(const ics_cupti_library *cupti, CUcontext context,
                           ics_cupti_context *out, icestream_error *error)
{
    *out = (ics_cupti_context){.context = context};
    ICS_TRY(open_host(cupti, out, error));
    ICS_TRY(make_config(cupti, out, error));
    return open_profiler(cupti, out, error);
}

void ics_cupti_context_close(const ics_cupti_library *cupti, ics_cupti_context *one)
{
    if (one->profiler != NULL) {
        CUpti_RangeProfiler_Disable_Params disable = {
            .structSize = CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE,
            .pRangeProfilerObject = one->profiler};
        (void)cupti->cuptiRangeProfilerDisable(&disable);
    }
    if (one->host != NULL) {
        CUpti_Profiler_Host_Deinitialize_Params host = {
            .structSize = CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE,
            .pHostObject = one->host};
        (void)cupti->cuptiProfilerHostDeinitialize(&host);
    }
    free(one->available);
    free(one->config);
    free(one->counters);
    free(one->kernels);
    *one = (ics_cupti_context){.context = NULL};
}

/* ---- counting -------------------------------------------------------------------------------- */

static int start(const ics_cupti_library *cupti, ics_cupti_context *one, icestream_error *error)
{
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params empty = {
        .structSize = CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE,
        .pRangeProfilerObject = one->profiler,
        .counterDataSize = one->counters_size,
        .pCounterData = one->counters};
    ICS_CUPTI_TRY(cupti, error, cuptiRangeProfilerCounterDataImageInitialize, &empty);
    CUpti_RangeProfiler_SetConfig_Params config = {
        .structSize = CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE,
        .pRangeProfilerObject = one->profiler,
        .configSize = one->config_size,
        .pConfig = one->config,
        .counterDataImageSize = one->counters_size,
        .pCounterDataImage = one->counters,
        .range = CUPTI_AutoRange,
        .replayMode = CUPTI_KernelReplay,
        .maxRangesPerPass = ICS_CUPTI_LAUNCHES,
        .numNestingLevels = 1,
        .minNestingLevel = 1,
        .targetNestingLevel = 1};
    ICS_CUPTI_TRY(cupti, error, cuptiRangeProfilerSetConfig, &config);
    CUpti_RangeProfiler_Start_Params begin = {.structSize =
                                                  CUpti_RangeProfiler_Start_Params_STRUCT_SIZE,
                                              .pRangeProfilerObject = one->profiler};
    ICS_CUPTI_TRY(cupti, error, cuptiRangeProfilerStart, &begin);
    one->started = true;
    return ICESTREAM_OK;
}

int ics_cupti_context_launch(const ics_cupti_library *cupti, ics_cupti_context *one,
                             const char *kernel, icestream_error *error)
{
    if (!one->started) {
        ICS_TRY(start(cupti, one, error));
    }
    snprintf(one->kernels[one->count++], ICS_CUPTI_NAME, "%s", kernel);
    return ICESTREAM_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Ends the counting and moves what the GPU counted into the image. */
static int stop(const ics_cupti_library *cupti, ics_cupti_context *one, icestream_error *error)
{
    CUpti_RangeProfiler_Stop_Params end = {.structSize =
                                               CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE,
                                           .pRangeProfilerObject = one->profiler};
    one->started = false;
    ICS_CUPTI_TRY(cupti, error, cuptiRangeProfilerStop, &end);
    CUpti_RangeProfiler_DecodeData_Params decode = {
        .structSize = CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE,
        .pRangeProfilerObject = one->profiler};
    ICS_CUPTI_TRY(cupti, error, cuptiRangeProfilerDecodeData, &decode);
    CUpti_RangeProfiler_GetCounterDataInfo_Params about = {
        .structSize = CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE,
        .pCounterDataImage = one->counters,
        .counterDataImageSize = one->counters_size};
    ICS_CUPTI_TRY(cupti, error, cuptiRangeProfilerGetCounterDataInfo, &about);
    if (about.numTotalRanges != one->count || decode.numOfRangeDropped != 0) {
        return ics_error_set(
            error, ICESTREAM_E_FAILED,
            "CUPTI counted %zu kernels and dropped %zu, expected the %zu that were "
            "launched",
            about.numTotalRanges, decode.numOfRangeDropped, one->count);
    }
    return ICESTREAM_OK;
}

int ics_cupti_context_read(const ics_cupti_library *cupti, ics_cupti_context *one,
                           ics_cupti_launch_function function, void *user, icestream_error *error)
{
    if (!one->started) {
        return ICESTREAM_OK;
    }
    ICS_TRY(stop(cupti, one, error));
    for (size_t i = 0; i < one->count; ++i) {
        double values[ICS_COUNTERS] = {0};
        CUpti_Profiler_Host_EvaluateToGpuValues_Params evaluate = {
            .structSize = CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE,
            .pHostObject = one->host,
            .pCounterDataImage = one->counters,
            .counterDataImageSize = one->counters_size,
            .rangeIndex = i,
            .ppMetricNames = one->metrics,
            .numMetrics = ICS_COUNTERS,
            .pMetricValues = values};
        ICS_CUPTI_TRY(cupti, error, cuptiProfilerHostEvaluateToGpuValues, &evaluate);
        ICS_TRY(function(one->kernels[i], values, user, error));
    }
    one->count = 0;
    return ICESTREAM_OK;
}
