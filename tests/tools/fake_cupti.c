#include "fake_cupti.h"

#include <cupti_activity.h>
#include <cupti_driver_cbid.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <string.h>

fake_cupti_state fake_cupti;
void fake_cupti_launch(CUcontext context, const char *name);

/* The images have these sizes, and objects are these addresses. */
enum { CONFIG_BYTES = 24, BYTES_PER_RANGE = 40 };
static const uint8_t *available;
static int host_object, profiler_object, subscriber_object;

/* Fails if the test wants it, or if what a call promises does not hold. */
static CUptiResult answer(const char *function, bool holds)
{
    if (fake_cupti.fails != NULL && strcmp(fake_cupti.fails, function) == 0) {
        return fake_cupti.result;
    }
    return holds ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

/* Reads the image of available counters, which must live as long as the host object. */
static bool is_host(const void *object)
{
    return object == &host_object && fake_cupti.hosts > 0 && memcmp(available, "can", 4) == 0;
}

static bool is_profiler(const void *object)
{
    return object == &profiler_object && fake_cupti.profilers > 0;
}

/* ---- callbacks ------------------------------------------------------------------------------- */

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback,
                           void *userdata)
{
    const CUptiResult result = answer(__func__, fake_cupti.call == NULL);
    if (result == CUPTI_SUCCESS) {
        *subscriber = (CUpti_SubscriberHandle)&subscriber_object;
        fake_cupti.call = callback;
        fake_cupti.user = userdata;
    }
    return result;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber)
{
    fake_cupti.call = NULL;
    fake_cupti.enabled_count = 0;
    return answer(__func__, subscriber == (CUpti_SubscriberHandle)&subscriber_object);
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber,
                                CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
    (void)subscriber;
    const bool holds = enable == 1 && domain == CUPTI_CB_DOMAIN_DRIVER_API &&
                       fake_cupti.enabled_count < FAKE_CALLBACKS;
    if (holds) {
        fake_cupti.enabled[fake_cupti.enabled_count++] = cbid;
    }
    return answer(__func__, holds);
}

static void call_back(CUpti_CallbackId id, CUpti_ApiCallbackSite site, CUcontext context,
                      const char *name)
{
    const CUpti_CallbackData data = {.callbackSite = site, .context = context, .symbolName = name};
    for (size_t i = 0; i < fake_cupti.enabled_count; ++i) {
        if (fake_cupti.enabled[i] == id && fake_cupti.call != NULL) {
            fake_cupti.call(fake_cupti.user, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
        }
    }
}

void fake_cupti_launch(CUcontext context, const char *name)
{
    const CUpti_CallbackId id = name != NULL ? CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel
                                             : CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch;
    call_back(id, CUPTI_API_ENTER, context, name);
    if (fake_cupti.started && fake_cupti.lost == 0 && fake_cupti.ranges < fake_cupti.room) {
        ++fake_cupti.ranges;
    }
    ++fake_cupti.launches;
    call_back(id, CUPTI_API_EXIT, context, name);
}

/* ---- the GPU --------------------------------------------------------------------------------- */

CUptiResult cuptiGetResultString(CUptiResult result, const char **str)
{
    *str = result == CUPTI_ERROR_NOT_SUPPORTED ? "CUPTI_ERROR_NOT_SUPPORTED" : NULL;
    return *str != NULL ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t *deviceId)
{
    *deviceId = 3;
    return answer(__func__, context != NULL);
}

CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params *pParams)
{
    pParams->pChipName = "GX1";
    return answer(__func__, pParams->deviceIndex == 3);
}

CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params *pParams)
{
    ++fake_cupti.total_initialized;
    return answer(__func__, pParams->structSize > 0);
}

CUptiResult cuptiProfilerDeInitialize(CUpti_Profiler_DeInitialize_Params *pParams)
{
    return answer(__func__, pParams->structSize > 0);
}

CUptiResult
cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params *pParams)
{
    if (pParams->pCounterAvailabilityImage == NULL) {
        pParams->counterAvailabilityImageSize = 4;
    } else {
        memcpy(pParams->pCounterAvailabilityImage, "can", 4);
    }
    return answer(__func__, pParams->ctx != NULL && pParams->counterAvailabilityImageSize == 4);
}

