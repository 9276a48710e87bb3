#include "tests/support/loaded_detector.h"

loaded_detector detector_load(icestream_config *config)
{
    loaded_detector result = {0};
    result.status = ics_detector_create(config, &result.detector, &result.warnings, &result.error);
    icestream_config_destroy(config);
    return result;
}

void detector_unload(loaded_detector *result)
{
    ics_detector_destroy(result->detector);
    ics_warnings_free(&result->warnings);
}