/* ---- the host object ------------------------------------------------------------------------- */

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params *pParams)
{
    const bool holds = strcmp(pParams->pChipName, "GX1") == 0 &&
                       memcmp(pParams->pCounterAvailabilityImage, "can", 4) == 0 &&
                       pParams->profilerType == CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    const CUptiResult result = answer(__func__, holds);
    if (result == CUPTI_SUCCESS) {
        pParams->pHostObject = (CUpti_Profiler_Host_Object *)&host_object;
        available = pParams->pCounterAvailabilityImage;
        ++fake_cupti.hosts;
    }
    return result;
}

CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params *pParams)
{
    const bool holds = is_host(pParams->pHostObject);
    fake_cupti.hosts -= holds;
    return answer(__func__, holds);
}

CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params *pParams)
{
    return answer(__func__, is_host(pParams->pHostObject) && pParams->numMetrics > 0);
}

CUptiResult
cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params *pParams)
{
    pParams->configImageSize = CONFIG_BYTES;
    return answer(__func__, is_host(pParams->pHostObject));
}

CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params *pParams)
{
    memset(pParams->pConfigImage, 'c', pParams->configImageSize);
    return answer(__func__, is_host(pParams->pHostObject));
}

CUptiResult
cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params *pParams)
{
    const size_t number = fake_cupti.first + pParams->rangeIndex;
    for (size_t i = 0; i < pParams->numMetrics; ++i) {
        pParams->pMetricValues[i] =
            fake_cupti.value != 0 ? fake_cupti.value : 1000.0 * (double)number + (double)i;
    }
    return answer(__func__,
                  is_host(pParams->pHostObject) && pParams->rangeIndex < fake_cupti.ranges);
}

/* ---- the profiler ---------------------------------------------------------------------------- */

CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params *pParams)
{
    const CUptiResult result = answer(__func__, pParams->ctx != NULL);
    if (result == CUPTI_SUCCESS) {
        pParams->pRangeProfilerObject = (CUpti_RangeProfiler_Object *)&profiler_object;
        ++fake_cupti.profilers;
    }
    return result;
}

CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params *pParams)
{
    const bool holds = is_profiler(pParams->pRangeProfilerObject);
    fake_cupti.profilers -= holds;
    return answer(__func__, holds);
}

CUptiResult
cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params *pParams)
{
    pParams->counterDataSize = BYTES_PER_RANGE * pParams->maxNumOfRanges;
    return answer(__func__, is_profiler(pParams->pRangeProfilerObject) &&
                                pParams->maxNumRangeTreeNodes >= pParams->maxNumOfRanges);
}

CUptiResult cuptiRangeProfilerCounterDataImageInitialize(
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params *pParams)
{
    memset(pParams->pCounterData, 0, pParams->counterDataSize);
    fake_cupti.room = pParams->counterDataSize / BYTES_PER_RANGE;
    fake_cupti.first = fake_cupti.launches;
    fake_cupti.ranges = 0;
    return answer(__func__, is_profiler(pParams->pRangeProfilerObject));
}

CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params *pParams)
{
    const bool holds = pParams->configSize == CONFIG_BYTES && pParams->pConfig[0] == 'c' &&
                       pParams->range == CUPTI_AutoRange &&
                       pParams->replayMode == CUPTI_KernelReplay && !fake_cupti.started &&
                       pParams->numNestingLevels == 1 &&
                       pParams->maxRangesPerPass == fake_cupti.room;
    return answer(__func__, holds);
}

CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params *pParams)
{
    const CUptiResult result =
        answer(__func__, is_profiler(pParams->pRangeProfilerObject) && !fake_cupti.started);
    fake_cupti.started = result == CUPTI_SUCCESS;
    return result;
}

CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params *pParams)
{
    const bool holds = is_profiler(pParams->pRangeProfilerObject) && fake_cupti.started;
    pParams->isAllPassSubmitted = 1;
    fake_cupti.started = false;
    return answer(__func__, holds);
}

CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params *pParams)
{
    ++fake_cupti.flushes;
    return answer(__func__, is_profiler(pParams->pRangeProfilerObject) && !fake_cupti.started);
}

CUptiResult
cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params *pParams)
{
    pParams->numTotalRanges = fake_cupti.ranges;
    return answer(__func__, pParams->counterDataImageSize == BYTES_PER_RANGE * fake_cupti.room);
}
